import { expect } from 'chai'
import { askedOfBudgets, type BudgetFacts, runningBudgets, usageOfBudgets } from '../../../../src/entitlement/rules/budget.js'
import {
  boundaryAfter,
  budgetsAt,
  decideWinners,
  type Holdings,
  heldSince,
  type Winner,
  winnerPeriodAt,
} from '../../../../src/entitlement/rules/holdings.js'
import { mayBeKept } from '../../../../src/entitlement/rules/state.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import { seriesKey, unentitledSeries } from '../../../../src/metering/model/series.js'
import type { Subscription } from '../../../../src/subscription/rules/subscription.js'
import { addon, day, entitled, held, plan, price, product, subscription, t0 } from '../../subscription/support.js'
import { calls, holding, monthly, now, promotional, seats, sso } from '../support.js'

const april = Date.parse('2026-04-01T00:00:00Z')
const withCalls = (fields: Partial<Subscription> = {}, of: Parameters<typeof entitled>[1] = {}) =>
  subscription({ plan: plan('metered', { entitlements: [entitled(calls, { limit: 10, ...monthly, ...of })] }), ...fields })
const winnerOf = (fields: Partial<Holdings>, refId = 'calls', at = now): Winner =>
  decideWinners(holding(fields), at).find(({ entitlement }) => entitlement.feature.refId === refId)!

describe('since when a feature is held', () => {
  const since = (fields: Partial<Holdings>, refId = 'calls') => heldSince(holding(fields), refId, now)
  const older = withCalls({ startDate: t0 + day })
  const flag = subscription({ id: 'flag', product: product({ id: 'other' }), plan: plan('flag', { entitlements: [entitled(sso)] }) })

  it('is the beginning of the oldest of what entitles to it now', () => {
    expect(since({ subscriptions: [older] })).to.equal(t0 + day)
    expect(since({ subscriptions: [older], promotional: [promotional({ startDate: t0 + 3 * day })] })).to.equal(t0 + day)
    expect(since({ subscriptions: [older], promotional: [promotional({ startDate: t0 - day })] })).to.equal(t0 - day)
    expect(since({ promotional: [promotional({ startDate: t0 + 2 * day })] })).to.equal(t0 + 2 * day)
  })
  it('does not look at what entitles to something else, or not now', () => {
    expect(since({ subscriptions: [older, flag], promotional: [promotional({ feature: sso, startDate: t0 - day })] })).to.equal(t0 + day)
    const both = subscription({
      startDate: t0 + 2 * day,
      plan: plan('both', { entitlements: [entitled(sso), entitled(calls, { limit: 1 })] }),
    })
    expect(since({ subscriptions: [both] }, 'sso')).to.equal(t0 + 2 * day)
    expect(since({ subscriptions: [flag], promotional: [promotional({ endDate: now })] })).to.equal(null)
    expect(since({})).to.equal(null)
  })
})

describe('the period of a winner', () => {
  const winner = winnerOf({ subscriptions: [withCalls()] })
  const cut = (usageRestartsAt: number | null, of: Winner = winner) =>
    winnerPeriodAt({ ...of, entitlement: { ...of.entitlement, usageRestartsAt } }, now)
  const whole = { start: t0, end: april }

  it('ends where usage starts again within it, and only there', () => {
    const cases: [number | null, object][] = [
      [null, whole],
      [now - 1, whole],
      [now, whole],
      [now + 1, { start: t0, end: now + 1 }],
      [april - 1, { start: t0, end: april - 1 }],
      [april, whole],
      [april + 1, whole],
    ]
    for (const [restart, period] of cases) expect(cut(restart), String(restart)).to.deep.equal(period)
  })
  it('has no bounds where usage is never reset, or is not measured', () => {
    const lifelong = winnerOf({ promotional: [promotional()] })
    expect(cut(now + 1, lifelong)).to.deep.equal({ start: null, end: null })
    expect(cut(now + 1, { ...winner, series: null })).to.deep.equal({ start: null, end: null })
  })
  it('follows the zone that the customer had until it ends there', () => {
    const customer = {
      id: 'customer',
      timeZone: 'Asia/Tokyo',
      isArchived: false,
      formerTimeZones: [{ timeZone: 'America/New_York', until: now - day }],
    }
    const moved = winnerOf({ customer, subscriptions: [withCalls({ usageAnchor: t0 })] })
    expect(moved.series!.timeZone).to.equal('America/New_York')
    const { end } = winnerPeriodAt(moved, now)
    expect(moved.entitlement.validUntil).to.equal(end)
    expect(moved.stretch).to.deep.equal({ from: null, until: end })
    const later = winnerOf({ customer, subscriptions: [withCalls({ usageAnchor: t0 })] }, 'calls', end!)
    expect(later.series!.timeZone).to.equal('Asia/Tokyo')
    expect(winnerPeriodAt(later, end!).start).to.equal(end)
    expect(winner).to.not.have.property('stretch')
    // Seats have no periods, in whatever zone.
    const ofSeats = subscription({ plan: plan('seats', { entitlements: [entitled(seats, { limit: 1 })] }) })
    expect(winnerOf({ customer, subscriptions: [ofSeats] }, 'seats')).to.not.have.property('stretch')
  })
})

