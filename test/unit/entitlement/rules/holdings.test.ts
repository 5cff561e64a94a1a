import { expect } from 'chai'
import type { PackageVersion } from '../../../../src/catalog/model/package.js'
import { buildState } from '../../../../src/entitlement/rules/build-state.js'
import { decideWinners, type Holdings, plansInForce, stateDenial, winnerPeriodAt } from '../../../../src/entitlement/rules/holdings.js'
import type { EntitlementState } from '../../../../src/entitlement/rules/state.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import { seriesKey } from '../../../../src/metering/model/series.js'
import type { Usage } from '../../../../src/metering/model/usage.js'
import {
  addon,
  day,
  downgrading,
  entitled,
  feature,
  freePlan,
  held,
  plan,
  product,
  subscription,
  t0,
  trial,
} from '../../subscription/support.js'
import { calls, holding, monthly, now, promotional, seats, sso, version } from '../support.js'

const withCalls = (refId: string, limit: number): PackageVersion => plan(refId, { entitlements: [entitled(calls, { limit, ...monthly })] })

/** The one winner of a feature. */
function winnerOf(holdings: Holdings, refId = 'calls', at = now) {
  const winners = decideWinners(holdings, at).filter(({ entitlement }) => entitlement.feature.refId === refId)
  expect(winners).to.have.length(1)
  return winners[0]!
}
const limitOf = (holdings: Holdings, refId = 'calls') => winnerOf(holdings, refId).entitlement.usageLimit

describe('why a customer holds nothing', () => {
  const ofR1 = subscription({ resource: { id: 'r1', refId: 'r1' } })
  const cases: [string, Partial<Holdings>, string | null][] = [
    ['unknown customer', { customer: null }, 'CustomerNotFound'],
    [
      'archived customer, whatever it holds',
      { customer: { id: 'customer', timeZone: 'UTC', isArchived: true }, subscriptions: [subscription()] },
      'CustomerIsArchived',
    ],
    ['unknown resource, whatever the customer holds', { resourceRefId: 'r9', subscriptions: [subscription()] }, 'CustomerResourceNotFound'],
    ['nothing at all', {}, 'NoActiveSubscription'],
    [
      'a subscription that has not started',
      { subscriptions: [subscription({ status: 'NOT_STARTED', startDate: now + 1 })] },
      'NoActiveSubscription',
    ],
    ['a subscription that waits for payment', { subscriptions: [subscription({ status: 'PAYMENT_PENDING' })] }, 'NoActiveSubscription'],
    [
      'a trial that is over, though nobody recorded it',
      { subscriptions: [trial({ trialEndDate: now, trialEndBehavior: 'CANCEL_SUBSCRIPTION' })] },
      'NoActiveSubscription',
    ],
    ['a cancellation that is due', { subscriptions: [subscription({ effectiveEndDate: now })] }, 'NoActiveSubscription'],
    ['a promotion that is over', { promotional: [promotional({ endDate: now })] }, 'NoActiveSubscription'],
    ['a promotion that is to come', { promotional: [promotional({ startDate: now + 1 })] }, 'NoActiveSubscription'],
    ['only what another resource holds', { resourceRefId: 'r2', resource: { id: 'r2' }, subscriptions: [ofR1] }, 'NoActiveSubscription'],
    ['only what a resource holds, asked without resource', { subscriptions: [ofR1] }, 'NoActiveSubscription'],
    ['nothing wrong: a subscription', { subscriptions: [subscription()] }, null],
    ['nothing wrong: a trial', { subscriptions: [trial()] }, null],
    [
      'nothing wrong: a start that is due, though nobody recorded it',
      { subscriptions: [subscription({ status: 'NOT_STARTED', startDate: now })] },
      null,
    ],
    ['nothing wrong: the free plan that follows', { subscriptions: [subscription({ effectiveEndDate: now, product: downgrading })] }, null],
    ['nothing wrong: a promotion alone', { promotional: [promotional()] }, null],
    [
      'nothing wrong: what the customer holds, asked for a resource',
      { resourceRefId: 'r1', resource: { id: 'r1' }, subscriptions: [subscription()] },
      null,
    ],
  ]
  for (const [name, fields, reason] of cases) {
    it(`${name}: ${reason ?? 'no denial'}`, () => {
      const holdings = holding(fields)
      expect(stateDenial(holdings, now)).to.equal(reason)
      const state = buildState(holdings, decideWinners(holdings, now), new Map(), now)
      expect(state.deniedReason).to.equal(reason)
      if (reason) expect(state.entitlements).to.deep.equal([])
    })
  }
})

