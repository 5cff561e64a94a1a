import { expect } from 'chai'
import * as decimal from '../../../../src/kernel/decimal.js'
import { type Step, stepEvents, toldSubscription } from '../../../../src/subscription/rules/events.js'
import type { OwnEntitlement, ScheduledChange, Subscription } from '../../../../src/subscription/rules/subscription.js'
import { addon, basic, day, held, subscription, t0, top, trial } from '../support.js'

const refIdOf = (id: string) => `ref-${id}`
const typesOf = (before: Step['before'], after: Subscription) =>
  stepEvents({ before, after }, refIdOf).map(({ type }) => type.replace('subscription.', ''))

const [start, end, next] = [t0, t0 + 31 * day, t0 + 61 * day]
const active = (fields: Partial<Subscription> = {}) => subscription({ currentPeriod: { start, end }, ...fields })
const seats = (quantity: number) => ({ featureId: 'f', featureRefId: 'seats', quantity: decimal.fromNumber(quantity) })
const scheduled = (id: string): ScheduledChange => ({ id, executeAt: end, change: { type: 'UnitAmount', ...seats(1) } })
const own: OwnEntitlement = {
  id: 'own',
  featureId: 'f',
  usageLimit: null,
  hasUnlimitedUsage: true,
  hasSoftLimit: false,
  enumValues: [],
  resetPeriod: null,
  resetRule: null,
}

describe('what events say of a subscription', () => {
  it('is named by the identifiers of the host application', () => {
    const told = toldSubscription(
      subscription({
        refId: 'acme-team',
        payingCustomerId: 'parent',
        resource: { id: 'r', refId: 'workspace-1' },
        addons: [held(addon('backup'), 2)],
        quantities: [seats(5)],
        scheduled: [scheduled('s')],
        status: 'CANCELED',
        endDate: t0 + day,
        trialEndDate: t0 + 2 * day,
        currentPeriod: { start, end },
        cancellationDate: t0 + 3 * day,
        effectiveEndDate: t0 + 4 * day,
        cancelReason: 'Immediate',
      }),
      refIdOf,
    )
    expect(told).to.deep.equal({
      subscriptionId: 'acme-team',
      customerId: 'ref-customer',
      payingCustomerId: 'ref-parent',
      resourceId: 'workspace-1',
      productId: 'product',
      planId: 'basic',
      planVersion: 1,
      status: 'CANCELED',
      pricingType: 'PAID',
      billingPeriod: 'MONTHLY',
      startDate: '2026-03-01T00:00:00.000Z',
      endDate: '2026-03-02T00:00:00.000Z',
      trialEndDate: '2026-03-03T00:00:00.000Z',
      currentPeriodStart: '2026-03-01T00:00:00.000Z',
      currentPeriodEnd: '2026-04-01T00:00:00.000Z',
      cancellationDate: '2026-03-04T00:00:00.000Z',
      effectiveEndDate: '2026-03-05T00:00:00.000Z',
      cancelReason: 'Immediate',
      addons: [{ addonId: 'backup', quantity: 2 }],
      quantities: [{ featureId: 'seats', quantity: '5' }],
      scheduledChanges: [{ type: 'UnitAmount', executeAt: '2026-04-01T00:00:00.000Z' }],
    })
  })

  it('is null where there is nothing', () => {
    expect(toldSubscription(subscription(), refIdOf)).to.deep.include({
      payingCustomerId: null,
      resourceId: null,
      endDate: null,
      trialEndDate: null,
      currentPeriodStart: null,
      currentPeriodEnd: null,
      cancellationDate: null,
      effectiveEndDate: null,
      cancelReason: null,
      scheduledChanges: [],
    })
  })
})

