/** The JSON of a state as the API answers it, over GraphQL and edge alike, and its translation into what the external cache holds. */
import { denialReasons } from '../../entitlement/rules/denial.js';
import * as decimal from '../../kernel/decimal.js';
/** Of the type Entitlement: what readers need of it. */
export const entitlementFields = `isGranted accessDeniedReason usageLimit hasUnlimitedUsage hasSoftLimit enumValues currentUsage validUntil
      resetPeriod usagePeriodAnchor usagePeriodStart usagePeriodEnd entitlementUpdatedAt usageUpdatedAt
      resetPeriodConfiguration {
        ... on MonthlyResetPeriodConfig { monthlyAccordingTo }
        ... on WeeklyResetPeriodConfig { weeklyAccordingTo }
        ... on YearlyResetPeriodConfig { yearlyAccordingTo }
      }
      feature { refId featureType meterType featureUnits featureUnitsPlural }`;
/** What is written of an answer. `version`: that of the change it was read for, used when the answer tells none. */
export function toWritableState({ customerId, resourceId }, version, json) {
    const held = json.entitlements ?? [];
    const versions = held.flatMap(({ entitlementUpdatedAt }) => fromTime(entitlementUpdatedAt) ?? []);
    return {
        customerId,
        resourceId,
        // Without entitlements the answer tells no version, but it was read after the change with this one.
        accessVersion: versions.length > 0 ? Math.max(...versions) : version,
        deniedReason: json.accessDeniedReason === null ? null : (stateReasons.find((known) => known === json.accessDeniedReason) ?? 'NoActiveSubscription'),
        entitlements: held.flatMap((entitlement) => toEntitlement(entitlement) ?? []),
    };
}
/** Null for what is not a feature (credits). */
function toEntitlement(json) {
    const { feature, resetPeriod, resetPeriodConfiguration: configuration } = json;
    if (feature === null)
        return null;
    const meterType = feature.meterType ?? 'None';
    const anchor = fromTime(json.usagePeriodAnchor);
    const rule = configuration?.monthlyAccordingTo ?? configuration?.weeklyAccordingTo ?? configuration?.yearlyAccordingTo ?? 'SubscriptionStart';
    return {
        feature: {
            refId: feature.refId,
            featureType: feature.featureType,
            meterType,
            units: feature.featureUnits,
            unitsPlural: feature.featureUnitsPlural,
        },
        usageLimit: json.usageLimit === null ? null : decimal.fromNumber(json.usageLimit),
        hasUnlimitedUsage: json.hasUnlimitedUsage,
        hasSoftLimit: json.hasSoftLimit ?? false,
        enumValues: json.enumValues ?? [],
        reset: resetPeriod !== null && anchor !== null ? { period: resetPeriod, rule, anchor } : null,
        usage: meterType === 'None'
            ? null
            : {
                currentUsage: decimal.fromNumber(json.currentUsage ?? 0),
                periodStart: fromTime(json.usagePeriodStart),
                periodEnd: fromTime(json.usagePeriodEnd),
                updatedAt: fromTime(json.usageUpdatedAt) ?? 0,
            },
        deniedReason: json.isGranted ? null : toDenialReason(json.accessDeniedReason),
        validUntil: json.validUntil,
    };
}
export const fromTime = (iso) => (iso === null ? null : Date.parse(iso));
export const stateReasons = [
    'CustomerNotFound',
    'CustomerIsArchived',
    'CustomerResourceNotFound',
    'NoActiveSubscription',
];
/** What depends on the request is decided by the reader at each check. */
export function toDenialReason(reason) {
    if (reason === 'RequestedUsageExceedingLimit' || reason === 'RequestedValuesMismatch')
        return null;
    return denialReasons.find((known) => known === reason) ?? 'Unknown';
}
//# sourceMappingURL=state-json.js.map