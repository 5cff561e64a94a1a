import { expect } from 'chai'
import type { Problem, ProblemCode } from '../../../../src/kernel/problem.js'
import * as problems from '../../../../src/subscription/rules/problems.js'

const subscriptionId = 's'

describe('problems of subscriptions', () => {
  const told: [() => Problem, ProblemCode, string, Record<string, unknown>][] = [
    [() => problems.planNotFound('plan', null), 'NOT_FOUND', 'PLAN_NOT_FOUND', { planId: 'plan' }],
    [() => problems.addonNotFound('addon', null), 'NOT_FOUND', 'ADDON_NOT_FOUND', { addonId: 'addon' }],
    [() => problems.subscriptionNotFound(subscriptionId), 'NOT_FOUND', 'SUBSCRIPTION_NOT_FOUND', { subscriptionId }],
    [
      () => problems.incompatibleAddon('addon', 'plan'),
      'FAILED_PRECONDITION',
      'INCOMPATIBLE_SUBSCRIPTION_ADDON',
      { addonId: 'addon', planId: 'plan' },
    ],
    [
      () => problems.addonRequires('addon', 'other'),
      'FAILED_PRECONDITION',
      'INCOMPATIBLE_SUBSCRIPTION_ADDON',
      { addonId: 'addon', requiredAddonId: 'other' },
    ],
    [
      () => problems.alreadyEnded(subscriptionId, 'EXPIRED'),
      'FAILED_PRECONDITION',
      'SUBSCRIPTION_ALREADY_CANCELED_OR_EXPIRED',
      { subscriptionId, status: 'EXPIRED' },
    ],
    [
      () => problems.trialIsCanceledImmediately(subscriptionId),
      'FAILED_PRECONDITION',
      'TRIAL_MUST_BE_CANCELLED_IMMEDIATELY',
      { subscriptionId },
    ],
    [() => problems.invalidCancellationDate('Too early.'), 'INVALID_ARGUMENT', 'INVALID_CANCELLATION_DATE', {}],
    [
      () => problems.invalidSubscriptionStatus(subscriptionId, 'ACTIVE', 'moved'),
      'FAILED_PRECONDITION',
      'INVALID_SUBSCRIPTION_STATUS',
      { subscriptionId, status: 'ACTIVE' },
    ],
    [() => problems.subscriptionIdTaken(subscriptionId), 'ALREADY_EXISTS', 'DUPLICATED_ENTITY_NOT_ALLOWED', { subscriptionId }],
    [() => problems.oneSubscriptionOnly('product'), 'INVALID_ARGUMENT', 'BAD_USER_INPUT', { productId: 'product' }],
    [() => problems.alreadyOnLatestPlan(subscriptionId), 'FAILED_PRECONDITION', 'SUBSCRIPTION_ALREADY_ON_LATEST_PLAN', { subscriptionId }],
    [
      () => problems.slotIsTaken('product', 'r'),
      'ALREADY_EXISTS',
      'DUPLICATED_ENTITY_NOT_ALLOWED',
      { productId: 'product', resourceId: 'r' },
    ],
    [() => problems.paymentNotWithdrawn(subscriptionId), 'UNAVAILABLE', 'UNAVAILABLE', {}],
  ]
  for (const [index, [tell, code, reason, details]] of told.entries())
    it(`are told by code, reason and what they are about: ${reason} (${index})`, () => {
      const problem = tell()
      expect({ code: problem.code, reason: problem.reason, details: problem.details }).to.deep.equal({ code, reason, details })
    })

  it('name what was probably meant', () => {
    expect(problems.planNotFound('basik', 'basic').message).to.include('did you mean "basic"?')
    expect(problems.addonNotFound('bakup', 'backup').message).to.include('did you mean "backup"?')
  })

  it('name who holds what is in the way', () => {
    expect(problems.slotIsTaken('product', 'r').message).to.match(/^Resource "r" holds/)
    expect(problems.slotIsTaken('product', null).message).to.match(/^The customer itself holds/)
  })
})
