/** Discounts: what one takes off a total, and for how long it holds. Pure. */
import { Temporal } from 'temporal-polyfill';
import * as decimal from '../../kernel/decimal.js';
import { exactly, round, share } from '../../kernel/money.js';
const oneHundred = decimal.toBillionths(decimal.fromNumber(100));
/** Whether it holds for what is charged at `at`: months are counted from its start, in the customer's time zone; the end is exclusive. */
export function isInForce({ startDate, durationInMonths }, at, timeZone) {
    if (at < startDate)
        return false;
    if (durationInMonths === null)
        return true;
    const start = Temporal.Instant.fromEpochMilliseconds(startDate).toZonedDateTimeISO(timeZone);
    return at < start.add({ months: durationInMonths }).epochMilliseconds;
}
/** What it takes off; never more than the total, and nothing off one that is not above 0. A currency that it does not name is not discounted. */
export function discountOn(total, discount, currency) {
    if (!discount || decimal.compare(total, decimal.zero) <= 0)
        return decimal.zero;
    const { percentOff, amountsOff } = discount;
    const off = percentOff !== null
        ? share(total, decimal.toBillionths(percentOff), oneHundred, currency)
        : round(exactly(amountsOff?.find((money) => money.currency === currency)?.amount ?? decimal.zero), currency);
    return decimal.compare(off, total) > 0 ? total : off;
}
//# sourceMappingURL=coupon.js.map