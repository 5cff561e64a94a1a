import { expect } from 'chai';
import * as decimal from '../../../../src/kernel/decimal.js';
import { Problem } from '../../../../src/kernel/problem.js';
import { advance } from '../../../../src/subscription/rules/advance.js';
import { decideProvision } from '../../../../src/subscription/rules/provision.js';
import { cancelSchedule, decideMigration, decideUpdate } from '../../../../src/subscription/rules/update.js';
import { addon, day, freePlan, held, plan, price, product, request, subscription, t0, top, trial } from '../support.js';
const now = t0 + 5 * day;
const periodEnd = Date.parse('2026-04-01T00:00:00Z');
const seatPrice = price({
    billingModel: 'PER_UNIT',
    featureId: 'seats',
    featureRefId: 'seats',
    minUnitQuantity: 2,
    maxUnitQuantity: 100,
});
const backup = addon('backup');
const seated = plan('seated', { prices: [seatPrice, price({ ...seatPrice, billingPeriod: 'ANNUALLY' })], compatibleAddonIds: ['backup'] });
const seats = (quantity) => ({ featureId: 'seats', featureRefId: 'seats', quantity: decimal.fromNumber(quantity) });
const later = product({ downgradeTiming: 'END_OF_BILLING_PERIOD' });
const active = (fields = {}) => subscription({
    plan: seated,
    product: later,
    quantities: [seats(10)],
    currentPeriod: { start: t0, end: periodEnd },
    ...fields,
});
const update = (one, change) => decideUpdate({ subscription: one, update: change, now });
const unitsOf = ({ quantities }) => quantities.map(({ quantity }) => decimal.toNumber(quantity));
const waitingOf = ({ scheduled }) => scheduled.map(({ executeAt, change }) => [
    change.type,
    executeAt,
    ...('quantity' in change ? [decimal.toNumber(change.quantity)] : 'addon' in change ? [change.addon.quantity] : []),
]);
describe('updating a subscription', () => {
    describe('a quantity, against the original one and what waits', () => {
        const waiting = update(active(), { quantities: [seats(8)] });
        it('less: waits for the end of the period, as the product says', () => {
            expect(unitsOf(waiting)).to.deep.equal([10]);
            expect(waitingOf(waiting)).to.deep.equal([['UnitAmount', periodEnd, 8]]);
            expect(unitsOf(advance([waiting], periodEnd).subscriptions[0])).to.deep.equal([8]);
        });
        it('still less, or less less: waits in its place', () => {
            for (const quantity of [5, 9]) {
                expect(waitingOf(update(waiting, { quantities: [seats(quantity)] }))).to.deep.equal([['UnitAmount', periodEnd, quantity]]);
            }
        });
        it('the original one: takes back what waits', () => expect(update(waiting, { quantities: [seats(10)] }).scheduled).to.deep.equal([]));
        it('more: takes back what waits and applies at once', () => {
            const more = update(waiting, { quantities: [seats(12)] });
            expect([unitsOf(more), more.scheduled]).to.deep.equal([[12], []]);
        });
        it('less, where the product downgrades at once: at once', () => {
            const less = update(active({ product: product() }), { quantities: [seats(8)] });
            expect([unitsOf(less), less.scheduled]).to.deep.equal([[8], []]);
        });
        it('more, where the strategy says later: waits', () => {
            const more = update(active(), { quantities: [seats(12)], scheduleStrategy: 'END_OF_BILLING_PERIOD' });
            expect([unitsOf(more), waitingOf(more)]).to.deep.equal([[10], [['UnitAmount', periodEnd, 12]]]);
        });
        for (const quantity of [1, 101]) {
            it(`${quantity}: is refused, outside of what is sold`, () => {
                expect(() => update(active(), { quantities: [seats(quantity)] })).to.throw(Problem, 'from 2 to 100');
            });
        }
    });
    describe('add-ons', () => {
        it('are added at once and taken away when the product says', () => {
            const added = update(active(), { addons: [held(backup, 3)] });
            expect(added.addons.map(({ quantity }) => quantity)).to.deep.equal([3]);
            const fewer = update(added, { addons: [] });
            expect([fewer.addons.length, waitingOf(fewer)]).to.deep.equal([1, [['Addon', periodEnd, 0]]]);
            expect(advance([fewer], periodEnd).subscriptions[0].addons).to.deep.equal([]);
            expect(update(fewer, { addons: [held(backup, 3)] }).scheduled).to.deep.equal([]);
        });
        it('keep their version when only their quantity changes', () => {
            const newer = { ...backup, id: 'backup-v2', versionNumber: 2 };
            expect(update(active({ addons: [held(backup, 1)] }), { addons: [held(newer, 2)] }).addons[0].version.id).to.equal('backup-v1');
        });
        it('are refused without the add-on that they need', () => {
            const needy = addon('needy', { dependencies: ['backup'] });
            const open = active({ plan: { ...seated, compatibleAddonIds: ['needy', 'backup'] } });
            expect(() => update(open, { addons: [held(needy)] })).to.throw(Problem, 'needs add-on "backup"');
            expect(update(open, { addons: [held(needy), held(backup)] }).addons).to.have.length(2);
        });
    });
    it('changes the billing period at once and begins it anew', () => {
        expect(update(active(), { billingPeriod: 'ANNUALLY' })).to.deep.include({
            billingPeriod: 'ANNUALLY',
            billingAnchor: now,
            currentPeriod: { start: now, end: Date.parse('2027-03-06T00:00:00Z') },
        });
    });
    it('begins a billing period with the change when that is asked for, and then nothing waits', () => {
        const restarted = update(active(), { quantities: [seats(5)], billingCycleAnchor: 'NOW' });
        expect([restarted.billingAnchor, restarted.currentPeriod.start, waitingOf(restarted), unitsOf(restarted)]).to.deep.equal([
            now,
            now,
            [],
            [5],
        ]);
        expect(update(active(), { quantities: [seats(20)], billingCycleAnchor: 'UNCHANGED' }).currentPeriod).to.deep.equal(active().currentPeriod);
        const refused = () => update(active(), { billingCycleAnchor: 'NOW', scheduleStrategy: 'END_OF_BILLING_PERIOD' });
        expect(refused).to.throw(Problem, 'billingCycleAnchor NOW');
        // Its billing has not begun.
        expect(update(trial({ plan: seated }), { billingCycleAnchor: 'NOW' }).currentPeriod).to.equal(null);
    });
    it('agrees on a budget, and gives it up', () => {
        const budget = { limit: decimal.fromNumber(10), hasSoftLimit: false };
        expect(update(active(), { budget }).budget).to.equal(budget);
        expect(update(active({ budget }), {}).budget).to.equal(budget);
        expect(update(active({ budget }), { budget: null }).budget).to.equal(null);
    });
    it('moves the end of a trial, and of nothing else', () => {
        expect(update(trial(), { trialEndDate: now + day }).trialEndDate).to.equal(now + day);
        expect(() => update(trial(), { trialEndDate: now })).to.throw(Problem, 'in the future');
        expect(() => update(active(), { trialEndDate: now + day }))
            .to.throw(Problem)
            .with.property('reason', 'INVALID_SUBSCRIPTION_STATUS');
    });
    it('takes a scheduled cancellation back, or sets one', () => {
        const canceled = update(active(), { cancellationDate: now + day });
        expect(canceled).to.include({ status: 'ACTIVE', cancellationDate: now, effectiveEndDate: now + day });
        expect(update(canceled, { cancellationDate: null })).to.include({ cancellationDate: null, effectiveEndDate: null });
    });
    it('of what has ended is refused', () => {
        expect(() => update(active({ status: 'EXPIRED' }), {}))
            .to.throw(Problem)
            .with.property('reason', 'SUBSCRIPTION_ALREADY_CANCELED_OR_EXPIRED');
    });
    it('cancelSchedule takes back everything that waits', () => {
        const waiting = update(active(), { quantities: [seats(8)], cancellationDate: now + day });
        expect(cancelSchedule(waiting, now)).to.deep.equal(active());
    });
});
describe('another plan of the product', () => {
    const big = plan('big', { prices: [price({ amount: decimal.fromNumber(50) })] });
    const small = plan('small', { prices: [price({ amount: decimal.fromNumber(5) })] });
    const current = (fields = {}) => subscription({ plan: big, product: later, currentPeriod: { start: t0, end: periodEnd }, ...fields });
    const provision = (one, fields) => decideProvision({ request: request({ product: one.product, ...fields }), held: [one], isTrialUsed: true, now });
    it('that costs less waits on the current one, which is the answer', () => {
        const decision = provision(current(), { plan: small });
        expect([decision.kind, decision.subscription.plan, waitingOf(decision.subscription)]).to.deep.equal([
            'update',
            big,
            [['Downgrade', periodEnd]],
        ]);
        const { subscriptions, renewals } = advance([decision.subscription], periodEnd);
        expect(subscriptions).to.have.length(1);
        expect(subscriptions[0]).to.deep.include({ plan: small, status: 'ACTIVE', usageAnchor: periodEnd, billingAnchor: t0, scheduled: [] });
        expect(renewals).to.deep.equal([{ subscriptionId: 'subscription', start: periodEnd, end: Date.parse('2026-05-01T00:00:00Z') }]);
    });
    it('asked for twice changes nothing the second time', () => {
        const { subscription: waiting } = provision(current(), { plan: small });
        expect(provision(waiting, { plan: small }).kind).to.equal('existing');
    });
    it('takes the place of the one that waits', () => {
        const { subscription: waiting } = provision(current(), { plan: small });
        const { subscription: next } = provision(waiting, { plan: freePlan, scheduleId: 'next' });
        expect(next.scheduled.map(({ id }) => id)).to.deep.equal(['next']);
    });
    it('that costs more is there at once, also with a downgrade waiting', () => {
        const { subscription: waiting } = provision(current({ plan: small }), { plan: freePlan });
        const decision = provision(waiting, { plan: big });
        expect([decision.kind, decision.subscription.plan.refId]).to.deep.equal(['create', 'big']);
        expect(decision.kind === 'create' && decision.ended[0]).to.include({ status: 'CANCELED', cancelReason: 'UpgradeOrDowngrade' });
    });
    it('is there when the strategy says, whatever the product says', () => {
        expect(provision(current(), { plan: small, scheduleStrategy: 'IMMEDIATE' }).kind).to.equal('create');
        const upgrade = provision(current({ plan: small }), { plan: big, scheduleStrategy: 'END_OF_BILLING_PERIOD' });
        expect(waitingOf(upgrade.subscription)).to.deep.equal([['Plan', periodEnd]]);
    });
    it('at the end of a billing month does not wait for the end of the year', () => {
        const annual = plan('annual', { prices: [price({ billingPeriod: 'ANNUALLY', amount: decimal.fromNumber(900) })] });
        const one = current({ plan: annual, billingPeriod: 'ANNUALLY', currentPeriod: { start: t0, end: Date.parse('2027-03-01T00:00:00Z') } });
        expect(waitingOf(provision(one, { plan: small, scheduleStrategy: 'END_OF_BILLING_MONTH' }).subscription)).to.deep.equal([
            ['Downgrade', periodEnd],
        ]);
    });
    for (const [name, from, to, type] of [
        ['to free', big, freePlan, 'later'],
        ['to custom', big, plan('custom', { pricingType: 'CUSTOM', prices: [] }), 'now'],
        ['to the same price', big, plan('twin', { prices: big.prices }), 'now'],
        ['to another currency', big, plan('euro', { prices: [price({ currency: 'EUR', amount: decimal.fromNumber(1) })] }), 'now'],
        ['to a price in tiers', big, plan('tiers', { prices: [price({ amount: null, tiers: [] })] }), 'now'],
    ]) {
        it(`${name} is there ${type}`, () => expect(provision(current({ plan: from }), { plan: to }).kind).to.equal(type === 'now' ? 'create' : 'update'));
    }
    it('comes after a cancellation at the same instant: there is nothing left to change', () => {
        const { subscription: waiting } = provision(current({ cancellationDate: t0, effectiveEndDate: periodEnd }), { plan: small });
        expect(advance([waiting], periodEnd)).to.deep.include({ executed: [], renewals: [] });
    });
});
describe('moving to the latest version', () => {
    const newer = { ...top, id: 'top-v2', versionNumber: 2 };
    const latest = { plan: newer, addons: new Map() };
    const one = subscription({ plan: top, currentPeriod: { start: t0, end: periodEnd } });
    it('can be at once, and keeps usage and billing as they are', () => {
        const moved = decideMigration({ subscription: one, latest, time: 'IMMEDIATE', now });
        expect(moved).to.deep.equal({ ...one, plan: newer });
    });
    it('waits for the end of the billing period otherwise', () => {
        const moved = decideMigration({ subscription: one, latest, time: 'END_OF_BILLING_PERIOD', now });
        expect([moved.plan.id, waitingOf(moved)]).to.deep.equal(['top-v1', [['MigrateToLatest', periodEnd]]]);
        expect(advance([moved], periodEnd).subscriptions[0].plan.id).to.equal('top-v2');
    });
    it('is refused to what holds it already', () => {
        expect(() => decideMigration({ subscription: { ...one, plan: newer }, latest, time: 'IMMEDIATE', now }))
            .to.throw(Problem)
            .with.property('reason', 'SUBSCRIPTION_ALREADY_ON_LATEST_PLAN');
    });
});
//# sourceMappingURL=update.test.js.map