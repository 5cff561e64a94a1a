/**
 * Exact decimals for usage, limits and money: canonical text with at most 9 digits after the point ("0.3", "-12", "0";
 * never "-0", "1.0" or an exponent). Text, so that a value is the same in PostgreSQL `numeric`, in JSON and in memory, and so
 * that equal values are equal strings. A double appears only on the wire.
 *
 * Inside, arithmetic is on bigint billionths; whole numbers of up to 15 digits take a shorter way (usage counts mostly are).
 */
import { invalidInput } from './problem.js';
const fractionDigits = 9;
const billionthsPerOne = 10n ** BigInt(fractionDigits);
/** Sums of two whole numbers this short are exact as doubles. */
const maxShortLength = 15;
/** No double and no column of ours needs more; without a bound a few characters ("1e999999999") would fill the memory. */
const maxTextLength = 1_000;
const maxExponent = 400;
const canonicalWhole = /^(?:0|-?[1-9]\d{0,17})$/;
export const zero = '0';
/**
 * The shortest decimal that reads back as `value`, rounded to 9 decimals half away from zero (0.1 + 0.2 is 0.3).
 * Fails with INVALID_ARGUMENT on NaN and infinities.
 */
export function fromNumber(value) {
    if (!Number.isFinite(value))
        throw invalidInput(`${value} is not a finite number`);
    const text = String(value);
    const point = text.indexOf('.');
    const isCanonical = !text.includes('e') && (point === -1 || text.length - point - 1 <= fractionDigits);
    return isCanonical ? text : fromText(text);
}
/**
 * Any decimal text, exponents and superfluous zeros included ("10.500", "1e3"), rounded to 9 decimals half away from zero.
 * Fails with INVALID_ARGUMENT on anything else, on more than 1,000 characters and on exponents above 400.
 */
export function fromText(text) {
    if (canonicalWhole.test(text))
        return text;
    const match = text.length <= maxTextLength ? /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text) : null;
    const [, sign = '', whole = '', fraction = '', exponentText = '0'] = match ?? [];
    const exponent = Number(exponentText);
    if (whole + fraction === '' || exponent > maxExponent)
        throw invalidInput(`'${text.slice(0, 40)}' is not a decimal number that can be kept`);
    const shift = exponent - fraction.length + fractionDigits;
    const digits = BigInt(whole + fraction);
    const magnitude = shift >= 0 ? digits * 10n ** BigInt(shift) : -shift > maxTextLength ? 0n : divideHalfUp(digits, 10n ** BigInt(-shift));
    return fromBillionths(sign === '-' ? -magnitude : magnitude);
}
/** The nearest double, for the wire. */
export function toNumber(value) {
    return Number(value);
}
export function add(a, b) {
    if (isShortWhole(a) && isShortWhole(b))
        return String(Number(a) + Number(b));
    return fromBillionths(toBillionths(a) + toBillionths(b));
}
export function subtract(a, b) {
    if (isShortWhole(a) && isShortWhole(b))
        return String(Number(a) - Number(b));
    return fromBillionths(toBillionths(a) - toBillionths(b));
}
export function negate(value) {
    if (value === zero)
        return zero;
    return (value.startsWith('-') ? value.slice(1) : `-${value}`);
}
/** The product, rounded to 9 decimals half away from zero. */
export function multiply(a, b) {
    const product = toBillionths(a) * toBillionths(b);
    const magnitude = divideHalfUp(product < 0n ? -product : product, billionthsPerOne);
    return fromBillionths(product < 0n ? -magnitude : magnitude);
}
/** The quotient, rounded to 9 decimals half away from zero. Fails with INVALID_ARGUMENT when b is 0. */
export function divide(a, b) {
    if (b === zero)
        throw invalidInput('a number cannot be divided by 0');
    const [dividend, divisor] = [toBillionths(a) * billionthsPerOne, toBillionths(b)];
    const magnitude = divideHalfUp(dividend < 0n ? -dividend : dividend, divisor < 0n ? -divisor : divisor);
    return fromBillionths(dividend < 0n !== divisor < 0n ? -magnitude : magnitude);
}
/** a / b as a whole number, rounded up (towards positive infinity) or down. Fails with INVALID_ARGUMENT when b is 0. */
export function divideToWhole(a, b, round) {
    if (b === zero)
        throw invalidInput('a number cannot be divided by 0');
    const [dividend, divisor] = b.startsWith('-') ? [-toBillionths(a), -toBillionths(b)] : [toBillionths(a), toBillionths(b)];
    const towardsZero = dividend / divisor;
    const isExact = towardsZero * divisor === dividend;
    if (isExact || dividend < 0n === (round === 'UP'))
        return towardsZero.toString();
    return (towardsZero + (round === 'UP' ? 1n : -1n)).toString();
}
/** -1 when a < b, 1 when a > b, else 0: usable as the argument of `sort`. */
export function compare(a, b) {
    if (a === b)
        return 0;
    // Rounding to a double never changes the order of two decimals, it only makes close ones equal.
    const difference = Number(a) - Number(b);
    if (difference !== 0 && Number.isFinite(difference))
        return difference < 0 ? -1 : 1;
    return toBillionths(a) < toBillionths(b) ? -1 : 1;
}
export function max(a, b) {
    return compare(a, b) < 0 ? b : a;
}
function isShortWhole(value) {
    return value.length <= maxShortLength && !value.includes('.');
}
/** Both at least 0. */
function divideHalfUp(dividend, divisor) {
    return (dividend * 2n + divisor) / (divisor * 2n);
}
/** The value times 10^9, for arithmetic that rounds in its own way (money.ts). */
export function toBillionths(value) {
    const point = value.indexOf('.');
    if (point === -1)
        return BigInt(value) * billionthsPerOne;
    return BigInt(value.slice(0, point) + value.slice(point + 1).padEnd(fractionDigits, '0'));
}
/** The other way round. */
export function fromBillionths(units) {
    const sign = units < 0n ? '-' : '';
    const digits = (units < 0n ? -units : units).toString().padStart(fractionDigits + 1, '0');
    const whole = digits.slice(0, -fractionDigits);
    const fraction = digits.slice(-fractionDigits).replace(/0+$/, '');
    return (fraction === '' ? sign + whole : `${sign}${whole}.${fraction}`);
}
//# sourceMappingURL=decimal.js.map