import { expect } from 'chai';
import { billingPeriodAt } from '../../../../src/subscription/rules/billing-period.js';
import { day, plan, price, subscription, t0, trial } from '../support.js';
const at = (text) => Date.parse(text);
describe('billing period', () => {
    it('is counted from the anchor, so that the last days of months come back', () => {
        const since31 = subscription({ startDate: at('2026-01-31T10:00:00Z') });
        expect(billingPeriodAt(since31, at('2026-03-10T00:00:00Z'))).to.deep.equal({
            start: at('2026-02-28T10:00:00Z'),
            end: at('2026-03-31T10:00:00Z'),
        });
    });
    it('contains its start and not its end', () => {
        const since = subscription();
        expect(billingPeriodAt(since, t0).start).to.equal(t0);
        expect(billingPeriodAt(since, at('2026-04-01T00:00:00Z')).start).to.equal(at('2026-04-01T00:00:00Z'));
    });
    it('can be a year', () => {
        const annual = subscription({ plan: plan('annual', { prices: [price({ billingPeriod: 'ANNUALLY' })] }) });
        expect(billingPeriodAt(annual, t0 + 40 * day)).to.deep.equal({ start: t0, end: at('2027-03-01T00:00:00Z') });
    });
    it('is the trial during a trial', () => {
        expect(billingPeriodAt(trial(), t0 + day)).to.deep.equal({ start: t0, end: t0 + 14 * day });
    });
    it('is none while nothing is billed', () => {
        expect(billingPeriodAt(subscription({ billingPeriod: null }), t0)).to.equal(null);
        expect(billingPeriodAt(subscription({ status: 'NOT_STARTED' }), t0)).to.equal(null);
        expect(billingPeriodAt(subscription({ status: 'CANCELED' }), t0)).to.equal(null);
    });
});
//# sourceMappingURL=billing-period.test.js.map