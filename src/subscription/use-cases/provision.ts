import type { BillingLedger, SavedChange } from '../../billing/ledger.js'
import { recordAccessChange } from '../../changes/access.js'
import type { Customer } from '../../customer/model/customer.js'
import { type HeldCustomer } from '../../customer/records/hold.js'
import { type Db, type PrismaClient } from '../../platform/postgres.js'
import { inTransaction } from '../../platform/transaction.js'
import { type HeldSubscriptions, type RecordsParts, SubscriptionRecords } from '../records/frame.js'
import { insertSubscription, saveSubscription } from '../records/subscriptions.js'
import { hasTrialedOrPaid, recordTrial } from '../records/trials.js'
import { firstPeriod } from '../rules/billing-period.js'
import { awaitingPayment } from '../rules/payment.js'
import { paymentNotWithdrawn, subscriptionIdTaken } from '../rules/problems.js'
import { changesOf, decideProvision, isScheduled, type ProvisionDecision } from '../rules/provision.js'
import type { Subscription } from '../rules/subscription.js'
import { agreeLater } from './agree-later.js'
import type { ProviderRequests } from './provider-requests.js'
import { type ProvisionSubscription, References } from './references.js'

export interface ProvisionParts extends RecordsParts {
  billing: RecordsParts['billing'] & Pick<BillingLedger, 'agreeIn' | 'withdrawIn'>
  /** Makes the calls of the billing provider that wait for a subscription (our id), outside of any transaction; never throws for what fails. */
  makeCalls: (environmentId: string, subscriptionId: string) => Promise<void>
  provider: ProviderRequests
}

export interface Provisioned<Answer> {
  subscription: Subscription
  /** What was asked for is yet to come: the subscription begins later, or waits for the change. */
  isScheduled: boolean
  answer: Answer
}

/** What is answered with a provisioned subscription, read in the transaction that provisions it. */
type AnswerIn<Answer> = (db: Db, customer: Customer, subscription: Subscription) => Promise<Answer>

/** New subscriptions: what a request to subscribe comes to, with what it changes or ends of what is held already. */
export class ProvisionService {
  readonly #prisma: PrismaClient
  readonly #billing: ProvisionParts['billing']
  readonly #makeCalls: ProvisionParts['makeCalls']
  readonly #provider: ProviderRequests
  readonly #records: SubscriptionRecords
  readonly #references: References

  constructor(parts: ProvisionParts) {
    this.#prisma = parts.prisma
    this.#billing = parts.billing
    this.#makeCalls = parts.makeCalls
    this.#provider = parts.provider
    this.#records = new SubscriptionRecords(parts)
    this.#references = new References(parts)
  }

  /**
   * Repeated, the same request answers the subscription that the first one made. One exception is the wish of the interface: asking for a plan
   * that is in trial, without naming the subscription, makes it paid.
   */
  async provision<Answer>(
    environmentId: string,
    asked: ProvisionSubscription & { customerRefId: string },
    answerIn: AnswerIn<Answer>,
  ): Promise<Provisioned<Answer>> {
    const request = await this.#provider.before(environmentId, asked, [asked.payingCustomerRefId, asked.customerRefId])
    let result = await this.#provision(environmentId, request, answerIn)
    if ('withdrawn' in result) {
      await this.#makeCalls(environmentId, result.withdrawn.id)
      result = await this.#provision(environmentId, request, answerIn)
    }
    if ('withdrawn' in result) throw paymentNotWithdrawn(result.withdrawn.refId)
    this.wake([result.subscription])
    await this.#provider.after(result.subscription, request)
    return result
  }

  /** `withdrawn`: nothing was provisioned, because first the invoice is taken back of one that waits for its payment and would lose its slot. */
  #provision<Answer>(
    environmentId: string,
    request: ProvisionSubscription & { customerRefId: string },
    answerIn: AnswerIn<Answer>,
  ): Promise<Provisioned<Answer> | { withdrawn: Subscription }> {
    return inTransaction(this.#prisma, async (db) => {
      const customer = await this.#records.hold(db, environmentId, { refId: request.customerRefId })
      const plan = await this.#planProvision(db, customer, request, { isNew: false })
      const waiting = 'changes' in plan ? plan.changes.find(({ before }) => before?.status === 'PAYMENT_PENDING')?.before : undefined
      if (waiting && (await this.#billing.withdrawIn(db, waiting, 'replace'))) {
        if (plan.held.isAccessChanged) await recordAccessChange(db, customer)
        return { withdrawn: waiting }
      }
      const subscription = await this.#carryOut(db, customer, request, plan, { isNew: false })
      return { subscription, isScheduled: plan.isScheduled, answer: await answerIn(db, customer, subscription) }
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
    if (named && !isSameSubscription(named, customer, request)) throw subscriptionIdTaken(named.refId)
    const held = isNew ? nothingHeld : await this.#records.recordDue(db, customer)
    const known = named && (held.all.find(({ id }) => id === named.id) ?? named)
    if (known && known.status !== 'ACTIVE') return { held, existing: known, isScheduled: known.status === 'NOT_STARTED' }
    const resolved = await this.#references.request(db, customer, request)
    const isTrialUsed = !isNew && (await hasTrialedOrPaid(db, environmentId, customer.id, resolved.product.id))
    // decide
    const decision = decideProvision({ request: resolved, held: held.open, isTrialUsed, now })
    if (known && decision.subscription.id !== known.id) throw subscriptionIdTaken(known.refId)
    const plan = { held, isScheduled: isScheduled(decision) }
    if (decision.kind === 'existing') return { ...plan, existing: decision.subscription }
    const later = await agreeLater(db, this.#billing, customer, { decision, scheduleId: resolved.scheduleId, request: request.billing })
    if (later) return { ...plan, isTrialUsed, kind: 'update', isAgreedLater: true, ...later }
    return { ...plan, isTrialUsed, kind: decision.kind, ...(await this.#withPayment(db, customer, { decision, held: held.open, request })) }
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
  ): Promise<{ subscription: Subscription; changes: SavedChange[] }> {
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

  /** Records what time has made due, in the transaction of a caller that holds the customer's state row and changes what later invoices are made of. */
  async recordDueIn(db: Db, customer: HeldCustomer): Promise<void> {
    const { isAccessChanged } = await this.#records.recordDue(db, customer)
    if (isAccessChanged) await recordAccessChange(db, customer)
  }

  /** After a commit: delivery of the change, and a wake-up at the next instant that something is due. */
  wake(subscriptions: readonly Subscription[]): void {
    this.#records.wake(subscriptions)
  }
}

type ProvisionPlan = { held: HeldSubscriptions; isScheduled: boolean } & (
  | { existing: Subscription }
  | { kind: 'create' | 'update'; subscription: Subscription; changes: SavedChange[]; isTrialUsed: boolean; isAgreedLater?: true }
)

const nothingHeld: HeldSubscriptions = { all: [], open: [], changed: [], isAccessChanged: false }

/** Whether the subscription that the request names is the one that it describes. */
function isSameSubscription(named: Subscription, customer: Customer, request: ProvisionSubscription): boolean {
  return (
    named.customerId === customer.id &&
    named.plan.refId === request.planRefId &&
    (named.resource?.refId ?? null) === (request.resourceRefId ?? null)
  )
}
