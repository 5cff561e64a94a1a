import { expect } from 'chai'
import type { Price } from '../../../../src/catalog/model/package.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import type { Problem } from '../../../../src/kernel/problem.js'
import type { OwnEntitlement, ScheduledChange, Subscription } from '../../../../src/subscription/rules/subscription.js'
import {
  cancelSchedule,
  decideMigration,
  decideUpdate,
  latestAddons,
  type SubscriptionUpdate,
} from '../../../../src/subscription/rules/update.js'
import { addon, day, held, plan, price, product, subscription, t0, trial } from '../support.js'

const now = t0 + 5 * day
const periodEnd = Date.parse('2026-04-01T00:00:00Z')
const perUnit = (featureId: string, fields: Partial<Price> = {}) =>
  price({ billingModel: 'PER_UNIT', featureId, featureRefId: featureId, ...fields })
const units = (featureId: string, quantity: number) => ({ featureId, featureRefId: featureId, quantity: decimal.fromNumber(quantity) })
const [backup, support] = [addon('backup'), addon('support')]
const both = (period: Price['billingPeriod']) => [perUnit('seats', { billingPeriod: period }), perUnit('desks', { billingPeriod: period })]
const sold = plan('sold', { prices: [...both('MONTHLY'), ...both('ANNUALLY')], compatibleAddonIds: ['backup', 'support'] })
const active = (fields: Partial<Subscription> = {}) =>
  subscription({
    plan: sold,
    product: product({ downgradeTiming: 'END_OF_BILLING_PERIOD' }),
    quantities: [units('seats', 10), units('desks', 2)],
    addons: [held(backup, 3), held(support, 1)],
    currentPeriod: { start: t0, end: periodEnd },
    ...fields,
  })
const update = (of: Subscription, change: SubscriptionUpdate) => decideUpdate({ subscription: of, update: change, now })
const waiting = ({ scheduled }: Subscription) =>
  scheduled.map(({ change }) =>
    change.type === 'UnitAmount'
      ? `${change.featureId} ${change.quantity}`
      : change.type === 'Addon'
        ? `${change.addon.version.refId} ${change.addon.quantity}`
        : change.type,
  )
const upcoming = (fields: Partial<Subscription> = {}) =>
  active({ status: 'NOT_STARTED', startDate: now + day, currentPeriod: null, ...fields })

function refusal(decide: () => unknown): [reason: string, path: unknown] | null {
  try {
    decide()
    return null
  } catch (error) {
    return [(error as Problem).reason, (error as Problem).details.path]
  }
}

