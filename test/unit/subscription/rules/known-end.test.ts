import { expect } from 'chai'
import { knownEnd, type Subscription } from '../../../../src/subscription/rules/subscription.js'
import { day, subscription, t0, trial } from '../support.js'

describe('the end that is known of a subscription', () => {
  const cases: [name: string, subscription: Subscription, end: number | null][] = [
    ['one that goes on has none', subscription(), null],
    ['that of a cancellation', subscription({ effectiveEndDate: t0 + 9 * day, cancellationDate: t0 }), t0 + 9 * day],
    ['the agreed end date', subscription({ endDate: t0 + 5 * day }), t0 + 5 * day],
    ['of both the one that comes first', subscription({ effectiveEndDate: t0 + 9 * day, endDate: t0 + 5 * day }), t0 + 5 * day],
    ['a trial that does not convert', trial({ trialEndBehavior: 'CANCEL_SUBSCRIPTION' }), t0 + 14 * day],
    ['a trial that converts has none', trial(), null],
    ['the end date after a trial that converts', trial({ endDate: t0 + 40 * day }), t0 + 40 * day],
    ['not before a trial that converts is over', trial({ endDate: t0 + 3 * day }), t0 + 14 * day],
    [
      'one that is yet to start ends with its trial too',
      trial({ status: 'NOT_STARTED', trialEndBehavior: 'CANCEL_SUBSCRIPTION' }),
      t0 + 14 * day,
    ],
    ['a trial that is over says nothing', trial({ status: 'ACTIVE', trialEndBehavior: 'CANCEL_SUBSCRIPTION' }), null],
    [
      'one that ended after its term, within a trial, ended then',
      subscription({ status: 'EXPIRED', effectiveEndDate: t0 + 14 * day, endDate: t0 + 3 * day }),
      t0 + 14 * day,
    ],
    ['one that has ended ended then', subscription({ status: 'CANCELED', effectiveEndDate: t0 + day, endDate: t0 + 5 * day }), t0 + day],
  ]
  for (const [name, of, end] of cases) it(name, () => expect(knownEnd(of)).to.equal(end))
})
