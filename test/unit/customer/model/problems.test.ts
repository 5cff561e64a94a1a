import { expect } from 'chai'
import * as problems from '../../../../src/customer/model/problems.js'
import type { Problem } from '../../../../src/kernel/problem.js'

describe('problems with a customer', () => {
  const [customerId, resourceId, couponId] = ['acme', 'site', 'spring']
  const cases: [make: () => Problem, code: string, reason: string, details: Record<string, string>][] = [
    [() => problems.customerNotFound(customerId), 'NOT_FOUND', 'CUSTOMER_NOT_FOUND', { customerId }],
    [
      () => problems.customerResourceNotFound(customerId, resourceId),
      'NOT_FOUND',
      'CUSTOMER_RESOURCE_NOT_FOUND',
      { customerId, resourceId },
    ],
    [() => problems.customerArchived(customerId), 'FAILED_PRECONDITION', 'ENTITY_IS_ARCHIVED', { customerId }],
    [() => problems.customerExists(customerId), 'ALREADY_EXISTS', 'DUPLICATED_ENTITY_NOT_ALLOWED', { customerId }],
    [() => problems.couponNotFound(couponId), 'NOT_FOUND', 'COUPON_NOT_FOUND', { couponId }],
  ]
  for (const [make, code, reason, details] of cases) {
    it(`${reason} names who or what it is about, to programs and to people`, () => {
      const problem = make()
      expect(problem).to.include({ code, reason })
      expect(problem.details).to.deep.equal(details)
      for (const id of Object.values(details)) expect(problem.message).to.include(`"${id}"`)
    })
  }
})
