import type { Clock, EpochMs } from '../kernel/clock.js'
import type { Decimal } from '../kernel/decimal.js'
import { readCurrentUsage } from '../metering/current-usage.js'
import type { Db, PrismaClient } from '../platform/postgres.js'
import type { Subscription } from '../subscription/model.js'
import { type Decision, evaluate } from './evaluate.js'
import { buildState, decideWinners, type Holdings, winnerPeriodAt } from './holdings.js'
import {
  type HoldingsPlace,
  type HoldingsSources,
  holdingsOfNew,
  loadHoldings,
  loadResources,
  loadStateFacts,
  loadVersions,
  type NewCustomer,
  type StateVersions,
} from './repository.js'
import type { EntitlementState, Usage } from './state.js'

export interface CheckQuestion {
  /** The caller's identifiers. */
  customerRefId: string
  featureRefId: string
  resourceRefId: string | null
  requestedUsage: Decimal | null
  requestedValues: string[] | null
}

export type CheckAnswer = Decision & { accessVersion: EpochMs }

/**
 * Decides about a state that the reader has got. `isFeature` is asked only when the customer does not hold the feature: whether there is one of that
 * name.
 */
export async function decideCheck(
  state: EntitlementState,
  question: CheckQuestion,
  now: EpochMs,
  isFeature: (refId: string) => Promise<boolean>,
): Promise<CheckAnswer> {
  const decision = evaluate({
    state,
    featureId: question.featureRefId,
    requestedUsage: question.requestedUsage ?? undefined,
    requestedValues: question.requestedValues ?? undefined,
    now: Math.max(now, state.version),
  })
  const { accessVersion } = state
  if (decision.granted || decision.reason !== 'NoFeatureEntitlementInSubscription') return { ...decision, accessVersion }
  const reason = (await isFeature(question.featureRefId)) ? decision.reason : 'FeatureNotFound'
  return { ...decision, reason, accessVersion }
}

/** Answers what a customer may use, from the records: always right after the mutation that changed them. */
export class EntitlementService {
  readonly #prisma: PrismaClient
  readonly #sources: HoldingsSources
  readonly #clock: Clock

  constructor({ prisma, clock, ...sources }: HoldingsSources & { prisma: PrismaClient; clock: Clock }) {
    this.#prisma = prisma
    this.#sources = sources
    this.#clock = clock
  }

  /** The entitlements of a customer or of one of its resources, or the reason why there are none. Unknown customers are answered, not refused. */
  state(environmentId: string, customerRefId: string, resourceRefId: string | null): Promise<EntitlementState> {
    return this.#snapshot(async (db) => {
      const { catalogVersion, testClock } = await loadStateFacts(db, environmentId)
      const [holdings] = await this.holdings(db, environmentId, [{ customerRefId, resourceRefId }])
      const [state] = await this.#build(db, [holdings!], testClock)
      return { ...state!, catalogVersion }
    })
  }

  /** The same inside the caller's transaction, which holds the customer's state row or reads one snapshot. */
  async stateIn(db: Db, environmentId: string, customerRefId: string, resourceRefId: string | null): Promise<EntitlementState> {
    const [holdings] = await this.holdings(db, environmentId, [{ customerRefId, resourceRefId }])
    const [state] = await this.#build(db, [holdings!])
    return state!
  }

  /**
   * The state of a customer that the caller's transaction has made, from what the caller knows: the first version of its state, and its first
   * subscription. There is no usage yet.
   */
  async stateOfNew(db: Db, customer: NewCustomer, version: EpochMs, subscription: Subscription | null): Promise<EntitlementState> {
    const { environmentId, refId } = customer
    // Its own entitlements name features that are not at hand.
    if (subscription && subscription.ownEntitlements.length > 0) return this.stateIn(db, environmentId, refId, null)
    const holdings = await holdingsOfNew(db, this.#sources, { customer, version, subscription })
    const now = this.#now(holdings)
    return buildState(holdings, decideWinners(holdings, now), new Map(), now)
  }

  /** The states of a customer, its own first, and of each of its resources, from one snapshot. */
  states(environmentId: string, customerRefId: string): Promise<EntitlementState[]> {
    return this.#snapshot(async (db) => {
      const { catalogVersion, testClock } = await loadStateFacts(db, environmentId)
      const holdings = (await this.holdings(db, environmentId, [{ customerRefId, resourceRefId: null }]))[0]!
      const resources = holdings.customer ? await loadResources(db, environmentId, holdings.customer.id) : []
      const all = resources.map(({ id, refId }) => ({ ...holdings, resourceRefId: refId, resource: { id } }))
      return (await this.#build(db, [holdings, ...all], testClock)).map((state) => ({ ...state, catalogVersion }))
    })
  }

  /** What decides, without usage, in the order of the places: for who needs to know which series a report belongs to. */
  holdings(db: Db, environmentId: string, places: readonly HoldingsPlace[]): Promise<Holdings[]> {
    return loadHoldings(db, this.#sources, environmentId, places)
  }

  /** What a state must have been read at to be current. Null: the customer is unknown. */
  versions(environmentId: string, customerRefId: string): Promise<StateVersions | null> {
    return loadVersions(this.#prisma, environmentId, customerRefId)
  }

  /** The caller's identifiers of all features of the catalog. */
  async featureRefIds(environmentId: string): Promise<ReadonlySet<string>> {
    return new Set((await this.#sources.catalog.features(this.#prisma, environmentId)).keys())
  }

  /** The decision, with the version of the last change that was more than usage. A denial is an answer. */
  async check(environmentId: string, question: CheckQuestion): Promise<CheckAnswer> {
    const state = await this.state(environmentId, question.customerRefId, question.resourceRefId)
    return decideCheck(state, question, this.#clock.now(), async (refId) => (await this.featureRefIds(environmentId)).has(refId))
  }

  /** All of one customer, with the usage of one reading. A change that was just made has a version of its time, so `notBefore` is for readers. */
  async #build(db: Db, all: [Holdings, ...Holdings[]], notBefore = 0): Promise<EntitlementState[]> {
    const [{ environmentId, customer }] = all
    const now = Math.max(this.#now(all[0]), notBefore)
    const decided = all.map((holdings) => ({ holdings, winners: decideWinners(holdings, now) }))
    const measured = decided.flatMap(({ winners }) =>
      winners.flatMap((winner) => (winner.series ? [{ series: winner.series, period: winnerPeriodAt(winner, now) }] : [])),
    )
    const usages = customer ? await readCurrentUsage(db, environmentId, customer.id, measured, now) : new Map<string, Usage>()
    return decided.map(({ holdings, winners }) => buildState(holdings, winners, usages, now))
  }

  /** A clock that lags behind the database's would put us before the start of what was just provisioned. */
  #now({ version }: { version: EpochMs }): EpochMs {
    return Math.max(this.#clock.now(), version)
  }

  /** Version and facts belong together. */
  #snapshot<T>(read: (db: Db) => Promise<T>): Promise<T> {
    return this.#prisma.$transaction(read, { isolationLevel: 'RepeatableRead' })
  }
}
