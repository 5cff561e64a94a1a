import { expect } from 'chai'
import { awaitingPayment, decidePaid } from '../../../../src/subscription/rules/payment.js'
import type { Subscription } from '../../../../src/subscription/rules/subscription.js'
import { day, product, subscription, t0, top, trial } from '../support.js'

const at = t0 + 5 * day
const pending = (fields: Partial<Subscription> = {}) =>
  subscription({ id: 'new', plan: top, status: 'PAYMENT_PENDING', startDate: t0 + 4 * day, paymentCollection: 'PROCESSING', ...fields })

describe('a subscription that waits for its first payment', () => {
  it('is in no billing period until then', () => {
    const active = subscription({ currentPeriod: { start: t0, end: t0 + 31 * day } })
    expect(awaitingPayment(active)).to.deep.equal({
      ...active,
      status: 'PAYMENT_PENDING',
      currentPeriod: null,
      paymentCollection: 'PROCESSING',
    })
  })

  it('becomes active when it is paid, in the billing period of then', () => {
    const { subscription: paid, ended } = decidePaid(pending(), [pending()], at)
    expect(paid).to.deep.equal({
      ...pending(),
      status: 'ACTIVE',
      currentPeriod: { start: t0 + 4 * day, end: Date.parse('2026-04-05T00:00:00Z') },
      usageAnchor: t0 + 4 * day,
    })
    expect(ended).to.deep.equal([])
  })

  it('ends what it replaces at that instant, and the trial that it is the paid life of', () => {
    const elsewhere = subscription({ id: 'elsewhere', product: product({ id: 'other' }) })
    const { ended } = decidePaid(pending(), [subscription(), trial({ plan: top }), pending(), elsewhere, trial({ id: 'other trial' })], at)
    expect(ended.map(({ id, cancelReason, effectiveEndDate }) => [id, cancelReason, effectiveEndDate])).to.deep.equal([
      ['subscription', 'UpgradeOrDowngrade', at],
      ['trial', 'TrialConverted', at],
    ])
  })

  describe('begins its usage', () => {
    const kept = product({ usageOnPlanChange: 'NEVER_RESET' })
    const anchor = (fields: Partial<Subscription>, ...held: Subscription[]) =>
      decidePaid(pending(fields), held, at).subscription.usageAnchor
    it('when it was to start, also where it goes on in a billing period that runs', () => {
      expect(anchor({ billingAnchor: t0 })).to.equal(t0 + 4 * day)
      expect(anchor({ billingAnchor: t0 + 4 * day + 1 })).to.equal(t0 + 4 * day + 1)
    })
    it('where that of the other one began, as the product says', () => {
      const other = subscription({ product: kept, usageAnchor: t0 - day })
      expect(anchor({ product: kept }, trial({ plan: top, product: kept, usageAnchor: t0 - 2 * day }), other)).to.equal(t0 - day)
      expect(anchor({ product: kept }, trial({ plan: top, product: kept }))).to.equal(t0 + 4 * day)
    })
  })
})
