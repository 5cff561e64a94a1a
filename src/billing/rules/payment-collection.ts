/** What the state of an invoice means for its subscription. Pure. */
import type { EpochMs } from '../../kernel/clock.js'
import { isFinal, type Subscription } from '../../subscription/rules/subscription.js'
import type { CollectionMethod, EndsBy, InvoiceStatus } from './billing.js'
import type { KnownInvoice } from './provider.js'

export interface PaymentConsequence {
  /** What moves the subscription; null: it stays in its status. */
  trigger: 'paid' | 'paymentDeadline' | 'collectionFailed' | EndsBy | null
  paymentCollection: Subscription['paymentCollection']
  /** The next call of the provider; null: none. */
  next: { kind: 'VOID' | 'REFUND' } | { kind: 'COLLECT'; delayMs: number } | null
  /** Since when the payment of a running subscription is missing; null: it is not. */
  failedSince: EpochMs | null
  /** What somebody has to know; null: nothing. */
  visibleError: string | null
}

const dayMs = 24 * 3_600_000
/** After each failed collection, the wait for the next one. After the last one only the customer or an operator can pay. */
const retryDelaysMs = [1 * dayMs, 2 * dayMs, 3 * dayMs, 3 * dayMs]
/** A running subscription whose payment is missing for longer is canceled. */
export const collectionDays = 14

/** It waits for its first payment, or ended while it did: then it has no period. */
export const hasNeverBegun = ({
  status,
  billingPeriod,
  currentPeriod,
}: Pick<Subscription, 'status' | 'billingPeriod' | 'currentPeriod'>): boolean =>
  // What became free has none any more either.
  status === 'PAYMENT_PENDING' || (isFinal(status) && billingPeriod !== null && currentPeriod === null)

/**
 * `before`: the invoice as it was mirrored. A payment that comes when nobody waits for it any more is given back: of an invoice that was taken back,
 * or, of a subscription that ended for want of one, for time after its end. What was used until then is to be paid.
 */
export function consequenceOf({
  subscription,
  before,
  news,
  collectionMethod,
  isTakenBack,
  endsBy = null,
  now,
}: {
  subscription: Pick<Subscription, 'status' | 'cancelReason' | 'billingPeriod' | 'currentPeriod' | 'effectiveEndDate'>
  before: { status: InvoiceStatus; failedSince: EpochMs | null; periodEnd: EpochMs }
  news: KnownInvoice
  collectionMethod: CollectionMethod
  /** We asked for it to be taken back. */
  isTakenBack: boolean
  /** What ends what waits for the payment, when somebody wanted it to end; null: nobody paid. */
  endsBy?: EndsBy | null
  now: EpochMs
}): PaymentConsequence {
  const { status, cancelReason, effectiveEndDate } = subscription
  const settled: PaymentConsequence = {
    trigger: null,
    paymentCollection: 'NOT_REQUIRED',
    next: null,
    failedSince: null,
    visibleError: null,
  }
  const isUncollected = cancelReason === 'CancelledByBilling' && effectiveEndDate !== null && before.periodEnd > effectiveEndDate
  const isEndedUnpaid = before.status !== 'PAID' && ((isFinal(status) && hasNeverBegun(subscription)) || isUncollected)
  if (news.status === 'PAID') {
    const isLate = before.status === 'CANCELED' || isEndedUnpaid
    if (isLate && news.refundedAmount === '0' && news.amountDue !== '0')
      return {
        ...settled,
        next: { kind: 'REFUND' },
        visibleError: `Invoice ${news.number ?? news.billingId} was paid too late: the payment is given back.`,
      }
    return status === 'PAYMENT_PENDING' ? { ...settled, trigger: 'paid' } : settled
  }
  if (news.status === 'CANCELED') {
    if (status === 'PAYMENT_PENDING') return { ...settled, trigger: endsBy ?? 'paymentDeadline' }
    return status === 'ACTIVE' && isTakenBack ? { ...settled, trigger: 'collectionFailed' } : settled
  }
  if (news.status === 'FAILED') {
    // A first payment that was refused is over: the invoice is taken back, and only then the subscription ends.
    if (status === 'PAYMENT_PENDING') return { ...settled, paymentCollection: 'FAILED', next: { kind: 'VOID' } }
    const delayMs = collectionMethod === 'CHARGE' ? retryDelaysMs[Math.max(0, news.attemptCount - 1)] : undefined
    return {
      ...settled,
      paymentCollection: 'FAILED',
      failedSince: before.failedSince ?? now,
      next: delayMs === undefined ? null : { kind: 'COLLECT', delayMs },
    }
  }
  if (news.requiresAction) {
    // Nobody has paid, and nobody will without the customer: the same clock runs as after a failure.
    return { ...settled, paymentCollection: 'ACTION_REQUIRED', failedSince: status === 'ACTIVE' ? (before.failedSince ?? now) : null }
  }
  if (collectionMethod !== 'CHARGE') return settled
  return { ...settled, paymentCollection: status === 'PAYMENT_PENDING' ? 'ACTION_REQUIRED' : 'PROCESSING' }
}
