import type { BillingPeriod } from '../catalog/model.js'
import type { CatalogService } from '../catalog/service.js'
import type { Customer } from '../customer/model.js'
import { customerArchived, customerNotFound } from '../customer/problems.js'
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
import { advance, freeFollowUp, nextDue } from './lifecycle.js'
import { givesAccess, isFinal, type Subscription, type TrialEndBehavior } from './model.js'
import { addonNotFound, planNotFound, subscriptionIdTaken, subscriptionNotFound } from './problems.js'
import { decideProvision, type SubscriptionRequest } from './provision.js'
import {
  ensureResource,
  hasTrialedOrPaid,
  insertSubscription,
  loadOpenSubscriptions,
  loadSubscriptions,
  recordTrial,
  replaceContent,
  saveLife,
} from './repository.js'

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

/** Null: unknown. */
export type FindCustomer = (db: Db, environmentId: string, by: { refId: string } | { id: string }) => Promise<Customer | null>

/** A customer whose state row the transaction holds, and the database's time then: it rules every instant that the change writes. */
export type HeldCustomer = Customer & { now: EpochMs }

/** What to do once the transaction has committed: both are only wake-ups, and losing them loses nothing. */
export interface AfterCommit {
  changed(environmentId: string): void
  dueAt(environmentId: string, customerId: string, at: EpochMs): void
}

export class SubscriptionService {
  readonly #prisma: PrismaClient
  readonly #catalog: CatalogService
  readonly #entitlements: EntitlementService
  readonly #findCustomer: FindCustomer
  readonly #clock: Clock
  readonly #after: AfterCommit

  constructor(parts: {
    prisma: PrismaClient
    catalog: CatalogService
    entitlements: EntitlementService
    findCustomer: FindCustomer
    clock: Clock
    after: AfterCommit
  }) {
    this.#prisma = parts.prisma
    this.#catalog = parts.catalog
    this.#entitlements = parts.entitlements
    this.#findCustomer = parts.findCustomer
    this.#clock = parts.clock
    this.#after = parts.after
  }

