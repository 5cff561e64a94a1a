import type { RecordedChange } from '../billing/ledger.js'
import type { BillingRequest } from '../billing/request.js'
import type { CatalogService } from '../catalog/service.js'
import type { Customer } from '../customer/model.js'
import { customerNotFound } from '../customer/problems.js'
import { type HeldCustomer, lockCustomerState, recordAccessChange } from '../customer/state-version.js'
import type { EntitlementService } from '../entitlement/service.js'
import type { EntitlementState } from '../entitlement/state.js'
import type { EnvironmentTime } from '../environment/model.js'
import type { EpochMs } from '../kernel/clock.js'
import { type Db, inTransaction, type PrismaClient } from '../platform/postgres.js'
import { advance } from './advance.js'
import { firstPeriod } from './billing-period.js'
import { type CancellationTime, decideCancellation } from './cancel.js'
import { apply } from './lifecycle.js'
import { givesAccess, type Subscription } from './model.js'
import { awaitingPayment } from './payment.js'
import { subscriptionIdTaken, subscriptionNotFound } from './problems.js'
import { changesOf, decideProvision, type ProvisionDecision } from './provision.js'
import { hasTrialedOrPaid, insertSubscription, loadOpenSubscriptions, recordTrial, saveSubscription } from './repository.js'
import { findDueCustomers } from './repository-due.js'
import { type AfterCommit, type FindCustomer, type HeldSubscriptions, type RecordsParts, SubscriptionRecords } from './service-records.js'
import { type ProvisionSubscription, References } from './service-references.js'

export type { AfterCommit, FindCustomer } from './service-records.js'
export type { ProvisionSubscription } from './service-references.js'

/** A subscription that exists elsewhere, as it waits to be imported (JSON). */
export type ImportSubscription = ProvisionSubscription & { customerRefId: string }

export interface SubscriptionParts {
  prisma: PrismaClient
  catalog: CatalogService
  entitlements: EntitlementService
  findCustomer: FindCustomer
  billing: RecordsParts['billing']
  time: EnvironmentTime
  after: AfterCommit
}

export class SubscriptionService {
  readonly #prisma: PrismaClient
  readonly #catalog: CatalogService
  readonly #entitlements: EntitlementService
  readonly #findCustomer: FindCustomer
  readonly #billing: SubscriptionParts['billing']
  readonly #time: EnvironmentTime
  readonly #records: SubscriptionRecords
  readonly #references: References