describe('a winner', () => {
  it('is called what its plan calls the feature, and else nothing of its own', () => {
    const named = winnerOf({ subscriptions: [withCalls({}, { displayNameOverride: 'Requests' })] })
    expect(named.entitlement.displayNameOverride).to.equal('Requests')
    expect(winnerOf({ subscriptions: [withCalls()] }).entitlement).to.not.have.property('displayNameOverride')
  })
  it('stands in the order of the features’ names, whatever a plan’s order is', () => {
    const mixed = plan('mixed', { entitlements: [entitled(sso), entitled(seats, { limit: 1 }), entitled(calls, { limit: 1 })] })
    const winners = decideWinners(holding({ subscriptions: [subscription({ plan: mixed })] }), now)
    expect(winners.map(({ entitlement }) => entitlement.feature.refId)).to.deep.equal(['calls', 'seats', 'sso'])
  })
  it('is nobody where the state is denied, whatever is held', () => {
    const denied: Partial<Holdings>[] = [
      { customer: null },
      { customer: { id: 'customer', timeZone: 'UTC', isArchived: true } },
      { resourceRefId: 'r', resource: null },
    ]
    for (const fields of denied) expect(decideWinners(holding({ subscriptions: [withCalls()], ...fields }), now)).to.deep.equal([])
  })
  it('is of equals the older one, and of those that began together the one with the lower id', () => {
    const [a, b] = ['a', 'b'].map((id, index) => withCalls({ id, product: product({ id }), usageAnchor: t0 + index * day }))
    const [late, early] = [withCalls({ id: 'a', startDate: t0 + day }), withCalls({ id: 'b', product: product({ id: 'b' }) })]
    const anchors = (one: Subscription, other: Subscription) =>
      [
        [one, other],
        [other, one],
      ].map((subscriptions) => winnerOf({ subscriptions }).series!.anchor)
    expect(anchors(a!, b!)).to.deep.equal([t0, t0])
    expect(anchors(late!, early!)).to.deep.equal([t0, t0])
  })
  it('is revoked from an instant on, and not before', () => {
    const revoked = (entitlementsRevokedAt: number) =>
      winnerOf({ subscriptions: [withCalls({ entitlementsRevokedAt })] }).entitlement.deniedReason
    expect([now - 1, now, now + 1].map(revoked)).to.deep.equal(['Revoked', 'Revoked', null])
  })
  it('is promotional from the start on until the end, and what comes next is after now', () => {
    const held = (fields: object) => winnerOf({ promotional: [promotional(fields)] }) !== undefined
    expect([now - 1, now, now + 1].map((startDate) => held({ startDate }))).to.deep.equal([true, true, false])
    expect([now, now + 1].map((endDate) => held({ endDate }))).to.deep.equal([false, true])
    const boundary = (fields: object) => boundaryAfter(holding({ promotional: [promotional(fields)] }), now)
    expect([now - 1, now, now + 1].map((startDate) => boundary({ startDate }))).to.deep.equal([null, null, now + 1])
  })
  it('has nothing of what is agreed for a feature that is not known, nor of an add-on that sells what nobody buys', () => {
    const unknown = {
      id: 'own',
      featureId: 'gone',
      usageLimit: decimal.fromNumber(7),
      hasUnlimitedUsage: false,
      hasSoftLimit: false,
      enumValues: [],
      resetPeriod: null,
      resetRule: null,
    }
    const empty = addon('empty', { entitlements: [entitled(calls)], prices: [price({ billingModel: 'PER_UNIT', featureId: calls.id })] })
    const winners = decideWinners(
      holding({ subscriptions: [withCalls({ ownEntitlements: [unknown], addons: [held(empty)], billingPeriod: 'ANNUALLY' })] }),
      now,
    )
    expect(winners.map(({ entitlement }) => [entitlement.feature.refId, entitlement.usageLimit])).to.deep.equal([['calls', '10']])
  })
})

