import type { EpochMs } from '../kernel/clock.js'
import * as decimal from '../kernel/decimal.js'
import type { Db } from '../platform/postgres.js'
import { isSameSlot } from '../subscription/coexistence.js'
import { isFinal, type Subscription } from '../subscription/model.js'
import { type Account, type Billed, type BilledChange, bill, isCharged, isReplaced, newAccount, usageAsked } from './account.js'
import { currencyOf } from './charges.js'
import { insertIntent, voidOf } from './intent-repository.js'
import type { MeasuredUsage } from './invoice.js'
import type { Discount, Draft, Period, Standing, Terms } from './model.js'
import { couponArchived, couponNotFound, couponUsedUp } from './problems.js'
import {
  type BillingCoupon,
  clearPaymentDeadline,
  findAccounts,
  findBalance,
  findCoupon,
  findCustomerCouponId,
  findInvoices,
  insertInvoice,
  redeem,
  saveAccount,
} from './repository.js'
import { type AppliedCoupon, type BillingRequest, checkBillingRequest, termsAfter, usualTerms } from './request.js'

/** A change of a subscription that is being saved. */
export interface RecordedChange {
  /** Null: it begins. */
  before: Subscription | null
  after: Subscription
  at: EpochMs
  isRenewal: boolean
  /** It waits for its first payment; the one whose place it takes when it is paid. */
  inForce?: Subscription | null
}

/** The usage of a customer's feature in a period: over the customer and all its resources, or of one resource. */
export type FindUsage = (
  db: Db,
  asked: { environmentId: string; customerId: string; resourceId: string | null; featureId: string; period: Period },
) => Promise<decimal.Decimal>

/** The subscription's customer, as billing needs it. */
export interface Payer {
  environmentId: string
  id: string
  billingCurrency: string | null
}

