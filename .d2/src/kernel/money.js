/**
 * Exact amounts of money. Between reading a price and writing an amount there is no floating point and one rounding.
 *
 * amount      whole currency units as a Decimal (12.5, not 1250); rounded ones have no more digits than the currency's minor unit
 * minor unit  the smallest amount that can be paid: a cent, a yen, a fils
 * exact       a product of two decimals before it is rounded; unit prices may be far below a minor unit (0.0001)
 */
import { allocate as allocateDinero, dinero, halfAwayFromZero, toSnapshot, transformScale } from 'dinero.js/bigint';
import { fromBillionths, toBillionths } from './decimal.js';
const exactDigits = 18n;
const billionth = 1000000000n;
// Of ISO 4217; all others have 2. Not dinero's own list: it lacks currencies that are still quoted, and counts the ariary in fifths.
const wholeCurrencies = new Set([
    'BIF',
    'CLP',
    'DJF',
    'GNF',
    'ISK',
    'JPY',
    'KMF',
    'KRW',
    'PYG',
    'RWF',
    'UGX',
    'VND',
    'VUV',
    'XAF',
    'XOF',
    'XPF',
]);
const thousandthCurrencies = new Set(['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND']);
/** Digits after the point that an amount of the currency can have. */
export function minorDigits(currency) {
    return wholeCurrencies.has(currency) ? 0 : thousandthCurrencies.has(currency) ? 3 : 2;
}
export const exactly = (amount) => toBillionths(amount) * billionth;
export const product = (a, b) => toBillionths(a) * toBillionths(b);
/** To the currency's minor unit, half away from zero. */
export function round(exact, currency) {
    return fromMinor(inMinor(exact, currency, exactDigits), currency);
}
/** `numerator / denominator` of an amount, rounded once to the minor unit, half away from zero. `denominator` is above 0. */
export function share(amount, numerator, denominator, currency) {
    const exact = toBillionths(amount) * numerator;
    // The whole minor units of a fraction that may have no end as a decimal: twice the value, so that a half is a whole number.
    const perMinor = denominator * 10n ** (9n - BigInt(minorDigits(currency)));
    const magnitude = exact < 0n ? -exact : exact;
    const minor = (magnitude * 2n + perMinor) / (perMinor * 2n);
    return fromMinor(exact < 0n ? -minor : minor, currency);
}
/**
 * Divides an amount by weights without losing a minor unit: the parts add up to it. All weights 0: the first part is everything.
 * The amount has no more digits than the minor unit; weights are at least 0, and there is one at least unless the amount is 0.
 */
export function allocate(amount, weights, currency) {
    if (weights.length === 0)
        return [];
    const whole = toDinero(exactly(amount), currency, exactDigits);
    const ratios = weights.map(toBillionths);
    const minor = transformScale(whole, BigInt(minorDigits(currency)), halfAwayFromZero);
    const parts = ratios.some((ratio) => ratio > 0n) ? allocateDinero(minor, ratios) : [minor];
    return weights.map((_, index) => fromMinor(parts[index] ? toSnapshot(parts[index]).amount : 0n, currency));
}
function inMinor(amount, currency, scale) {
    return toSnapshot(transformScale(toDinero(amount, currency, scale), BigInt(minorDigits(currency)), halfAwayFromZero)).amount;
}
function toDinero(amount, code, scale) {
    return dinero({ amount, currency: { code, base: 10n, exponent: BigInt(minorDigits(code)) }, scale });
}
function fromMinor(minor, currency) {
    return fromBillionths(minor * 10n ** (9n - BigInt(minorDigits(currency))));
}
//# sourceMappingURL=money.js.map