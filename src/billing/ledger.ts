import { recordAudit } from '../audit/record/record.js'
import { findCoupon } from '../catalog/records/coupons.js'
import { placeInTime } from '../changes/access.js'
import type { EpochMs } from '../kernel/clock.js'
import * as decimal from '../kernel/decimal.js'
import { newId } from '../kernel/id.js'
import type { Db } from '../platform/postgres.js'
import { isSameSlot } from '../subscription/rules/coexistence.js'
import { isFinal, type Subscription } from '../subscription/rules/subscription.js'
import { type Invoicing, writeInvoices } from './invoicing.js'
import { insertIntent, voidOf } from './records/intents.js'
import { clearPaymentDeadline, findAccounts, findCharges, findInvoices, saveAccount } from './records/invoices.js'
import { findCustomerDiscount, isUsedUp, redeem } from './records/redemptions.js'
import {
  type Account,
  type BilledChange,
  beginsUsage,
  chargesIn,
  discountAt,
  isCharged,
  isReplaced,
  isSamePeriod,
  lateUsageDueAt,
  newAccount,
  stillOpen,
  type UsageAsked,
  usageAsked,
} from './rules/account.js'
import { auditedTerms } from './rules/audited.js'
import { bill } from './rules/bill.js'
import type { Discount, EndsBy, Period, Standing, Terms } from './rules/billing.js'
import { currencyOf, overridingIn } from './rules/charges.js'
import { toDiscount } from './rules/coupon.js'
import { named, payerOf } from './rules/credit.js'
import { lateUsageDraft, type MeasuredUsage } from './rules/invoice.js'
import { withLateUsage } from './rules/pending.js'
import { couponArchived, couponNotFound, couponUsedUp } from './rules/problems.js'
import {
  type AgreedLater,
  type AppliedCoupon,
  type BillingRequest,
  checkBillingRequest,
  checkOverrides,
  termsAfter,
  usualTerms,
} from './rules/request.js'

/** A change of a subscription that is being saved. */
export interface SavedChange {
  /** Null: it begins. */
  before: Subscription | null
  after: Subscription
  at: EpochMs
  isRenewal: boolean
  /** It waits for its first payment; the one that it replaces when it is paid. */
  inForce?: Subscription | null
  /** It waited until now, and this was agreed then: an answer of `agreeIn`. */
  agreed?: object | null
  /** Time has brought it about, maybe a while ago: usage is its own up to its instant. Absent: it happens now, after all that was recorded before. */
  isDue?: boolean
}

/** The usage of a customer's feature in a period: over the customer and all its resources, or of one resource. */
type FindUsage = (
  db: Db,
  asked: { environmentId: string; customerId: string; resourceId: string | null; featureId: string; period: Period },
) => Promise<decimal.Decimal>

/** The subscription's customer, as billing needs it. */
interface Payer {
  environmentId: string
  id: string
  billingCurrency: string | null
}

/** How long a first payment is waited for. */
const paymentDeadlineMs = 23 * 3_600_000

/**
 * Turns changes of subscriptions into invoices, in the transaction that saves the changes and under the customer's state row. No provider is called:
 * what it is to do is written down (see sync.ts).
 */
export class BillingLedger {
  readonly #findUsage: FindUsage

  constructor({ findUsage }: { findUsage: FindUsage }) {
    this.#findUsage = findUsage
  }

  /** In the order in which they happened. `request` is what the caller of the last change agreed. */
  async recordIn(db: Db, customer: Payer, changes: readonly SavedChange[], request: BillingRequest = {}): Promise<void> {
    const billed = await this.#billAll(db, customer, changes, request, { isDryRun: false })
    for (const { before, after } of changes) if (before?.status === 'PAYMENT_PENDING' && isFinal(after.status)) await takeBack(db, after)
    for (const { subscription, at, account, beginsToWait, termsBefore } of billed) {
      recordAudit(db, auditedTerms(subscription, termsBefore, account.terms))
      const waits = subscription.status === 'PAYMENT_PENDING' && beginsToWait
      const deadlines = { lateUsageDueAt: lateUsageDueAt(account), ...(waits && { paymentDueAt: at + paymentDeadlineMs }) }
      await saveAccount(db, customer.environmentId, subscription.id, { account, ...deadlines })
    }
    const invoicing = billed.map(({ account: { terms }, isPaid, ...one }) => {
      // What was paid elsewhere is an invoice that nobody collects.
      return { ...one, terms: isPaid ? ({ ...terms, collectionMethod: 'NONE' } as const) : terms }
    })
    await writeInvoices(db, customer.environmentId, invoicing)
  }

