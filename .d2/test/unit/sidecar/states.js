import * as decimal from '../../../src/kernel/decimal.js';
import { heldAt, packUsages, TermsPool } from '../../../src/sidecar/terms.js';
const pool = new TermsPool();
/** A metered entitlement; `version` is that of its usage. */
export function held(featureId, used, version, changes = {}) {
    const feature = {
        id: '',
        refId: featureId,
        displayName: '',
        description: null,
        featureType: 'NUMBER',
        meterType: 'Incremental',
        units: null,
        unitsPlural: null,
        unitTransformation: null,
    };
    return {
        feature,
        usageLimit: decimal.fromNumber(10),
        hasUnlimitedUsage: false,
        hasSoftLimit: false,
        enumValues: [],
        deniedReason: null,
        resetPeriod: null,
        usage: { currentUsage: decimal.fromNumber(used), periodStart: 0, periodEnd: null, updatedAt: version, anchor: null },
        ...changes,
    };
}
export function state(accessVersion, entitlements, changes = {}) {
    const version = Math.max(accessVersion, ...entitlements.map(({ usage }) => usage.updatedAt));
    const terms = pool.list(entitlements.map(({ usage: _, ...terms }) => terms));
    const usages = packUsages(entitlements.map(({ usage }) => usage));
    return { customerId: 'c', resourceId: null, version, accessVersion, deniedReason: null, terms, usages, validUntil: null, ...changes };
}
/** Feature to current usage. */
export const usagesOf = (state) => Object.fromEntries(state.terms.terms.map(({ feature }, position) => [feature.refId, Number(heldAt(state, position).usage?.currentUsage)]));
//# sourceMappingURL=states.js.map