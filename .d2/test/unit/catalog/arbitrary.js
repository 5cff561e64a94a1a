/** Random valid documents, as a caller may write them. */
import * as fc from 'fast-check';
const refIds = fc.uniqueArray(fc.stringMatching(/^[a-z0-9 ."'[\]:-]{0,8}[a-zé]$/u), { minLength: 1, maxLength: 4 });
const some = (values) => fc.shuffledSubarray([...values]);
const sometimes = (value) => fc.option(value, { nil: undefined });
const text = fc.stringMatching(/^[\w é"'#:{}-]{0,12}\w$/u);
const json = fc
    .jsonValue({ maxDepth: 2, noUnicodeString: true })
    .filter((value) => !JSON.stringify(value).includes('\\u0000') && !JSON.stringify(value).includes('__proto__'));
const named = {
    displayName: sometimes(text),
    description: sometimes(text),
    additionalMetaData: sometimes(fc.dictionary(text, json, { maxKeys: 3 })),
};
const amount = fc.oneof(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), fc.integer({ min: 0, max: 2 ** 40 }).map((units) => units / 1000), fc.tuple(fc.nat(), fc.nat({ max: 999_999_999 })).map(([whole, billionths]) => `${whole}.${String(billionths).padStart(9, '0')}`));
const condition = fc.oneof(fc.record({
    field: text,
    operation: fc.constantFrom('EQUALS', 'NOT_EQUALS', 'CONTAINS'),
    value: fc.oneof(text, fc.integer(), fc.boolean()),
}), fc.record({ field: text, operation: fc.constant('IN'), values: fc.array(fc.oneof(text, fc.integer()), { minLength: 1, maxLength: 3 }) }), fc.record({ field: text, operation: fc.constant('IS_NULL') }));
const filters = fc.array(fc.array(condition, { minLength: 1, maxLength: 2 }), { maxLength: 2 });
const events = fc.oneof(fc.record({ aggregation: fc.constant('COUNT'), filters }), fc.record({ aggregation: fc.constant('SUM'), field: text, filters }));
const kinds = fc.constantFrom('BOOLEAN', 'ENUM', 'NUMBER', 'Incremental', 'Fluctuating', 'events');
function featureOf({ refId, kind }) {
    const base = { ...named, refId: fc.constant(refId) };
    if (kind === 'BOOLEAN')
        return fc.record({ ...base, type: fc.constant('BOOLEAN') });
    if (kind === 'ENUM')
        return fc.record({ ...base, type: fc.constant('ENUM'), enumValues: fc.constant(['a', 'b', 'c']) });
    const number = { ...base, type: fc.constant('NUMBER'), units: sometimes(text) };
    if (kind === 'events')
        return fc.record({ ...number, meter: fc.constant('Incremental'), events });
    return fc.record({ ...number, meter: fc.constant(kind === 'NUMBER' ? 'None' : kind) });
}
function entitlementOf({ refId, kind }) {
    const base = {
        feature: fc.constant(refId),
        displayNameOverride: sometimes(text),
        behavior: sometimes(fc.constantFrom('Increment', 'Override')),
    };
    if (kind === 'BOOLEAN')
        return fc.record(base);
    if (kind === 'ENUM')
        return fc.record({ ...base, values: fc.shuffledSubarray(['a', 'b', 'c'], { minLength: 1 }) });
    if (kind === 'NUMBER')
        return fc.record({ ...base, limit: fc.integer({ min: 0, max: 2 ** 31 - 1 }) });
    const resetPeriod = kind === 'Fluctuating' ? fc.constant(undefined) : sometimes(fc.constantFrom('HOUR', 'WEEK', 'MONTH'));
    return fc.oneof(fc.record({ ...base, limit: amount, softLimit: sometimes(fc.boolean()), resetPeriod }), fc.record({ ...base, unlimited: fc.constant(true), resetPeriod }));
}
const entitlementsOf = (features) => some(features).chain((chosen) => fc.tuple(...chosen.map(entitlementOf)));
function pricesOf(features) {
    const metered = features.filter(({ kind }) => kind !== 'BOOLEAN' && kind !== 'ENUM' && kind !== 'NUMBER');
    const base = {
        billingPeriod: fc.constantFrom('MONTHLY', 'ANNUALLY'),
        currency: fc.constantFrom('USD', 'EUR', 'JPY'),
        country: sometimes(fc.constantFrom('DE', 'US')),
    };
    const flat = fc.record({ ...base, billingModel: fc.constant('FLAT_FEE'), amount });
    const counted = metered.map(({ refId }) => fc.record({
        ...base,
        billingModel: fc.constantFrom('PER_UNIT', 'USAGE_BASED'),
        feature: fc.constant(refId),
        amount,
        blockSize: sometimes(fc.integer({ min: 1, max: 9 })),
    }));
    const tiered = metered.map(({ refId }) => fc.record({
        ...base,
        billingModel: fc.constant('USAGE_BASED'),
        feature: fc.constant(refId),
        tiersMode: fc.constantFrom('GRADUATED', 'VOLUME'),
        tiers: fc.tuple(fc.record({ upTo: fc.integer({ min: 1, max: 99 }), unitPrice: amount }), fc.record({ flatPrice: amount, unitPrice: sometimes(amount) })),
    }));
    const key = (price) => JSON.stringify([price.feature, price.billingPeriod, price.currency, price.country]);
    return fc.uniqueArray(fc.oneof(flat, ...counted, ...tiered), { maxLength: 3, selector: key });
}
/** Each plan may inherit from one before it, each add-on may need those before it. */
export const documents = fc
    .record({ features: refIds, plans: refIds, addons: refIds, kinds: fc.array(kinds, { minLength: 4, maxLength: 4 }), coupons: refIds })
    .chain(({ features: names, plans, addons, kinds: chosen, coupons }) => {
    const features = names.map((refId, position) => ({ refId, kind: chosen[position] }));
    const sold = { ...named, product: fc.constant('cloud'), entitlements: entitlementsOf(features), prices: pricesOf(features) };
    return fc.record({
        features: fc.tuple(...features.map(featureOf)),
        products: fc.constant([{ refId: 'cloud', settings: { multipleSubscriptions: true } }]),
        plans: fc.tuple(...plans.map((refId, position) => fc.record({
            ...sold,
            refId: fc.constant(refId),
            basePlan: position === 0 ? fc.constant(undefined) : sometimes(fc.constantFrom(...plans.slice(0, position))),
            compatibleAddons: some(addons),
        }))),
        addons: fc.tuple(...addons.map((refId, position) => fc.record({ ...sold, refId: fc.constant(refId), dependencies: some(addons.slice(0, position)) }))),
        coupons: fc.tuple(...coupons.map((refId) => fc.oneof(fc.record({ refId: fc.constant(refId), percentOff: fc.integer({ min: 1, max: 100 }) }), fc.record({
            refId: fc.constant(refId),
            amountsOff: fc.shuffledSubarray([
                { amount: 1, currency: 'USD' },
                { amount: 2.5, currency: 'EUR' },
            ], { minLength: 1 }),
            durationInMonths: fc.integer({ min: 1, max: 12 }),
            maxRedemptions: fc.integer({ min: 1, max: 1000 }),
        })))),
    });
});
//# sourceMappingURL=arbitrary.js.map