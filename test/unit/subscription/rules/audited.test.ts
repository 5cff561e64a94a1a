import { expect } from 'chai'
import { differenceOf } from '../../../../src/audit/model/difference.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import { auditedSubscription } from '../../../../src/subscription/rules/audited.js'
import { addon, day, held, subscription, t0, top } from '../support.js'

const own = {
  id: 'own',
  featureId: 'f',
  usageLimit: null,
  hasUnlimitedUsage: true,
  hasSoftLimit: false,
  enumValues: [],
  resetPeriod: null,
  resetRule: null,
}
const seats = { featureId: 'f', featureRefId: 'seats', quantity: decimal.fromNumber(5) }
const content = { billingPeriod: 'MONTHLY' as const, addons: [], quantities: [] }

describe('what the audit log says of a subscription', () => {
  it('is what it has when it begins', () => {
    const change = auditedSubscription(null, subscription({ refId: 'acme-team' }))
    expect(change).to.include({ environmentId: 'environment', kind: 'SUBSCRIPTION', id: 'acme-team' })
    expect(differenceOf(change)).to.deep.equal({
      before: null,
      after: {
        subscriptionId: 'acme-team',
        customer: { id: 'customer' },
        plan: { refId: 'basic', versionNumber: 1 },
        status: 'ACTIVE',
        pricingType: 'PAID',
        billingPeriod: 'MONTHLY',
        startDate: '2026-03-01T00:00:00.000Z',
        billingCycleAnchor: '2026-03-01T00:00:00.000Z',
        paymentCollection: 'NOT_REQUIRED',
      },
    })
  })

  it('is what became different of it', () => {
    const after = subscription({
      payingCustomerId: 'parent',
      resource: { id: 'r', refId: 'workspace-1' },
      addons: [held(addon('backup'), 2)],
      quantities: [seats],
      ownEntitlements: [own],
      currentPeriod: { start: t0, end: t0 + 31 * day },
      effectiveEndDate: t0 + day,
      scheduled: [
        { id: 'a', executeAt: t0 + day, change: { type: 'Plan', plan: top, agreed: null, ...content } },
        { id: 'b', executeAt: t0 + 2 * day, change: { type: 'UnitAmount', ...seats } },
      ],
    })
    const { id: _, ...entitlement } = own
    expect(differenceOf(auditedSubscription(subscription(), after))).to.deep.equal({
      before: {
        payingCustomer: null,
        resourceId: null,
        addons: [],
        unitQuantities: [],
        entitlements: [],
        effectiveEndDate: null,
        currentBillingPeriodStart: null,
        currentBillingPeriodEnd: null,
        scheduledUpdates: [],
      },
      after: {
        payingCustomer: { id: 'parent' },
        resourceId: 'workspace-1',
        addons: [{ addon: { refId: 'backup', versionNumber: 1 }, quantity: 2 }],
        unitQuantities: [{ featureId: 'seats', quantity: '5' }],
        entitlements: [entitlement],
        effectiveEndDate: '2026-03-02T00:00:00.000Z',
        currentBillingPeriodStart: '2026-03-01T00:00:00.000Z',
        currentBillingPeriodEnd: '2026-04-01T00:00:00.000Z',
        scheduledUpdates: [
          {
            subscriptionScheduleType: 'Plan',
            scheduledExecutionTime: '2026-03-02T00:00:00.000Z',
            targetPackage: { refId: 'top', versionNumber: 1 },
          },
          { subscriptionScheduleType: 'UnitAmount', scheduledExecutionTime: '2026-03-03T00:00:00.000Z' },
        ],
      },
    })
  })

  it('is nothing of what is only called otherwise', () => {
    const [before, after] = ['a', 'b'].map((id) => subscription({ ownEntitlements: [{ ...own, id }] }))
    expect(differenceOf(auditedSubscription(before!, after!))).to.equal(null)
  })
})
