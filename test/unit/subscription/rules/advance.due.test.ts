import { expect } from 'chai'
import { advance, convertsAt, nextChange, nextDue } from '../../../../src/subscription/rules/advance.js'
import type { ScheduledChange, Subscription } from '../../../../src/subscription/rules/subscription.js'
import { basic, day, plan, product, subscription, t0, top, trial } from '../support.js'

const period = { start: t0, end: t0 + 31 * day }
const planChange = (executeAt: number, to = top): ScheduledChange => ({
  id: 'change',
  executeAt,
  change: { type: 'Plan', agreed: null, plan: to, billingPeriod: 'MONTHLY', addons: [], quantities: [] },
})
const upcoming = (fields: Partial<Subscription> = {}) => subscription({ status: 'NOT_STARTED', startDate: t0 + day, ...fields })
const active = (fields: Partial<Subscription> = {}) => subscription({ currentPeriod: period, ...fields })

describe('what time will do to a subscription', () => {
  const cases: [name: string, of: Subscription, due: [trigger: string, at: number] | null, change?: [string, number] | null][] = [
    ['one that goes on is renewed', active(), ['renewal', period.end], null],
    ['nothing where nothing is billed', subscription(), null],
    ['a cancellation', active({ effectiveEndDate: t0 + day }), ['cancellationDue', t0 + day]],
    [
      'a renewal before a later cancellation',
      active({ effectiveEndDate: t0 + 40 * day }),
      ['renewal', period.end],
      ['cancellationDue', t0 + 40 * day],
    ],
    ['the end of its term', active({ endDate: t0 + day }), ['endDate', t0 + day]],
    ['of two ends the first', active({ endDate: t0 + day, effectiveEndDate: t0 + 2 * day }), ['endDate', t0 + day]],
    ['at one instant a cancellation first', active({ endDate: t0 + day, effectiveEndDate: t0 + day }), ['cancellationDue', t0 + day]],
    ['at one instant a change before the renewal', active({ scheduled: [planChange(period.end)] }), ['scheduledUpdate', period.end]],
    [
      'a change after the renewal',
      active({ scheduled: [planChange(period.end + 1)] }),
      ['renewal', period.end],
      ['scheduledUpdate', period.end + 1],
    ],
    ['a start', upcoming(), ['start', t0 + day]],
    ['a start with a trial', upcoming({ trialEndDate: t0 + 9 * day }), ['startTrial', t0 + day]],
    ['a start that waits for its payment', upcoming({ awaitsPayment: true }), ['startUnpaid', t0 + day]],
    ['a trial comes before the first payment', upcoming({ awaitsPayment: true, trialEndDate: t0 + 9 * day }), ['startTrial', t0 + day]],
    ['a trial that converts', trial(), ['trialConverts', t0 + 14 * day]],
    ['a trial that ends', trial({ trialEndBehavior: 'CANCEL_SUBSCRIPTION' }), ['trialEnd', t0 + 14 * day]],
    ['a trial is not ended by its term', trial({ endDate: t0 + day }), ['trialConverts', t0 + 14 * day]],
    ['a trial is canceled before', trial({ effectiveEndDate: t0 + day }), ['cancellationDue', t0 + day]],
    ['nothing while a payment is waited for', active({ status: 'PAYMENT_PENDING' }), null],
    ['nothing once it has ended', active({ status: 'CANCELED', effectiveEndDate: t0 }), null],
  ]
  for (const [name, of, due, change = due] of cases)
    it(name, () => {
      const shown = (found: ReturnType<typeof nextDue>) => found && [found.trigger, found.at]
      expect(shown(nextDue(of))).to.deep.equal(due)
      expect(shown(nextChange(of)), 'without renewals').to.deep.equal(change)
    })

  it('tells when a trial becomes paid by itself', () => {
    expect(convertsAt(trial())).to.equal(t0 + 14 * day)
    expect(convertsAt(trial({ trialEndBehavior: 'CANCEL_SUBSCRIPTION' }))).to.equal(null)
    expect(convertsAt(trial({ effectiveEndDate: t0 + day }))).to.equal(null)
    expect(convertsAt(active())).to.equal(null)
    expect(convertsAt(subscription())).to.equal(null)
  })
})