describe('the events of a step', () => {
  const ended = { effectiveEndDate: end, cancellationDate: end }
  const v2 = { ...basic, id: 'basic-v2', versionNumber: 2 }
  const cases: [name: string, before: Subscription | null, after: Subscription, types: string[]][] = [
    ['begins in the future', null, active({ status: 'NOT_STARTED' }), ['created']],
    ['begins', null, active(), ['created', 'activated']],
    ['begins with a trial', null, trial(), ['created', 'trial_started']],
    ['begins to wait for its payment', null, active({ status: 'PAYMENT_PENDING' }), ['created', 'payment_pending']],
    ['begins with an end that is known', null, active(ended), ['created', 'activated', 'change_scheduled']],
    ['is paid', active({ status: 'PAYMENT_PENDING', currentPeriod: null }), active(), ['activated']],
    ['is converted', trial(), trial({ status: 'ACTIVE', currentPeriod: { start, end } }), ['trial_converted']],
    ['is replaced in its trial', trial(), trial({ status: 'CANCELED', cancelReason: 'TrialConverted' }), ['trial_converted', 'canceled']],
    ['is canceled', active(), active({ ...ended, status: 'CANCELED', cancelReason: 'Immediate' }), ['canceled']],
    ['ends with its trial', trial(), trial({ status: 'EXPIRED', cancelReason: 'TrialEnded' }), ['trial_ended', 'expired']],
    ['ends', active(), active({ ...ended, status: 'EXPIRED', cancelReason: 'Expired' }), ['expired']],
    ['is as it was', active(), active(), []],
    ['is renewed', active(), active({ currentPeriod: { start: end, end: next } }), ['renewed']],
    ['is billed anew from now on', active(), active({ currentPeriod: { start: end - day, end: next } }), []],
    ['is billed no more', active(), active({ currentPeriod: null }), []],
    ['was billed for nothing', active({ currentPeriod: null }), active({ currentPeriod: null }), []],
    ['ends at its renewal', active(), active({ status: 'CANCELED', currentPeriod: { start: end, end: next } }), ['canceled']],
    [
      'is paid at the end of a period',
      active({ status: 'PAYMENT_PENDING' }),
      active({ currentPeriod: { start: end, end: next } }),
      ['activated'],
    ],
    ['moves to another version', active(), active({ plan: v2 }), ['migrated']],
    ['moves to another version with more', active(), active({ plan: v2, quantities: [seats(1)] }), ['migrated', 'updated']],
    ['moves to another plan', active(), active({ plan: top }), ['updated']],
    ['is transferred', active(), active({ resource: { id: 'r', refId: 'r-ref' } }), ['transferred']],
    ['is transferred back', active({ resource: { id: 'r', refId: 'r-ref' } }), active(), ['transferred']],
    ['has a change waiting', active(), active({ scheduled: [scheduled('a')] }), ['change_scheduled']],
    ['has another change waiting', active({ scheduled: [scheduled('a')] }), active({ scheduled: [scheduled('b')] }), ['change_scheduled']],
    ['has the same waiting', active({ scheduled: [scheduled('a')] }), active({ scheduled: [scheduled('a')] }), []],
    ['takes back what waits', active({ scheduled: [scheduled('a')] }), active(), ['updated']],
    ['will be canceled', active(), active(ended), ['change_scheduled']],
    ['will be canceled as before', active(ended), active(ended), []],
    ['will be canceled at another time', active(ended), active({ ...ended, effectiveEndDate: end + day }), ['change_scheduled']],
    ['will not be canceled after all', active(ended), active(), ['updated']],
    ['ends with what waits', active({ scheduled: [scheduled('a')] }), active({ ...ended, status: 'CANCELED' }), ['canceled']],
    ['ends with something waiting', active(), active({ status: 'CANCELED', scheduled: [scheduled('a')] }), ['canceled']],
  ]
  for (const [name, before, after, types] of cases)
    it(`of one that ${name} are ${types.join(', ') || 'none'}`, () => expect(typesOf(before, after)).to.deep.equal(types))

  const updates: [string, Partial<Subscription>][] = [
    ['an add-on', { addons: [held(addon('backup'))] }],
    ['a quantity', { quantities: [seats(2)] }],
    ['an entitlement of its own', { ownEntitlements: [own] }],
    ['the billing period', { billingPeriod: 'ANNUALLY' }],
    ['the end date', { endDate: next }],
    ['the end of its trial', { trialEndDate: next }],
    ['who pays', { payingCustomerId: 'parent' }],
    ['the budget', { budget: { limit: decimal.fromNumber(5), hasSoftLimit: false } }],
    ['metadata', { additionalMetaData: { a: 1 } }],
  ]
  for (const [name, change] of updates)
    it(`of one that gets another value of ${name} is an update, and of one that keeps it none`, () => {
      expect(typesOf(active(), active(change))).to.deep.equal(['updated'])
      expect(typesOf(active(change), active())).to.deep.equal(['updated'])
      expect(typesOf(active(change), active(change))).to.deep.equal([])
    })

  it('of one whose add-on becomes more, or moves to another version, is an update', () => {
    const backup = addon('backup')
    const before = active({ addons: [held(backup)] })
    expect(typesOf(before, active({ addons: [held(backup, 2)] }))).to.deep.equal(['updated'])
    expect(typesOf(before, active({ addons: [held({ ...backup, id: 'backup-v2' })] }))).to.deep.equal(['updated'])
  })

  it('of one whose entitlements are only called otherwise is none', () => {
    const owning = (change: Partial<OwnEntitlement>) => active({ ownEntitlements: [{ ...own, ...change }] })
    expect(typesOf(owning({}), owning({ id: 'other' }))).to.deep.equal([])
    expect(typesOf(owning({}), owning({ hasSoftLimit: true }))).to.deep.equal(['updated'])
  })

  it('say what is, and of a move where it was', () => {
    const events = stepEvents(
      { before: active({ resource: { id: 'r', refId: 'workspace-1' } }), after: active({ plan: v2, scheduled: [scheduled('a')] }) },
      refIdOf,
    )
    const data = { subscription: toldSubscription(active({ plan: v2, scheduled: [scheduled('a')] }), refIdOf) }
    expect(events).to.deep.equal([
      { type: 'subscription.migrated', data: { ...data, previousPlanVersion: 1 } },
      { type: 'subscription.transferred', data: { ...data, previousResourceId: 'workspace-1' } },
      { type: 'subscription.change_scheduled', data },
    ])
    const moved = stepEvents({ before: active(), after: active({ resource: { id: 'r', refId: 'workspace-1' } }) }, refIdOf)
    expect(moved.map((event) => event.data)).to.have.deep.nested.property('[0].previousResourceId', null)
  })
})
