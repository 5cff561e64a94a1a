import { expect } from 'chai'
import * as decimal from '../../../../src/kernel/decimal.js'
import { StateReader } from '../../../../src/reader/api/messages.js'
import { entryAt, isWhole, stateWithUsage, toEntry } from '../../../../src/reader/states/cached-state.js'
import { heldAt, RightsPool } from '../../../../src/reader/states/rights.js'
import { held, state, usagesOf } from '../states.js'

const [readAt, changesAt, endsAt] = [50, 200, 300]
/** So many units by a version, in a period that began at `periodStart`. */
const used = (featureId: string, units: number, version: number, periodStart = 0) =>
  held(featureId, units, version, {
    usage: { currentUsage: decimal.fromNumber(units), periodStart, periodEnd: null, updatedAt: version, anchor: null },
  })

describe('what comes next', () => {
  const next = state(5, [used('same', 5, 5), used('anew', 0, changesAt, changesAt), used('turned', 0, 5, 90)], { validUntil: endsAt })
  const now = state(5, [used('same', 5, 5), used('anew', 5, 5), used('turned', 5, 5), used('gone', 5, 5)], {
    validUntil: changesAt,
    next: { validFrom: changesAt, state: next },
  })
  const entry = toEntry(now, 1, readAt)

  it('is answered from its instant on, and confirmed as soon as possible', () => {
    expect(entryAt(entry, changesAt - 1)).to.equal(entry)
    const moved = entryAt(entry, changesAt)!
    expect(moved).to.include({ suspectSince: changesAt, epoch: 1, fetchedAt: readAt, expiresAt: endsAt })
    expect(usagesOf(moved.state)).to.deep.equal({ same: 5, anew: 0, turned: 0 })
  })

  it('goes on from usage that was heard of meanwhile, in the same period only', () => {
    const usage = { currentUsage: decimal.fromNumber(7), periodStart: 0, periodEnd: null, updatedAt: 9 }
    const heard = ['same', 'anew'].reduce((known, featureId) => stateWithUsage(known, featureId, usage), now)
    const turned = stateWithUsage(heard, 'turned', { ...usage, periodStart: 90 })
    const moved = entryAt(toEntry(turned, 1, readAt), changesAt)!
    expect(usagesOf(moved.state)).to.deep.equal({ same: 7, anew: 0, turned: 7 })
    expect(moved.state.version).to.equal(9)
    expect(heldAt(moved.state, 0).usage!.updatedAt).to.equal(9)
  })

  it('takes no usage from before for that of a series that begins with it', () => {
    const moved = entryAt(entry, changesAt)!
    const late = { currentUsage: decimal.fromNumber(9), periodStart: 0, periodEnd: null, updatedAt: changesAt - 1 }
    expect(stateWithUsage(moved.state, 'anew', late)).to.equal(moved.state)
    expect(usagesOf(stateWithUsage(moved.state, 'anew', { ...late, updatedAt: changesAt }))).to.include({ anew: 9 })
  })

  it('is not known beyond its own end, nor without being told, nor when something else ends before', () => {
    expect(entryAt(entry, endsAt)).to.equal(undefined)
    expect(entryAt(toEntry({ ...now, next: null }, 1, readAt), changesAt)).to.equal(undefined)
    expect(entryAt(toEntry({ ...now, validUntil: changesAt - 50 }, 1, readAt), changesAt)).to.equal(undefined)
  })

  it('is read from an answer of the API, also after a denial', () => {
    const json = {
      accessDeniedReason: 'NoActiveSubscription',
      entitlements: [],
      validUntil: changesAt,
      next: { accessDeniedReason: null, entitlements: [], unknownFeatureIds: ['seats'], validFrom: changesAt, validUntil: null },
    }
    const read = new StateReader(new RightsPool()).state({ customerId: 'c', resourceId: null }, json)
    const moved = entryAt(toEntry(read, 1, readAt), changesAt)!
    expect(moved.state.deniedReason).to.equal(null)
    expect([isWhole(toEntry(read, 1, readAt)), isWhole(moved), [...moved.state.unknownFeatureIds!]]).to.deep.equal([true, false, ['seats']])
  })
})
