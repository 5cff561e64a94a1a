import * as decimal from '../../../src/kernel/decimal.js';
export const d = (value) => decimal.fromText(String(value));
let lastId = 0;
export function price(given = {}) {
    const featureRefId = given.featureRefId ?? null;
    return {
        id: `price-${++lastId}`,
        billingModel: featureRefId === null ? 'FLAT_FEE' : 'PER_UNIT',
        billingPeriod: 'MONTHLY',
        currency: 'USD',
        billingCountryCode: null,
        amount: given.tiers ? null : d(10),
        featureId: featureRefId && `id of ${featureRefId}`,
        featureRefId,
        tiersMode: given.tiers ? 'GRADUATED' : null,
        tiers: null,
        blockSize: null,
        minUnitQuantity: null,
        maxUnitQuantity: null,
        ...given,
    };
}
export function version(refId, prices, kind = 'PLAN') {
    return {
        id: `version of ${refId}`,
        packageId: `package ${refId}`,
        refId,
        kind,
        versionNumber: 1,
        productId: 'product',
        productRefId: 'product',
        displayName: refId,
        description: null,
        pricingType: prices.length > 0 ? 'PAID' : 'FREE',
        basePlanVersionId: null,
        trial: null,
        maxQuantity: null,
        entitlements: [],
        prices,
        additionalMetaData: null,
        compatibleAddonIds: [],
        dependencies: [],
    };
}
export function content(prices, given = {}) {
    return { plan: version('plan', prices), addons: [], quantities: [], billingPeriod: 'MONTHLY', billingCountryCode: null, ...given };
}
export function terms(given = {}) {
    return {
        currency: 'USD',
        collectionMethod: 'INVOICE',
        discount: null,
        priceOverrides: [],
        minimumSpend: null,
        taxPercentage: null,
        awaitsPayment: true,
        ...given,
    };
}
export const percentOff = (percent) => ({
    source: 'subscriptionCoupon',
    couponId: 'coupon',
    name: null,
    percentOff: d(percent),
    amountsOff: null,
    startDate: 0,
    durationInMonths: null,
});
export const amountOff = (amount, currency = 'USD') => ({
    ...percentOff(1),
    percentOff: null,
    amountsOff: [{ amount: d(amount), currency }],
});
/** What stands with one line of the amount. */
export function standing(amount, period, currency = 'USD', net = amount) {
    const line = {
        type: 'BaseCharge',
        description: 'plan',
        priceId: 'price',
        quantity: d(1),
        unitAmount: d(amount),
        amount: d(amount),
    };
    return { period, currency, lines: [line], gross: d(amount), net: d(net) };
}
//# sourceMappingURL=support.js.map