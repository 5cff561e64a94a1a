/**
 * The entitlements of the newer state, each with the newer usage of the two. An entry replaced by an older one stays, so applying the same states
 * twice, or in another order, ends the same.
 */
export function mergeStates(stored, incoming) {
    if (!stored)
        return incoming;
    const [newer, older] = stored.version > incoming.version ? [stored, incoming] : [incoming, stored];
    const usages = new Map(older.entitlements.flatMap(({ feature, usage }) => (usage ? [[feature.refId, usage]] : [])));
    return {
        ...newer,
        entitlements: newer.entitlements.map((entitlement) => withNewerUsage(entitlement, usages.get(entitlement.feature.refId))),
    };
}
/** The state with changed usages in it. Usage alone never moves the state's own version: what it grants was not looked at. */
export function withUsages(state, usages) {
    return {
        ...state,
        entitlements: state.entitlements.map((entitlement) => withNewerUsage(entitlement, usages.get(entitlement.feature.refId))),
    };
}
/** Of equally new ones that of the newer state stays: the other may belong to a series that has been replaced. */
function withNewerUsage(entitlement, usage) {
    return usage && entitlement.usage && usage.updatedAt > entitlement.usage.updatedAt ? { ...entitlement, usage } : entitlement;
}
//# sourceMappingURL=merge-state.js.map