import { expect } from 'chai'
import * as decimal from '../../../src/kernel/decimal.js'
import type { CachedState } from '../../../src/sidecar/cache/cache.js'
import { newerState, stateWithUsage, toEntry } from '../../../src/sidecar/cached-state.js'
import { held, state } from './states.js'

const usages = ({ entitlements }: CachedState) =>
  Object.fromEntries(entitlements.map(({ feature, usage }) => [feature.refId, Number(usage?.currentUsage)]))

describe('cached state', () => {
  it('takes the rights of the newer state, and per feature the newer usage', () => {
    const cached = state(5, [held('a', 1, 9), held('b', 1, 3), held('gone', 1, 9)])
    const merged = newerState(cached, state(6, [held('a', 2, 8), held('b', 2, 4), held('new', 2, 4)]))
    expect(usages(merged)).to.deep.equal({ a: 1, b: 2, new: 2 })
    expect(merged).to.include({ accessVersion: 6, version: 9 })
  })

  it('keeps the rights of a newer state that is there, but learns newer usage from an older one', () => {
    const merged = newerState(state(6, [held('a', 1, 6)]), state(5, [held('a', 2, 7), held('old', 2, 7)]))
    expect(usages(merged)).to.deep.equal({ a: 2 })
    expect(merged.accessVersion).to.equal(6)
  })

  it('lets a state without a version replace any, and any replace it', () => {
    const none = state(0, [], { deniedReason: 'NoActiveSubscription' })
    expect(newerState(state(5, [held('a', 1, 5)]), none)).to.deep.include({
      deniedReason: 'NoActiveSubscription',
      entitlements: [],
      accessVersion: 0,
    })
    const some = state(1, [held('a', 1, 1)])
    expect(newerState(none, some)).to.equal(some)
  })

  it('gives the same state in whichever order a state and a usage arrive', () => {
    const before = state(1, [held('a', 1, 1)])
    const after = state(2, [held('a', 2, 2)])
    const usage = { currentUsage: decimal.fromNumber(3), periodStart: 0, periodEnd: null, updatedAt: 3 }
    const one = newerState(stateWithUsage(before, 'a', usage), after)
    const other = stateWithUsage(newerState(before, after), 'a', usage)
    expect(usages(one)).to.deep.equal({ a: 3 })
    expect(one).to.deep.equal(other)
  })

  it('never carries an encoded message over to a changed entitlement', () => {
    const usage = { currentUsage: decimal.zero, periodStart: 0, periodEnd: null, updatedAt: 3 }
    expect(stateWithUsage(state(1, [held('a', 1, 1)]), 'a', usage).entitlements[0]?.encoded).to.equal(undefined)
  })

  it('does not move the version of the rights for a usage', () => {
    const usage = { currentUsage: decimal.zero, periodStart: 0, periodEnd: null, updatedAt: 7 }
    expect(stateWithUsage(state(1, [held('a', 1, 1)]), 'a', usage)).to.include({ accessVersion: 1, version: 7 })
  })

  it('stays the same object for a usage that is older, or of nothing that is held', () => {
    const cached = state(5, [held('a', 1, 5)])
    const usage = { currentUsage: decimal.zero, periodStart: 0, periodEnd: null, updatedAt: 4 }
    expect(stateWithUsage(cached, 'a', usage)).to.equal(cached)
    expect(stateWithUsage(cached, 'b', { ...usage, updatedAt: 9 })).to.equal(cached)
  })

  it('expires at the earliest validUntil, and refreshes at the earliest end of a usage period', () => {
    const usage = (periodEnd: number) => ({ currentUsage: decimal.zero, periodStart: 0, periodEnd, updatedAt: 1 })
    const entry = toEntry(
      state(1, [held('a', 1, 1, { validUntil: 300, usage: usage(80) }), held('b', 1, 1, { validUntil: 200, usage: usage(90) })]),
      1,
      50,
    )
    expect(entry).to.include({ expiresAt: 200, usagePeriodEnd: 80 })
  })

  it('does not refresh seats, which are never reset', () => {
    const seats = held('seats', 1, 1)
    const usage = { currentUsage: decimal.zero, periodStart: 0, periodEnd: 80, updatedAt: 1 }
    const entry = toEntry(state(1, [{ ...seats, feature: { ...seats.feature, meterType: 'Fluctuating' }, usage }]), 1, 50)
    expect(entry.usagePeriodEnd).to.equal(Number.POSITIVE_INFINITY)
  })

  it('remembers an unknown customer for five seconds, and one without subscription for ever', () => {
    expect(toEntry(state(0, [], { deniedReason: 'CustomerNotFound' }), 1, 1_000).expiresAt).to.equal(6_000)
    expect(toEntry(state(0, [], { deniedReason: 'NoActiveSubscription' }), 1, 1_000).expiresAt).to.equal(Number.POSITIVE_INFINITY)
  })
})
