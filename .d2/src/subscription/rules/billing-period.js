import { usagePeriodAt } from '../../metering/model/usage-period.js';
import { givesAccess } from './subscription.js';
/** The billing period that contains `at`, counted from the anchor in the customer's time zone. */
export function billingPeriodFrom(period, anchor, timeZone, at) {
    return usagePeriodAt({ period: period === 'MONTHLY' ? 'MONTH' : 'YEAR', rule: 'SubscriptionStart', anchor, timeZone, at });
}
/** The billing period that contains `at`; in a trial, the trial. Null while nothing is billed. */
export function billingPeriodAt(subscription, at) {
    const { billingPeriod, billingAnchor, currentPeriod, status, timeZone } = subscription;
    if (status === 'IN_TRIAL' && subscription.trialEndDate !== null)
        return { start: subscription.startDate, end: subscription.trialEndDate };
    if (billingPeriod === null || !givesAccess(status))
        return null;
    // What was begun keeps its end although the customer's time zone changed meanwhile.
    if (currentPeriod && currentPeriod.start <= at && at < currentPeriod.end)
        return currentPeriod;
    return billingPeriodFrom(billingPeriod, billingAnchor, timeZone, at);
}
/** The billing period of a subscription with its status of now; in a trial, the trial. Null while nothing is billed. */
export function currentBillingPeriod({ status, startDate, trialEndDate, currentPeriod }) {
    if (status === 'IN_TRIAL' && trialEndDate !== null)
        return { start: startDate, end: trialEndDate };
    return status === 'ACTIVE' ? currentPeriod : null;
}
/** The period that an active subscription is in from `at` on, where billing begins anew or the paid life begins. Null: nothing is billed. */
export function firstPeriod(subscription, at) {
    const { billingPeriod, billingAnchor, timeZone } = subscription;
    return billingPeriod === null ? null : billingPeriodFrom(billingPeriod, billingAnchor, timeZone, at);
}
/** The period that begins where the current one ends. Null: nothing is billed any more. */
export function periodAfter(subscription) {
    const { billingPeriod, currentPeriod } = subscription;
    if (billingPeriod === null || !currentPeriod)
        return null;
    // Cut at the boundary: in another time zone the period that contains it may have begun before.
    return { start: currentPeriod.end, end: firstPeriod(subscription, currentPeriod.end).end };
}
/** When a change takes effect. What is not billed has no period whose end could be waited for: at once. */
export function effectiveAt(subscription, strategy, now) {
    const period = billingPeriodAt(subscription, now);
    if (strategy === 'IMMEDIATE' || !period)
        return now;
    if (strategy === 'END_OF_BILLING_PERIOD')
        return period.end;
    const month = billingPeriodFrom('MONTHLY', subscription.billingAnchor, subscription.timeZone, now);
    return Math.min(month.end, period.end);
}
//# sourceMappingURL=billing-period.js.map