describe('what one subscription gives', () => {
  const top = plan('top', {
    basePlanVersionId: 'middle-v1',
    entitlements: [entitled(calls, { limit: 5, behavior: 'Increment', ...monthly })],
    compatibleAddonIds: ['extra'],
  })
  const middle = plan('middle', { basePlanVersionId: 'bottom-v1', entitlements: [entitled(calls, { limit: 100, ...monthly })] })
  const bottom = plan('bottom', { entitlements: [entitled(calls, { limit: 1 }), entitled(seats, { limit: 3 })] })
  const basePlans = new Map([middle, bottom].map((version) => [version.id, version]))

  it('inherits along the whole chain of base plans, each replacing or adding', () => {
    const holdings = holding({ basePlans, subscriptions: [subscription({ plan: top })] })
    expect(limitOf(holdings)).to.equal('105')
    expect(limitOf(holdings, 'seats')).to.equal('3')
  })
  it('adds add-ons, as often as they are held', () => {
    const extra = addon('extra', { entitlements: [entitled(calls, { limit: 10, behavior: 'Increment', ...monthly }), entitled(sso)] })
    const holdings = holding({ basePlans, subscriptions: [subscription({ plan: top, addons: [held(extra, 3)] })] })
    expect(limitOf(holdings)).to.equal('135')
    expect(winnerOf(holdings, 'sso').series).to.equal(null)
  })
  it('gives an entitlement of its own instead of the plan’s', () => {
    const own = {
      id: 'own',
      featureId: calls.id,
      usageLimit: decimal.fromNumber(7),
      hasUnlimitedUsage: false,
      hasSoftLimit: false,
      enumValues: [],
      resetPeriod: null,
      resetRule: null,
    }
    const holdings = holding({
      basePlans,
      features: new Map([[calls.id, calls]]),
      subscriptions: [subscription({ plan: top, ownEntitlements: [own] })],
    })
    expect(limitOf(holdings)).to.equal('7')
  })
  it('keeps to the version that it was sold with', () => {
    const sold = subscription({ plan: { ...withCalls('basic', 10), id: 'basic-v1' } })
    expect(limitOf(holding({ subscriptions: [sold] }))).to.equal('10')
  })
})

describe('the plans of a customer', () => {
  it('are those of the subscriptions that give access, each once', () => {
    const of = (refId: string, fields: Parameters<typeof subscription>[0] = {}) => subscription({ id: refId, plan: plan(refId), ...fields })
    const subscriptions = [
      of('team', { startDate: t0 + 1 }),
      of('basic', { startDate: t0 }),
      of('again', { plan: plan('team'), startDate: t0 + 2 }),
      of('over', { effectiveEndDate: now }),
      of('unpaid', { status: 'PAYMENT_PENDING' }),
    ]
    expect(plansInForce(holding({ subscriptions }), now)).to.deep.equal(['basic', 'team'])
    expect(plansInForce(holding({}), now)).to.deep.equal([])
  })
})

describe('what wins', () => {
  const small = subscription({ id: 'small', plan: withCalls('small', 10) })
  const large = trial({ id: 'large', plan: withCalls('large', 20) })

  it('is the more generous of a paid plan and a trial', () => expect(limitOf(holding({ subscriptions: [small, large] }))).to.equal('20'))
  it('is a promotion that gives more', () =>
    expect(limitOf(holding({ subscriptions: [small, large], promotional: [promotional()] }))).to.equal('50'))
  it('is the subscription when a promotion gives less', () => {
    const modest = promotional({ usageLimit: decimal.fromNumber(1) })
    expect(limitOf(holding({ subscriptions: [small], promotional: [modest] }))).to.equal('10')
  })
  it('is of several products', () => {
    const elsewhere = subscription({ id: 'elsewhere', product: product({ id: 'other' }), plan: withCalls('elsewhere', 30) })
    expect(limitOf(holding({ subscriptions: [small, elsewhere] }))).to.equal('30')
  })
  it('is not what has been revoked, while there is something else', () => {
    const revoked = { ...large, entitlementsRevokedAt: now }
    expect(limitOf(holding({ subscriptions: [small, revoked] }))).to.equal('10')
    expect(winnerOf(holding({ subscriptions: [revoked] })).entitlement.deniedReason).to.equal('Revoked')
  })
  it('is the same of equals, in whatever order they are held', () => {
    const twin = subscription({ id: 'twin', product: product({ id: 'other' }), plan: withCalls('twin', 10), startDate: t0 + day })
    const seriesOf = (...subscriptions: (typeof twin)[]) => winnerOf(holding({ subscriptions })).series
    expect(seriesOf(small, twin)).to.deep.equal(seriesOf(twin, small))
    expect(seriesOf(twin, small)!.anchor).to.equal(t0)
  })
  it('is one entitlement for each feature, in a stable order', () => {
    const both = plan('both', { entitlements: [entitled(seats, { limit: 1 }), entitled(calls, { limit: 1 })] })
    const order = decideWinners(holding({ subscriptions: [small, subscription({ plan: both })] }), now).map(
      ({ entitlement }) => entitlement.feature.refId,
    )
    expect(order).to.deep.equal(['calls', 'seats'])
  })
})

