import type { BillingPeriod } from '../catalog/model.js'
import type { CatalogService } from '../catalog/service.js'
import type { Customer } from '../customer/model.js'
import { customerArchived, customerNotFound } from '../customer/problems.js'
import { findCustomer } from '../customer/repository.js'
import { lockCustomerState, nextAccessVersion } from '../customer/state-version.js'
import type { EntitlementService } from '../entitlement/service.js'
import type { EntitlementState } from '../entitlement/state.js'
import type { Clock, EpochMs } from '../kernel/clock.js'
import type { Decimal } from '../kernel/decimal.js'
import { checkRefId, newId } from '../kernel/id.js'
import { invalidInput } from '../kernel/problem.js'
import { type Db, inTransaction, type PrismaClient } from '../platform/postgres.js'
import { recordChange } from '../updates/outbox.js'
import { type CancellationTime, decideCancellation } from './cancel.js'
import { advance, freeFollowUp, nextDue, startFollowUp } from './lifecycle.js'
import { givesAccess, isFinal, type Subscription, type TrialEndBehavior } from './model.js'
import { addonNotFound, planNotFound, subscriptionIdTaken, subscriptionNotFound } from './problems.js'
import { decideProvision, type SubscriptionRequest } from './provision.js'
import { ensureResource, hasTrialedOrPaid, insertSubscription, loadSubscriptions, recordTrial, replaceContent, saveLife } from './repository.js'

/** A request to subscribe, in the caller's identifiers. Absent and null mean the same. */
export interface ProvisionSubscription {
  planRefId: string
  subscriptionRefId?: string | null
  resourceRefId?: string | null
  billingPeriod?: BillingPeriod | null
  billingCountryCode?: string | null
  addons?: { addonRefId: string; quantity: number }[] | null
  quantities?: { featureRefId: string; quantity: Decimal }[] | null
  startDate?: EpochMs | null
  skipTrial?: boolean | null
  trialOverride?: { isTrial: boolean; trialEndDate?: EpochMs | null; trialEndBehavior?: TrialEndBehavior | null } | null
  additionalMetaData?: Record<string, unknown> | null
}

/** What to do once the transaction has committed: both are only wake-ups, and losing them loses nothing. */
export interface AfterCommit {
  changed(environmentId: string): void
  dueAt(environmentId: string, customerId: string, at: EpochMs): void
}

export class SubscriptionService {
  readonly #prisma: PrismaClient
  readonly #catalog: CatalogService
  readonly #entitlements: EntitlementService
  readonly #clock: Clock
  readonly #after: AfterCommit

  constructor(parts: { prisma: PrismaClient; catalog: CatalogService; entitlements: EntitlementService; clock: Clock; after: AfterCommit }) {
    this.#prisma = parts.prisma
    this.#catalog = parts.catalog
    this.#entitlements = parts.entitlements
    this.#clock = parts.clock
    this.#after = parts.after
  }

  /** Safe to repeat: the same request answers the subscription that the first one made. */
  async provision(environmentId: string, request: ProvisionSubscription & { customerRefId: string }): Promise<{ subscription: Subscription; state: EntitlementState }> {
    const result = await inTransaction(this.#prisma, async (db) => {
      const customer = await this.#lockedCustomer(db, environmentId, request.customerRefId)
      const subscription = await this.provisionIn(db, customer, request)
      return { subscription, state: await this.#entitlements.stateIn(db, environmentId, customer.refId, subscription.resource?.refId ?? null) }
    })
    this.wake([result.subscription])
    return result
  }

  /** Provisions in the caller's transaction, which holds the customer's state row; the caller then calls `wake`. */
  async provisionIn(db: Db, customer: Customer & { now: EpochMs }, request: ProvisionSubscription): Promise<Subscription> {
    const { environmentId, now } = customer
    // load
    const known = request.subscriptionRefId ? await this.#byRefId(db, environmentId, request.subscriptionRefId) : null
    if (known) {
      if (known.customerId !== customer.id || known.plan.refId !== request.planRefId) throw subscriptionIdTaken(known.refId)
      return advance([known], now).subscriptions[0]!
    }
    const resolved = await this.#resolve(db, customer, request)
    const isTrialUsed = await hasTrialedOrPaid(db, environmentId, customer.id, resolved.product.id)
    const held = await this.#recordDue(db, customer)
    // decide
    const decision = decideProvision({ request: resolved, held: held.subscriptions, isTrialUsed, now })
    if (decision.kind === 'existing') {
      if (held.hasChanged) await this.#recordAccessChange(db, customer)
      return decision.subscription
    }
    // save
    if (decision.kind === 'update') await replaceContent(db, decision.subscription)
    else {
      for (const ended of decision.ended) await saveLife(db, ended)
      await insertSubscription(db, decision.subscription)
      if (decision.subscription.trialEndDate !== null) await recordTrial(db, decision.subscription)
    }
    // record the change message
    await this.#recordAccessChange(db, customer)
    return decision.subscription
  }

