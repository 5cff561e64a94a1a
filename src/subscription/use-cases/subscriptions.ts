import type { BillingLedger, RecordedChange } from '../../billing/ledger.js'
import type { BillingRequest } from '../../billing/rules/request.js'
import type { CatalogService } from '../../catalog/service.js'
import { lockCustomerState, recordAccessChange } from '../../changes/access.js'
import type { Customer } from '../../customer/model/customer.js'
import { customerNotFound } from '../../customer/model/problems.js'
import { type HeldCustomer } from '../../customer/records/hold.js'
import type { EntitlementState } from '../../entitlement/rules/state.js'
import type { EntitlementService } from '../../entitlement/service.js'
import type { EnvironmentTime } from '../../environment/model/environment.js'
import type { EpochMs } from '../../kernel/clock.js'
import { type Db, inTransaction, type PrismaClient } from '../../platform/postgres.js'
import { findDueCustomers, hasDue, holdDueCustomers } from '../records/due.js'
import { type AfterCommit, type FindCustomer, type HeldSubscriptions, type RecordsParts, SubscriptionRecords } from '../records/frame.js'
import {
  claimSourceUpdate,
  hasTrialedOrPaid,
  insertSubscription,
  loadOpenSubscriptions,
  recordTrial,
  saveSubscription,
} from '../records/subscriptions.js'
import { advance } from '../rules/advance.js'
import { firstPeriod } from '../rules/billing-period.js'
import { type CancellationTime, decideCancellation } from '../rules/cancel.js'
import { apply } from '../rules/lifecycle.js'
import { awaitingPayment } from '../rules/payment.js'
import { paymentNotWithdrawn, subscriptionIdTaken, subscriptionNotFound } from '../rules/problems.js'
import { changesOf, decideProvision, type ProvisionDecision } from '../rules/provision.js'
import { givesAccess, type Subscription } from '../rules/subscription.js'
import { agreeLater } from './agree-later.js'
import type { ProviderRequests } from './provider-requests.js'
import { type ProvisionSubscription, References } from './references.js'

export type { AfterCommit, FindCustomer } from '../records/frame.js'
export type { ProvisionSubscription } from './references.js'

/** A subscription that exists elsewhere, as it waits to be imported (JSON). */
export type ImportSubscription = ProvisionSubscription & {
  customerRefId: string
  /** When it last changed where it comes from; an import that is older than the last one of the same `subscriptionRefId` changes nothing. */
  updatedAt?: EpochMs | null
}

export interface SubscriptionParts {
  prisma: PrismaClient
  catalog: CatalogService
  entitlements: EntitlementService
  findCustomer: FindCustomer
  billing: RecordsParts['billing'] & Pick<BillingLedger, 'agreeIn' | 'withdrawIn'>
  /** Makes the calls of the billing provider that wait for a subscription (our id), outside of any transaction; never throws for what fails. */
  makeCalls: (environmentId: string, subscriptionId: string) => Promise<void>
  provider: ProviderRequests
  time: EnvironmentTime
  after: AfterCommit
}

export class SubscriptionService {
  readonly #prisma: PrismaClient
  readonly #catalog: CatalogService
  readonly #entitlements: EntitlementService
  readonly #findCustomer: FindCustomer
  readonly #billing: SubscriptionParts['billing']
  readonly #makeCalls: SubscriptionParts['makeCalls']
  readonly #provider: ProviderRequests
  readonly #time: EnvironmentTime
  readonly #records: SubscriptionRecords
  readonly #references: References

  constructor(parts: SubscriptionParts) {
    this.#prisma = parts.prisma
    this.#catalog = parts.catalog
    this.#entitlements = parts.entitlements
    this.#findCustomer = parts.findCustomer
    this.#billing = parts.billing
    this.#makeCalls = parts.makeCalls
    this.#provider = parts.provider
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
    asked: ProvisionSubscription & { customerRefId: string },
  ): Promise<{ subscription: Subscription; state: EntitlementState }> {
    const request = await this.#provider.before(environmentId, asked, [asked.payingCustomerRefId, asked.customerRefId])
    let result = await this.#provision(environmentId, request)
    if ('withdrawn' in result) {
      await this.#makeCalls(environmentId, result.withdrawn.id)
      result = await this.#provision(environmentId, request)
    }
    if ('withdrawn' in result) throw paymentNotWithdrawn(result.withdrawn.refId)
    this.wake([result.subscription])
    await this.#provider.after(result.subscription, request)
    return result
  }

