import { expect } from 'chai'
import * as decimal from '../../../../src/kernel/decimal.js'
import { newerState, stateWithUsage, toEntry } from '../../../../src/reader/states/cached-state.js'
import { heldAt, noRights } from '../../../../src/reader/states/rights.js'
import { held, state, usagesOf as usages } from '../states.js'

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
      rights: noRights,
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

  it('keeps the anchor of the rights when it takes a usage from another state', () => {
    const anchored = (used: number, version: number, anchor: number) =>
      held('a', used, version, {
        usage: { currentUsage: decimal.fromNumber(used), periodStart: 0, periodEnd: null, updatedAt: version, anchor },
      })
    const merged = newerState(state(5, [anchored(1, 9, 100)]), state(6, [anchored(2, 8, 200)]))
    expect(heldAt(merged, 0)).to.deep.include({ usagePeriodAnchor: 200 })
    expect(usages(merged)).to.deep.equal({ a: 1 })
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

  it('expires at validUntil, and refreshes at the earliest end of a usage period', () => {
    const usage = (periodEnd: number) => ({ currentUsage: decimal.zero, periodStart: 0, periodEnd, updatedAt: 1, anchor: null })
    const of = [held('a', 1, 1, { usage: usage(90) }), held('b', 1, 1, { usage: usage(80) })]
    expect(toEntry(state(1, of, { validUntil: 200 }), 1, 50)).to.include({ expiresAt: 200, usagePeriodEnd: 80 })
  })

  it('does not refresh seats, which are never reset', () => {
    const seats = held('seats', 1, 1)
    const usage = { currentUsage: decimal.zero, periodStart: 0, periodEnd: 80, updatedAt: 1, anchor: null }
    const entry = toEntry(state(1, [{ ...seats, feature: { ...seats.feature, meterType: 'Fluctuating' }, usage }]), 1, 50)
    expect(entry.usagePeriodEnd).to.equal(Number.POSITIVE_INFINITY)
  })

  it('remembers an unknown customer for five seconds, and one without subscription for ever', () => {
    expect(toEntry(state(0, [], { deniedReason: 'CustomerNotFound' }), 1, 1_000).expiresAt).to.equal(6_000)
    expect(toEntry(state(0, [], { deniedReason: 'NoActiveSubscription' }), 1, 1_000).expiresAt).to.equal(Number.POSITIVE_INFINITY)
  })
})
