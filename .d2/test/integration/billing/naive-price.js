/**
 * What a period costs, from the price list alone and in whole minor units: an independent second opinion. It knows nothing of accounts, standings,
 * lines or versions, and shares no arithmetic with the product.
 */
import { minorDigits } from './estimate-cases.js';
const tenThousandth = 10000n;
/** Tenthousandths of a currency unit: prices have no more digits. */
const fine = (amount) => BigInt(Math.round(Number(amount) * 10_000));
/** Half away from zero; the denominator is above 0. */
export function rounded(numerator, denominator) {
    const magnitude = numerator < 0n ? -numerator : numerator;
    const whole = (magnitude * 2n + denominator) / (denominator * 2n);
    return numerator < 0n ? -whole : whole;
}
function costOf({ amount, blockSize, tiers, tiersMode }, quantity) {
    if (!tiers)
        return blockSize ? fine(amount) * ((quantity + BigInt(blockSize) - 1n) / BigInt(blockSize)) : fine(amount) * quantity;
    let total = 0n;
    for (const [index, { upTo, unitPrice, flatPrice }] of tiers.entries()) {
        const from = BigInt(tiers[index - 1]?.upTo ?? 0);
        const to = upTo === undefined || BigInt(upTo) > quantity ? quantity : BigInt(upTo);
        const isReached = quantity > from;
        if (tiersMode === 'GRADUATED' && isReached)
            total += (to - from) * fine(unitPrice) + (flatPrice === undefined ? 0n : fine(flatPrice));
        if (tiersMode === 'VOLUME' && isReached && (upTo === undefined || quantity <= BigInt(upTo)))
            return quantity * fine(unitPrice) + (flatPrice === undefined ? 0n : fine(flatPrice));
    }
    return total;
}
/** In advance, for a whole period, in minor units: before and after the discount, which is for ever. */
export function periodPrice({ discount, country, overrides }, held) {
    const perMinor = tenThousandth / 10n ** BigInt(minorDigits[held.currency]);
    const priceOf = (packageRefId, model) => {
        const list = held.soldBy[packageRefId];
        const { prices } = [...list.plans, ...list.addons].find(({ refId }) => refId === packageRefId);
        const quoted = prices.filter((price) => price.billingModel === model && price.billingPeriod === held.billingPeriod && price.currency === held.currency);
        return quoted.find((price) => price.country === country && country !== null) ?? quoted.find((price) => price.country === undefined);
    };
    const line = (price, quantity) => price === undefined || quantity === 0 ? 0n : rounded(costOf(price, BigInt(quantity)), perMinor);
    const plan = held.planRefId;
    const own = (price, amount) => price && amount !== undefined ? { ...price, amount, tiers: undefined } : price;
    let gross = line(own(priceOf(plan, 'FLAT_FEE'), overrides?.flat), 1);
    if (plan !== 'tried')
        gross += line(own(priceOf(plan, 'PER_UNIT'), overrides?.seat), held.seats);
    if (held.support > 0)
        gross += line(priceOf('support', 'FLAT_FEE'), held.support);
    if (held.boxes !== null)
        gross += line(priceOf('storage', 'FLAT_FEE'), 1) + line(priceOf('storage', 'PER_UNIT'), held.boxes);
    return gross - discountOn(gross, discount, held.currency);
}
function discountOn(gross, discount, currency) {
    if (!discount || gross === 0n)
        return 0n;
    if ('percentOff' in discount)
        return rounded(gross * BigInt(Math.round(discount.percentOff * 10)), 1000n);
    if ('couponRefId' in discount && discount.couponRefId === 'tenth')
        return rounded(gross, 10n);
    const units = 'amountOff' in discount ? discount.amountOff[currency] : 7;
    const off = BigInt(units) * 10n ** BigInt(minorDigits[currency]);
    return off > gross ? gross : off;
}
/** What is left of a period's price at an instant, to the second. */
export function unused(price, { start, end }, at) {
    const used = Math.floor((at - start) / 1_000) * 1_000;
    return rounded(price * BigInt(end - start - used), BigInt(end - start));
}
export const withTax = (price, taxPercentage) => taxPercentage === null ? price : price + rounded(price * BigInt(Math.round(taxPercentage * 10)), 1000n);
/** In whole currency units, as the wire has them. */
export const inUnits = (minor, currency) => Number(minor) / 10 ** minorDigits[currency];
//# sourceMappingURL=naive-price.js.map