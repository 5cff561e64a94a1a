import { parseCatalog } from '../../../src/catalog/document/parse.js';
export const emptyCatalog = { features: [], products: [], plans: [], addons: [], coupons: [] };
/** A valid document with one feature of each sort and one product; each list may be replaced. */
export function documentWith(lists = {}) {
    return { features: someFeatures, products: [{ refId: 'cloud' }], ...lists };
}
export const someFeatures = [
    { refId: 'sso', type: 'BOOLEAN' },
    { refId: 'storage', type: 'NUMBER' },
    { refId: 'regions', type: 'ENUM', enumValues: ['eu', 'us', 'ap'] },
    { refId: 'calls', type: 'NUMBER', meter: 'Incremental' },
    { refId: 'seats', type: 'NUMBER', meter: 'Fluctuating' },
];
export const planWith = (fields) => ({ refId: 'basic', product: 'cloud', ...fields });
/** A document whose only plan has these entitlements. */
export const entitling = (...entitlements) => documentWith({ plans: [planWith({ entitlements })] });
/** A document whose only plan has these prices. */
export const pricing = (...prices) => documentWith({ plans: [planWith({ prices })] });
const nothingInForce = { current: null, archiveMissing: false };
/** The parsed document; fails with its problems when it is refused. */
export function parsed(input, options = nothingInForce) {
    const result = parseCatalog(input, options);
    if ('problems' in result)
        throw new Error(result.problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
    return result.catalog;
}
/** Why the document is refused, as `path: message`; empty when it is not. */
export function refusals(input, options = nothingInForce) {
    const result = parseCatalog(input, options);
    return 'problems' in result ? result.problems.map(({ path, message }) => `${path}: ${message}`) : [];
}
//# sourceMappingURL=documents.js.map