  /** `withdrawn`: nothing was provisioned, because first the invoice is taken back of one that waits for its payment and would lose its place. */
  #provision(
    environmentId: string,
    request: ProvisionSubscription & { customerRefId: string },
  ): Promise<{ subscription: Subscription; state: EntitlementState } | { withdrawn: Subscription }> {
    return inTransaction(this.#prisma, async (db) => {
      const customer = await this.#records.hold(db, environmentId, { refId: request.customerRefId })
      const plan = await this.#planProvision(db, customer, request, { isNew: false })
      const waiting = 'changes' in plan ? plan.changes.find(({ before }) => before?.status === 'PAYMENT_PENDING')?.before : undefined
      if (waiting && (await this.#billing.withdrawIn(db, waiting, 'replace'))) {
        if (plan.held.isAccessChanged) await recordAccessChange(db, customer)
        return { withdrawn: waiting }
      }
      const subscription = await this.#carryOut(db, customer, request, plan, { isNew: false })
      return {
        subscription,
        state: await this.#entitlements.stateIn(db, environmentId, customer.refId, subscription.resource?.refId ?? null),
      }
    })
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
    return this.#carryOut(db, customer, request, await this.#planProvision(db, customer, request, { isNew }), { isNew })
  }

  /** What the request comes to, with what time has made due recorded before it. */
  async #planProvision(
    db: Db,
    customer: HeldCustomer,
    request: ProvisionSubscription,
    { isNew }: { isNew: boolean },
  ): Promise<ProvisionPlan> {
    const { environmentId, now } = customer
    // load
    const named = request.subscriptionRefId ? await this.#records.byRefId(db, environmentId, request.subscriptionRefId) : null
    if (named && !isSamePlace(named, customer, request)) throw subscriptionIdTaken(named.refId)
    const held = isNew ? nothingHeld : await this.#records.recordDue(db, customer)
    const known = named && (held.all.find(({ id }) => id === named.id) ?? named)
    if (known && known.status !== 'ACTIVE') return { held, existing: known }
    const resolved = await this.#references.request(db, customer, request)
    const isTrialUsed = !isNew && (await hasTrialedOrPaid(db, environmentId, customer.id, resolved.product.id))
    // decide
    const decision = decideProvision({ request: resolved, held: held.open, isTrialUsed, now })
    if (known && decision.subscription.id !== known.id) throw subscriptionIdTaken(known.refId)
    if (decision.kind === 'existing') return { held, existing: decision.subscription }
    const later = await agreeLater(db, this.#billing, customer, { decision, scheduleId: resolved.scheduleId, request: request.billing })
    if (later) return { held, isTrialUsed, kind: 'update', isAgreedLater: true, ...later }
    return { held, isTrialUsed, kind: decision.kind, ...(await this.#withPayment(db, customer, { decision, held: held.open, request })) }
  }

  async #carryOut(
    db: Db,
    customer: HeldCustomer,
    request: ProvisionSubscription,
    plan: ProvisionPlan,
    { isNew }: { isNew: boolean },
  ): Promise<Subscription> {
    if ('existing' in plan) {
      if (plan.held.isAccessChanged) await recordAccessChange(db, customer)
      return plan.existing
    }
    const { held, subscription, changes, kind, isTrialUsed } = plan
    // save
    const before = (id: string) => held.open.find((other) => other.id === id)!
    if (kind === 'update') await saveSubscription(db, before(subscription.id), subscription)
    else {
      for (const { before, after } of changes) if (before) await saveSubscription(db, before, after)
      await insertSubscription(db, subscription)
      if (subscription.trialEndDate !== null && !isTrialUsed) await recordTrial(db, subscription)
    }
    if (!plan.isAgreedLater) await this.#billing.recordIn(db, customer, changes, request.billing)
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
  async importIn(db: Db, environmentId: string, { updatedAt, ...input }: ImportSubscription): Promise<Subscription> {
    const customer = await this.#records.hold(db, environmentId, { refId: input.customerRefId })
    if (typeof updatedAt !== 'number') return this.provisionIn(db, customer, input)
    const named = input.subscriptionRefId ? await this.#records.byRefId(db, environmentId, input.subscriptionRefId) : null
    const known = named?.customerId === customer.id ? named : null
    if (known && !(await claimSourceUpdate(db, known, updatedAt))) return known
    const imported = await this.provisionIn(db, customer, input)
    if (!known) await claimSourceUpdate(db, imported, updatedAt)
    return imported
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

  /**
   * Not safe to repeat: what has ended already is refused, so that the caller learns of it. What waits for its first payment ends when its invoice was
   * taken back: if that turns out to be paid, the running subscription is canceled as was asked; if the provider is away, it is answered as it still is.
   */
  async cancel(
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
    const change = () =>
      this.#records.change(
        environmentId,
        subscriptionRefId,
        async (subscription, { db, customer: { now } }) => {
          const isWithdrawn = subscription.status === 'PAYMENT_PENDING' && (await this.#billing.withdrawIn(db, subscription, 'cancel'))
          return isWithdrawn ? subscription : decideCancellation({ subscription, time, endDate, revokesEntitlements, now })
        },
        billing,
      )
    const changed = await change()
    if (changed.status !== 'PAYMENT_PENDING') return changed
    await this.#makeCalls(environmentId, changed.id)
    const settled = await this.get(environmentId, subscriptionRefId)
    return settled.status === 'ACTIVE' ? change() : settled
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
    if (!(await hasDue(this.#prisma, environmentId, customerId))) return false
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

  /**
   * The same for several customers of an environment, all or none. Those that another transaction holds are left alone. Answers for whom (our ids) there
   * was something.
   */
  async applyDueTogether(environmentId: string, customerIds: readonly string[]): Promise<string[]> {
    const held = await inTransaction(this.#prisma, async (db) =>
      this.#records.recordAllDue(db, environmentId, await holdDueCustomers(db, environmentId, customerIds)),
    )
    const changed = held.flatMap((one) => one.changed)
    this.#records.wake(changed, { isAccessChanged: held.some(({ isAccessChanged }) => isAccessChanged) })
    return [...new Set(changed.map(({ customerId }) => customerId))]
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

type ProvisionPlan = { held: HeldSubscriptions } & (
  | { existing: Subscription }
  | { kind: 'create' | 'update'; subscription: Subscription; changes: RecordedChange[]; isTrialUsed: boolean; isAgreedLater?: true }
)

const nothingHeld: HeldSubscriptions = { all: [], open: [], changed: [], isAccessChanged: false }

/** Whether the subscription that the request names is the one that it describes. */
function isSamePlace(named: Subscription, customer: Customer, request: ProvisionSubscription): boolean {
  return (
    named.customerId === customer.id &&
    named.plan.refId === request.planRefId &&
    (named.resource?.refId ?? null) === (request.resourceRefId ?? null)
  )
}
