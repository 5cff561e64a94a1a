import { expect } from 'chai'
import {
  billingPeriodAt,
  currentBillingPeriod,
  effectiveAt,
  firstPeriod,
  periodAfter,
} from '../../../../src/subscription/rules/billing-period.js'
import { day, plan, price, subscription, t0, trial } from '../support.js'

const at = (text: string) => Date.parse(text)

describe('billing period', () => {
  it('is counted from the anchor, so that the last days of months come back', () => {
    const since31 = subscription({ startDate: at('2026-01-31T10:00:00Z') })
    expect(billingPeriodAt(since31, at('2026-03-10T00:00:00Z'))).to.deep.equal({
      start: at('2026-02-28T10:00:00Z'),
      end: at('2026-03-31T10:00:00Z'),
    })
  })
  it('contains its start and not its end', () => {
    const since = subscription()
    expect(billingPeriodAt(since, t0)!.start).to.equal(t0)
    expect(billingPeriodAt(since, at('2026-04-01T00:00:00Z'))!.start).to.equal(at('2026-04-01T00:00:00Z'))
  })
  it('can be a year', () => {
    const annual = subscription({ plan: plan('annual', { prices: [price({ billingPeriod: 'ANNUALLY' })] }) })
    expect(billingPeriodAt(annual, t0 + 40 * day)).to.deep.equal({ start: t0, end: at('2027-03-01T00:00:00Z') })
  })
  it('is the trial during a trial', () => {
    expect(billingPeriodAt(trial(), t0 + day)).to.deep.equal({ start: t0, end: t0 + 14 * day })
  })
  it('is none while nothing is billed', () => {
    expect(billingPeriodAt(subscription({ billingPeriod: null }), t0)).to.equal(null)
    expect(billingPeriodAt(subscription({ status: 'NOT_STARTED' }), t0)).to.equal(null)
    expect(billingPeriodAt(subscription({ status: 'CANCELED' }), t0)).to.equal(null)
  })
})

describe('a billing period that was begun', () => {
  const begun = { start: t0 + day, end: t0 + 20 * day }
  const active = subscription({ currentPeriod: begun })
  const counted = { start: t0, end: at('2026-04-01T00:00:00Z') }

  it('keeps its ends, whatever is counted from the anchor by now', () => {
    expect(billingPeriodAt(active, begun.start)).to.equal(begun)
    expect(billingPeriodAt(active, begun.end - 1)).to.equal(begun)
    expect(billingPeriodAt(active, begun.start - 1)).to.deep.equal(counted)
    expect(billingPeriodAt(active, begun.end)).to.deep.equal(counted)
  })
  it('is that of now, in a trial the trial, and none before it begins and after its end', () => {
    expect(currentBillingPeriod(active)).to.equal(begun)
    expect(currentBillingPeriod(subscription())).to.equal(null)
    expect(currentBillingPeriod(trial({ currentPeriod: begun }))).to.deep.equal({ start: t0, end: t0 + 14 * day })
    expect(currentBillingPeriod(trial({ trialEndDate: null }))).to.equal(null)
    // It was a trial once.
    expect(currentBillingPeriod({ ...active, trialEndDate: t0 + day })).to.equal(begun)
    for (const status of ['NOT_STARTED', 'PAYMENT_PENDING', 'CANCELED', 'EXPIRED'] as const)
      expect(currentBillingPeriod({ ...active, status, trialEndDate: t0 + day })).to.equal(null)
  })
  it('is no trial where that has no end', () => expect(billingPeriodAt(trial({ trialEndDate: null }), t0)).to.deep.equal(counted))
  it('is not that of its trial any more when it is paid', () => {
    expect(billingPeriodAt({ ...active, trialEndDate: t0 + day, billingAnchor: t0 + day }, begun.start)).to.equal(begun)
  })
  it('is the first one from an instant on, and none where nothing is billed', () => {
    expect(firstPeriod(active, t0 + 3 * day)).to.deep.equal(counted)
    expect(firstPeriod({ ...active, billingPeriod: null }, t0)).to.equal(null)
  })

  describe('is followed by one', () => {
    it('that begins where it ends', () => {
      expect(periodAfter(subscription({ currentPeriod: counted }))).to.deep.equal({ start: counted.end, end: at('2026-05-01T00:00:00Z') })
    })
    it('that is longer where its own end would be within a week, as after a change of the time zone', () => {
      const ending = (text: string) => periodAfter(subscription({ currentPeriod: { start: t0, end: at(text) } }))!.end
      expect(ending('2026-03-31T15:00:00Z')).to.equal(at('2026-05-01T00:00:00Z'))
      expect(ending('2026-03-25T00:00:00Z')).to.equal(at('2026-05-01T00:00:00Z'))
      expect(ending('2026-03-24T23:59:59Z')).to.equal(at('2026-04-01T00:00:00Z'))
    })
    it('or none, where nothing is billed any more', () => {
      expect(periodAfter(subscription({ billingPeriod: null, currentPeriod: counted }))).to.equal(null)
      expect(periodAfter(subscription())).to.equal(null)
    })
  })
})

describe('a change takes effect', () => {
  const now = t0 + 5 * day
  const annual = subscription({ billingPeriod: 'ANNUALLY', currentPeriod: { start: t0, end: at('2027-03-01T00:00:00Z') } })
  it('at once, at the end of the billing period, or at that of its month', () => {
    expect(effectiveAt(annual, 'IMMEDIATE', now)).to.equal(now)
    expect(effectiveAt(annual, 'END_OF_BILLING_PERIOD', now)).to.equal(at('2027-03-01T00:00:00Z'))
    expect(effectiveAt(annual, 'END_OF_BILLING_MONTH', now)).to.equal(at('2026-04-01T00:00:00Z'))
  })
  it('never after the period that runs', () => {
    const short = subscription({ currentPeriod: { start: t0, end: t0 + 20 * day } })
    expect(effectiveAt(short, 'END_OF_BILLING_MONTH', now)).to.equal(t0 + 20 * day)
  })
  it('at once where nothing is billed', () => {
    for (const strategy of ['END_OF_BILLING_PERIOD', 'END_OF_BILLING_MONTH'] as const)
      expect(effectiveAt(subscription({ billingPeriod: null }), strategy, now)).to.equal(now)
  })
})