  /** Charges what came late for periods for which no more can come. Safe to repeat: then there is nothing left to look for. */
  async chargeLateUsageIn(db: Db, subscription: Subscription, now: EpochMs): Promise<void> {
    const { environmentId, id, customerId } = subscription
    const account = (await findAccounts(db, environmentId, [id])).get(id)?.account
    const dueAt = account ? lateUsageDueAt(account) : null
    if (!account || dueAt === null || dueAt > now) return
    const open = new Set(stillOpen(account.usageCharged, now))
    const alreadyCharged = account.usageCharged.filter((charged) => !open.has(charged))
    const asked = alreadyCharged.flatMap(({ priceId, charge, period, since = period.start }) =>
      charge ? [{ priceId, featureId: charge.price.featureId!, period, since }] : [],
    )
    const usage = await this.#measure(db, subscription, asked)
    const customerDiscount = await findCustomerDiscount(db, environmentId, customerId)
    const discount = discountAt(account, { customerDiscount, period: account.standing?.period ?? { start: now }, at: now })
    const { terms } = account
    const late = lateUsageDraft({ terms, usage, alreadyCharged, discount })
    const { account: after, drafts } = withLateUsage(account, { late, at: now })
    await saveAccount(db, environmentId, id, { account: after, lateUsageDueAt: lateUsageDueAt(after) })
    const named = drafts.map((draft) => ({ ...draft, id: newId() }))
    await writeInvoices(db, environmentId, [{ subscription, terms, drafts: named, waiting: [], charges: () => null, at: now }])
  }

  /**
   * Writes down that the invoice is taken back of a subscription that waits for its first payment and is not wanted any more. The call decides: it ends
   * when the invoice was taken back, and begins when it turns out to be paid. False: there is nothing to take back, so it may end at once.
   */
  async withdrawIn(db: Db, waiting: Subscription, endsBy: EndsBy): Promise<boolean> {
    const unpaid = await unpaidInvoices(db, waiting)
    for (const invoice of unpaid) await insertIntent(db, voidOf(invoice, endsBy))
    return unpaid.length > 0
  }

  /** Whether the subscription that the last change begins gives access only when it is paid: there is something to charge now, and nobody waived it. */
  async isPaymentFirst(db: Db, customer: Payer, changes: readonly SavedChange[], request: BillingRequest = {}): Promise<boolean> {
    if (request.collectionMethod !== 'CHARGE' || request.awaitsPayment === false || request.isPaid) return false
    const billed = (await this.draftIn(db, customer, changes, request)).at(-1)
    return billed?.drafts.some(({ total }) => decimal.compare(total, decimal.zero) > 0) ?? false
  }

  /**
   * Holds the coupon (our id) for a customer that is being given it in the same transaction. Fails with BAD_USER_INPUT when it has been given to as
   * many others as it may; safe to repeat.
   */
  async claimCouponIn(db: Db, environmentId: string, couponId: string, customerRefId: string): Promise<void> {
    const coupon = (await findCoupon(db, environmentId, { id: couponId }, { lock: true }))!
    if (await isUsedUp(db, environmentId, coupon, { customerRefId })) throw couponUsedUp(coupon.refId, coupon.maxRedemptions!)
  }

  /**
   * Agrees about money for a change that waits: refused is what could not be agreed if it happened now, and the coupon is given now. What it answers is kept
   * with the change, and comes back with it.
   */
  async agreeIn(db: Db, customer: Payer, change: SavedChange, request: BillingRequest): Promise<object> {
    await this.draftIn(db, customer, [change], request)
    const { coupon, isPaid: _, ...rest } = request
    const discount = await this.#discount(db, change.after, coupon, change.at, { isDryRun: false })
    const agreed: AgreedLater = { request: rest, discount }
    return agreed
  }

  /** The same for each change that concerns billing, in their order, without writing anything. */
  async draftIn(db: Db, customer: Payer, changes: readonly SavedChange[], request: BillingRequest = {}): Promise<BilledSubscription[]> {
    return this.#billAll(db, customer, changes, request, { isDryRun: true })
  }

