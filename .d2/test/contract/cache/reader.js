export async function read(redis, prefix, customerId, resourceId = null) {
    const customer = `${prefix}:c_${customerId}`;
    const entity = resourceId === null ? customer : `${customer}:r_${resourceId}`;
    const [body, version, customerVersion, metadata] = await redis.mget(entity, `${entity}#timestamp`, `${customer}#timestamp`, `${entity}:metadata`);
    if (body == null || version == null || Number(version) < Number(customerVersion ?? 0))
        return null;
    const features = {};
    for (const [refId, { calculatedEntitlement, featureUsage }] of Object.entries(JSON.parse(body))) {
        if (calculatedEntitlement.feature.meterType === 'None') {
            features[refId] = calculatedEntitlement;
            continue;
        }
        const [usage, usageVersion] = await redis.mget(`${entity}:f_${refId}`, `${entity}:f_${refId}#timestamp`);
        if (usage == null || usageVersion == null)
            return null;
        features[refId] = { ...calculatedEntitlement, usage: { ...featureUsage, ...JSON.parse(usage) } };
    }
    return { accessDeniedReason: JSON.parse(metadata ?? 'null')?.accessDeniedReason ?? null, features };
}
/** Everything under a prefix. */
export async function contentOf(redis, prefix) {
    const keys = (await redis.keys(`${prefix}:*`)).sort();
    if (keys.length === 0)
        return {};
    const values = await redis.mget(keys);
    return Object.fromEntries(keys.map((key, i) => [key.slice(prefix.length + 1), JSON.parse(values[i])]));
}
//# sourceMappingURL=reader.js.map