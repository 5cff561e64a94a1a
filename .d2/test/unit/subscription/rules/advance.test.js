import { expect } from 'chai';
import fc from 'fast-check';
import { advance, nextDue } from '../../../../src/subscription/rules/advance.js';
import { firstPeriod } from '../../../../src/subscription/rules/billing-period.js';
import { isFinal } from '../../../../src/subscription/rules/subscription.js';
import { basic, day, downgrading, freePlan, plan, product, subscription, t0, top, trial } from '../support.js';
const later = t0 + 30 * day;
const planChange = (to, executeAt) => ({
    id: `to-${to.refId}`,
    executeAt,
    change: { type: 'Downgrade', agreed: null, plan: to, billingPeriod: to.prices[0]?.billingPeriod ?? null, addons: [], quantities: [] },
});
const statuses = (subscriptions) => subscriptions.map(({ id, status, cancelReason }) => [id, status, cancelReason]);
describe('what time does to subscriptions', () => {
    it('does nothing before the instant, and everything at it', () => {
        const [before] = advance([trial()], t0 + 14 * day - 1).subscriptions;
        const [at] = advance([trial()], t0 + 14 * day).subscriptions;
        expect([before.status, at.status]).to.deep.equal(['IN_TRIAL', 'ACTIVE']);
    });
    it('bills and counts usage from the end of a trial that converts, however late it is noticed', () => {
        const [converted] = advance([trial()], later).subscriptions;
        expect(converted).to.include({ status: 'ACTIVE', billingAnchor: t0 + 14 * day, usageAnchor: t0 + 14 * day, effectiveEndDate: null });
    });
    it('ends the paid subscription of the product when a trial beside it converts', () => {
        const { subscriptions } = advance([subscription({ id: 'paid' }), trial({ plan: top })], later);
        expect(statuses(subscriptions)).to.deep.equal([
            ['paid', 'CANCELED', 'UpgradeOrDowngrade'],
            ['trial', 'ACTIVE', null],
        ]);
    });
    it('leaves other products and resources alone when a trial converts', () => {
        const elsewhere = subscription({ id: 'elsewhere', product: product({ id: 'other' }) });
        const ofResource = subscription({ id: 'of-resource', resource: { id: 'r', refId: 'r' } });
        const { moved } = advance([elsewhere, ofResource, trial({ plan: top })], later);
        expect(moved.map(({ after }) => after.id)).to.deep.equal(['trial']);
    });
    it('expires a trial that does not convert', () => {
        const { subscriptions, started } = advance([trial({ trialEndBehavior: 'CANCEL_SUBSCRIPTION' })], later);
        expect(subscriptions[0]).to.include({ status: 'EXPIRED', cancelReason: 'TrialEnded', effectiveEndDate: t0 + 14 * day });
        expect(started).to.deep.equal([]);
    });
    it('starts the free plan when a trial ends and the product says so, at that instant', () => {
        const { started } = advance([trial({ trialEndBehavior: 'CANCEL_SUBSCRIPTION', product: downgrading })], later);
        expect(started).to.have.length(1);
        expect(started[0]).to.include({
            plan: freePlan,
            status: 'ACTIVE',
            startDate: t0 + 14 * day,
            usageAnchor: t0 + 14 * day,
            billingPeriod: null,
        });
    });
    it('gives the free plan that follows the same id whenever it is derived, and another one for another subscription', () => {
        const ending = trial({ trialEndBehavior: 'CANCEL_SUBSCRIPTION', product: downgrading });
        const idOf = (subscription, now) => advance([subscription], now).started[0].id;
        expect(idOf(ending, later)).to.equal(idOf(ending, later + day));
        expect(idOf(ending, later)).not.to.equal(idOf({ ...ending, id: 'other' }, later));
    });
    it('cancels at the scheduled instant', () => {
        const scheduled = subscription({ cancellationDate: t0, effectiveEndDate: t0 + 3 * day, product: downgrading });
        const { subscriptions } = advance([scheduled], later);
        expect(subscriptions[0]).to.include({ status: 'CANCELED', cancelReason: 'ScheduledCancellation', effectiveEndDate: t0 + 3 * day });
        expect(subscriptions[1]).to.include({ status: 'ACTIVE', startDate: t0 + 3 * day });
    });
    it('does not move what has ended', () => {
        const ended = trial({ status: 'CANCELED', cancelReason: 'Immediate', effectiveEndDate: t0 + day });
        expect(advance([ended], later)).to.deep.equal({ subscriptions: [ended], moved: [], started: [], renewals: [], executed: [] });
        expect(nextDue(ended)).to.equal(null);
    });
    it('replaces a running trial when another trial starts', () => {
        const upcoming = trial({ id: 'upcoming', status: 'NOT_STARTED', plan: top, startDate: t0 + 2 * day });
        const { subscriptions } = advance([trial(), upcoming], t0 + 3 * day);
        expect(statuses(subscriptions)).to.deep.equal([
            ['trial', 'CANCELED', 'UpgradeOrDowngrade'],
            ['upcoming', 'IN_TRIAL', null],
        ]);
    });
    it('starts in trial and converts, both in one go', () => {
        const upcoming = trial({ id: 'upcoming', status: 'NOT_STARTED', plan: top, startDate: t0 + 2 * day });
        const { subscriptions } = advance([subscription({ id: 'paid' }), upcoming], later);
        expect(statuses(subscriptions)).to.deep.equal([
            ['paid', 'CANCELED', 'UpgradeOrDowngrade'],
            ['upcoming', 'ACTIVE', null],
        ]);
        expect(subscriptions[0].effectiveEndDate).to.equal(t0 + 14 * day);
    });
    describe('usage at a plan change that was asked for with a later start', () => {
        const usageAnchor = (fields, newPeriod) => {
            const rules = product(fields);
            const upcoming = subscription({
                id: 'next',
                status: 'NOT_STARTED',
                plan: top,
                startDate: t0 + day,
                product: rules,
                billingPeriod: newPeriod,
            });
            return advance([subscription({ product: rules }), upcoming], later).subscriptions[1].usageAnchor;
        };
        for (const [name, fields, period, expected] of [
            ['restarts by default', {}, 'MONTHLY', t0 + day],
            ['goes on with NEVER_RESET', { usageOnPlanChange: 'NEVER_RESET' }, 'ANNUALLY', t0],
            ['goes on with BILLING_PERIOD_CHANGE and the same period', { usageOnPlanChange: 'BILLING_PERIOD_CHANGE' }, 'MONTHLY', t0],
            ['restarts with BILLING_PERIOD_CHANGE and another period', { usageOnPlanChange: 'BILLING_PERIOD_CHANGE' }, 'ANNUALLY', t0 + day],
        ]) {
            it(name, () => expect(usageAnchor(fields, period)).to.equal(expected));
        }
    });
    describe('the free plan that follows an end', () => {
        const ending = subscription({ id: 'ending', effectiveEndDate: t0 + day, cancellationDate: t0, product: downgrading });
        const startedBeside = (...others) => advance([ending, ...others], later).started.length;
        it('comes when nothing else is there', () => expect(startedBeside()).to.equal(1));
        it('does not come beside a trial of the product', () => {
            expect(startedBeside(trial({ plan: top, product: downgrading }))).to.equal(0);
        });
        it('comes beside another product', () => {
            expect(startedBeside(subscription({ id: 'elsewhere', product: product({ id: 'other' }) }))).to.equal(1);
        });
        it('comes beside what only a resource holds', () => {
            expect(startedBeside(subscription({ id: 'of-resource', product: downgrading, resource: { id: 'r', refId: 'r' } }))).to.equal(1);
        });
        it('does not come for a resource that the customer’s own subscription serves', () => {
            const ofResource = { ...ending, resource: { id: 'r', refId: 'r' } };
            expect(advance([ofResource, subscription({ id: 'own', product: downgrading })], later).started).to.deep.equal([]);
        });
        it('does not come when another subscription starts at that instant', () => {
            expect(startedBeside(subscription({ id: 'next', status: 'NOT_STARTED', plan: top, product: downgrading, startDate: t0 + day }))).to.equal(0);
        });
        it('does not come after the free plan itself', () => {
            expect(advance([{ ...ending, plan: freePlan, pricingType: 'FREE' }], later).started).to.deep.equal([]);
        });
        it('does not come after a replacement', () => {
            const upgrade = subscription({ id: 'next', status: 'NOT_STARTED', plan: top, product: downgrading, startDate: t0 + day });
            expect(advance([subscription({ product: downgrading }), upgrade], later).started).to.deep.equal([]);
        });
        it('keeps the usage anchor where usage is never reset', () => {
            const rules = { ...downgrading, usageOnPlanChange: 'NEVER_RESET' };
            expect(advance([{ ...ending, product: rules }], later).started[0].usageAnchor).to.equal(t0);
        });
    });
    describe('at one instant', () => {
        const at = t0 + 14 * day;
        it('a scheduled cancellation comes before the conversion that would replace it, in whatever order they are held', () => {
            const paid = subscription({ id: 'paid', effectiveEndDate: at, cancellationDate: t0 });
            for (const held of [
                [paid, trial({ plan: top })],
                [trial({ plan: top }), paid],
            ]) {
                const { subscriptions } = advance(held, at);
                expect(subscriptions.find(({ id }) => id === 'paid').cancelReason).to.equal('ScheduledCancellation');
            }
        });
        it('an end comes before a start', () => {
            const next = subscription({ id: 'next', status: 'NOT_STARTED', plan: top, startDate: at });
            const { moved } = advance([next, subscription({ id: 'old', endDate: at })], at);
            expect(moved.map(({ after, trigger }) => [after.id, trigger])).to.deep.equal([
                ['old', 'endDate'],
                ['next', 'start'],
            ]);
        });
        it('a scheduled cancellation comes before the end of the term', () => {
            const { subscriptions } = advance([subscription({ endDate: at, effectiveEndDate: at, cancellationDate: t0 })], at);
            expect(subscriptions[0].cancelReason).to.equal('ScheduledCancellation');
        });
    });
    describe('whatever is held', () => {
        const instants = fc.integer({ min: 0, max: 40 }).map((days) => t0 + days * day);
        const orNull = (value) => fc.option(value, { nil: null, freq: 2 });
        const anySubscription = fc
            .record({
            place: fc.constantFrom('NOT_STARTED', 'IN_TRIAL', 'ACTIVE', 'PAYMENT_PENDING'),
            resource: fc.constantFrom(null, { id: 'r', refId: 'r' }),
            plan: fc.constantFrom(basic, top, freePlan, plan('third')),
            rules: fc.constantFrom(product(), downgrading, { ...downgrading, usageOnPlanChange: 'NEVER_RESET' }),
            startDate: instants,
            trialDays: fc.integer({ min: 1, max: 20 }),
            hasTrial: fc.boolean(),
            trialEndBehavior: fc.constantFrom('CONVERT_TO_PAID', 'CANCEL_SUBSCRIPTION'),
            endsAt: orNull(instants),
            endDate: orNull(instants),
            changesTo: fc.constantFrom(basic, top, freePlan),
            changesAt: orNull(instants),
            timeZone: fc.constantFrom('UTC', 'America/New_York'),
        })
            .map(({ place, rules, hasTrial, trialDays, endsAt, endDate, changesTo, changesAt, ...fields }) => {
            const one = { billingPeriod: fields.plan.prices[0]?.billingPeriod ?? null, timeZone: fields.timeZone };
            const isTrial = place === 'IN_TRIAL' || (place === 'NOT_STARTED' && hasTrial);
            return subscription({
                ...fields,
                id: `${place}-${fields.resource?.id}`,
                status: place,
                product: rules,
                trialEndDate: isTrial ? fields.startDate + trialDays * day : null,
                effectiveEndDate: place === 'ACTIVE' ? endsAt : null,
                endDate: endDate !== null && endDate > fields.startDate ? endDate : null,
                currentPeriod: place === 'ACTIVE' ? firstPeriod({ ...one, billingAnchor: fields.startDate }, fields.startDate) : null,
                scheduled: place === 'ACTIVE' && changesAt !== null && changesAt >= fields.startDate ? [planChange(changesTo, changesAt)] : [],
            });
        });
        // As the database has it: one of each status in each place.
        const holdings = fc.uniqueArray(anySubscription, { selector: ({ id }) => id, maxLength: 8 });
        const sorted = (subscriptions) => subscriptions.toSorted((a, b) => (a.id < b.id ? -1 : 1));
        it('two steps end where one step does, also when what has ended is not looked at again', () => {
            fc.assert(fc.property(holdings, instants, instants, (held, a, b) => {
                const [first, second] = [Math.min(a, b), Math.max(a, b)];
                const direct = advance(held, second).subscriptions;
                const halfway = advance(held, first).subscriptions;
                expect(sorted(advance(halfway, second).subscriptions)).to.deep.equal(sorted(direct));
                const open = halfway.filter(({ status }) => !isFinal(status));
                const recorded = [...halfway.filter(({ status }) => isFinal(status)), ...advance(open, second).subscriptions];
                expect(sorted(recorded)).to.deep.equal(sorted(direct));
            }));
        });
        it('holds at most one of each status in one place at every instant', () => {
            fc.assert(fc.property(holdings, instants, (held, now) => {
                const open = advance(held, now).subscriptions.filter(({ status }) => !isFinal(status));
                const places = open.map(({ status, resource }) => `${status} ${resource?.id}`);
                expect(new Set(places).size).to.equal(places.length);
            }));
        });
        it('renews no period twice, and the same ones in one step or in two', () => {
            fc.assert(fc.property(holdings, instants, instants, (held, a, b) => {
                const [first, second] = [Math.min(a, b), Math.max(a, b)];
                const halfway = advance(held, first);
                const renewals = [...halfway.renewals, ...advance(halfway.subscriptions, second).renewals];
                const key = ({ subscriptionId, start, end }) => `${subscriptionId} ${start} ${end}`;
                expect(renewals.map(key).sort()).to.deep.equal(advance(held, second).renewals.map(key).sort());
                for (const { id } of held) {
                    const own = renewals.filter(({ subscriptionId }) => subscriptionId === id);
                    expect(new Set(own.map(({ start }) => start)).size).to.equal(own.length);
                }
            }));
        });
        it('never moves the same subscription out of an end, and leaves nothing due', () => {
            fc.assert(fc.property(holdings, instants, (held, now) => {
                const { subscriptions, moved } = advance(held, now);
                expect(moved.every(({ before }) => !isFinal(before.status))).to.equal(true);
                expect(subscriptions.every((one) => (nextDue(one)?.at ?? now + 1) > now)).to.equal(true);
            }));
        });
    });
});
//# sourceMappingURL=advance.test.js.map