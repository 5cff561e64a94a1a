import { firstPeriod } from './billing-period.js';
import { replacementTrigger, usageAnchorAfter } from './coexistence.js';
import { apply } from './lifecycle.js';
/** Instead of beginning at once it waits for its payment; what it would have ended goes on until then. */
export function awaitingPayment(subscription) {
    return { ...subscription, status: 'PAYMENT_PENDING', currentPeriod: null, paymentCollection: 'PROCESSING' };
}
/** The subscription becomes active at the instant; `ended`: those whose place it takes. */
export function decidePaid(subscription, held, at) {
    const replaced = held.flatMap((other) => {
        const trigger = other.id === subscription.id ? null : replacementTrigger(other, subscription, 'ACTIVE');
        return trigger ? [{ other, trigger, ended: apply(other, trigger, at) }] : [];
    });
    const inForce = replaced.find(({ trigger }) => trigger === 'replace')?.other;
    const paid = apply(subscription, 'paid', at);
    // Where it goes on in a running billing period, the anchor of that is older than it is.
    const usageAnchor = usageAnchorAfter(inForce, paid.billingPeriod, Math.max(paid.billingAnchor, paid.startDate));
    return { subscription: { ...paid, usageAnchor, currentPeriod: firstPeriod(paid, at) }, ended: replaced.map(({ ended }) => ended) };
}
//# sourceMappingURL=payment.js.map