/**
 * Applies a change to the external cache; answers whether it was news. Harmless twice and out of order (see ExternalCacheWriter). Fails when Redis,
 * or the API where it is needed, is away: the message is to be tried again.
 */
export async function applyChange(message, { cache, fetchState, signal }) {
    const { kind, customerId, resourceId = null, version, state, usage } = message;
    const id = { customerId, resourceId };
    switch (kind) {
        case 'entitlements':
            return cache.writeState(state ?? (await fetchState(id, version, signal)));
        case 'usage':
            return usage ? cache.writeUsage(id, usage) : cache.writeState(await fetchState(id, version, signal));
        case 'purge':
            return cache.purge(id, version);
        case 'package':
            // The cache holds nothing of the catalog. Whose entitlements it changed is told by messages of their own.
            return false;
    }
}
//# sourceMappingURL=apply.js.map