describe('the series that measures the winner', () => {
  const resource = { id: 'r1', refId: 'r1' }
  const metered = plan('metered', { entitlements: [entitled(calls, { limit: 10, ...monthly }), entitled(seats, { limit: 3, ...monthly })] })
  const forR1 = (...subscriptions: ReturnType<typeof subscription>[]) =>
    holding({ resourceRefId: 'r1', resource: { id: 'r1' }, subscriptions })

  it('begins at the usage anchor and is reset in the customer’s time zone', () => {
    const holdings = holding({
      customer: { id: 'customer', timeZone: 'Asia/Tokyo', isArchived: false },
      subscriptions: [subscription({ plan: metered, usageAnchor: t0 + day })],
    })
    expect(winnerOf(holdings).series).to.deep.equal({
      customerId: 'customer',
      resourceId: null,
      featureId: calls.id,
      resetPeriod: 'MONTH',
      resetRule: 'SubscriptionStart',
      anchor: t0 + day,
      timeZone: 'Asia/Tokyo',
    })
  })
  it('is never reset for seats, whatever the plan says', () => {
    const { entitlement, series } = winnerOf(holding({ subscriptions: [subscription({ plan: metered })] }), 'seats')
    expect(entitlement.reset).to.equal(null)
    expect(series).to.include({ resetPeriod: null, resetRule: null, anchor: null, timeZone: null })
  })
  it('is the customer’s total for what the customer holds, also when a resource asks', () => {
    expect(winnerOf(forR1(subscription({ plan: metered }))).series!.resourceId).to.equal(null)
  })
  it('is the resource’s own for what the resource holds', () => {
    expect(winnerOf(forR1(subscription({ plan: metered, resource }))).series!.resourceId).to.equal('r1')
  })
  it('begins where a promotion does', () => {
    expect(winnerOf(holding({ promotional: [promotional({ startDate: t0 + day })] })).series).to.include({
      anchor: t0 + day,
      resetPeriod: null,
    })
  })
})

describe('until when an entitlement is valid', () => {
  const metered = withCalls('metered', 10)
  const validUntil = (fields: Partial<Holdings>) => winnerOf(holding(fields)).entitlement.validUntil

  it('for ever, when nothing is going to happen by itself', () => {
    expect(validUntil({ subscriptions: [subscription({ plan: metered })] })).to.equal(null)
  })
  it('until a trial ends that does not convert', () => {
    expect(validUntil({ subscriptions: [trial({ plan: metered, trialEndBehavior: 'CANCEL_SUBSCRIPTION' })] })).to.equal(t0 + 14 * day)
  })
  it('until a scheduled cancellation, a promotion’s end, a promotion’s start or a start, whichever is first', () => {
    const base = subscription({ plan: metered, effectiveEndDate: now + 9 * day })
    expect(validUntil({ subscriptions: [base] })).to.equal(now + 9 * day)
    expect(validUntil({ subscriptions: [base], promotional: [promotional({ usageLimit: null, endDate: now + 8 * day })] })).to.equal(
      now + 8 * day,
    )
    expect(validUntil({ subscriptions: [base], promotional: [promotional({ startDate: now + 7 * day })] })).to.equal(now + 7 * day)
    const upcoming = subscription({ id: 'next', status: 'NOT_STARTED', startDate: now + 6 * day })
    expect(validUntil({ subscriptions: [base, upcoming] })).to.equal(now + 6 * day)
  })
  it('not until a trial converts: it keeps its access', () => {
    expect(validUntil({ subscriptions: [trial({ plan: metered })] })).to.equal(null)
  })
  it('until a trial converts that ends the paid plan beside it', () => {
    const beside = subscription({ plan: plan('basic', { entitlements: [entitled(sso)] }) })
    expect(validUntil({ subscriptions: [beside, trial({ plan: metered })] })).to.equal(t0 + 14 * day)
  })
  it('until a trial converts whose usage has no period that could be cut there', () => {
    const lifelong = plan('lifelong', { entitlements: [entitled(calls, { limit: 10 }), entitled(seats, { limit: 1 })] })
    const holdings = holding({ subscriptions: [trial({ plan: lifelong })] })
    expect(winnerOf(holdings).entitlement.validUntil).to.equal(t0 + 14 * day)
    expect(winnerOf(holdings, 'seats').entitlement.validUntil).to.equal(null)
  })
  it('whatever happens to other resources', () => {
    const elsewhere = subscription({ id: 'elsewhere', resource: { id: 'r2', refId: 'r2' }, effectiveEndDate: now + day })
    expect(validUntil({ subscriptions: [subscription({ plan: metered }), elsewhere] })).to.equal(null)
  })
})

