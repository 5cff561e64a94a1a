import { isFinal } from '../../subscription/rules/subscription.js';
const dayMs = 24 * 3_600_000;
/** After each failed collection, the wait for the next one. After the last one only the customer or an operator can pay. */
const retryDelaysMs = [1 * dayMs, 2 * dayMs, 3 * dayMs, 3 * dayMs];
/** A running subscription whose payment is missing for longer is canceled. */
export const collectionDays = 14;
/**
 * `before`: the invoice as it was mirrored. A payment that comes when nobody waits for it any more is given back: of an invoice that was taken back,
 * or of a subscription that ended for want of it.
 */
export function consequenceOf({ subscription, before, news, collectionMethod, isTakenBack, endsBy = null, now, }) {
    const { status, cancelReason, currentPeriod } = subscription;
    const settled = {
        trigger: null,
        paymentCollection: 'NOT_REQUIRED',
        next: null,
        failedSince: null,
        visibleError: null,
    };
    // What ended while it waited never had a period.
    const hasNeverBegun = isFinal(status) && currentPeriod === null;
    const isEndedUnpaid = before.status !== 'PAID' && (hasNeverBegun || cancelReason === 'CancelledByBilling');
    if (news.status === 'PAID') {
        const isLate = before.status === 'CANCELED' || isEndedUnpaid;
        if (isLate && news.refundedAmount === '0' && news.amountDue !== '0')
            return {
                ...settled,
                next: { kind: 'REFUND' },
                visibleError: `Invoice ${news.number ?? news.billingId} was paid too late: the payment is given back.`,
            };
        return status === 'PAYMENT_PENDING' ? { ...settled, trigger: 'paid' } : settled;
    }
    if (news.status === 'CANCELED') {
        if (status === 'PAYMENT_PENDING')
            return { ...settled, trigger: endsBy ?? 'paymentDeadline' };
        return status === 'ACTIVE' && isTakenBack ? { ...settled, trigger: 'collectionFailed' } : settled;
    }
    if (news.status === 'FAILED') {
        // A first payment that was refused is over: the invoice is taken back, and only then the subscription ends.
        if (status === 'PAYMENT_PENDING')
            return { ...settled, paymentCollection: 'FAILED', next: { kind: 'VOID' } };
        const delayMs = collectionMethod === 'CHARGE' ? retryDelaysMs[Math.max(0, news.attemptCount - 1)] : undefined;
        return {
            ...settled,
            paymentCollection: 'FAILED',
            failedSince: before.failedSince ?? now,
            next: delayMs === undefined ? null : { kind: 'COLLECT', delayMs },
        };
    }
    if (news.requiresAction) {
        // Nobody has paid, and nobody will without the customer: the same clock runs as after a failure.
        return { ...settled, paymentCollection: 'ACTION_REQUIRED', failedSince: status === 'ACTIVE' ? (before.failedSince ?? now) : null };
    }
    if (collectionMethod !== 'CHARGE')
        return settled;
    return { ...settled, paymentCollection: status === 'PAYMENT_PENDING' ? 'ACTION_REQUIRED' : 'PROCESSING' };
}
//# sourceMappingURL=payment-collection.js.map