import { expect } from 'chai'
import { buildState } from '../../../../src/entitlement/rules/build-state.js'
import { decideWinners, type Holdings } from '../../../../src/entitlement/rules/holdings.js'
import type { EntitlementState, NextState } from '../../../../src/entitlement/rules/state.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import { seriesKey } from '../../../../src/metering/model/series.js'
import { day, entitled, plan, product, subscription, t0, trial } from '../../subscription/support.js'
import { calls, holding, monthly, now, promotional, seats, sso, version } from '../support.js'

const at = (text: string) => Date.parse(text)
const [march, april, may] = ['2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z', '2026-05-01T00:00:00Z'].map(at) as [number, number, number]

/** The state now, in which each series has a usage of 4. */
function stateOf(holdings: Holdings): EntitlementState {
  const winners = decideWinners(holdings, now)
  const used = { currentUsage: decimal.fromNumber(4), periodStart: null, periodEnd: null, updatedAt: version - 5 }
  return buildState(holdings, winners, new Map(winners.flatMap(({ series }) => (series ? [[seriesKey(series), used]] : []))), now)
}
const nextOf = (fields: Partial<Holdings>): NextState => stateOf(holding(fields)).next!
const usagesOf = ({ entitlements }: NextState) =>
  Object.fromEntries(
    entitlements.map(({ feature, usage }) => [
      feature.refId,
      usage && [usage.currentUsage, usage.periodStart, usage.periodEnd, usage.updatedAt],
    ]),
  )

describe('what comes next', () => {
  const metered = plan('metered', { entitlements: [entitled(calls, { limit: 10, ...monthly })] })
  const active = subscription({ plan: metered })
  const flagFor = (endDate: number, startDate = t0) => promotional({ feature: sso, usageLimit: null, startDate, endDate })

  it('is not known where time alone changes nothing', () => {
    expect(stateOf(holding({ subscriptions: [active] })).next).to.equal(null)
  })

  it('is held from the first instant that changes something until the one after it', () => {
    const ending = subscription({ plan: metered, effectiveEndDate: now + 9 * day })
    const next = nextOf({ subscriptions: [ending], promotional: [flagFor(now + 3 * day)] })
    expect(next).to.deep.include({ validFrom: now + 3 * day, validUntil: now + 9 * day, deniedReason: null, unknownFeatureIds: [] })
    expect(next.entitlements.map(({ feature }) => feature.refId)).to.deep.equal(['calls'])
    expect(nextOf({ subscriptions: [active], promotional: [flagFor(now + 3 * day)] }).validUntil).to.equal(null)
  })

  it('is nothing, and why, where the last source ends', () => {
    const next = nextOf({ subscriptions: [subscription({ plan: metered, effectiveEndDate: now + day })] })
    expect(next).to.deep.equal({
      validFrom: now + day,
      validUntil: null,
      deniedReason: 'NoActiveSubscription',
      entitlements: [],
      unknownFeatureIds: [],
    })
  })

  it('begins where usage starts again unseen, before anything ends', () => {
    const lifelong = plan('lifelong', { entitlements: [entitled(calls, { limit: 10 }), entitled(seats, { limit: 1 })] })
    const converting = trial({ plan: lifelong })
    expect(nextOf({ subscriptions: [converting] }).validFrom).to.equal(t0 + 14 * day)
    expect(nextOf({ subscriptions: [converting], promotional: [flagFor(now + 20 * day)] }).validFrom).to.equal(t0 + 14 * day)
  })

  it('has usage that goes on, as it is now, in the period that it is in then', () => {
    const next = nextOf({ subscriptions: [active], promotional: [flagFor(now + 3 * day)] })
    expect(usagesOf(next)).to.deep.equal({ calls: ['4', march, april, version] })
  })

  it('has no usage of a period that begins until then, as of now: what is reported in it is heard of', () => {
    const next = nextOf({ subscriptions: [active], promotional: [flagFor(april + 9 * day)] })
    expect(usagesOf(next)).to.deep.equal({ calls: ['0', april, may, version] })
  })

  it('has no usage of what begins with it, dated by its beginning', () => {
    const start = now + 6 * day
    const upcoming = (fields: object) =>
      subscription({
        id: 'upcoming',
        status: 'NOT_STARTED',
        startDate: start,
        plan: plan('later', { entitlements: [entitled(calls, { limit: 99, ...fields }), entitled(sso)] }),
      })
    const flag = flagFor(now + 90 * day)
    expect(usagesOf(nextOf({ subscriptions: [upcoming(monthly)], promotional: [flag] }))).to.deep.equal({
      calls: ['0', start, at('2026-04-12T00:00:00Z'), start],
      sso: null,
    })
    expect(usagesOf(nextOf({ subscriptions: [upcoming({})], promotional: [flag] })).calls).to.deep.equal(['0', null, null, start])
  })

  it('names what is held with a usage that goes on in a series which is not that of now', () => {
    const withSeats = (fields: object) =>
      subscription({
        id: 'seats',
        product: product({ id: 'other' }),
        plan: plan('team', { entitlements: [entitled(seats, { limit: 3 }), entitled(sso)] }),
        ...fields,
      })
    const start = now + 6 * day
    const begun = nextOf({ subscriptions: [active, withSeats({ status: 'NOT_STARTED', startDate: start })] })
    expect(begun.unknownFeatureIds).to.deep.equal(['seats'])
    expect(Object.keys(usagesOf(begun))).to.deep.equal(['calls', 'sso'])
    // A resource has seats of its own until its subscription ends: then those of the customer count.
    const resource = { id: 'r', refId: 'r' }
    const ofResource = subscription({
      id: 'own',
      resource,
      effectiveEndDate: start,
      plan: plan('own', { entitlements: [entitled(seats, { limit: 9 })] }),
    })
    const shared = nextOf({ resourceRefId: 'r', resource, subscriptions: [withSeats({}), ofResource] })
    expect(shared.unknownFeatureIds).to.deep.equal(['seats'])
    // What wins until then has another series of the same feature.
    const promoted = nextOf({ subscriptions: [active], promotional: [promotional({ endDate: start })] })
    expect(promoted).to.deep.include({ validFrom: start, unknownFeatureIds: ['calls'], entitlements: [] })
    // Seats that go on do so in the one series that there is.
    const kept = nextOf({ subscriptions: [withSeats({})], promotional: [flagFor(start)] })
    expect(usagesOf(kept)).to.deep.equal({ seats: ['4', null, null, version], sso: null })
  })
})
