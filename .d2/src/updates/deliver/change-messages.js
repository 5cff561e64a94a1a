import { randomUUID } from 'node:crypto';
import { toAnsweredUnits } from '../../metering/model/unit-transformation.js';
import { withUsages } from '../held/merge-state.js';
/** The state with the newest usage of each feature that changed, in the units that are answered. */
export function withChangedUsages(state, changes) {
    const usages = new Map();
    for (const { payload } of changes) {
        const { featureId, usage } = payload;
        const known = usages.get(featureId);
        if (known && known.updatedAt > usage.updatedAt)
            continue;
        const feature = state.entitlements.find((entitlement) => entitlement.feature.refId === featureId)?.feature;
        if (feature)
            usages.set(featureId, { ...usage, currentUsage: toAnsweredUnits(usage.currentUsage, feature.unitTransformation) });
    }
    return withUsages(state, usages);
}
/** Of a customer that is archived, or of one of its resources; with the state that says so, for those who answer from it. */
export function purgeMessage(state) {
    return { ...message(state.environmentId, state.customerId, state.resourceId, 'purge', state.version), state };
}
export function entitlementsMessage(state) {
    return { ...message(state.environmentId, state.customerId, state.resourceId, 'entitlements', state.version), state };
}
/** One message per version that was published; one without when something else of the catalog changed. */
export function packageMessages(environmentId, { version, payload }) {
    const about = () => message(environmentId, '', null, 'package', version);
    const packages = payload?.packages ?? [];
    return packages.length === 0 ? [about()] : packages.map((published) => ({ ...about(), package: published }));
}
/** One message per feature whose usage is among what changed and which the customer holds: usage without an entitlement is not told. */
export function usageMessages(state, changes) {
    const featureIds = new Set(changes.flatMap(({ kind, payload }) => (kind === 'usage' ? [payload.featureId] : [])));
    const messages = [];
    for (const entitlement of state.entitlements) {
        if (!featureIds.has(entitlement.feature.refId) || !entitlement.usage)
            continue;
        const { accessVersion } = state;
        const usage = { featureId: entitlement.feature.refId, usage: entitlement.usage, entitlement, accessVersion };
        messages.push({ ...message(state.environmentId, state.customerId, state.resourceId, 'usage', entitlement.usage.updatedAt), usage });
    }
    return messages;
}
function message(environmentId, customerId, resourceId, kind, version) {
    return {
        v: 1,
        // Not stored, and made for every message: this takes a tenth of the time of an id that grows.
        id: randomUUID(),
        environmentId,
        customerId,
        ...(resourceId === null ? {} : { resourceId }),
        kind,
        version,
        timestamp: Date.now(),
    };
}
//# sourceMappingURL=change-messages.js.map