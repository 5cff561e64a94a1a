/** What currency a buyer sees when nothing else decides and it is quoted. */
const preferredCurrency = 'USD';
/**
 * The customer's own currency where prices are quoted in it, else that of the country's own prices, else US dollars, else the first one quoted.
 * Null: there are no prices.
 */
export function currencyFor(prices, { currency, countryCode }) {
    const anywhere = prices.filter((price) => price.billingCountryCode === null || price.billingCountryCode === countryCode);
    const own = anywhere.find((price) => price.currency === currency);
    const local = countryCode === null ? undefined : anywhere.find((price) => price.billingCountryCode === countryCode);
    const preferred = anywhere.find((price) => price.currency === preferredCurrency);
    return (own ?? local ?? preferred ?? anywhere[0])?.currency ?? null;
}
/** In one currency; of two prices of the same thing the country's own wins. In the order of the package. */
export function pricesFor(prices, buyer, billingPeriod) {
    const quoted = prices.filter((price) => {
        const isHere = price.billingCountryCode === null || price.billingCountryCode === buyer.countryCode;
        return isHere && price.currency === buyer.currency && (billingPeriod === null || price.billingPeriod === billingPeriod);
    });
    return quoted.filter((price) => price.billingCountryCode !== null || !quoted.some((other) => isLocalTwin(price, other)));
}
function isLocalTwin(price, other) {
    return (other.billingCountryCode !== null &&
        other.billingModel === price.billingModel &&
        other.billingPeriod === price.billingPeriod &&
        other.featureId === price.featureId);
}
//# sourceMappingURL=price-choice.js.map