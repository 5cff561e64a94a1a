import { Problem } from '../../kernel/problem.js';
export function customerNotFound(customerId) {
    return new Problem('NOT_FOUND', 'CUSTOMER_NOT_FOUND', `Customer "${customerId}" was not found: provision it first.`, {
        details: { customerId },
    });
}
export function customerResourceNotFound(customerId, resourceId) {
    return new Problem('NOT_FOUND', 'CUSTOMER_RESOURCE_NOT_FOUND', `Customer "${customerId}" has no resource "${resourceId}": provision a subscription for it first.`, {
        details: { customerId, resourceId },
    });
}
export function customerArchived(customerId) {
    return new Problem('FAILED_PRECONDITION', 'ENTITY_IS_ARCHIVED', `Customer "${customerId}" is archived: unarchive it first.`, {
        details: { customerId },
    });
}
export function customerExists(customerId) {
    return new Problem('ALREADY_EXISTS', 'DUPLICATED_ENTITY_NOT_ALLOWED', `Customer "${customerId}" exists already: update it, or choose another identifier.`, { details: { customerId } });
}
export function couponNotFound(couponId) {
    return new Problem('NOT_FOUND', 'COUPON_NOT_FOUND', `Coupon "${couponId}" was not found or is archived: check the catalog.`, {
        details: { couponId },
    });
}
//# sourceMappingURL=problems.js.map