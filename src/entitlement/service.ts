import type { CatalogService } from '../catalog/service.js'
import type { Clock } from '../kernel/clock.js'
import type { Decimal } from '../kernel/decimal.js'
import { readCurrentUsage } from '../metering/current-usage.js'
import type { Db, PrismaClient } from '../platform/postgres.js'
import { type Decision, evaluate } from './evaluate.js'
import { buildState, decideWinners, type Holdings } from './holdings.js'
import { loadHoldings } from './repository.js'
import type { EntitledFeature, EntitlementState } from './state.js'

export interface CheckQuestion {
  /** The caller's identifiers. */
  customerRefId: string
  featureRefId: string
  resourceRefId: string | null
  requestedUsage: Decimal | null
  requestedValues: string[] | null
}

/** Answers what a customer may use, from the records: always right after the mutation that changed them. */
export class EntitlementService {
  readonly #prisma: PrismaClient
  readonly #catalog: CatalogService
  readonly #clock: Clock

  constructor({ prisma, catalog, clock }: { prisma: PrismaClient; catalog: CatalogService; clock: Clock }) {
    this.#prisma = prisma
    this.#catalog = catalog
    this.#clock = clock
  }

  /** The entitlements of a customer or of one of its resources, or the reason why there are none. Unknown customers are answered, not refused. */
  state(environmentId: string, customerRefId: string, resourceRefId: string | null): Promise<EntitlementState> {
    return this.#prisma.$transaction((db) => this.stateIn(db, environmentId, customerRefId, resourceRefId), { isolationLevel: 'RepeatableRead' })
  }

  /** The same inside the caller's transaction, which holds the customer's state row or reads one snapshot. */
  async stateIn(db: Db, environmentId: string, customerRefId: string, resourceRefId: string | null): Promise<EntitlementState> {
    const holdings = await loadHoldings(db, this.#catalog, environmentId, customerRefId, resourceRefId)
    const now = this.#clock.now()
    const winners = decideWinners(holdings, now)
    const usages = holdings.customer && winners.length > 0 ? await readCurrentUsage(db, environmentId, holdings.customer.id, now) : new Map()
    return buildState(holdings, winners, usages, now)
  }

  /** What decides, without usage: for who needs to know which series a report belongs to. */
  holdings(db: Db, environmentId: string, customerRefId: string, resourceRefId: string | null): Promise<Holdings> {
    return loadHoldings(db, this.#catalog, environmentId, customerRefId, resourceRefId)
  }

  /** The decision, and the feature where the environment has it. A denial is an answer. */
  async check(environmentId: string, question: CheckQuestion): Promise<{ decision: Decision; feature: EntitledFeature | null }> {
    const state = await this.state(environmentId, question.customerRefId, question.resourceRefId)
    const decision = evaluate({
      state,
      featureId: question.featureRefId,
      requestedUsage: question.requestedUsage ?? undefined,
      requestedValues: question.requestedValues ?? undefined,
      now: this.#clock.now(),
    })
    if (decision.granted || decision.entitlement) return { decision, feature: decision.entitlement?.feature ?? null }
    const feature = await this.#catalog.feature(this.#prisma, environmentId, question.featureRefId)
    if (!feature && decision.reason === 'NoFeatureEntitlementInSubscription') return { decision: { ...decision, reason: 'FeatureNotFound' }, feature: null }
    return { decision, feature }
  }
}
