import { Problem } from '../../kernel/problem.js';
export function couponNotFound(couponId) {
    return new Problem('NOT_FOUND', 'COUPON_NOT_FOUND', `Coupon "${couponId}" was not found.`, { details: { couponId } });
}
export function couponUsedUp(couponId, maxRedemptions) {
    return new Problem('FAILED_PRECONDITION', 'BAD_USER_INPUT', `Coupon "${couponId}" has been given ${maxRedemptions === 1 ? 'once' : `${maxRedemptions} times`}, as often as it may.`, { details: { couponId, maxRedemptions } });
}
export function couponArchived(couponId) {
    return new Problem('FAILED_PRECONDITION', 'ENTITY_IS_ARCHIVED', `Coupon "${couponId}" is archived: it is given to nobody else.`, {
        details: { couponId },
    });
}
export function invoiceNotFound(billingId) {
    return new Problem('NOT_FOUND', 'INVOICE_NOT_FOUND', `Invoice "${billingId}" was not found.`, { details: { billingId } });
}
//# sourceMappingURL=problems.js.map