  async #billAll(
    db: Db,
    customer: Payer,
    changes: readonly SavedChange[],
    request: BillingRequest,
    options: { isDryRun: boolean },
  ): Promise<BilledSubscription[]> {
    checkBillingRequest(request)
    const concerned = changes.filter(({ before, after }) => isBilled(after) || (before !== null && isBilled(before)))
    if (concerned.length === 0) {
      const asked = changes.at(-1)
      if (asked) checkOverrides(request, asked.after, null)
      return []
    }
    const ids = [...new Set(concerned.flatMap(({ after, inForce }) => [after.id, ...(inForce ? [inForce.id] : [])]))]
    const stored = await findAccounts(db, customer.environmentId, ids)
    const accounts = new Map([...stored].map(([id, { account }]) => [id, account]))
    const isCredited = concerned.some(({ isRenewal }) => !isRenewal)
    const credited = [...accounts.values()].flatMap((account) => chargesIn(account, { isCredited }))
    const known = await findCharges(db, customer.environmentId, credited)
    const charges = (id: string) => known.get(id) ?? null
    // Asked at each invoice: it was given, replaced or cleared meanwhile.
    const customerDiscount = await findCustomerDiscount(db, customer.environmentId, customer.id)
    const results: BilledSubscription[] = []
    const released: { subscription: Subscription; standing: Standing; at: EpochMs }[] = []
    for (const recorded of concerned) {
      const { before, after, at, isRenewal, inForce } = recorded
      const later = (recorded.agreed ?? null) as AgreedLater | null
      const asked = later ? later.request : recorded === changes.at(-1) ? request : {}
      const discount = later ? later.discount : await this.#discount(db, after, asked.coupon, at, options)
      const index = isCharged(after) ? released.findIndex((other) => other.at === at && isSameSlot(other.subscription, after)) : -1
      const [predecessor] = index === -1 ? [] : released.splice(index, 1)
      const account = accounts.get(after.id) ?? newAccount({ ...usualTerms, currency: currencyOf(after, customer.billingCurrency) })
      const usageUntil = recorded.isDue || isRenewal ? at : await placeInTime(db, customer.environmentId, customer.id, at)
      const terms = agreedTerms({
        before: account.terms,
        request: asked,
        isAgreedBefore: later !== null,
        discount,
        subscription: after,
        customer,
      })
      const replaced = (inForce ? accounts.get(inForce.id)?.standing : predecessor?.standing) ?? null
      // Nobody else settles it: what takes its place is not charged.
      const successor = isReplaced(after) ? findChargedSuccessor(recorded, changes) : undefined
      const isSettledHere = isReplaced(after) && request.proration !== 'NONE' && !successor
      const change: BilledChange = {
        before,
        after,
        at,
        isRenewal,
        proration: asked.proration ?? 'INVOICE_IMMEDIATELY',
        creditsUnused: isSettledHere || (asked.creditsUnused ?? false),
        goesToSuccessor: successor !== undefined && (request.proration !== 'NONE' || isSamePeriodGoingOn(account, successor)),
        isBackdated: asked.isBackdated ?? false,
        usageUntil,
      }
      const usage = await this.#usage(db, account, change)
      const billed = bill({ account, terms, change, replaced, usage, customerDiscount, charges })
      const result = named(billed, account, newId)
      for (const { id, payerId = payerOf(after) } of result.drafts) known.set(id, { funding: 'given', payerId })
      // What nobody has paid gives nothing to what takes its place.
      if (result.standing && !result.account.standing && isReplaced(after) && before?.status !== 'PAYMENT_PENDING')
        released.push({ subscription: after, standing: result.standing, at })
      if (isCharged(after) && beginsUsage(account, change, changes)) result.account = { ...result.account, usageFrom: usageUntil }
      accounts.set(after.id, result.account)
      results.push({
        account: result.account,
        drafts: result.drafts,
        waiting: billed.waiting ?? [],
        charges,
        subscription: after,
        at,
        beginsToWait: before?.status !== 'PAYMENT_PENDING',
        termsBefore: stored.get(after.id)?.account.terms ?? null,
        isPaid: asked.isPaid ?? false,
      })
    }
    return results
  }

  /** What the asked coupon stands for; it is counted as given. Undefined: nothing was asked. */
  async #discount(
    db: Db,
    { environmentId, id }: Subscription,
    applied: AppliedCoupon | null | undefined,
    at: EpochMs,
    { isDryRun }: { isDryRun: boolean },
  ): Promise<Discount | null | undefined> {
    if (!applied) return applied
    const startDate = applied.startDate ?? at
    if (applied.discount) return { ...applied.discount, source: 'adHoc', couponId: null, startDate }
    const refId = (applied.couponRefId ?? applied.billingCouponId ?? applied.promotionCode)!
    const coupon = await findCoupon(db, environmentId, { refId }, { lock: !isDryRun })
    if (!coupon) throw couponNotFound(refId)
    if (coupon.status === 'ARCHIVED') throw couponArchived(refId)
    if (await isUsedUp(db, environmentId, coupon, { subscriptionId: id })) throw couponUsedUp(refId, coupon.maxRedemptions!)
    if (!isDryRun) await redeem(db, environmentId, coupon, id)
    return toDiscount(coupon, applied.promotionCode ? 'promotionCode' : 'subscriptionCoupon', startDate)
  }

  async #usage(db: Db, account: Account, change: BilledChange): Promise<MeasuredUsage[]> {
    return this.#measure(db, change.after, usageAsked(account, change))
  }

  async #measure(db: Db, { environmentId, customerId, resource }: Subscription, asked: readonly UsageAsked[]): Promise<MeasuredUsage[]> {
    const measured: MeasuredUsage[] = []
    for (const { priceId, featureId, period, since } of asked) {
      const of = { environmentId, customerId, resourceId: resource?.id ?? null, featureId }
      const quantity = await this.#findUsage(db, { ...of, period: { start: since, end: period.end } })
      if (since === period.start) measured.push({ priceId, period, quantity })
      else {
        const before = await this.#findUsage(db, { ...of, period: { start: since, end: period.start } })
        measured.push({ priceId, period, quantity, earlier: { since, quantity: before } })
      }
    }
    return measured
  }
}

