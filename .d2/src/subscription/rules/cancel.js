import { billingPeriodAt } from './billing-period.js';
import { apply, refusal } from './lifecycle.js';
import { invalidCancellationDate } from './problems.js';
/**
 * The subscription after the request. Without a time the product's setting decides; trials and free plans end at once. Scheduled: it stays as it is
 * until `effectiveEndDate`.
 */
export function decideCancellation(input) {
    const { subscription, now, endDate } = input;
    const { status } = subscription;
    const endsAtOnce = status !== 'ACTIVE' || subscription.pricingType === 'FREE';
    const time = input.time ?? (endsAtOnce ? 'IMMEDIATE' : subscription.product.cancellationTiming);
    if (time === 'IMMEDIATE') {
        const refused = refusal(subscription, 'cancel', 'canceled');
        if (refused)
            throw refused;
        return apply(subscription, 'cancel', now);
    }
    const refused = refusal(subscription, 'cancelLater', 'canceled at a later date');
    if (refused)
        throw refused;
    const effectiveEndDate = time === 'SPECIFIC_DATE' ? endDate : (billingPeriodAt(subscription, now)?.end ?? null);
    if (effectiveEndDate === null)
        throw invalidCancellationDate(time === 'SPECIFIC_DATE'
            ? 'Give endDate with time SPECIFIC_DATE.'
            : 'The subscription has no billing period: cancel it with time IMMEDIATE.');
    if (effectiveEndDate <= now)
        throw invalidCancellationDate('endDate must be in the future.');
    const canceled = { ...apply(subscription, 'cancelLater', now), cancellationDate: now, effectiveEndDate };
    return input.revokesEntitlements ? { ...canceled, entitlementsRevokedAt: canceled.entitlementsRevokedAt ?? now } : canceled;
}
/** The subscription as if its scheduled cancellation had never been asked for; the same where there is none. */
export function undoCancellation(subscription) {
    if (subscription.effectiveEndDate === null)
        return subscription;
    return { ...subscription, cancellationDate: null, effectiveEndDate: null, entitlementsRevokedAt: null };
}
//# sourceMappingURL=cancel.js.map