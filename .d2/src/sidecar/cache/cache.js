/** One key per (customer, resource or none). The length keeps `a/b` + none apart from `a` + `b`, whatever characters identifiers have. */
export function entryKey(customerId, resourceId) {
    return resourceId === null ? `${customerId.length}:${customerId}` : `${customerId.length}:${customerId}/${resourceId}`;
}
//# sourceMappingURL=cache.js.map