  constructor(parts: SubscriptionParts) {
    this.#prisma = parts.prisma
    this.#catalog = parts.catalog
    this.#entitlements = parts.entitlements
    this.#findCustomer = parts.findCustomer
    this.#billing = parts.billing
    this.#time = parts.time
    this.#records = new SubscriptionRecords(parts)
    this.#references = new References(parts)
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
      const customer = await this.#records.hold(db, environmentId, { refId: request.customerRefId })
      const subscription = await this.provisionIn(db, customer, request)
      return {
        subscription,
        state: await this.#entitlements.stateIn(db, environmentId, customer.refId, subscription.resource?.refId ?? null),
      }
    })
    this.wake([result.subscription])
    return result
  }

  /** What the customer or the resource is entitled to that the subscription is bound to. */
  stateOf(environmentId: string, { customerId, resource }: Subscription): Promise<EntitlementState> {
    return inTransaction(this.#prisma, async (db) => {
      const customer = (await this.#findCustomer(db, environmentId, { id: customerId }))!
      return this.#entitlements.stateIn(db, environmentId, customer.refId, resource?.refId ?? null)
    })
  }

  /**
   * Provisions in the caller's transaction, which holds the customer's state row; the caller then calls `wake`. `isNew`: the transaction has made the
   * customer and recorded that change of access, so there is nothing yet to be looked up, and nothing more to be told.
   */
  async provisionIn(db: Db, customer: HeldCustomer, request: ProvisionSubscription, { isNew = false } = {}): Promise<Subscription> {
    const { environmentId, now } = customer
    // load
    const named = request.subscriptionRefId ? await this.#records.byRefId(db, environmentId, request.subscriptionRefId) : null
    if (named && !isSamePlace(named, customer, request)) throw subscriptionIdTaken(named.refId)
    const held = isNew ? nothingHeld : await this.#records.recordDue(db, customer)
    const known = named && (held.all.find(({ id }) => id === named.id) ?? named)
    if (known && known.status !== 'ACTIVE') {
      if (held.isAccessChanged) await recordAccessChange(db, customer)
      return known
    }
    const resolved = await this.#references.request(db, customer, request)
    const isTrialUsed = !isNew && (await hasTrialedOrPaid(db, environmentId, customer.id, resolved.product.id))
    // decide
    const decision = decideProvision({ request: resolved, held: held.open, isTrialUsed, now })
    if (known && decision.subscription.id !== known.id) throw subscriptionIdTaken(known.refId)
    if (decision.kind === 'existing') {
      if (held.isAccessChanged) await recordAccessChange(db, customer)
      return decision.subscription
    }
    // save
    const before = (id: string) => held.open.find((other) => other.id === id)!
    const { subscription, changes } = await this.#withPayment(db, customer, { decision, held: held.open, request })
    if (decision.kind === 'update') await saveSubscription(db, before(subscription.id), subscription)
    else {
      for (const { before, after } of changes) if (before) await saveSubscription(db, before, after)
      await insertSubscription(db, subscription)
      if (subscription.trialEndDate !== null && !isTrialUsed) await recordTrial(db, subscription)
    }
    await this.#billing.recordIn(db, customer, changes, request.billing)
    // record the change message
    if (!isNew) await recordAccessChange(db, customer)
    return subscription
  }

  /**
   * The decision as changes, the asked subscription last. Where the payment comes first, the subscription waits for it, and of those that it ends only
   * others that wait.
   */
  async #withPayment(
    db: Db,
    customer: HeldCustomer,
    {
      decision,
      held,
      request,
    }: { decision: Exclude<ProvisionDecision, { kind: 'existing' }>; held: readonly Subscription[]; request: ProvisionSubscription },
  ): Promise<{ subscription: Subscription; changes: RecordedChange[] }> {
    const changes = changesOf(decision, held, customer.now)
    const { subscription } = decision
    if (decision.kind === 'create' && subscription.status === 'NOT_STARTED' && subscription.trialEndDate === null) {
      const started: Subscription = { ...subscription, status: 'ACTIVE', currentPeriod: firstPeriod(subscription, subscription.startDate) }
      const start = { before: null, after: started, at: subscription.startDate, isRenewal: false }
      const later = { ...subscription, awaitsPayment: await this.#billing.isPaymentFirst(db, customer, [start], request.billing) }
      return { subscription: later, changes: [...changes.slice(0, -1), { ...changes.at(-1)!, after: later }] }
    }
    if (decision.kind === 'update' || subscription.status !== 'ACTIVE') return { subscription, changes }
    if (!(await this.#billing.isPaymentFirst(db, customer, changes, request.billing))) return { subscription, changes }
    const waiting = awaitingPayment(subscription)
    const inForce = changes.find(({ before }) => before?.status === 'ACTIVE')?.before ?? null
    const ended = changes.filter(({ before }) => before?.status === 'PAYMENT_PENDING')
    return { subscription: waiting, changes: [...ended, { before: null, after: waiting, at: customer.now, isRenewal: false, inForce }] }
  }

  /**
   * Takes over a subscription that exists elsewhere, in the caller's transaction; repeated with its `subscriptionRefId`, it answers what is there. The
   * caller tells `changed` after the commit; wake-ups are left to the sweep.
   */
  async importIn(db: Db, environmentId: string, input: ImportSubscription): Promise<Subscription> {
    return this.provisionIn(db, await this.#records.hold(db, environmentId, { refId: input.customerRefId }), input)
  }

  /** Those that give access now, of the customer or of the named resources. */
  async active(
    environmentId: string,
    { customerRefId, resourceRefIds }: { customerRefId: string; resourceRefIds?: string[] },
  ): Promise<Subscription[]> {
    const customer = await this.#findCustomer(this.#prisma, environmentId, { refId: customerRefId })
    if (!customer) throw customerNotFound(customerRefId)
    const stored = await loadOpenSubscriptions(this.#prisma, this.#catalog, environmentId, customer.id)
    const now = await this.#time.now(environmentId)
    return advance(stored, now).subscriptions.filter(
      ({ status, resource }) => givesAccess(status) && (!resourceRefIds || (resource !== null && resourceRefIds.includes(resource.refId))),
    )
  }

  /** With its status of now. Fails with SUBSCRIPTION_NOT_FOUND. */
  async get(environmentId: string, refId: string): Promise<Subscription> {
    const found = await this.#records.byRefId(this.#prisma, environmentId, refId)
    if (!found) throw subscriptionNotFound(refId)
    const open = await loadOpenSubscriptions(this.#prisma, this.#catalog, environmentId, found.customerId)
    // What is due depends on what else the customer holds.
    const { subscriptions } = advance(open, await this.#time.now(environmentId))
    return subscriptions.find(({ id }) => id === found.id) ?? found
  }

  /** Not safe to repeat: what has ended already is refused, so that the caller learns of it. */
  cancel(
    environmentId: string,
    request: {
      subscriptionRefId: string
      time?: CancellationTime | null
      endDate?: EpochMs | null
      revokesEntitlements?: boolean
      billing?: BillingRequest
    },
  ): Promise<Subscription> {
    const { subscriptionRefId, time = null, endDate = null, revokesEntitlements, billing } = request
    const decide = (subscription: Subscription, { customer: { now } }: { customer: HeldCustomer }) =>
      decideCancellation({ subscription, time, endDate, revokesEntitlements, now })
    return this.#records.change(environmentId, subscriptionRefId, decide, billing)
  }

  /**
   * Cancels everything that is not final, for a customer that is being archived. In the caller's transaction, which holds the customer's state row and
   * records the change.
   */
  async archiveIn(db: Db, customer: Pick<HeldCustomer, 'environmentId' | 'id' | 'billingCurrency' | 'now'>): Promise<void> {
    const { open } = await this.#records.recordDue(db, customer)
    const changes = open.map((before) => ({ before, after: apply(before, 'archive', customer.now), at: customer.now, isRenewal: false }))
    for (const { before, after } of changes) await saveSubscription(db, before, after)
    await this.#billing.recordIn(db, customer, changes)
  }

  /**
   * Records what time has made due for one customer (our id); answers whether there was anything. Running it twice is harmless: what was recorded is
   * not due any more. `ifFree`: leaves a customer alone that another transaction holds.
   */
  async applyDue(environmentId: string, customerId: string, { ifFree = false } = {}): Promise<boolean> {
    const { changed, isAccessChanged } = await inTransaction(this.#prisma, async (db) => {
      const customer = await this.#findCustomer(db, environmentId, { id: customerId })
      const now = customer && (await lockCustomerState(db, environmentId, customerId, { ifFree }))
      if (!customer || now === null) return { changed: [], isAccessChanged: false }
      const held = await this.#records.recordDue(db, { ...customer, now })
      if (held.isAccessChanged) await recordAccessChange(db, customer)
      return held
    })
    this.#records.wake(changed, { isAccessChanged })
    return changed.length > 0
  }

  /** Customers (our ids) with something due: half of them the longest overdue, half the latest, so that a crowd that came due together holds up nobody. */
  dueCustomers(limit: number): Promise<{ environmentId: string; customerId: string }[]> {
    return findDueCustomers(this.#prisma, limit)
  }

  /** After a commit: delivery of the change, and a wake-up at the next instant that something is due. */
  wake(subscriptions: readonly Subscription[]): void {
    this.#records.wake(subscriptions)
  }
}

const nothingHeld: HeldSubscriptions = { all: [], open: [], changed: [], isAccessChanged: false }

/** Whether the subscription that the request names is the one that it describes. */
function isSamePlace(named: Subscription, customer: Customer, request: ProvisionSubscription): boolean {
  return (
    named.customerId === customer.id &&
    named.plan.refId === request.planRefId &&
    (named.resource?.refId ?? null) === (request.resourceRefId ?? null)
  )
}