describe('a subscription that begins by itself', () => {
  const at = t0 + day
  const begun = (of: Subscription, beside: Subscription[] = [], now = at) => advance([...beside, of], now).subscriptions.at(-1)!

  it('is in its first billing period', () => {
    expect(begun(upcoming())).to.deep.include({
      status: 'ACTIVE',
      currentPeriod: { start: at, end: Date.parse('2026-04-02T00:00:00Z') },
      usageAnchor: at,
    })
    expect(begun(upcoming({ billingPeriod: null })).currentPeriod).to.equal(null)
  })
  it('is in none in its trial', () => {
    expect(begun(upcoming({ trialEndDate: t0 + 9 * day }))).to.deep.include({ status: 'IN_TRIAL', currentPeriod: null })
  })
  it('waits for its first payment where that comes before access, and what it would replace goes on', () => {
    const unpaid = upcoming({ id: 'next', awaitsPayment: true, plan: top })
    const { subscriptions, renewals } = advance([active(), unpaid], at)
    expect(subscriptions[0]!.status).to.equal('ACTIVE')
    expect(subscriptions[1]).to.deep.include({ status: 'PAYMENT_PENDING', currentPeriod: null, paymentCollection: 'PROCESSING' })
    expect(renewals).to.deep.equal([])
  })
  it('keeps the anchor that it was given, and its usage where the product says so', () => {
    const kept = product({ usageOnPlanChange: 'NEVER_RESET' })
    const next = upcoming({ id: 'next', plan: top, product: kept, billingAnchor: t0 - 9 * day })
    expect(begun(next, [active({ product: kept, usageAnchor: t0 - 3 * day })])).to.include({
      billingAnchor: t0 - 9 * day,
      usageAnchor: t0 - 3 * day,
    })
  })
  it('counts anew when it was a trial, also where usage is never reset', () => {
    const kept = product({ usageOnPlanChange: 'NEVER_RESET' })
    const end = t0 + 14 * day
    expect(begun(trial({ plan: top, product: kept }), [active({ product: kept })], end)).to.deep.include({
      usageAnchor: end,
      billingAnchor: end,
      currentPeriod: { start: end, end: Date.parse('2026-04-15T00:00:00Z') },
    })
  })
})

describe('a renewal', () => {
  it('is recorded at its instant, and before an end that comes later', () => {
    const { subscriptions, renewals, moved } = advance([active({ effectiveEndDate: t0 + 40 * day })], t0 + 50 * day)
    expect(renewals).to.deep.equal([{ subscriptionId: 'subscription', start: period.end, end: Date.parse('2026-05-01T00:00:00Z') }])
    expect(moved.map(({ trigger, at }) => [trigger, at])).to.deep.equal([
      ['renewal', period.end],
      ['cancellationDue', t0 + 40 * day],
    ])
    expect(subscriptions[0]!.effectiveEndDate).to.equal(t0 + 40 * day)
  })
  it('of what is not billed any more begins no period', () => {
    const free = active({ billingPeriod: null })
    const { subscriptions, renewals } = advance([free], period.end)
    expect(renewals).to.deep.equal([])
    expect(subscriptions[0]!.currentPeriod).to.equal(null)
  })
})

describe('a plan change that was waited for', () => {
  const at = t0 + 5 * day
  const changed = (beside: Subscription, to = top) => advance([beside, active({ scheduled: [planChange(at, to)] })], at)

  it('takes the place of the trial of that plan', () => {
    const { subscriptions, moved, executed } = changed(trial({ plan: top }))
    expect(subscriptions.map(({ status, cancelReason }) => [status, cancelReason])).to.deep.equal([
      ['CANCELED', 'TrialConverted'],
      ['ACTIVE', null],
    ])
    expect(moved.map(({ trigger, executed: what }) => [trigger, what?.id])).to.deep.equal([
      ['scheduledUpdate', 'change'],
      ['trialReplaced', undefined],
    ])
    expect(executed.map(({ id }) => id)).to.deep.equal(['change'])
  })
  it('leaves a trial of another plan, and what is active elsewhere', () => {
    expect(changed(trial({ plan: plan('third') })).moved).to.have.length(1)
    const elsewhere = active({ id: 'elsewhere', resource: { id: 'r', refId: 'r' }, plan: top })
    expect(changed(elsewhere).moved).to.have.length(1)
    expect(changed(trial({ plan: basic })).moved).to.have.length(1)
  })
})

describe('at one instant', () => {
  it('of two that are due for the same thing the one that is held first comes first', () => {
    const one = (id: string) => active({ id, endDate: t0 + day, product: product({ id }) })
    expect(advance([one('a'), one('b')], t0 + day).moved.map(({ after }) => after.id)).to.deep.equal(['a', 'b'])
  })
})