describe('an update', () => {
  it('changes what it names and leaves all else', () => {
    const own: OwnEntitlement = {
      id: 'own',
      featureId: 'seats',
      usageLimit: null,
      hasUnlimitedUsage: true,
      hasSoftLimit: false,
      enumValues: [],
      resetPeriod: null,
      resetRule: null,
    }
    const before = active({ additionalMetaData: { a: 1 }, salesforceId: 's', ownEntitlements: [own] })
    const cases: [SubscriptionUpdate, Partial<Subscription>][] = [
      [{}, {}],
      [{ additionalMetaData: null }, { additionalMetaData: null }],
      [{ additionalMetaData: { b: 2 } }, { additionalMetaData: { b: 2 } }],
      [{ salesforceId: null }, { salesforceId: null }],
      [{ salesforceId: 't' }, { salesforceId: 't' }],
      [{ ownEntitlements: [] }, { ownEntitlements: [] }],
      [{ billingPeriod: 'MONTHLY' }, {}],
      [{ addons: before.addons, quantities: before.quantities }, {}],
      [{ billingPeriod: 'MONTHLY', addons: before.addons, scheduleStrategy: 'END_OF_BILLING_PERIOD' }, {}],
    ]
    for (const [change, changed] of cases) expect(update(before, change)).to.deep.equal({ ...before, ...changed })
  })

  it('of the billing period waits where that is asked for', () => {
    const later = update(active(), { billingPeriod: 'ANNUALLY', scheduleStrategy: 'END_OF_BILLING_PERIOD' })
    expect(later.scheduled.map(({ executeAt, change }) => [executeAt, change])).to.deep.equal([
      [periodEnd, { type: 'BillingPeriod', billingPeriod: 'ANNUALLY' }],
    ])
    expect({ ...later, scheduled: [] }).to.deep.equal(active())
  })

  it('of the billing period of what has not begun begins no period', () => {
    for (const of of [upcoming(), trial({ plan: sold })])
      expect(update(of, { billingPeriod: 'ANNUALLY' })).to.deep.equal({ ...of, billingPeriod: 'ANNUALLY' })
  })

  it('of what has not begun, or is in trial, is there at once', () => {
    for (const of of [upcoming(), active({ status: 'IN_TRIAL', trialEndDate: now + day })]) {
      const fewer = update(of, { addons: [held(backup, 1)], quantities: [units('seats', 1)] })
      expect([waiting(fewer), fewer.addons.map(({ quantity }) => quantity), fewer.quantities]).to.deep.equal([
        [],
        [1],
        [units('desks', 2), units('seats', 1)],
      ])
    }
  })

  it('is by the product’s setting where no strategy is named, and at once where that is said', () => {
    expect(waiting(update(active(), { quantities: [units('seats', 5)], scheduleStrategy: null }))).to.deep.equal(['seats 5'])
    expect(waiting(update(active(), { quantities: [units('seats', 5)], scheduleStrategy: 'IMMEDIATE' }))).to.deep.equal([])
    const restarted = { billingCycleAnchor: 'NOW', scheduleStrategy: 'IMMEDIATE' } as const
    expect(waiting(update(active(), { quantities: [units('seats', 5)], ...restarted }))).to.deep.equal([])
  })

  describe('of a list in which each waits for itself', () => {
    const change: ScheduledChange = { id: 'period', executeAt: periodEnd, change: { type: 'BillingPeriod', billingPeriod: 'ANNUALLY' } }
    const less = (fields: SubscriptionUpdate, of = active({ scheduled: [change] })) => update(of, fields)
    const first = () => less({ quantities: [units('seats', 5), units('desks', 1)], addons: [held(backup, 2)] })

    it('units of one feature take back what waits of it alone', () => {
      expect(waiting(first())).to.have.members(['BillingPeriod', 'seats 5', 'desks 1', 'backup 2', 'support 0'])
      const { addons } = active()
      const undone = less({ quantities: [units('seats', 10)] }, first())
      expect(waiting(undone)).to.have.members(['BillingPeriod', 'desks 1', 'backup 2', 'support 0'])
      expect(undone.quantities).to.deep.equal(active().quantities)
      expect(waiting(less({ addons }, first()))).to.have.members(['BillingPeriod', 'seats 5', 'desks 1'])
    })
    it('the others stay as they are bought', () => {
      expect(less({ quantities: [units('seats', 12)] }).quantities).to.deep.equal([units('desks', 2), units('seats', 12)])
      expect(less({ quantities: [units('seats', 12), units('desks', 3)] }).quantities).to.deep.equal([
        units('seats', 12),
        units('desks', 3),
      ])
    })
    it('an add-on that stays is not touched by one that changes', () => {
      const more = less({ addons: [held(backup, 4), held(support, 1)] })
      expect([more.addons.map(({ quantity }) => quantity), waiting(more)]).to.deep.equal([[4, 1], ['BillingPeriod']])
    })
    it('as many as there are, chosen for the first time, are noted', () => {
      const chosen = less({ quantities: [units('seats', 1)] }, active({ quantities: [units('desks', 2)] }))
      expect(chosen.quantities).to.deep.equal([units('desks', 2), units('seats', 1)])
      const again = active()
      expect(less({ quantities: [units('seats', 10)] }, again).quantities).to.deep.equal(again.quantities)
    })
  })

  it('of an end of the trial is for what has one, also before it begins', () => {
    const later = upcoming({ trialEndDate: now + 9 * day })
    expect(update(later, { trialEndDate: now + 2 * day }).trialEndDate).to.equal(now + 2 * day)
    expect(refusal(() => update(later, { trialEndDate: now + day }))).to.deep.equal(['BAD_USER_INPUT', 'trialEndDate'])
    expect(refusal(() => update(upcoming(), { trialEndDate: now + 2 * day }))).to.deep.equal(['INVALID_SUBSCRIPTION_STATUS', undefined])
    expect(refusal(() => update(active({ trialEndDate: now - day }), { trialEndDate: now + 2 * day }))).to.deep.equal([
      'INVALID_SUBSCRIPTION_STATUS',
      undefined,
    ])
    expect(refusal(() => update(trial(), { trialEndDate: now }))).to.deep.equal(['BAD_USER_INPUT', 'trialEndDate'])
  })

  it('that begins billing anew is refused with a later time, by its field', () => {
    const asked = { billingCycleAnchor: 'NOW', scheduleStrategy: 'END_OF_BILLING_MONTH' } as const
    expect(refusal(() => update(active(), asked))).to.deep.equal(['BAD_USER_INPUT', 'billingCycleAnchor'])
  })

  it('of what waits for its payment is refused, as is everything else', () => {
    const pending = active({ status: 'PAYMENT_PENDING' })
    const latest = { plan: { ...sold, id: 'sold-v2' }, addons: new Map() }
    expect(() => update(pending, {})).to.throw('cannot be changed')
    expect(() => cancelSchedule(pending, now)).to.throw('cannot be changed')
    expect(() => decideMigration({ subscription: pending, latest, time: 'IMMEDIATE', now })).to.throw('cannot be migrated')
  })
})

describe('the latest versions', () => {
  const newer = { ...backup, id: 'backup-v2', versionNumber: 2 }
  const latest = { plan: sold, addons: new Map([['backup', newer]]) }

  it('are held of each add-on that has one', () => {
    expect(latestAddons(active(), latest)).to.deep.equal([{ ...held(backup, 3), version: newer }, held(support, 1)])
  })
  it('are moved to when only an add-on has one', () => {
    const moved = decideMigration({ subscription: active(), latest, time: 'IMMEDIATE', now })
    expect(moved).to.deep.equal(active({ addons: [{ ...held(backup, 3), version: newer }, held(support, 1)] }))
    expect(() => decideMigration({ subscription: moved, latest, time: 'IMMEDIATE', now })).to.throw('already')
  })
  it('are there at once where nothing is billed yet', () => {
    for (const of of [upcoming(), active({ status: 'IN_TRIAL', trialEndDate: now + day })])
      expect(decideMigration({ subscription: of, latest, time: 'END_OF_BILLING_PERIOD', now }).scheduled).to.deep.equal([])
  })
})