describe('the usage in a state', () => {
  const metered = withCalls('metered', 10)
  const stateOf = (holdings: Holdings, usage: Partial<Usage> | null, at = now): EntitlementState => {
    const winners = decideWinners(holdings, at)
    const stored = usage && { currentUsage: decimal.fromNumber(4), periodStart: null, periodEnd: null, updatedAt: version - 5, ...usage }
    return buildState(holdings, winners, new Map(stored ? [[seriesKey(winners[0]!.series!), stored]] : []), at)
  }
  const usageOf = (...args: Parameters<typeof stateOf>) => stateOf(...args).entitlements[0]!.usage!
  const active = holding({ subscriptions: [subscription({ plan: metered })] })

  it('is that of the period that contains now', () => {
    expect(usageOf(active, {})).to.deep.equal({
      currentUsage: '4',
      periodStart: t0,
      periodEnd: Date.parse('2026-04-01T00:00:00Z'),
      updatedAt: version,
    })
  })
  it('is 0 where nothing was reported', () => expect(usageOf(active, null).currentUsage).to.equal('0'))
  it('is answered in the coarser unit, rounded as the feature says', () => {
    const inThousands = feature('calls', { meterType: 'Incremental', unitTransformation: { divide: 1000, round: 'UP' } })
    const coarse = plan('coarse', { entitlements: [entitled(inThousands, { limit: 10, ...monthly })] })
    expect(
      usageOf(holding({ subscriptions: [subscription({ plan: coarse })] }), { currentUsage: decimal.fromNumber(1001) }).currentUsage,
    ).to.equal('2')
  })
  it('is as new as the state, so that older usage of a series that has been replaced never wins over it', () => {
    expect(usageOf(active, { updatedAt: 1 }).updatedAt).to.equal(version)
  })
  it('is in a period that is cut where a trial converts', () => {
    const inTrial = holding({ subscriptions: [trial({ plan: metered })] })
    const { entitlements } = stateOf(inTrial, {})
    expect(entitlements[0]!.usageRestartsAt).to.equal(t0 + 14 * day)
    expect(entitlements[0]!.usage).to.include({ periodStart: t0, periodEnd: t0 + 14 * day })
    const [winner] = decideWinners(inTrial, now)
    expect(winnerPeriodAt(winner!, now).end).to.equal(t0 + 14 * day)
  })
  it('starts again when the trial has converted, though nobody recorded it', () => {
    const inTrial = holding({ subscriptions: [trial({ plan: metered })] })
    expect(usageOf(inTrial, null, t0 + 14 * day)).to.include({ periodStart: t0 + 14 * day, currentUsage: '0' })
  })
  it('is not there for what has no meter', () => {
    const plain = plan('plain', { entitlements: [entitled(sso)] })
    const holdings = holding({ subscriptions: [subscription({ plan: plain })] })
    expect(buildState(holdings, decideWinners(holdings, now), new Map(), now).entitlements[0]!.usage).to.equal(null)
  })
})

describe('the free plan that follows an end', () => {
  it('is what the customer holds at once, though nobody recorded it', () => {
    const free = { ...freePlan, entitlements: [entitled(calls, { limit: 2, ...monthly })] }
    const rules = { ...downgrading, downgradePlan: free }
    const ending = subscription({ plan: withCalls('paid', 100), product: rules, effectiveEndDate: now - day })
    expect(winnerOf(holding({ subscriptions: [ending] }))).to.deep.nested.include({
      'entitlement.usageLimit': '2',
      'series.anchor': now - day,
    })
  })
})
