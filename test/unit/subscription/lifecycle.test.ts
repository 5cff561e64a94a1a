import { expect } from 'chai'
import { apply, type Trigger, transition, triggers } from '../../../src/subscription/lifecycle.js'
import { type CancelReason, isFinal, type SubscriptionStatus, subscriptionStatuses } from '../../../src/subscription/model.js'
import { day, subscription, t0 } from './support.js'

/** The whole table, written out: what is not here is refused. */
const expected: [SubscriptionStatus, Trigger, SubscriptionStatus, CancelReason?][] = [
  ['NOT_STARTED', 'start', 'ACTIVE'],
  ['NOT_STARTED', 'cancel', 'CANCELED', 'Immediate'],
  ['NOT_STARTED', 'replace', 'CANCELED', 'UpgradeOrDowngrade'],
  ['NOT_STARTED', 'archive', 'CANCELED', 'CustomerArchived'],
  ['IN_TRIAL', 'trialEnd', 'EXPIRED', 'TrialEnded'],
  ['IN_TRIAL', 'cancellationDue', 'CANCELED', 'ScheduledCancellation'],
  ['IN_TRIAL', 'cancel', 'CANCELED', 'Immediate'],
  ['IN_TRIAL', 'replace', 'CANCELED', 'UpgradeOrDowngrade'],
  ['IN_TRIAL', 'trialReplaced', 'CANCELED', 'TrialConverted'],
  ['IN_TRIAL', 'archive', 'CANCELED', 'CustomerArchived'],
  ['ACTIVE', 'cancellationDue', 'CANCELED', 'ScheduledCancellation'],
  ['ACTIVE', 'endDate', 'EXPIRED', 'Expired'],
  ['ACTIVE', 'cancel', 'CANCELED', 'Immediate'],
  ['ACTIVE', 'replace', 'CANCELED', 'UpgradeOrDowngrade'],
  ['ACTIVE', 'archive', 'CANCELED', 'CustomerArchived'],
  ['PAYMENT_PENDING', 'paid', 'ACTIVE'],
  ['PAYMENT_PENDING', 'paymentExpired', 'CANCELED', 'PendingPaymentExpired'],
  ['PAYMENT_PENDING', 'cancel', 'CANCELED', 'Immediate'],
  ['PAYMENT_PENDING', 'replace', 'CANCELED', 'UpgradeOrDowngrade'],
  ['PAYMENT_PENDING', 'archive', 'CANCELED', 'CustomerArchived'],
]

describe('lifecycle table', () => {
  for (const status of subscriptionStatuses) {
    for (const trigger of triggers) {
      const row = expected.find(([from, by]) => from === status && by === trigger)
      const from = subscription({ status })
      if (row) {
        const [, , to, reason] = row
        it(`${status} by ${trigger} is ${to}${reason ? ` (${reason})` : ''}`, () => {
          expect(transition(from, trigger)).to.deep.equal(reason ? { to, reason } : { to })
        })
      } else {
        it(`${status} by ${trigger} is refused`, () => {
          expect(transition(from, trigger)).to.equal(null)
          expect(() => apply(from, trigger, t0)).to.throw(`no transition from ${status} by ${trigger}`)
        })
      }
    }
  }

  it('starts in trial when a trial was agreed', () => {
    expect(transition(subscription({ status: 'NOT_STARTED', trialEndDate: t0 + day }), 'start')).to.deep.equal({ to: 'IN_TRIAL' })
  })

  it('converts a trial that was agreed to convert, and only that', () => {
    expect(transition(subscription({ status: 'IN_TRIAL', trialEndBehavior: 'CONVERT_TO_PAID' }), 'trialEnd')).to.deep.equal({
      to: 'ACTIVE',
    })
    expect(transition(subscription({ status: 'IN_TRIAL', trialEndBehavior: 'CANCEL_SUBSCRIPTION' }), 'trialEnd')?.to).to.equal('EXPIRED')
  })

  it('gives every end a reason and a date, and nothing else', () => {
    for (const [status, trigger] of expected) {
      const moved = apply(subscription({ status }), trigger, t0 + day)
      expect(moved.cancelReason !== null, trigger).to.equal(isFinal(moved.status))
      expect(moved.effectiveEndDate, trigger).to.equal(isFinal(moved.status) ? t0 + day : null)
      expect(moved.cancellationDate, trigger).to.equal(moved.status === 'CANCELED' ? t0 + day : null)
    }
  })

  it('keeps the date on which a cancellation was asked for', () => {
    const scheduled = subscription({ cancellationDate: t0, effectiveEndDate: t0 + 5 * day })
    expect(apply(scheduled, 'cancellationDue', t0 + 5 * day)).to.include({ cancellationDate: t0, effectiveEndDate: t0 + 5 * day })
    expect(apply(scheduled, 'replace', t0 + day)).to.include({ cancellationDate: t0, effectiveEndDate: t0 + day })
  })
})
