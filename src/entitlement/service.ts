import type { EpochMs } from '../kernel/clock.js'
import type { Decimal } from '../kernel/decimal.js'
import { readCurrentUsage } from '../metering/counting/current-usage.js'
import type { Holder } from '../metering/model/holder.js'
import type { Db, PrismaClient } from '../platform/postgres.js'
import { inSnapshot } from '../platform/transaction.js'
import type { Subscription } from '../subscription/rules/subscription.js'
import {
  byCustomer,
  type CustomerAccess,
  type HoldingsSources,
  holdingsOfNew,
  loadAccess,
  loadBudgets,
  loadHoldings,
  loadResources,
  loadStateBasis,
  loadVersions,
  type NewCustomer,
  type StateVersions,
} from './records/holdings.js'
import { sellsUnitsEver } from './rules/bought.js'
import { isUsedUp, runningBudgets } from './rules/budget.js'
import { buildState } from './rules/build-state.js'
import { type Decision, evaluate } from './rules/evaluate.js'
import { decideWinners, type Holdings, heldSince, winnerPeriodAt } from './rules/holdings.js'
import type { Entitlement, EntitlementState } from './rules/state.js'

export type { CustomerAccess }

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

interface ServiceParts extends HoldingsSources {
  prisma: PrismaClient
  /** Told of usage (ids are ours) that had to be computed because it has no counter. */
  unfilled: (environmentId: string, of: { customerId: string; resourceId: string | null }) => void
}

/** Answers what a customer may use, from the records: always right after the mutation that changed them. */
export class EntitlementService {
  readonly #prisma: PrismaClient
  readonly #sources: HoldingsSources
  readonly #unfilled: ServiceParts['unfilled']

  constructor({ prisma, unfilled, ...sources }: ServiceParts) {
    this.#prisma = prisma
    this.#sources = sources
    this.#unfilled = unfilled
  }