  /**
   * Repeated, the same request answers the subscription that the first one made. One exception is the wish of the interface: asking for a plan
   * that is in trial, without naming the subscription, makes it paid.
   */
  async provision(
    environmentId: string,
    request: ProvisionSubscription & { customerRefId: string },
  ): Promise<{ subscription: Subscription; state: EntitlementState }> {
    const result = await inTransaction(this.#prisma, async (db) => {
      const customer = await this.#lockedCustomer(db, environmentId, request.customerRefId)
      const subscription = await this.provisionIn(db, customer, request)
      return {
        subscription,
        state: await this.#entitlements.stateIn(db, environmentId, customer.refId, subscription.resource?.refId ?? null),
      }
    })
    this.wake([result.subscription])
    return result
  }

  /** Provisions in the caller's transaction, which holds the customer's state row; the caller then calls `wake`. */
  async provisionIn(db: Db, customer: HeldCustomer, request: ProvisionSubscription): Promise<Subscription> {
    const { environmentId, now } = customer
    // load
    const named = request.subscriptionRefId ? await this.#byRefId(db, environmentId, request.subscriptionRefId) : null
    if (named && !isSamePlace(named, customer, request)) throw subscriptionIdTaken(named.refId)
    const held = await this.#recordDue(db, customer)
    const known = named && (held.all.find(({ id }) => id === named.id) ?? named)
    if (known && known.status !== 'ACTIVE') {
      if (held.changed.length > 0) await this.#recordAccessChange(db, customer)
      return known
    }
    const resolved = await this.#resolve(db, customer, request)
    const isTrialUsed = await hasTrialedOrPaid(db, environmentId, customer.id, resolved.product.id)
    // decide
    const decision = decideProvision({ request: resolved, held: held.open, isTrialUsed, now })
    if (known && decision.subscription.id !== known.id) throw subscriptionIdTaken(known.refId)
    if (decision.kind === 'existing') {
      if (held.changed.length > 0) await this.#recordAccessChange(db, customer)
      return decision.subscription
    }
    // save
    if (decision.kind === 'update') await replaceContent(db, decision.subscription)
    else {
      for (const ended of decision.ended) await saveLife(db, ended)
      await insertSubscription(db, decision.subscription)
      if (decision.subscription.trialEndDate !== null && !isTrialUsed) await recordTrial(db, decision.subscription)
    }
    // record the change message
    await this.#recordAccessChange(db, customer)
    return decision.subscription
  }

  /** Those that give access now, of the customer or of the named resources. */
  async active(
    environmentId: string,
    { customerRefId, resourceRefIds }: { customerRefId: string; resourceRefIds?: string[] },
  ): Promise<Subscription[]> {
    const customer = await this.#findCustomer(this.#prisma, environmentId, { refId: customerRefId })
    if (!customer) throw customerNotFound(customerRefId)
    const stored = await loadOpenSubscriptions(this.#prisma, this.#catalog, environmentId, customer.id)
    return advance(stored, this.#clock.now()).subscriptions.filter(
      ({ status, resource }) => givesAccess(status) && (!resourceRefIds || (resource !== null && resourceRefIds.includes(resource.refId))),
    )
  }

  /** Not safe to repeat: what has ended already is refused, so that the caller learns of it. */
  async cancel(
    environmentId: string,
    request: { subscriptionRefId: string; time?: CancellationTime | null; endDate?: EpochMs | null },
  ): Promise<Subscription> {
    const { canceled, changed } = await inTransaction(this.#prisma, async (db) => {
      const found = await this.#byRefId(db, environmentId, request.subscriptionRefId)
      if (!found) throw subscriptionNotFound(request.subscriptionRefId)
      const owner = await this.#findCustomer(db, environmentId, { id: found.customerId })
      const customer = await this.#lockedCustomer(db, environmentId, owner!.refId)
      const held = await this.#recordDue(db, customer)
      // What was read before the lock may have ended meanwhile.
      const before = held.all.find(({ id }) => id === found.id) ?? (await this.#byRefId(db, environmentId, request.subscriptionRefId))!
      const after = decideCancellation({
        subscription: before,
        time: request.time ?? null,
        endDate: request.endDate ?? null,
        timeZone: customer.timeZone ?? 'UTC',
        now: customer.now,
      })
      await saveLife(db, after)
      const free = isFinal(after.status) ? freeFollowUp({ before, after }, held.open) : null
      if (free) await insertSubscription(db, free)
      await this.#recordAccessChange(db, customer)
      return { canceled: after, changed: [...held.changed, after] }
    })
    this.wake(changed)
    return canceled
  }

  /**
   * Records what time has made due for one customer (our id); answers whether there was anything. Running it twice is harmless: what was recorded is
   * not due any more. `ifFree`: leaves a customer alone that another transaction holds.
   */
  async applyDue(environmentId: string, customerId: string, { ifFree = false } = {}): Promise<boolean> {
    const changed = await inTransaction(this.#prisma, async (db) => {
      const customer = await this.#findCustomer(db, environmentId, { id: customerId })
      const now = customer && (await lockCustomerState(db, environmentId, customerId, { ifFree }))
      if (!customer || now === null) return []
      const held = await this.#recordDue(db, { ...customer, now })
      if (held.changed.length > 0) await this.#recordAccessChange(db, customer)
      return held.changed
    })
    this.wake(changed)
    return changed.length > 0
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

  async #lockedCustomer(db: Db, environmentId: string, refId: string): Promise<HeldCustomer> {
    const customer = await this.#findCustomer(db, environmentId, { refId })
    if (!customer) throw customerNotFound(refId)
    const now = await lockCustomerState(db, environmentId, customer.id)
    // Read again: it may have been changed, or archived, while we waited.
    const current = await this.#findCustomer(db, environmentId, { id: customer.id })
    if (!current) throw customerNotFound(refId)
    if (current.archivedAt !== null) throw customerArchived(refId)
    return { ...current, now: now ?? (await nextAccessVersion(db, environmentId, customer.id)) }
  }

  async #byRefId(db: Db, environmentId: string, refId: string): Promise<Subscription | null> {
    const [subscription] = await loadSubscriptions(db, this.#catalog, { environmentId, refId })
    return subscription ?? null
  }

  /**
   * Loads the customer's subscriptions and records everything that is due, so that decisions start from the status at now. `all`: those that were
   * not final as stored; `open`: those that are not final now; `changed`: those that were moved or started.
   */
  async #recordDue(db: Db, { environmentId, id: customerId, now }: Pick<HeldCustomer, 'environmentId' | 'id' | 'now'>) {
    const stored = await loadOpenSubscriptions(db, this.#catalog, environmentId, customerId)
    const { subscriptions: all, moved, started } = advance(stored, now)
    const isStarted = new Set(started.map(({ id }) => id))
    const isMoved = new Set(moved.map(({ after }) => after.id))
    const changed = all.filter(({ id }) => isMoved.has(id) || isStarted.has(id))
    // Ends first, and what becomes active before what begins a trial: at no time do two have the same status in one place.
    const place = ({ status }: Subscription) => (isFinal(status) ? 0 : status === 'ACTIVE' ? 1 : 2)
    for (const subscription of changed.toSorted((a, b) => place(a) - place(b))) {
      if (isStarted.has(subscription.id)) await insertSubscription(db, subscription)
      else await saveLife(db, subscription)
    }
    return { all, open: all.filter(({ status }) => !isFinal(status)), changed }
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
      if (addons.some((other) => other.version.id === version.id))
        throw invalidInput(`Add-on "${addonRefId}" is named twice: give one quantity.`, { addonId: addonRefId })
      addons.push({ id: newId(), version, quantity })
    }
    const quantities: SubscriptionRequest['quantities'] = []
    const features: ReadonlyMap<string, { id: string }> = request.quantities?.length
      ? await this.#catalog.features(db, environmentId)
      : new Map()
    for (const { featureRefId, quantity } of request.quantities ?? []) {
      const feature = features.get(featureRefId)
      if (!feature) throw invalidInput(`Feature "${featureRefId}" was not found.`, { featureId: featureRefId })
      if (quantities.some((other) => other.featureId === feature.id))
        throw invalidInput(`Feature "${featureRefId}" is named twice: give one quantity.`, { featureId: featureRefId })
      quantities.push({ featureId: feature.id, featureRefId, quantity })
    }
    const id = newId()
    return {
      id,
      refId: request.subscriptionRefId ? checkRefId(request.subscriptionRefId, 'subscriptionId') : id,
      environmentId,
      customerId: customer.id,
      timeZone: customer.timeZone ?? 'UTC',
      resource: request.resourceRefId
        ? await ensureResource(db, environmentId, customer.id, checkRefId(request.resourceRefId, 'resourceId'))
        : null,
      plan,
      product: (await this.#catalog.productRules(db, environmentId, plan.productId))!,
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

/** Whether the subscription that the request names is the one that it describes. */
function isSamePlace(named: Subscription, customer: Customer, request: ProvisionSubscription): boolean {
  return (
    named.customerId === customer.id &&
    named.plan.refId === request.planRefId &&
    (named.resource?.refId ?? null) === (request.resourceRefId ?? null)
  )
}
