/**
 * The document with every list whose order says nothing in a fixed order: definitions by refId, prices by what they are for, names,
 * held values and amounts alphabetically. The order of entitlements and of an ENUM's values is how they are displayed and stays.
 * Normalising twice changes nothing.
 */
export function normalise(document) {
    return {
        features: sortBy(document.features, refIdOf).map((feature) => ({
            ...normaliseMeta(feature),
            events: sortKeys(feature.events),
        })),
        products: sortBy(document.products, refIdOf).map(normaliseMeta),
        plans: sortBy(document.plans, refIdOf).map((plan) => ({
            ...normalisePackage(plan),
            compatibleAddons: [...plan.compatibleAddons].sort(),
        })),
        addons: sortBy(document.addons, refIdOf).map((addon) => ({ ...normalisePackage(addon), dependencies: [...addon.dependencies].sort() })),
        coupons: sortBy(document.coupons, refIdOf).map((coupon) => ({
            ...normaliseMeta(coupon),
            amountsOff: coupon.amountsOff && sortBy(coupon.amountsOff, ({ currency }) => currency),
        })),
    };
}
/** Null when there is nothing; else with the keys of every map in order, as PostgreSQL's jsonb keeps none. */
export function normaliseMetaData(metaData) {
    return metaData === null || Object.keys(metaData).length === 0 ? null : sortKeys(metaData);
}
/** JSON as it reads back from a database: the keys of every map in order, and no negative zero. */
export function sortKeys(value) {
    if (value === 0)
        return 0;
    if (Array.isArray(value))
        return value.map(sortKeys);
    if (typeof value !== 'object' || value === null)
        return value;
    return Object.fromEntries(sortBy(Object.entries(value), ([key]) => key).map(([key, inner]) => [key, sortKeys(inner)]));
}
/**
 * What is in force once `wanted` is applied without archiving what it leaves out: the definitions of `wanted`, and those of `current`
 * that it does not name. Normalised.
 */
export function overlay(current, wanted) {
    return normalise({
        features: addMissing(wanted.features, current.features),
        products: addMissing(wanted.products, current.products),
        plans: addMissing(wanted.plans, current.plans),
        addons: addMissing(wanted.addons, current.addons),
        coupons: addMissing(wanted.coupons, current.coupons),
    });
}
/** `items`, and those of `others` whose refId none of them has. */
export function addMissing(items, others) {
    const named = new Set(items.map(({ refId }) => refId));
    return [...items, ...others.filter((item) => !named.has(item.refId))];
}
/** What a price is for, as text; no two prices of a package have the same. */
export function priceKey({ feature, billingPeriod, currency, country }) {
    const subject = feature === null ? 'flat' : JSON.stringify(feature);
    return [subject, billingPeriod, currency, country].filter((part) => part !== null).join(' ');
}
function normalisePackage(item) {
    return {
        ...normaliseMeta(item),
        entitlements: item.entitlements.map((entitlement) => ({ ...entitlement, values: [...entitlement.values].sort() })),
        prices: sortBy(item.prices, priceKey),
    };
}
const normaliseMeta = (item) => ({
    ...item,
    additionalMetaData: normaliseMetaData(item.additionalMetaData),
});
const refIdOf = ({ refId }) => refId;
/** By code units, so that the order is the same on every machine. */
function sortBy(items, key) {
    return [...items].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}
//# sourceMappingURL=normalise.js.map