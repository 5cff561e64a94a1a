import { expect } from 'chai'
import * as problems from '../../../../src/billing/rules/problems.js'
import type { Problem, ProblemCode } from '../../../../src/kernel/problem.js'

describe('problems of billing', () => {
  const told: [() => Problem, ProblemCode, string, Record<string, unknown>][] = [
    [() => problems.couponNotFound('c'), 'NOT_FOUND', 'COUPON_NOT_FOUND', { couponId: 'c' }],
    [() => problems.couponUsedUp('c', 1), 'FAILED_PRECONDITION', 'BAD_USER_INPUT', { couponId: 'c', maxRedemptions: 1 }],
    [() => problems.couponArchived('c'), 'FAILED_PRECONDITION', 'ENTITY_IS_ARCHIVED', { couponId: 'c' }],
    [() => problems.invoiceNotFound('i'), 'NOT_FOUND', 'INVOICE_NOT_FOUND', { billingId: 'i' }],
  ]
  for (const [tell, code, reason, details] of told)
    it(`are told by code, reason and what they are about: ${reason}`, () => {
      const problem = tell()
      expect({ code: problem.code, reason: problem.reason, details: problem.details }).to.deep.equal({ code, reason, details })
    })

  it('say how often a coupon may be given', () => {
    expect(problems.couponUsedUp('c', 1).message).to.include('given once,')
    expect(problems.couponUsedUp('c', 3).message).to.include('given 3 times,')
  })
})
