import { expect } from 'chai';
import { askedOfBudgets, isUsedUp, runningBudgets, usageOfBudgets } from '../../../../src/entitlement/rules/budget.js';
import * as decimal from '../../../../src/kernel/decimal.js';
import { seriesKey } from '../../../../src/metering/model/series.js';
import { d, price } from '../../billing/support.js';
import { day, subscription, t0 } from '../../subscription/support.js';
describe('a budget', () => {
    const period = { start: t0, end: t0 + 31 * day };
    const limited = (fields = {}, limit = '10') => subscription({ currentPeriod: period, budget: { limit: d(limit), hasSoftLimit: false }, ...fields });
    const perUnit = price({ billingModel: 'USAGE_BASED', featureRefId: 'calls', amount: d('0.1') });
    const prices = new Map([['subscription', [{ featureId: 'calls', meterType: 'Incremental', price: perUnit }]]]);
    const ofCalls = (used) => {
        const [budget] = runningBudgets([limited()], { prices });
        const read = new Map(budget.charges.map(({ series }) => [seriesKey(series), { currentUsage: d(used) }]));
        return isUsedUp(budget, usageOfBudgets([budget], read));
    };
    it('is used up when what is spent has come to it, exactly', () => {
        expect(['99', '99.94', '99.95', '100', '101', '-5', '0'].map(ofCalls)).to.deep.equal([false, false, true, true, true, false, false]);
    });
    it('adds up prices, each rounded as the line of its invoice', () => {
        const two = [
            { featureId: 'a', meterType: 'Incremental', price: price({ amount: d('0.004') }) },
            { featureId: 'b', meterType: 'Incremental', price: price({ amount: d('0.004') }) },
        ];
        const [budget] = runningBudgets([limited({}, '0.01')], { prices: new Map([['subscription', two]]) });
        const read = (used) => new Map(budget.charges.map(({ series }) => [seriesKey(series), { currentUsage: d(used) }]));
        // 0.004 twice is 0.008, which rounds to 0.01 only together.
        expect(isUsedUp(budget, usageOfBudgets([budget], read('1')))).to.equal(false);
        expect(isUsedUp(budget, usageOfBudgets([budget], read('2')))).to.equal(true);
    });
    it('runs while usage is charged: not in a trial, not before the first period, not after the end', () => {
        const counted = (fields) => runningBudgets([limited(fields)], { prices }).length;
        expect(counted({})).to.equal(1);
        expect(counted({ status: 'IN_TRIAL' })).to.equal(0);
        expect(counted({ status: 'CANCELED' })).to.equal(0);
        expect(counted({ currentPeriod: null })).to.equal(0);
        expect(counted({ budget: null })).to.equal(0);
    });
    it('is measured by billing periods, of the resource that the subscription is bound to', () => {
        const [series] = runningBudgets([limited({ resource: { id: 'r', refId: 'r' } })], { prices }).flatMap(({ charges }) => charges);
        expect(series.series).to.deep.include({ resourceId: 'r', resetPeriod: 'MONTH', resetRule: 'SubscriptionStart', anchor: t0 });
        const annual = runningBudgets([limited({ billingPeriod: 'ANNUALLY' })], { prices });
        expect(annual[0].charges[0].series.resetPeriod).to.equal('YEAR');
        const seats = new Map([['subscription', [{ featureId: 'seats', meterType: 'Fluctuating', price: perUnit }]]]);
        expect(runningBudgets([limited()], { prices: seats })[0].charges[0].series).to.deep.include({ resetPeriod: null, anchor: null });
        const takenOver = runningBudgets([limited({ startDate: t0 + 5 * day, billingAnchor: t0 })], { prices });
        expect(takenOver[0].charges[0].series).to.deep.include({ resetPeriod: null, anchor: t0 + 5 * day });
    });
    it('does not take the usage of one billing period for that of the next', () => {
        const budgets = runningBudgets([limited()], { prices });
        const usage = usageOfBudgets(budgets, new Map(askedOfBudgets(budgets).map(({ series }) => [seriesKey(series), { currentUsage: d(200) }])));
        const next = runningBudgets([limited({ currentPeriod: { start: period.end, end: period.end + 28 * day } })], { prices });
        expect([isUsedUp(budgets[0], usage), isUsedUp(next[0], usage)]).to.deep.equal([true, false]);
    });
    it('of nothing is used up from the beginning', () => {
        const [budget] = runningBudgets([limited({}, '0')], { prices: new Map() });
        expect(isUsedUp(budget, new Map())).to.equal(true);
        expect(decimal.compare(budget.limit, decimal.zero)).to.equal(0);
    });
});
//# sourceMappingURL=budget.test.js.map