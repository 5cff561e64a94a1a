import { expect } from 'chai'
import { Problem } from '../../../../src/kernel/problem.js'
import { type CancellationTime, decideCancellation, undoCancellation } from '../../../../src/subscription/rules/cancel.js'
import type { Subscription } from '../../../../src/subscription/rules/subscription.js'
import { day, freePlan, product, subscription, t0, trial } from '../support.js'

const now = t0 + 5 * day
const atPeriodEnd = product({ cancellationTiming: 'END_OF_BILLING_PERIOD' })

const cancel = (one: Subscription, time: CancellationTime | null = null, endDate: number | null = null) =>
  decideCancellation({ subscription: one, time, endDate, now })

const canceledNow = { status: 'CANCELED', cancelReason: 'Immediate', cancellationDate: now, effectiveEndDate: now }

describe('cancelling', () => {
  it('ends at once when asked to, whatever the product says', () => {
    expect(cancel(subscription({ product: atPeriodEnd }), 'IMMEDIATE')).to.include(canceledNow)
  })
  it('follows the product when no time is given', () => {
    expect(cancel(subscription())).to.include(canceledNow)
    const scheduled = { status: 'ACTIVE', cancelReason: null, cancellationDate: now, effectiveEndDate: Date.parse('2026-04-01T00:00:00Z') }
    expect(cancel(subscription({ product: atPeriodEnd }))).to.include(scheduled)
  })
  it('ends trials, free plans and what has not started at once when no time is given', () => {
    for (const one of [trial(), subscription({ plan: freePlan }), subscription({ status: 'NOT_STARTED' })]) {
      expect(cancel({ ...one, product: atPeriodEnd })).to.include(canceledNow)
    }
  })
  it('finds the end of the billing period in the customer’s time zone', () => {
    // Paid since midnight of March 1 in Berlin; on April 1 clocks there are an hour further from UTC.
    const one = subscription({ startDate: Date.parse('2026-02-28T23:00:00Z'), timeZone: 'Europe/Berlin' })
    expect(cancel(one, 'END_OF_BILLING_PERIOD').effectiveEndDate).to.equal(Date.parse('2026-03-31T22:00:00Z'))
  })
  it('counts the billing period from its anchor, not from the start', () => {
    expect(cancel(subscription({ billingAnchor: t0 + 2 * day }), 'END_OF_BILLING_PERIOD').effectiveEndDate).to.equal(
      Date.parse('2026-04-03T00:00:00Z'),
    )
  })
  it('ends on the date that is given', () => {
    expect(cancel(subscription(), 'SPECIFIC_DATE', now + 1)).to.include({ status: 'ACTIVE', effectiveEndDate: now + 1 })
  })
  it('can be asked for again, with another time', () => {
    const scheduled = cancel(subscription(), 'SPECIFIC_DATE', now + day)
    expect(cancel(scheduled, 'SPECIFIC_DATE', now + 2 * day).effectiveEndDate).to.equal(now + 2 * day)
    expect(cancel(scheduled, 'IMMEDIATE')).to.include(canceledNow)
  })

  it('takes entitlements away now when it is asked to, and gives them back when it is undone', () => {
    const one = decideCancellation({
      subscription: subscription(),
      time: 'SPECIFIC_DATE',
      endDate: now + day,
      revokesEntitlements: true,
      now,
    })
    expect(one).to.include({ status: 'ACTIVE', entitlementsRevokedAt: now, effectiveEndDate: now + day })
    expect(undoCancellation(one)).to.deep.equal(subscription())
  })

  const ended = { cancelReason: 'Immediate', effectiveEndDate: t0 } as const
  const refusals: [string, Subscription, CancellationTime | null, number | null, string][] = [
    ['what was canceled', subscription({ status: 'CANCELED', ...ended }), null, null, 'SUBSCRIPTION_ALREADY_CANCELED_OR_EXPIRED'],
    ['what has expired', subscription({ status: 'EXPIRED', ...ended }), 'IMMEDIATE', null, 'SUBSCRIPTION_ALREADY_CANCELED_OR_EXPIRED'],
    ['a trial at a later time', trial(), 'END_OF_BILLING_PERIOD', null, 'TRIAL_MUST_BE_CANCELLED_IMMEDIATELY'],
    ['a trial on a date', trial(), 'SPECIFIC_DATE', now + day, 'TRIAL_MUST_BE_CANCELLED_IMMEDIATELY'],
    ['what has not started, later', subscription({ status: 'NOT_STARTED' }), 'SPECIFIC_DATE', now + day, 'INVALID_SUBSCRIPTION_STATUS'],
    ['on a date that is not given', subscription(), 'SPECIFIC_DATE', null, 'INVALID_CANCELLATION_DATE'],
    ['on a date that is not in the future', subscription(), 'SPECIFIC_DATE', now, 'INVALID_CANCELLATION_DATE'],
    [
      'at the end of a billing period that there is not',
      subscription({ billingPeriod: null }),
      'END_OF_BILLING_PERIOD',
      null,
      'INVALID_CANCELLATION_DATE',
    ],
  ]
  for (const [name, one, time, endDate, reason] of refusals) {
    it(`refuses ${name}`, () => {
      expect(() => cancel(one, time, endDate))
        .to.throw(Problem)
        .with.property('reason', reason)
    })
  }

  it('says what to give instead', () => {
    expect(() => cancel(subscription(), 'SPECIFIC_DATE')).to.throw('Give endDate')
    expect(() => cancel(subscription({ billingPeriod: null }), 'END_OF_BILLING_PERIOD')).to.throw('with time IMMEDIATE')
    expect(() => cancel(subscription({ status: 'EXPIRED', ...ended }))).to.throw('EXPIRED already')
    expect(() => cancel(subscription({ status: 'PAYMENT_PENDING' }), 'SPECIFIC_DATE', now + day)).to.throw('canceled at a later date')
  })

  it('leaves what was never canceled as it is when that is undone', () => {
    const revoked = subscription({ cancellationDate: t0, entitlementsRevokedAt: t0 })
    expect(undoCancellation(revoked)).to.equal(revoked)
  })

  it('keeps the time from which on nothing was to be used any more', () => {
    const asked = { subscription: subscription({ entitlementsRevokedAt: t0 }), time: 'SPECIFIC_DATE' as const, endDate: now + day, now }
    expect(decideCancellation({ ...asked, revokesEntitlements: true }).entitlementsRevokedAt).to.equal(t0)
    expect(decideCancellation(asked).entitlementsRevokedAt).to.equal(t0)
    expect(decideCancellation({ ...asked, subscription: subscription() }).entitlementsRevokedAt).to.equal(null)
  })
})