  /** Those that give access now, of the customer or of the named resources. */
  async active(environmentId: string, { customerRefId, resourceRefIds }: { customerRefId: string; resourceRefIds?: string[] }): Promise<Subscription[]> {
    const customer = await findCustomer(this.#prisma, environmentId, { refId: customerRefId })
    if (!customer) throw customerNotFound(customerRefId)
    const stored = await loadSubscriptions(this.#prisma, this.#catalog, { environmentId, customerId: customer.id, status: { notIn: ['CANCELED', 'EXPIRED'] } })
    return advance(stored, this.#clock.now()).subscriptions.filter(
      ({ status, resource }) => givesAccess(status) && (!resourceRefIds || (resource !== null && resourceRefIds.includes(resource.refId))),
    )
  }

  async cancel(
    environmentId: string,
    request: { subscriptionRefId: string; time?: CancellationTime | null; endDate?: EpochMs | null },
  ): Promise<Subscription> {
    const canceled = await inTransaction(this.#prisma, async (db) => {
      const found = await this.#byRefId(db, environmentId, request.subscriptionRefId)
      if (!found) throw subscriptionNotFound(request.subscriptionRefId)
      const owner = await findCustomer(db, environmentId, { id: found.customerId })
      const customer = await this.#lockedCustomer(db, environmentId, owner!.refId)
      const { subscriptions } = await this.#recordDue(db, customer)
      const subscription = subscriptions.find(({ id }) => id === found.id) ?? found
      const decided = decideCancellation({
        subscription,
        time: request.time ?? null,
        endDate: request.endDate ?? null,
        timeZone: customer.timeZone ?? 'UTC',
        now: customer.now,
      })
      await saveLife(db, decided)
      if (isFinal(decided.status)) await this.#followEnd(db, decided, subscriptions)
      await this.#recordAccessChange(db, customer)
      return decided
    })
    this.wake([canceled])
    return canceled
  }

  /**
   * Records what time has made due for one customer (our id); answers whether there was anything. Running it twice is harmless: what was recorded is
   * not due any more. `ifFree`: leaves a customer alone that another transaction holds.
   */
  async applyDue(environmentId: string, customerId: string, { ifFree = false } = {}): Promise<boolean> {
    const subscriptions = await inTransaction(this.#prisma, async (db) => {
      const customer = await findCustomer(db, environmentId, { id: customerId })
      const now = customer && (await lockCustomerState(db, environmentId, customerId, { ifFree }))
      if (!customer || now === null) return []
      const held = await this.#recordDue(db, { ...customer, now })
      if (!held.hasChanged) return []
      await this.#recordAccessChange(db, customer)
      return held.subscriptions
    })
    if (subscriptions.length > 0) this.wake(subscriptions)
    return subscriptions.length > 0
  }

