/** Random price lists and customers for the check that an estimate is the invoice. */
import fc from 'fast-check';
export const currencies = ['USD', 'JPY', 'EUR'];
export const minorDigits = { USD: 2, JPY: 0, EUR: 2 };
/** A price with up to four digits below the minor unit, as text. */
const anyAmount = (max) => fc
    .tuple(fc.integer({ min: 0, max }), fc.integer({ min: 0, max: 9_999 }))
    .map(([whole, fraction]) => String((whole * 10_000 + fraction) / 10_000));
/** By amount, by block or by tiers. */
const anyUnitPrice = (max) => fc.oneof(anyAmount(max).map((amount) => ({ amount })), fc.record({ amount: anyAmount(max), blockSize: fc.integer({ min: 2, max: 12 }) }), fc.record({
    tiersMode: fc.constantFrom('GRADUATED', 'VOLUME'),
    tiers: fc
        .tuple(fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 4 }), fc.array(fc.record({ unitPrice: anyAmount(max), flatPrice: fc.option(anyAmount(max), { nil: undefined }) }), {
        minLength: 5,
        maxLength: 5,
    }))
        .map(([ends, prices]) => [...ends.sort((a, b) => a - b), undefined].map((upTo, index) => upTo === undefined ? prices[index] : { upTo, ...prices[index] })),
}));
/** The same things in every currency and period. */
function anyPrices(sold) {
    const each = currencies.flatMap((currency) => ['MONTHLY', 'ANNUALLY'].map((billingPeriod) => ({ currency, billingPeriod })));
    const { flat, units, usage } = sold;
    return fc.tuple(...each.flatMap((where) => [
        anyAmount(flat).map((amount) => ({ billingModel: 'FLAT_FEE', ...where, amount })),
        ...(units
            ? [anyUnitPrice(units.max).map((price) => ({ billingModel: 'PER_UNIT', ...where, feature: units.feature, ...price }))]
            : []),
        ...(usage
            ? [anyUnitPrice(usage.max).map((price) => ({ billingModel: 'USAGE_BASED', ...where, feature: usage.feature, ...price }))]
            : []),
    ]));
}
/** Dearer for customers billed in one country. */
const anyLocalPrice = anyAmount(900).map((amount) => ({ billingModel: 'FLAT_FEE', billingPeriod: 'MONTHLY', currency: 'USD', country: 'DE', amount }));
const anyPriceList = fc
    .record({
    team: anyPrices({ flat: 300, units: { feature: 'seats', max: 30 } }),
    local: anyLocalPrice,
    business: anyPrices({ flat: 900, units: { feature: 'seats', max: 60 }, usage: { feature: 'calls', max: 1 } }),
    // Sold in one currency and period only: who comes from another one changes both.
    tried: anyAmount(200).map((amount) => [{ billingModel: 'FLAT_FEE', billingPeriod: 'MONTHLY', currency: 'USD', amount }]),
    support: anyPrices({ flat: 90 }),
    storage: anyPrices({ flat: 5, units: { feature: 'boxes', max: 9 } }),
})
    .map(({ team, local, business, tried, support, storage }) => ({
    plans: [
        { refId: 'team', prices: [...team, local] },
        { refId: 'business', prices: business },
        { refId: 'tried', prices: tried },
    ],
    addons: [
        { refId: 'support', prices: support },
        { refId: 'storage', prices: storage },
    ],
}));
const anyContent = fc.record({
    planRefId: fc.constantFrom('team', 'team', 'business', 'business', 'tried'),
    billingPeriod: fc.constantFrom('MONTHLY', 'MONTHLY', 'ANNUALLY'),
    seats: fc.integer({ min: 1, max: 70 }),
    support: fc.integer({ min: 0, max: 3 }),
    boxes: fc.option(fc.integer({ min: 1, max: 40 })),
});
const anyStep = fc.record({
    kind: fc.constantFrom('provision', 'provision', 'quantity', 'quantity', 'addons', 'period', 'migrate', 'migrate', 'cancel', 'rest'),
    content: anyContent,
    proration: fc.constantFrom('INVOICE_IMMEDIATELY', 'INVOICE_IMMEDIATELY', 'INVOICE_IMMEDIATELY', 'CREATE_PRORATIONS', 'NONE'),
    isImmediate: fc.boolean(),
    restartsPeriod: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
    calls: fc.integer({ min: 0, max: 3_000 }),
    lateCalls: fc.option(fc.integer({ min: 1, max: 500 }), { freq: 2 }),
});
const anyDiscount = fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 1_000 }).map((tenths) => ({ percentOff: tenths / 10 })), fc.record({
    amountOff: fc.record({
        USD: fc.integer({ min: 1, max: 6_000 }),
        JPY: fc.integer({ min: 1, max: 6_000 }),
        EUR: fc.integer({ min: 1, max: 6_000 }),
    }),
    months: fc.option(fc.integer({ min: 1, max: 3 })),
}), fc.constantFrom({ couponRefId: 'tenth' }, { couponRefId: 'seven' }));
const anyCustomer = (stepCount) => fc.record({
    timeZone: fc.constantFrom('UTC', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Apia', 'Europe/Berlin'),
    currency: fc.option(fc.constantFrom(...currencies), { freq: 3 }),
    country: fc.option(fc.constant('DE'), { freq: 2 }),
    discount: anyDiscount,
    taxPercentage: fc.constantFrom(null, 7.7, 19, 20),
    minimumSpend: fc.option(fc.integer({ min: 1, max: 2_000 }), { freq: 2 }),
    overrides: fc.option(fc.record({ flat: anyAmount(300), seat: anyAmount(30) }), { freq: 2 }),
    first: anyContent,
    steps: fc.array(anyStep, { minLength: stepCount, maxLength: stepCount }),
});
const hour = 3_600;
const anyGap = fc.oneof(fc.integer({ min: 1, max: 20 * 24 * hour }), fc.integer({ min: 1, max: 50 * 24 * hour }), fc.constantFrom(0, 24 * hour, 30 * 24 * hour, 31 * 24 * hour));
export const anyWorld = ({ customers, steps }) => fc.record({
    priceList: anyPriceList,
    laterPrices: anyPriceList,
    downgradeTiming: fc.constantFrom('IMMEDIATE', 'IMMEDIATE', 'END_OF_BILLING_PERIOD'),
    gaps: fc.array(anyGap, { minLength: steps + 1, maxLength: steps + 1 }),
    customers: fc.array(anyCustomer(steps), { minLength: customers, maxLength: customers }),
});
/** The catalog document of a price list. */
export function catalogOf({ plans, addons }, { downgradeTiming }) {
    const product = 'cloud';
    return JSON.stringify({
        features: [
            { refId: 'seats', type: 'NUMBER', meter: 'Fluctuating' },
            { refId: 'boxes', type: 'NUMBER', meter: 'Fluctuating' },
            { refId: 'calls', type: 'NUMBER', meter: 'Incremental' },
        ],
        products: [{ refId: product, settings: { downgradeTiming } }],
        plans: plans.map(({ refId, prices }) => ({
            refId,
            product,
            compatibleAddons: addons.map((addon) => addon.refId),
            ...(refId === 'tried' && { defaultTrial: { duration: 14, units: 'DAY', endBehavior: 'CONVERT_TO_PAID' } }),
            prices,
        })),
        addons: addons.map(({ refId, prices }) => ({ refId, product, prices })),
        coupons: [
            { refId: 'tenth', percentOff: 10 },
            { refId: 'seven', amountsOff: currencies.map((currency) => ({ currency, amount: 7 })) },
        ],
    });
}
//# sourceMappingURL=estimate-cases.js.map