/** How long a first payment is waited for, unless the environment says otherwise. */
export const paymentDeadlineMs = 23 * 3_600_000

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
  async recordIn(db: Db, customer: Payer, changes: readonly RecordedChange[], request: BillingRequest = {}): Promise<void> {
    const billed = await this.#billAll(db, customer, changes, request, { isDryRun: false })
    for (const { before, after } of changes) if (before?.status === 'PAYMENT_PENDING' && isFinal(after.status)) await takeBack(db, after)
    for (const { subscription, at, account, drafts, beginsToWait } of billed) {
      const waits = subscription.status === 'PAYMENT_PENDING' && beginsToWait
      await saveAccount(db, customer.environmentId, subscription.id, { account, ...(waits && { paymentDueAt: at + paymentDeadlineMs }) })
      for (const draft of drafts) await this.#invoice(db, subscription, account.terms, draft, at)
    }
  }

  /** Whether the subscription that the last change begins gives access only when it is paid: there is something to charge now, and nobody waived it. */
  async isPaymentFirst(db: Db, customer: Payer, changes: readonly RecordedChange[], request: BillingRequest = {}): Promise<boolean> {
    if (request.collectionMethod !== 'CHARGE' || request.awaitsPayment === false) return false
    const billed = (await this.draftIn(db, customer, changes, request)).at(-1)
    return billed?.drafts.some(({ total }) => decimal.compare(total, decimal.zero) > 0) ?? false
  }

  /** The same for each change that concerns billing, in their order, without writing anything. */
  async draftIn(db: Db, customer: Payer, changes: readonly RecordedChange[], request: BillingRequest = {}): Promise<BilledSubscription[]> {
    return this.#billAll(db, customer, changes, request, { isDryRun: true })
  }

  async #billAll(
    db: Db,
    customer: Payer,
    changes: readonly RecordedChange[],
    request: BillingRequest,
    options: { isDryRun: boolean },
  ): Promise<BilledSubscription[]> {
    checkBillingRequest(request)
    const concerned = changes.filter(({ before, after }) => isBilled(after) || (before !== null && isBilled(before)))
    if (concerned.length === 0) return []
    const ids = [...new Set(concerned.map(({ after }) => after.id))]
    const stored = await findAccounts(db, customer.environmentId, ids)
    const accounts = new Map([...stored].map(([id, { account }]) => [id, account]))
    const results: BilledSubscription[] = []
    const released: { subscription: Subscription; standing: Standing; at: EpochMs }[] = []
    for (const [index, { before, after, at, isRenewal, inForce }] of concerned.entries()) {
      const known = accounts.get(after.id)
      const isAsked = index === concerned.length - 1
      const asked = isAsked ? request : {}
      const discount = await this.#discount(db, after, asked.coupon, at, options)
      const account = withTerms(known ?? newAccount(await this.#firstTerms(db, customer, after)), asked, discount, after)
      const replaced = inForce
        ? ((await findAccounts(db, customer.environmentId, [inForce.id])).get(inForce.id)?.account.standing ?? null)
        : (released.find((other) => other.at === at && isSameSlot(other.subscription, after))?.standing ?? null)
      const change: BilledChange = {
        before,
        after,
        at,
        isRenewal,
        proration: asked.proration ?? 'INVOICE_IMMEDIATELY',
        creditsUnused: asked.creditsUnused ?? false,
      }
      const result = bill({ account, change, replaced, usage: await this.#usage(db, account, change) })
      if (account.standing && !result.account.standing && isReplaced(after))
        released.push({ subscription: after, standing: account.standing, at })
      accounts.set(after.id, result.account)
      results.push({ ...result, subscription: after, at, beginsToWait: before?.status !== 'PAYMENT_PENDING' })
    }
    return results
  }

  /** The terms of a subscription that nothing was agreed for: the customer's currency where it is sold in it, and the customer's coupon. */
  async #firstTerms(db: Db, customer: Payer, subscription: Subscription): Promise<Terms> {
    const { environmentId, startDate } = subscription
    const couponId = await findCustomerCouponId(db, environmentId, customer.id)
    const coupon = couponId === null ? null : await findCoupon(db, environmentId, { id: couponId }, { lock: false })
    const discount = coupon && toDiscount(coupon, 'customerCoupon', startDate)
    return { ...usualTerms, currency: currencyOf(subscription, customer.billingCurrency), discount }
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
    if (!isDryRun && !(await redeem(db, environmentId, coupon, id))) throw couponUsedUp(refId, coupon.maxRedemptions!)
    return toDiscount(coupon, applied.promotionCode ? 'promotionCode' : 'subscriptionCoupon', startDate)
  }

  async #usage(db: Db, account: Account, change: BilledChange): Promise<MeasuredUsage[]> {
    const { environmentId, customerId, resource } = change.after
    const measured: MeasuredUsage[] = []
    for (const { priceId, featureId, period } of usageAsked(account, change)) {
      const quantity = await this.#findUsage(db, { environmentId, customerId, resourceId: resource?.id ?? null, featureId, period })
      measured.push({ priceId, period, quantity: decimal.max(quantity, decimal.zero) })
    }
    return measured
  }

  /** The invoice as we want it, and the call that makes it at the provider. What the customer has to its credit is used first. */
  async #invoice(db: Db, subscription: Subscription, { collectionMethod }: Terms, draft: Draft, at: EpochMs): Promise<void> {
    const { environmentId, id: subscriptionId } = subscription
    const customerId = subscription.payingCustomerId ?? subscription.customerId
    const due = decimal.max(draft.total, decimal.zero)
    const balance = due === decimal.zero ? decimal.zero : await findBalance(db, environmentId, customerId, draft.currency)
    const creditApplied = decimal.compare(balance, due) > 0 ? due : decimal.max(balance, decimal.zero)
    const amountDue = decimal.subtract(due, creditApplied)
    const facts = { environmentId, subscriptionId, customerId, collectionMethod, creditApplied, amountDue, createdAt: at }
    const invoiceId = await insertInvoice(db, facts, draft)
    await insertIntent(db, {
      environmentId,
      subscriptionId,
      customerId,
      kind: 'CREATE_INVOICE',
      idempotencyKey: `invoice:${invoiceId}`,
      invoiceId,
    })
  }
}

/** Nobody waits for the first payment any more. One that comes all the same is given back. */
async function takeBack(db: Db, { environmentId, id: subscriptionId }: Subscription): Promise<void> {
  await clearPaymentDeadline(db, environmentId, subscriptionId)
  for (const { id: invoiceId, customerId, status } of await findInvoices(db, environmentId, [subscriptionId]))
    if (status === 'OPEN' || status === 'FAILED') await insertIntent(db, voidOf({ environmentId, subscriptionId, customerId, invoiceId }))
}

export interface BilledSubscription extends Billed {
  subscription: Subscription
  at: EpochMs
  /** It did not wait for a payment before. */
  beginsToWait: boolean
}

/** Whether billing has anything to remember of it. */
const isBilled = (subscription: Subscription): boolean => isCharged({ ...subscription, status: 'ACTIVE' })

/** With what was agreed now, in the currency that it has as long as what it holds is sold in it. */
function withTerms(account: Account, request: BillingRequest, discount: Discount | null | undefined, subscription: Subscription): Account {
  const terms = termsAfter(account.terms, request, discount)
  return { ...account, terms: { ...terms, currency: currencyOf(subscription, terms.currency) } }
}

function toDiscount(
  { id, name, percentOff, amountsOff, durationInMonths }: BillingCoupon,
  source: Discount['source'],
  startDate: EpochMs,
): Discount {
  return { source, couponId: id, name, percentOff, amountsOff, durationInMonths, startDate }
}