describe('budgets of what is held', () => {
  const period = { start: t0, end: t0 + 20 * day }
  const spends = price({ billingModel: 'USAGE_BASED', featureId: calls.id, featureRefId: 'calls', amount: decimal.fromNumber(1) })
  const limited = (id: string, fields: Partial<Subscription> = {}) =>
    withCalls({ id, budget: { limit: decimal.fromNumber(10), hasSoftLimit: false }, currentPeriod: period, ...fields })
  const of = (used: string, ...subscriptions: Subscription[]): Holdings => {
    const usagePrice = { featureId: calls.id, meterType: 'Incremental' as const, price: spends }
    const prices: BudgetFacts['prices'] = new Map(subscriptions.filter(({ budget }) => budget).map(({ id }) => [id, [usagePrice]]))
    const read = runningBudgets(subscriptions, { prices }).flatMap(({ charges }) =>
      charges.map(({ series }) => [seriesKey(series), { currentUsage: decimal.fromText(used) }] as const),
    )
    const usage = usageOfBudgets(runningBudgets(subscriptions, { prices }), new Map(read))
    return holding({ subscriptions, budgets: { prices, usage } })
  }
  const deniedOf = (holdings: Holdings) =>
    decideWinners(holdings, now).map(({ entitlement: { deniedReason, validUntil } }) => [deniedReason, validUntil])

  it('deny what their subscription gives when they are used up, until the next period', () => {
    expect(deniedOf(of('10', limited('a')))).to.deep.equal([['BudgetExceeded', period.end]])
    expect(deniedOf(of('9', limited('a')))).to.deep.equal([[null, null]])
    expect(boundaryAfter(of('10', limited('a')), now)).to.equal(period.end)
    expect(boundaryAfter(of('9', limited('a')), now)).to.equal(null)
  })
  it('deny nothing where they are soft', () => {
    const soft = limited('a', { budget: { limit: decimal.fromNumber(10), hasSoftLimit: true } })
    expect(deniedOf(of('10', soft))).to.deep.equal([[null, null]])
    expect(boundaryAfter(of('10', soft), now)).to.equal(null)
  })
  it('deny nothing of another subscription', () => {
    const other = withCalls({ id: 'b', product: product({ id: 'b' }), plan: plan('flag', { entitlements: [entitled(sso)] }) })
    expect(deniedOf(of('10', limited('a'), other))).to.deep.equal([
      ['BudgetExceeded', period.end],
      [null, period.end],
    ])
    expect(budgetsAt(of('10', limited('a'), other), now).map(({ subscriptionId }) => subscriptionId)).to.deep.equal(['a'])
    expect(budgetsAt(holding({ subscriptions: [limited('a')] }), now)).to.deep.equal([])
  })
  it('are read at one instant for each customer, that of the billing period which began last', () => {
    const prices: BudgetFacts['prices'] = new Map(
      ['a', 'b', 'c'].map((id) => [id, [{ featureId: calls.id, meterType: 'Incremental', price: spends }]]),
    )
    const later = { start: t0 + 3 * day, end: period.end }
    const budgets = [
      limited('a', { currentPeriod: later }),
      limited('b', { product: product({ id: 'b' }) }),
      limited('c', { customerId: 'another' }),
    ]
    for (const order of [budgets, [...budgets].reverse()]) {
      const asked = askedOfBudgets(runningBudgets(order, { prices }))
      const at = new Map(asked.map(({ series, at }) => [series.customerId, at]))
      expect(asked).to.have.length(3)
      expect([...at.entries()].sort()).to.deep.equal([
        ['another', t0],
        ['customer', later.start],
      ])
      expect(new Set(asked.map((one) => `${one.series.customerId} ${one.at}`))).to.have.property('size', 2)
    }
    expect(usageOfBudgets(runningBudgets(budgets, { prices }), new Map())).to.deep.equal(new Map())
    const unrelated = seriesKey(unentitledSeries('customer', null, 'other'))
    expect(usageOfBudgets(runningBudgets(budgets, { prices }), new Map([[unrelated, { currentUsage: decimal.zero }]]))).to.deep.equal(
      new Map(),
    )
  })
})

describe('a state that may be kept', () => {
  it('tells that it follows the real time', () => {
    const kept = (basis?: { catalogVersion: number; clock: 'real' | 'test' }) => mayBeKept({ basis })
    expect([kept(), kept({ catalogVersion: 1, clock: 'test' }), kept({ catalogVersion: 1, clock: 'real' })]).to.deep.equal([
      false,
      false,
      true,
    ])
  })
})
