import { currencyFor, pricesFor } from '../../catalog/model/price-choice.js';
import * as decimal from '../../kernel/decimal.js';
import { round } from '../../kernel/money.js';
import { costOf } from './price.js';
/** The currency that the content is sold in to the customer; null: it has no prices. */
export function currencyOf(content, customerCurrency) {
    const prices = [content.plan, ...content.addons.map(({ version }) => version)].flatMap((version) => version.prices);
    const sold = prices.filter(({ billingPeriod }) => billingPeriod === content.billingPeriod);
    return currencyFor(sold, { currency: customerCurrency, countryCode: content.billingCountryCode });
}
/** In the order of the packages: the plan's, then the add-ons'. Nothing without a currency. */
export function chargesOf(content, { currency, priceOverrides }) {
    const fixed = [];
    const usage = [];
    if (currency === null)
        return { fixed, usage };
    const sold = [{ version: content.plan, quantity: 1 }, ...content.addons];
    const counted = new Set();
    for (const { version, quantity: held } of sold) {
        for (const listed of pricesIn(content, version, currency)) {
            const price = overridden(listed, version, priceOverrides);
            const charge = { price, version, isAgreed: price !== listed };
            if (price.billingModel === 'FLAT_FEE')
                fixed.push({ ...charge, quantity: decimal.fromNumber(held) });
            else if (price.billingModel === 'USAGE_BASED')
                usage.push({ ...charge, quantity: decimal.zero });
            // Units are bought once, whoever sells them too: the plan before its add-ons.
            else if (!counted.has(price.featureId)) {
                counted.add(price.featureId);
                fixed.push({ ...charge, quantity: unitsOf(content, price) });
            }
        }
    }
    return { fixed, usage };
}
function pricesIn(content, version, currency) {
    const buyer = { currency: currency, countryCode: content.billingCountryCode };
    const prices = pricesFor(version.prices, buyer, content.billingPeriod);
    // An invoice begins with what is due in any case.
    return [...prices.filter(isFlat), ...prices.filter((price) => !isFlat(price))];
}
const isFlat = ({ billingModel }) => billingModel === 'FLAT_FEE';
/** What was bought, else the least that can be. */
function unitsOf({ quantities }, { featureId, minUnitQuantity }) {
    return quantities.find((bought) => bought.featureId === featureId)?.quantity ?? decimal.fromNumber(minUnitQuantity ?? 1);
}
function overridden(price, version, overrides) {
    const own = overrides.find((override) => isPriceOf(override, version, price));
    if (!own)
        return price;
    const tiersMode = own.tiers ? (price.tiersMode ?? 'GRADUATED') : null;
    return { ...price, amount: own.tiers ? null : own.amount, tiers: own.tiers, tiersMode, blockSize: own.blockSize ?? price.blockSize };
}
function isPriceOf({ addonRefId, featureRefId, currency = null }, { kind, refId }, price) {
    return (addonRefId === (kind === 'ADDON' ? refId : null) &&
        featureRefId === price.featureRefId &&
        (currency === null || currency === price.currency));
}
/** Whether the content is charged by a price that the override takes the place of. */
export function isOverriding(override, content, currency) {
    const sold = [content.plan, ...content.addons.map(({ version }) => version)];
    return sold.some((version) => pricesIn(content, version, currency).some((price) => isPriceOf(override, version, price)));
}
/** The line of a charge for a whole period, rounded once. */
export function lineOf({ price, version, quantity, }) {
    return {
        type: lineType(price, version),
        description: price.featureRefId === null ? version.displayName : `${version.displayName}: ${price.featureRefId}`,
        priceId: price.id,
        quantity,
        unitAmount: price.amount,
        amount: round(costOf(price, quantity), price.currency),
    };
}
function lineType(price, version) {
    if (price.tiers)
        return 'TierCharge';
    if (price.billingModel === 'USAGE_BASED')
        return 'PayAsYouGoCharge';
    if (price.billingModel === 'PER_UNIT')
        return 'InAdvanceCommitmentCharge';
    return version.kind === 'ADDON' ? 'AddonCharge' : 'BaseCharge';
}
//# sourceMappingURL=charges.js.map