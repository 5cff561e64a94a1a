/** Of one product, and of the same resource or both of the customer itself. */
export function isSameSlot(a, b) {
    return a.product.id === b.product.id && a.resource?.id === b.resource?.id;
}
/**
 * What the beginning of a subscription, with the status that it gets, does to another one; null: the two coexist. Of one product a customer (or
 * resource) holds one non-trial and one trial at most, to different plans.
 */
export function replacementTrigger(other, starting, to) {
    if (!isSameSlot(other, starting))
        return null;
    if (to === 'IN_TRIAL')
        return other.status === 'IN_TRIAL' ? 'replace' : null;
    if (to !== 'ACTIVE')
        return null;
    if (other.status === 'IN_TRIAL')
        return other.plan.packageId === starting.plan.packageId ? 'trialReplaced' : null;
    return other.status === 'ACTIVE' ? 'replace' : null;
}
/**
 * Where the usage series begin of a subscription that starts at `startsAt`: there, or where those of the one began whose place it takes, as the
 * product says. `replaced` is as it was in force; absent: it takes nobody's place.
 */
export function usageAnchorAfter(replaced, billingPeriod, startsAt) {
    if (!replaced)
        return startsAt;
    const { usageOnPlanChange } = replaced.product;
    const isKept = usageOnPlanChange === 'NEVER_RESET' || (usageOnPlanChange === 'BILLING_PERIOD_CHANGE' && replaced.billingPeriod === billingPeriod);
    return isKept ? replaced.usageAnchor : startsAt;
}
//# sourceMappingURL=coexistence.js.map