/** The free subscription that the end of another one leads to. Pure. */
import { v5 } from 'uuid';
import { usageAnchorAfter } from './coexistence.js';
import { givesAccess } from './subscription.js';
/**
 * The free subscription that follows the end of another one by its product's end setting, or null. Only when nothing else of the product gives
 * access, never after the free plan itself, and not when the end was a replacement, an archive or a payment that never came.
 */
export function freeFollowUp({ before, after: ended }, all) {
    const { product, cancelReason, effectiveEndDate } = ended;
    if (product.endSetting !== 'DOWNGRADE_TO_FREE' || !product.downgradePlan || effectiveEndDate === null)
        return null;
    if (ended.plan.packageId === product.downgradePlan.packageId || before.status === 'PAYMENT_PENDING')
        return null;
    if (cancelReason === 'UpgradeOrDowngrade' || cancelReason === 'TrialConverted' || cancelReason === 'CustomerArchived')
        return null;
    const isCovered = all.some((other) => {
        // What the customer itself holds serves its resources too.
        const serves = other.id !== ended.id && other.product.id === product.id && (other.resource === null || other.resource.id === ended.resource?.id);
        return serves && (givesAccess(other.status) || (other.status === 'NOT_STARTED' && other.startDate <= effectiveEndDate));
    });
    return isCovered ? null : startFollowUp(ended, product.downgradePlan, effectiveEndDate);
}
const followUpNamespace = '7ed36ce0-f723-459a-9a97-e19b23bc26dc';
/**
 * The id comes from that of the ended one: what is derived before it is recorded has the id that it will have, and recording it twice is a
 * conflict of keys. It doubles as the refId.
 */
function startFollowUp(ended, plan, startDate) {
    const id = v5(ended.id, followUpNamespace);
    return {
        ...ended,
        id,
        refId: id,
        payingCustomerId: null,
        plan,
        addons: [],
        quantities: [],
        ownEntitlements: [],
        status: 'ACTIVE',
        pricingType: 'FREE',
        billingPeriod: null,
        startDate,
        endDate: null,
        trialEndDate: null,
        trialEndBehavior: null,
        cancellationDate: null,
        effectiveEndDate: null,
        cancelReason: null,
        billingAnchor: startDate,
        budget: null,
        currentPeriod: null,
        usageAnchor: usageAnchorAfter(ended, null, startDate),
        entitlementsRevokedAt: null,
        scheduled: [],
        awaitsPayment: false,
        paymentCollection: 'NOT_REQUIRED',
        additionalMetaData: null,
        billingId: null,
        crmId: null,
        salesforceId: null,
        createdAt: startDate,
    };
}
//# sourceMappingURL=follow-up.js.map