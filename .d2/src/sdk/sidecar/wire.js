import { fileURLToPath } from 'node:url';
import { loadSync } from '@grpc/proto-loader';
/** Between the SDK's words and the messages as proto-loader has them: camel case, enums by name, absent fields undefined. */
const protoFolder = fileURLToPath(new URL('../../../../proto', import.meta.url));
export const service = loadSync('service/sidecar/v1/sidecar.proto', {
    includeDirs: [protoFolder],
    longs: Number,
    enums: String,
    defaults: true,
    oneofs: true,
})['service.sidecar.v1.SidecarService'];
const entitlementTypes = ['boolean', 'numeric', 'metered', 'enum'];
/** `ACCESS_DENIED_REASON_REVOKED` as `REVOKED`. */
const shortName = (prefix, name) => name.replace(`${prefix}_`, '');
export function toReason(name) {
    const reason = name === undefined ? 'UNSPECIFIED' : shortName('ACCESS_DENIED_REASON', name);
    return reason === 'UNSPECIFIED' ? null : reason;
}
const toDate = (timestamp) => timestamp ? new Date(timestamp.seconds * 1_000 + timestamp.nanos / 1_000_000) : null;
const fromDate = (date) => {
    if (date === undefined)
        return undefined;
    const seconds = Math.floor(date.getTime() / 1_000);
    return { seconds, nanos: (date.getTime() - seconds * 1_000) * 1_000_000 };
};
function toFeature(feature) {
    if (!feature)
        return null;
    return {
        id: feature.id,
        featureType: shortName('FEATURE_TYPE', feature.featureType),
        meterType: shortName('METER_TYPE', feature.meterType),
        isMetered: feature.isMetered,
        units: feature.units ?? null,
        unitsPlural: feature.unitsPlural ?? null,
    };
}
export const toBoolean = ({ feature }) => ({ feature: toFeature(feature) });
export const toNumeric = ({ feature, value, isUnlimited }) => ({
    feature: toFeature(feature),
    value: value ?? null,
    isUnlimited: isUnlimited ?? false,
});
export const toMetered = (message) => ({
    feature: toFeature(message.feature),
    usageLimit: message.usageLimit ?? null,
    isUnlimited: message.isUnlimited ?? false,
    hasSoftLimit: message.hasSoftLimit ?? false,
    currentUsage: message.currentUsage ?? 0,
    resetPeriod: message.resetPeriod === undefined ? null : shortName('ENTITLEMENT_RESET_PERIOD', message.resetPeriod),
    usagePeriodAnchor: toDate(message.usagePeriodAnchor),
    usagePeriodStart: toDate(message.usagePeriodStart),
    usagePeriodEnd: toDate(message.usagePeriodEnd),
});
export const toEnum = ({ feature, enumValues }) => ({
    feature: toFeature(feature),
    enumValues: enumValues ?? [],
});
/** Of whichever type is there; null when none is. */
export function toEntitlement(message) {
    if (message.boolean)
        return { type: 'boolean', ...toBoolean(message.boolean) };
    if (message.numeric)
        return { type: 'numeric', ...toNumeric(message.numeric) };
    if (message.metered)
        return { type: 'metered', ...toMetered(message.metered) };
    return message.enum ? { type: 'enum', ...toEnum(message.enum) } : null;
}
/** An entitlement as a fallback tells it. */
export const fromFallback = ({ usageLimit, isUnlimited, enumValues }) => ({
    value: usageLimit,
    usageLimit,
    isUnlimited,
    enumValues,
});
const fromDimensions = (dimensions = {}) => Object.fromEntries(Object.entries(dimensions).map(([name, value]) => {
    if (typeof value === 'string')
        return [name, { stringValue: value }];
    return [name, typeof value === 'number' ? { numberValue: value } : { booleanValue: value }];
}));
export const fromReport = ({ dimensions, timestamp, updateBehavior, ...report }) => ({
    ...report,
    ...(updateBehavior === undefined ? {} : { updateBehavior: `USAGE_UPDATE_BEHAVIOR_${updateBehavior}` }),
    dimensions: fromDimensions(dimensions),
    timestamp: fromDate(timestamp),
});
export const fromEvent = ({ dimensions, timestamp, ...event }) => ({
    ...event,
    dimensions: fromDimensions(dimensions),
    timestamp: fromDate(timestamp),
});
export const toReported = (message) => ({
    measurementId: message.measurementId,
    customerId: message.customerId,
    resourceId: message.resourceId ?? null,
    featureId: message.featureId,
    currentUsage: message.currentUsage ?? null,
    usagePeriodStart: toDate(message.usagePeriodStart),
    usagePeriodEnd: toDate(message.usagePeriodEnd),
});
//# sourceMappingURL=wire.js.map