/**
 * Nobody waits for the first payment any more. What ended without its invoice being taken back first (time or the archive ended it, and a transaction
 * calls nobody) has that done now; a payment that comes all the same is given back.
 */
async function takeBack(db: Db, ended: Subscription): Promise<void> {
  await clearPaymentDeadline(db, ended.environmentId, ended.id)
  for (const invoice of await unpaidInvoices(db, ended)) await insertIntent(db, voidOf(invoice))
}

async function unpaidInvoices(db: Db, { environmentId, id: subscriptionId }: Subscription) {
  const invoices = await findInvoices(db, environmentId, [subscriptionId])
  return invoices
    .filter(({ status }) => status === 'OPEN' || status === 'FAILED')
    .map(({ id: invoiceId, customerId }) => ({ environmentId, subscriptionId, customerId, invoiceId }))
}

export interface BilledSubscription extends Omit<Invoicing, 'terms'> {
  account: Account
  /** Null: nothing was agreed. */
  termsBefore: Terms | null
  /** It did not wait for a payment before. */
  beginsToWait: boolean
  /** Elsewhere. */
  isPaid: boolean
}

const findChargedSuccessor = ({ after, at }: SavedChange, changes: readonly SavedChange[]): Subscription | undefined =>
  changes.find((other) => other.at === at && other.after.id !== after.id && isCharged(other.after) && isSameSlot(other.after, after))?.after

const isSamePeriodGoingOn = ({ standing }: Account, { currentPeriod }: Subscription): boolean =>
  standing !== null && isSamePeriod(standing.period, currentPeriod)

/** Whether billing has anything to remember of it. */
const isBilled = (subscription: Subscription): boolean => isCharged({ ...subscription, status: 'ACTIVE' })

/** The terms from the change on: with what was agreed now, in the currency that they have as long as what is held is sold in it. */
function agreedTerms({
  before,
  request,
  isAgreedBefore,
  discount,
  subscription,
  customer,
}: {
  before: Terms
  request: BillingRequest
  /** Nobody is there to be told: of the overrides, those of what is not sold any more are left out. */
  isAgreedBefore: boolean
  discount: Discount | null | undefined
  subscription: Subscription
  customer: Payer
}): Terms {
  const currency = currencyOf(subscription, before.currency ?? customer.billingCurrency)
  const overrides = currency === null ? request.priceOverrides && [] : request.priceOverrides?.filter(overridingIn(subscription, currency))
  const asked = isAgreedBefore && overrides ? { ...request, priceOverrides: overrides } : request
  checkOverrides(asked, subscription, currency)
  return { ...termsAfter(before, asked, discount), currency }
}
