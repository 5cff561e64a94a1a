import { expect } from 'chai';
import fc from 'fast-check';
import * as decimal from '../../../../src/kernel/decimal.js';
import { mergeStates, withUsages } from '../../../../src/updates/held/merge-state.js';
import { feature, t0 } from '../../subscription/support.js';
const usage = (currentUsage, updatedAt) => ({
    currentUsage: decimal.fromNumber(currentUsage),
    periodStart: t0,
    periodEnd: null,
    updatedAt,
});
const entitlement = (refId, fields = {}) => ({
    feature: feature(refId, { meterType: 'Incremental' }),
    usageLimit: decimal.fromNumber(10),
    hasUnlimitedUsage: false,
    hasSoftLimit: false,
    enumValues: [],
    reset: null,
    usage: null,
    usageRestartsAt: null,
    deniedReason: null,
    validUntil: null,
    ...fields,
});
const state = (version, ...entitlements) => ({
    environmentId: 'environment',
    customerId: 'acme',
    resourceId: null,
    version,
    accessVersion: version,
    deniedReason: null,
    entitlements,
});
describe('merging states', () => {
    it('takes the first as it is', () => {
        const first = state(5, entitlement('calls', { usage: usage(1, 5) }));
        expect(mergeStates(null, first)).to.equal(first);
    });
    it('never lets an older state replace a newer one', () => {
        const newer = state(6, entitlement('calls', { usage: usage(2, 6) }));
        expect(mergeStates(newer, state(5, entitlement('seats')))).to.deep.equal(newer);
    });
    it('drops what the newer state does not hold any more', () => {
        expect(mergeStates(state(5, entitlement('calls')), state(6, entitlement('seats'))).entitlements.map(({ feature }) => feature.refId)).to.deep.equal(['seats']);
    });
    it('keeps newer usage under newer access', () => {
        const patched = withUsages(state(5, entitlement('calls', { usage: usage(1, 5) })), new Map([['calls', usage(3, 9)]]));
        const merged = mergeStates(patched, state(7, entitlement('calls', { usageLimit: decimal.fromNumber(20), usage: usage(2, 7) })));
        expect(merged).to.include({ version: 7 });
        expect(merged.entitlements[0]).to.deep.include({ usageLimit: '20', usage: usage(3, 9) });
    });
    it('keeps the usage of the newer state when both are as new', () => {
        const merged = mergeStates(state(5, entitlement('calls', { usage: usage(8, 5) })), state(5, entitlement('calls', { usage: usage(0, 5) })));
        expect(merged.entitlements[0].usage.currentUsage).to.equal('0');
    });
    it('gives no usage to what has none in the newer state', () => {
        const merged = mergeStates(state(5, entitlement('calls', { usage: usage(8, 9) })), state(6, entitlement('calls')));
        expect(merged.entitlements[0].usage).to.equal(null);
    });
    it('ends the same in any order, with repeats', () => {
        const anyState = fc.record({
            version: fc.integer({ min: 1, max: 5 }),
            later: fc.integer({ min: 0, max: 5 }),
            laterSeats: fc.integer({ min: 0, max: 5 }),
        });
        // A state of one version says one thing, whoever built it; its usage may have been patched since.
        const states = fc.uniqueArray(anyState, { selector: ({ version }) => version, minLength: 1 }).map((all) => all.map(({ version, later, laterSeats }) => {
            const used = (refId, updatedAt) => entitlement(refId, { usageLimit: decimal.fromNumber(version), usage: usage(updatedAt, updatedAt) });
            return state(version, used('calls', version + later), used('seats', version + laterSeats));
        }));
        const orders = states.chain((all) => fc.tuple(fc.constant(all), fc.array(fc.constantFrom(...all)), fc.shuffledSubarray(all, { minLength: all.length })));
        fc.assert(fc.property(orders, ([all, repeats, shuffled]) => {
            const mergeAll = (list) => list.reduce(mergeStates, null);
            expect(mergeAll([...shuffled, ...repeats])).to.deep.equal(mergeAll(all));
        }));
    });
});
describe('changed usage', () => {
    const stored = state(5, entitlement('calls', { usage: usage(1, 5) }), entitlement('sso'));
    it('replaces older usage and moves nothing else', () => {
        const changed = withUsages(stored, new Map([['calls', usage(2, 6)]]));
        expect(changed).to.deep.equal({ ...stored, entitlements: [{ ...stored.entitlements[0], usage: usage(2, 6) }, stored.entitlements[1]] });
    });
    it('is not taken when it is older, or of what has no meter or is not held', () => {
        const changes = new Map([
            ['calls', usage(9, 4)],
            ['sso', usage(9, 9)],
            ['unknown', usage(9, 9)],
        ]);
        expect(withUsages(stored, changes)).to.deep.equal(stored);
    });
});
//# sourceMappingURL=merge-state.test.js.map