  /** Customers (our ids) with something due, the longest overdue first. */
  async dueCustomers(limit: number): Promise<{ environmentId: string; customerId: string }[]> {
    const rows = await this.#prisma.$queryRaw<{ environment_id: string; customer_id: string }[]>`
      SELECT environment_id, customer_id FROM subscription WHERE due_at <= clock_timestamp() GROUP BY 1, 2 ORDER BY min(due_at) LIMIT ${limit}`
    return rows.map((row) => ({ environmentId: row.environment_id, customerId: row.customer_id }))
  }

  /** After a commit: delivery of the change, and a wake-up at the next instant that something is due. */
  wake(subscriptions: readonly Subscription[]): void {
    const environmentIds = new Set(subscriptions.map(({ environmentId }) => environmentId))
    for (const environmentId of environmentIds) this.#after.changed(environmentId)
    for (const subscription of subscriptions) {
      const due = nextDue(subscription)
      if (due) this.#after.dueAt(subscription.environmentId, subscription.customerId, due.at)
    }
  }

  async #lockedCustomer(db: Db, environmentId: string, refId: string): Promise<Customer & { now: EpochMs }> {
    const customer = await findCustomer(db, environmentId, { refId })
    if (!customer) throw customerNotFound(refId)
    if (customer.archivedAt !== null) throw customerArchived(refId)
    const now = await lockCustomerState(db, environmentId, customer.id)
    return { ...customer, now: now ?? this.#clock.now() }
  }

  async #byRefId(db: Db, environmentId: string, refId: string): Promise<Subscription | null> {
    const [subscription] = await loadSubscriptions(db, this.#catalog, { environmentId, refId })
    return subscription ?? null
  }

  /** Loads the customer's subscriptions and records everything that is due, so that decisions start from the status at now. */
  async #recordDue(db: Db, { environmentId, id: customerId, now }: Pick<Customer, 'environmentId' | 'id'> & { now: EpochMs }) {
    const stored = await loadSubscriptions(db, this.#catalog, { environmentId, customerId, status: { notIn: ['CANCELED', 'EXPIRED'] } })
    const { subscriptions, moved, started } = advance(stored, now, () => newId())
    const startedIds = new Set(started.map(({ id }) => id))
    for (const id of new Set(moved.map(({ after }) => after.id))) {
      if (!startedIds.has(id)) await saveLife(db, subscriptions.find((subscription) => subscription.id === id)!)
    }
    for (const { id } of started) await insertSubscription(db, subscriptions.find((subscription) => subscription.id === id)!)
    return { subscriptions: subscriptions.filter(({ status }) => !isFinal(status)), hasChanged: moved.length > 0 }
  }

  /** Starts the free plan that the product's end setting leads to. */
  async #followEnd(db: Db, ended: Subscription, others: readonly Subscription[]): Promise<void> {
    const followUp = freeFollowUp(ended, others)
    if (followUp) await insertSubscription(db, startFollowUp(followUp, ended, newId()))
  }

  /** A new version of the customer's state and its message, with the change. */
  async #recordAccessChange(db: Db, { environmentId, id, refId }: Pick<Customer, 'environmentId' | 'id' | 'refId'>): Promise<void> {
    const version = await nextAccessVersion(db, environmentId, id)
    await recordChange(db, { environmentId, kind: 'entitlements', customerId: refId, version })
  }

  async #resolve(db: Db, customer: Customer, request: ProvisionSubscription): Promise<SubscriptionRequest> {
    const { environmentId } = customer
    const plan = await this.#catalog.latestVersion(db, environmentId, 'PLAN', request.planRefId)
    if (!plan) throw planNotFound(request.planRefId)
    const addons: SubscriptionRequest['addons'] = []
    for (const { addonRefId, quantity } of request.addons ?? []) {
      const version = await this.#catalog.latestVersion(db, environmentId, 'ADDON', addonRefId)
      if (!version) throw addonNotFound(addonRefId)
      if (addons.some((other) => other.version.id === version.id)) throw invalidInput(`Add-on "${addonRefId}" is named twice: give one quantity.`, { addonId: addonRefId })
      addons.push({ id: newId(), version, quantity })
    }
    const quantities: SubscriptionRequest['quantities'] = []
    for (const { featureRefId, quantity } of request.quantities ?? []) {
      const feature = await this.#catalog.feature(db, environmentId, featureRefId)
      if (!feature) throw invalidInput(`Feature "${featureRefId}" was not found.`, { featureId: featureRefId })
      quantities.push({ featureId: feature.id, featureRefId, quantity })
    }
    const id = newId()
    return {
      id,
      refId: request.subscriptionRefId ? checkRefId(request.subscriptionRefId, 'subscriptionId') : id,
      environmentId,
      customerId: customer.id,
      timeZone: customer.timeZone ?? 'UTC',
      resource: request.resourceRefId ? await ensureResource(db, environmentId, customer.id, checkRefId(request.resourceRefId, 'resourceId')) : null,
      plan,
      product: await this.#catalog.productRules(db, environmentId, plan.productId),
      addons,
      quantities,
      billingPeriod: request.billingPeriod ?? null,
      billingCountryCode: request.billingCountryCode ?? null,
      startDate: request.startDate ?? null,
      skipTrial: request.skipTrial ?? false,
      trialOverride: request.trialOverride
        ? {
            isTrial: request.trialOverride.isTrial,
            trialEndDate: request.trialOverride.trialEndDate ?? null,
            trialEndBehavior: request.trialOverride.trialEndBehavior ?? null,
          }
        : null,
      additionalMetaData: request.additionalMetaData ?? null,
    }
  }
}
