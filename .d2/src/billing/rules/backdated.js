import * as decimal from '../../kernel/decimal.js';
import { invalidInput } from '../../kernel/problem.js';
import { billingPeriodFrom } from '../../subscription/rules/billing-period.js';
import { standingOf, taxOn, totalled } from './invoice.js';
/** Ten years by months; what is longer is a mistake. */
const maxPeriods = 120;
/**
 * The first invoice with what each whole period before it costs in advance, by the prices and the discount of then; usage that nobody had the subscription
 * for is not charged. The same where no period is over. Fails with BAD_USER_INPUT when the start is too far back.
 */
export function withPastPeriods(draft, { subscription, terms }) {
    const { timeZone } = subscription;
    const past = pastPeriods(subscription, draft.period.start).flatMap((period) => {
        const standing = standingOf({ content: subscription, terms, period, timeZone, chargedAt: period.start });
        return standing ? [standing] : [];
    });
    if (past.length === 0)
        return draft;
    const { lines, discount, tax, ...rest } = draft;
    const joined = totalled({
        ...rest,
        lines: [
            ...past.flatMap(({ lines: ofPeriod, period }) => ofPeriod.map((line) => ({ ...line, period, isProration: false }))),
            ...lines,
        ],
        discount: past.map(({ gross, net }) => decimal.subtract(gross, net)).reduce(decimal.add, discount),
        tax: past.map(({ net, currency }) => taxOn(net, terms.taxPercentage, currency)).reduce(decimal.add, tax),
    });
    return { ...draft, ...joined };
}
/** From the billing anchor to the instant, the oldest first. */
function pastPeriods({ billingPeriod, billingAnchor, currentPeriod, timeZone }, at) {
    if (billingPeriod === null)
        return [];
    const until = currentPeriod?.start ?? billingPeriodFrom(billingPeriod, billingAnchor, timeZone, at).start;
    const periods = [];
    for (let start = billingAnchor; start < until; start = periods.at(-1).end) {
        if (periods.length === maxPeriods)
            throw invalidInput(`A start that is charged from then on may be ${maxPeriods} billing periods back.`, { path: 'startDate' });
        periods.push(billingPeriodFrom(billingPeriod, billingAnchor, timeZone, start));
    }
    return periods;
}
//# sourceMappingURL=backdated.js.map