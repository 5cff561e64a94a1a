import * as decimal from '../../kernel/decimal.js';
/** By the feature's refId. Empty when nothing is held; the metadata say why. */
export function toEntry({ entitlements, resourceId }) {
    return Object.fromEntries(entitlements.map((entitlement) => [entitlement.feature.refId, toFeature(entitlement, resourceId)]));
}
export const toMetadata = ({ deniedReason }) => (deniedReason === null ? null : { accessDeniedReason: deniedReason });
/** Below zero is told as zero. */
export function toUsage({ currentUsage, periodStart, periodEnd }) {
    return {
        currentUsage: decimal.toNumber(decimal.max(currentUsage, decimal.zero)),
        usagePeriodStart: periodStart,
        usagePeriodEnd: periodEnd,
    };
}
function toFeature(entitlement, resourceId) {
    const { feature, usageLimit, hasUnlimitedUsage, hasSoftLimit, enumValues, deniedReason, validUntil, reset, usage } = entitlement;
    const { refId, featureType, meterType, units, unitsPlural } = feature;
    return {
        calculatedEntitlement: {
            feature: { id: refId, featureType, meterType, units, unitsPlural },
            ...(resourceId === null ? {} : { resourceId }),
            usageLimit: hasUnlimitedUsage || usageLimit === null ? null : decimal.toNumber(usageLimit),
            hasUnlimitedUsage,
            hasSoftLimit,
            ...(deniedReason === null ? {} : { accessDeniedReason: deniedReason }),
            enumValues: featureType === 'ENUM' ? enumValues : null,
            ...(validUntil === null ? {} : { validUntil }),
        },
        featureUsage: {
            resetPeriod: reset?.period ?? null,
            resetPeriodConfiguration: reset && toResetPeriodConfiguration(reset.period, reset.rule),
            usagePeriodAnchor: reset?.anchor ?? null,
            ...(usage === null ? { currentUsage: null, usagePeriodStart: null, usagePeriodEnd: null } : toUsage(usage)),
        },
    };
}
function toResetPeriodConfiguration(period, rule) {
    if (period === 'MONTH')
        return { monthlyAccordingTo: rule };
    if (period === 'WEEK')
        return { weeklyAccordingTo: rule };
    return period === 'YEAR' ? { yearlyAccordingTo: rule } : null;
}
//# sourceMappingURL=value.js.map