import { expect } from 'chai';
import { fromText } from '../../../../src/kernel/decimal.js';
import { freshUntil } from '../../../../src/updates/held/fresh-until.js';
const feature = {
    id: 'f',
    refId: 'calls',
    displayName: 'Calls',
    description: null,
    featureType: 'NUMBER',
    meterType: 'Incremental',
    units: null,
    unitsPlural: null,
    unitTransformation: null,
};
const entitlement = (more = {}) => ({
    feature,
    usageLimit: null,
    hasUnlimitedUsage: false,
    hasSoftLimit: false,
    enumValues: [],
    reset: null,
    usage: null,
    usageRestartsAt: null,
    deniedReason: null,
    validUntil: null,
    ...more,
});
const usageUntil = (periodEnd) => ({ currentUsage: fromText('1'), periodStart: null, periodEnd, updatedAt: 1 });
describe('a state is true', () => {
    const until = (validUntil, ...entitlements) => freshUntil({
        environmentId: 'e',
        customerId: 'a',
        resourceId: null,
        version: 1,
        accessVersion: 1,
        deniedReason: null,
        validUntil,
        entitlements,
    });
    it('for ever, when time changes nothing', () => {
        expect(until(null, entitlement(), entitlement({ usage: usageUntil(null) }))).to.equal(Number.POSITIVE_INFINITY);
    });
    it('until a source begins or ends, also when nothing is held', () => {
        expect(until(50)).to.equal(50);
        expect(until(null, entitlement({ validUntil: 40 }), entitlement({ validUntil: 60 }))).to.equal(40);
    });
    it('until a usage period is over, or usage starts again within it', () => {
        expect(until(50, entitlement({ usage: usageUntil(30) }))).to.equal(30);
        expect(until(50, entitlement({ usage: usageUntil(30), usageRestartsAt: 20 }))).to.equal(20);
    });
    it('whatever period seats carry: they are never reset', () => {
        expect(until(50, entitlement({ feature: { ...feature, meterType: 'Fluctuating' }, usage: usageUntil(30) }))).to.equal(50);
    });
});
//# sourceMappingURL=fresh-until.test.js.map