import * as decimal from '../../../src/kernel/decimal.js';
/** States and messages for tests: each function fills in what the case at hand does not say. */
const feature = (refId, differing) => ({
    id: `our-${refId}`,
    refId,
    displayName: `The ${refId}`,
    description: null,
    featureType: 'BOOLEAN',
    meterType: 'None',
    units: null,
    unitsPlural: null,
    unitTransformation: null,
    ...differing,
});
function entitlement(entitled, differing) {
    return {
        feature: entitled,
        usageLimit: null,
        hasUnlimitedUsage: false,
        hasSoftLimit: false,
        enumValues: [],
        reset: null,
        usage: null,
        usageRestartsAt: null,
        deniedReason: null,
        validUntil: null,
        ...differing,
    };
}
export const usage = (value, updatedAt, differing = {}) => ({
    currentUsage: decimal.fromNumber(value),
    periodStart: 1_000,
    periodEnd: 2_000,
    updatedAt,
    ...differing,
});
export const boolean = (refId, differing = {}) => entitlement(feature(refId, {}), differing);
export const numeric = (refId, value, differing = {}) => entitlement(feature(refId, { featureType: 'NUMBER' }), { usageLimit: decimal.fromNumber(value), ...differing });
export const enumerated = (refId, ...enumValues) => entitlement(feature(refId, { featureType: 'ENUM' }), { enumValues });
export const metered = (refId, held, differing = {}) => entitlement(feature(refId, { featureType: 'NUMBER', meterType: 'Incremental', units: 'call', unitsPlural: 'calls' }), {
    usageLimit: decimal.fromNumber(10),
    reset: { period: 'MONTH', rule: 'StartOfTheMonth', anchor: 1_000, timeZone: 'UTC' },
    usage: held,
    ...differing,
});
/** The state of customer `acme`. */
export const state = (accessVersion, entitlements, differing = {}) => ({
    environmentId: 'environment',
    customerId: 'acme',
    resourceId: null,
    version: accessVersion,
    accessVersion,
    deniedReason: null,
    entitlements,
    ...differing,
});
export const message = (kind, version, differing = {}) => ({
    v: 1,
    id: `message-${version}`,
    environmentId: 'environment',
    customerId: 'acme',
    kind,
    version,
    timestamp: version,
    ...differing,
});
export const stateMessage = (held) => message('entitlements', held.version, { customerId: held.customerId, ...resourceOf(held.resourceId), state: held });
export const usageMessage = (featureId, held, resourceId = null) => message('usage', held.updatedAt, { ...resourceOf(resourceId), usage: { featureId, usage: held } });
const resourceOf = (resourceId) => (resourceId === null ? {} : { resourceId });
//# sourceMappingURL=held.js.map