  /** The entitlements of a customer or of one of its resources, or the reason why there are none. Unknown customers are answered, not refused. */
  state(environmentId: string, customerRefId: string, resourceRefId: string | null): Promise<EntitlementState> {
    return inSnapshot(this.#prisma, async (db) => {
      const { basis, testClock } = await loadStateBasis(db, environmentId)
      const [holdings] = await this.holdings(db, environmentId, [{ customerId: customerRefId, resourceId: resourceRefId }])
      const [state] = await this.#build(db, environmentId, [holdings!], testClock)
      return { ...state!, basis }
    })
  }

  /** The same inside the caller's transaction, which holds the customer's state row or reads one snapshot. */
  async stateIn(db: Db, environmentId: string, customerRefId: string, resourceRefId: string | null): Promise<EntitlementState> {
    const [holdings] = await this.holdings(db, environmentId, [{ customerId: customerRefId, resourceId: resourceRefId }])
    const [state] = await this.#build(db, environmentId, [holdings!])
    return state!
  }

  /**
   * The state of a customer that the caller's transaction has made, from what the caller knows: the first version of its state, and its first
   * subscription. There is no usage yet.
   */
  async stateOfNew(db: Db, customer: NewCustomer, version: EpochMs, subscription: Subscription | null): Promise<EntitlementState> {
    const { environmentId, refId } = customer
    // Its own entitlements name features that are not at hand, and so do the prices of a budget; what is sold by the unit depends on what was agreed.
    if (subscription && (subscription.ownEntitlements.length > 0 || subscription.budget || sellsUnitsEver(subscription)))
      return this.stateIn(db, environmentId, refId, null)
    const holdings = await holdingsOfNew(db, this.#sources, { customer, version, subscription })
    const now = this.#now(holdings)
    return buildState(holdings, decideWinners(holdings, now), new Map(), now)
  }

  /**
   * The states of customers, of each its own first and then those of its resources, from one snapshot; for many it takes as many statements as for one.
   */
  states(environmentId: string, customerRefIds: readonly string[]): Promise<EntitlementState[]> {
    return inSnapshot(this.#prisma, async (db) => {
      const { basis, testClock } = await loadStateBasis(db, environmentId)
      const holders = customerRefIds.map((customerId) => ({ customerId, resourceId: null }))
      const ofCustomers = await this.holdings(db, environmentId, holders)
      const customerIds = ofCustomers.flatMap(({ customer }) => customer?.id ?? [])
      const resources = byCustomer(await loadResources(db, environmentId, customerIds))
      const all = ofCustomers.flatMap((holdings) => {
        const held = resources.get(holdings.customer?.id ?? '') ?? []
        return [holdings, ...held.map(({ id, refId }) => ({ ...holdings, resourceRefId: refId, resource: { id } }))]
      })
      return (await this.#build(db, environmentId, all, testClock)).map((state) => ({ ...state, basis }))
    })
  }

  /** What decides, without usage, in the order of the holders: for who needs to know which series a report belongs to. */
  holdings(db: Db, environmentId: string, holders: readonly Holder[]): Promise<Holdings[]> {
    return loadHoldings(db, this.#sources, environmentId, holders)
  }

  /** Whether the budgets of the subscriptions, with their status of now, are used up; false where there is none, or nothing is charged. In their order. */
  budgetsExceeded(environmentId: string, subscriptions: readonly Subscription[]): Promise<boolean[]> {
    return inSnapshot(this.#prisma, async (db) => {
      const facts = await loadBudgets(db, this.#sources, environmentId, subscriptions)
      const usedUp = new Set<string>()
      for (const budget of facts ? runningBudgets(subscriptions, facts) : [])
        if (isUsedUp(budget, facts!.usage)) usedUp.add(budget.subscriptionId)
      return subscriptions.map(({ id }) => usedUp.has(id))
    })
  }

  /** How the feature's usage is reset now, and since when what entitles to it has been in force; null where there is no such thing. */
  heldFeature(
    environmentId: string,
    holder: Holder,
    featureRefId: string,
  ): Promise<{ reset: Entitlement['reset']; since: EpochMs | null }> {
    return inSnapshot(this.#prisma, async (db) => {
      const [holdings] = await this.holdings(db, environmentId, [holder])
      const now = this.#now(holdings!)
      const winner = decideWinners(holdings!, now).find(({ entitlement }) => entitlement.feature.refId === featureRefId)
      return { reset: winner?.entitlement.reset ?? null, since: heldSince(holdings!, featureRefId, now) }
    })
  }

  /** What a state must have been read at to be current. Null: the customer is unknown. */
  versions(environmentId: string, customerRefId: string): Promise<StateVersions | null> {
    return loadVersions(this.#prisma, environmentId, customerRefId)
  }

  /** What customers may use, as versions, by the caller's identifiers; unknown customers are left out. */
  access(environmentId: string, customerRefIds: readonly string[]): Promise<Map<string, CustomerAccess>> {
    return loadAccess(this.#prisma, environmentId, customerRefIds)
  }

  /** The caller's identifiers of all features of the catalog. */
  async featureRefIds(environmentId: string): Promise<ReadonlySet<string>> {
    return new Set((await this.#sources.catalog.features(this.#prisma, environmentId)).keys())
  }

  /** The decision, with the version of the last change that was more than usage. A denial is an answer. */
  async check(environmentId: string, question: CheckQuestion): Promise<CheckAnswer> {
    const state = await this.state(environmentId, question.customerRefId, question.resourceRefId)
    return decideCheck(state, question, this.#sources.clock.now(), async (refId) => (await this.featureRefIds(environmentId)).has(refId))
  }

  /** With the usage of one reading. A change that was just made has a version of its time, so `notBefore` is for readers. */
  async #build(db: Db, environmentId: string, all: readonly Holdings[], notBefore = 0): Promise<EntitlementState[]> {
    const decided = all.map((holdings) => {
      const now = Math.max(this.#now(holdings), notBefore)
      return { holdings, now, winners: decideWinners(holdings, now) }
    })
    const asked = decided.flatMap(({ winners, now }) =>
      winners.flatMap((winner) => (winner.series ? [{ series: winner.series, period: winnerPeriodAt(winner, now), at: now }] : [])),
    )
    const usages = await readCurrentUsage(db, environmentId, asked, (series) => this.#unfilled(environmentId, series))
    return decided.map(({ holdings, winners, now }) => buildState(holdings, winners, usages, now))
  }

  /** A clock that lags behind the database's would put us before the start of what was just provisioned. */
  #now({ version }: { version: EpochMs }): EpochMs {
    return Math.max(this.#sources.clock.now(), version)
  }
}
