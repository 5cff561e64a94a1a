import * as decimal from '../../kernel/decimal.js';
import { exactly, round, share } from '../../kernel/money.js';
import { chargesOf, lineOf } from './charges.js';
import { discountOn, isInForce } from './coupon.js';
import { creditOf, unusedOf, unusedShare } from './proration.js';
/** What the content costs in advance for a whole billing period; null: it is not sold for money. */
export function standingOf({ content, terms, period, timeZone, chargedAt, }) {
    if (terms.currency === null || content.billingPeriod === null)
        return null;
    const lines = chargesOf(content, terms).fixed.map(lineOf);
    const gross = sum(lines.map(({ amount }) => amount));
    const discount = discountOn(gross, discountAt(terms, chargedAt, timeZone), terms.currency);
    return { period, currency: terms.currency, lines, gross, net: decimal.subtract(gross, discount), taxPercentage: terms.taxPercentage };
}
export function discountAt({ discount }, at, timeZone) {
    return discount && isInForce(discount, at, timeZone) ? discount : null;
}
/**
 * The invoice of a beginning or of a change at `at`. `before`: what stands until then, null when nothing was charged (a trial, a free plan);
 * `after`: what stands from then on, null when nothing is charged any more. With nothing before, the whole of the new period is charged, also when
 * it has begun already. Both are of one currency. Null when nothing stands in either: there is nothing to invoice.
 */
export function changeDraft({ reason, before, after, taxPercentage, at, }) {
    const stands = after ?? before;
    if (!stands)
        return null;
    const { currency } = stands;
    const credit = before && at < before.period.end ? creditOf(before, at) : nothing;
    const debit = after ? unusedOf(after, before ? at : Math.min(at, after.period.start)) : nothing;
    const draft = totalled({
        reason,
        currency,
        period: { start: at, end: Math.max(at, stands.period.end) },
        // A line that comes to nothing says nothing, unless it is what the subscription is charged by.
        lines: [...credit.lines.filter(({ amount }) => amount !== decimal.zero), ...debit.lines],
        discount: decimal.add(credit.discount, debit.discount),
        // It is given back as it was charged, whatever it is now.
        tax: decimal.add(taxOn(credit.net, before?.taxPercentage === undefined ? taxPercentage : before.taxPercentage, currency), taxOn(debit.net, taxPercentage, currency)),
    });
    return { ...draft, credit: credit.net, debit: debit.net };
}
const nothing = { lines: [], gross: decimal.zero, discount: decimal.zero, net: decimal.zero };
/**
 * The invoice of a period's end: what is charged in advance for the `next` period (null: the subscription has ended), the usage of the one that
 * `ended`, what is missing to the agreed least spend, and usage of earlier periods that came late.
 */
export function periodDraft({ content, terms, ended, standing, fixedCharged, next, usage, alreadyCharged, timeZone, }) {
    const { currency } = terms;
    const charges = new Map(chargesOf(content, terms).usage.map((charge) => [charge.price.id, charge]));
    const charged = [];
    const usageLines = [];
    for (const measured of usage) {
        const before = alreadyCharged.find(({ priceId, period }) => priceId === measured.priceId && period.start === measured.period.start);
        const charge = before?.charge ?? charges.get(measured.priceId);
        if (!charge)
            continue;
        const { price, version } = charge;
        const line = { ...lineOf({ price, version, quantity: measured.quantity }), period: measured.period, isProration: false };
        const { kind, displayName } = version;
        charged.push({
            priceId: measured.priceId,
            period: measured.period,
            amount: line.amount,
            charge: { price, version: { kind, displayName } },
        });
        if (!before)
            usageLines.push(line);
        else if (before.amount !== line.amount)
            usageLines.push({
                ...line,
                type: 'Other',
                description: `Late usage: ${line.description}`,
                unitAmount: null,
                amount: decimal.subtract(line.amount, before.amount),
            });
    }
    const usageTotal = sum(usageLines.map(({ amount }) => amount));
    const usageDiscount = discountOnUsage({ standing, usageTotal, discount: discountAt(terms, ended.start, timeZone), currency });
    const spent = decimal.add(fixedCharged, decimal.subtract(usageTotal, usageDiscount));
    const leastSpend = adjustment({ terms, spent, ended, standing });
    const fixedLines = next ? next.lines.map((line) => ({ ...line, period: next.period, isProration: false })) : [];
    const fixedDiscount = next ? decimal.subtract(next.gross, next.net) : decimal.zero;
    const draft = totalled({
        reason: 'BILLING_CYCLE',
        currency,
        period: next?.period ?? ended,
        lines: [...fixedLines, ...usageLines, ...leastSpend],
        discount: decimal.add(fixedDiscount, usageDiscount),
        tax: decimal.add(taxOn(next?.net ?? decimal.zero, terms.taxPercentage, currency), taxOn(sum([usageTotal, decimal.negate(usageDiscount), ...leastSpend.map(({ amount }) => amount)]), terms.taxPercentage, currency)),
    });
    return { draft, charged };
}
/** A discount is given once for a period: what the fixed part has left of it goes to the usage. */
function discountOnUsage({ standing, usageTotal, discount, currency, }) {
    const fixed = standing?.gross ?? decimal.zero;
    return decimal.subtract(discountOn(decimal.add(fixed, usageTotal), discount, currency), discountOn(fixed, discount, currency));
}
/** Of a period that was cut short, at its end or because another subscription was charged for its beginning, the least spend is cut alike. */
function adjustment({ terms: { minimumSpend, currency }, spent, ended, standing, }) {
    if (!minimumSpend || minimumSpend.currency !== currency)
        return [];
    const whole = round(exactly(minimumSpend.amount), currency);
    const left = ({ numerator, denominator }) => share(whole, numerator, denominator, currency);
    const period = standing?.period ?? ended;
    const least = decimal.subtract(left(unusedShare(period, ended.start)), left(unusedShare(period, ended.end)));
    const missing = decimal.subtract(least, spent);
    if (decimal.compare(missing, decimal.zero) <= 0)
        return [];
    const line = { type: 'MinimumSpendAdjustmentCharge', description: 'To the agreed minimum', priceId: null };
    return [{ ...line, quantity: decimal.fromNumber(1), unitAmount: missing, amount: missing, period: ended, isProration: false }];
}
const oneHundred = decimal.toBillionths(decimal.fromNumber(100));
/** Adds up the lines. */
export function totalled(draft) {
    const { lines, discount, tax } = draft;
    const subTotal = sum(lines.map(({ amount }) => amount));
    return { ...draft, subTotal, total: sum([subTotal, decimal.negate(discount), tax]) };
}
/**
 * On what is left after the discount; negative on credit. What is charged in advance, credit and usage are taxed each on its own: so the tax that is
 * given back is the difference of what was charged and what it would have been, to the minor unit.
 */
export function taxOn(amount, taxPercentage, currency) {
    return taxPercentage === null ? decimal.zero : share(amount, decimal.toBillionths(taxPercentage), oneHundred, currency);
}
export const sum = (amounts) => amounts.reduce(decimal.add, decimal.zero);
//# sourceMappingURL=invoice.js.map