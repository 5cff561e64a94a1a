import { Problem } from '../../kernel/problem.js';
export function productNotFound(refId) {
    return new Problem('NOT_FOUND', 'PRODUCT_NOT_FOUND', `Product "${refId}" was not found: check the catalog.`, {
        details: { productId: refId },
    });
}
//# sourceMappingURL=problems.js.map