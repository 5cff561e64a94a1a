import { Problem } from '../../kernel/problem.js';
export function couponExists(refId) {
    return new Problem('ALREADY_EXISTS', 'DUPLICATED_ENTITY_NOT_ALLOWED', `There is a coupon "${refId}" already: choose another identifier.`, {
        details: { refId },
    });
}
//# sourceMappingURL=coupon.js.map