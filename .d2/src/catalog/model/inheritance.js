import { combineWithinSubscription } from './combine.js';
/** What a version inherits: the entitlements of its base plan, with what that one inherits itself. `versions` holds all of its base plans. */
export function inheritedEntitlements({ basePlanVersionId }, versions) {
    const ancestors = [];
    for (let id = basePlanVersionId; id !== null; id = ancestors.at(-1).basePlanVersionId)
        ancestors.push(versions.get(id));
    const all = ancestors.toReversed().flatMap(({ entitlements }) => entitlements);
    return [...new Set(all.map(({ featureId }) => featureId))].map((featureId) => {
        const own = ancestors.flatMap(({ entitlements }) => entitlements.filter((entitlement) => entitlement.featureId === featureId));
        return combineWithinSubscription({ plans: own.map((grant) => ({ grant, behavior: grant.behavior })), subscription: null, addons: [] });
    });
}
//# sourceMappingURL=inheritance.js.map