import { Problem } from '../../kernel/problem.js'

export function couponNotFound(couponId: string): Problem {
  return new Problem('NOT_FOUND', 'COUPON_NOT_FOUND', `Coupon "${couponId}" was not found.`, { details: { couponId } })
}

export function couponUsedUp(couponId: string, maxRedemptions: number): Problem {
  return new Problem(
    'FAILED_PRECONDITION',
    'BAD_USER_INPUT',
    `Coupon "${couponId}" has been given ${maxRedemptions === 1 ? 'once' : `${maxRedemptions} times`}, as often as it may.`,
    { details: { couponId, maxRedemptions } },
  )
}

export function couponArchived(couponId: string): Problem {
  return new Problem('FAILED_PRECONDITION', 'ENTITY_IS_ARCHIVED', `Coupon "${couponId}" is archived: it is given to nobody else.`, {
    details: { couponId },
  })
}

export function invoiceNotFound(billingId: string): Problem {
  return new Problem('NOT_FOUND', 'INVOICE_NOT_FOUND', `Invoice "${billingId}" was not found.`, { details: { billingId } })
}
