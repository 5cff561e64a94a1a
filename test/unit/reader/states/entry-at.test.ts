import { expect } from 'chai'
import * as decimal from '../../../../src/kernel/decimal.js'
import { entryAt, isWhole, newerState, stateWithUsage, toEntry } from '../../../../src/reader/states/cached-state.js'
import type { CachedState } from '../../../../src/reader/states/entry.js'
import { earliestPeriodEnd, heldAt, packUsages, RightsPool, toEntitledFeature, usageVersion } from '../../../../src/reader/states/rights.js'
import { type Held, held, state } from '../states.js'

const flagged = (featureId: string) =>
  held(featureId, 0, 0, { feature: { ...held(featureId, 0, 0).feature, featureType: 'BOOLEAN', meterType: 'None' } })
const ofMeter = (featureId: string, used: number, version: number, usage: Partial<Held['usage']> = {}) => {
  const one = held(featureId, used, version)
  return { ...one, usage: { ...one.usage, ...usage } }
}
/** Behind a feature without a meter, so that places in the two lists differ. */
const mixed = (accessVersion: number, metered: Held[], changes: Partial<CachedState> = {}) =>
  state(accessVersion, [flagged('flag'), ...metered], { usages: packUsages(metered.map(({ usage }) => usage)), ...changes })
const usageOf = ({ rights, usages }: CachedState, featureId: string) => heldAt({ rights, usages }, rights.positions.get(featureId)!).usage

describe('an entry as time goes by', () => {
  const entryWith = (next: CachedState['next'], metered: Held[] = []) => toEntry(mixed(10, metered, { validUntil: 100, next }), 3, 40)
  const nextState = (metered: Held[] = [], accessVersion = 5) => mixed(accessVersion, metered, { validUntil: 200 })

  it('is itself until it expires, then what comes next, to be confirmed, until that expires', () => {
    const entry = entryWith({ validFrom: 100, state: nextState() })
    expect(entryAt(entry, 99)).to.equal(entry)
    for (const now of [100, 199])
      expect(entryAt(entry, now)).to.deep.include({ fetchedAt: 40, epoch: 3, expiresAt: 200, suspectSince: 100 })
    expect(entryAt(entry, 200)).to.equal(undefined)
  })

  it('is not known afterwards when its state does not tell what comes next, or tells of another time', () => {
    for (const next of [undefined, null, { validFrom: 150, state: nextState() }]) expect(entryAt(entryWith(next), 100)).to.equal(undefined)
  })

  it('keeps what was heard last of usage that goes on in the same period', () => {
    const before = [ofMeter('other', 1, 1), ofMeter('a', 7, 50), ofMeter('moved', 7, 50), ofMeter('begun', 7, 50)]
    const after = [ofMeter('a', 3, 2), ofMeter('moved', 3, 2, { periodStart: 90 }), ofMeter('begun', 3, 100), ofMeter('new', 3, 2)]
    const { state: next } = entryAt(entryWith({ validFrom: 100, state: nextState(after) }, before), 100)!
    const told = (featureId: string) => [Number(usageOf(next, featureId)!.currentUsage), usageOf(next, featureId)!.updatedAt]
    expect(told('a')).to.deep.equal([7, 50])
    expect(told('moved')).to.deep.equal([3, 2])
    expect(told('begun')).to.deep.equal([3, 100])
    expect(told('new')).to.deep.equal([3, 2])
    expect(usageOf(next, 'flag')).to.equal(null)
  })

  it('has the newest of the versions, but not that of a usage that is dated ahead', () => {
    const versionsOf = (accessVersion: number, before: Held[]) => {
      const next = nextState([ofMeter('begun', 0, 100)], accessVersion)
      const { version, accessVersion: access } = entryAt(entryWith({ validFrom: 100, state: next }, before), 100)!.state
      return [version, access]
    }
    expect(versionsOf(5, [])).to.deep.equal([10, 10])
    expect(versionsOf(20, [])).to.deep.equal([20, 20])
    expect(versionsOf(5, [ofMeter('a', 1, 50)])).to.deep.equal([50, 10])
  })
})

describe('features of two states', () => {
  /** In one of them it has a meter, in the other it is a switch. */
  const turned = 'turned'
  const metered = [
    ofMeter('a', 0, 40, { periodEnd: 5 }),
    ofMeter('new', 2, 40, { periodStart: 1 }),
    ofMeter('late', 2, 40, { periodStart: null }),
  ]
  const without = state(20, [...metered, flagged(turned)], { usages: packUsages(metered.map(({ usage }) => usage)) })
  const withMeter = (...others: Held[]) => state(10, [...others, ofMeter(turned, 9, 99, { periodStart: 0 })])

  it('have nothing to do with each other where one of them lacks it or its meter, when states meet', () => {
    const numbers = { periodStart: 77, periodEnd: 88, anchor: 99 }
    for (const other of [withMeter(), withMeter(ofMeter('b', 1, 66, numbers), ofMeter('c', 1, 66, numbers))]) {
      for (const met of [newerState(other, without), newerState(without, other)]) {
        expect(met.usages).to.deep.equal(without.usages)
        expect(met).to.include({ version: 99, rights: without.rights })
      }
      const noFlag = newerState(state(5, [flagged(turned)], { usages: [] }), other)
      expect(noFlag).to.equal(other)
    }
  })

  it('have nothing to do with each other where one of them lacks it or its meter, as time goes by', () => {
    for (const before of [withMeter(), withMeter(ofMeter('b', 1, 66), ofMeter('c', 1, 66))]) {
      const entry = toEntry({ ...before, validUntil: 100, next: { validFrom: 100, state: without } }, 1, 0)
      expect(entryAt(entry, 100)!.state.usages).to.deep.equal(without.usages)
    }
  })
})

describe('states that meet', () => {
  it('keep a newer usage of the older one behind others, and of a state that is itself no newer', () => {
    const older = mixed(10, [ofMeter('b', 1, 10), ofMeter('a', 5, 60)])
    const newer = mixed(20, [ofMeter('a', 3, 50), ofMeter('b', 2, 100)])
    expect(older.version).to.be.below(newer.version)
    for (const met of [newerState(older, newer), newerState(newer, older)]) {
      expect(usageOf(met, 'a')).to.include({ currentUsage: '5', updatedAt: 60 })
      expect(usageOf(met, 'b')).to.deep.equal(usageOf(newer, 'b'))
      expect(met).to.include({ version: 100, rights: newer.rights })
    }
  })

  it('keep the newer usage of each feature, wherever it stands, with its period but the anchor of the rights', () => {
    const cached = mixed(10, [ofMeter('a', 1, 30, { periodStart: 5, periodEnd: 9, anchor: 1 }), ofMeter('gone', 9, 99)])
    const incoming = mixed(20, [ofMeter('b', 2, 20), ofMeter('a', 3, 20, { anchor: 2 })])
    const met = newerState(cached, incoming)
    expect(met.rights).to.equal(incoming.rights)
    expect(usageOf(met, 'a')).to.deep.equal({ currentUsage: '1', periodStart: 5, periodEnd: 9, updatedAt: 30 })
    expect(heldAt(met, met.rights.positions.get('a')!).usagePeriodAnchor).to.equal(2)
    expect(usageOf(met, 'b')).to.deep.equal(usageOf(incoming, 'b'))
    expect(met.version).to.equal(99)
  })

  it('are the newer one, unchanged, when the other knows nothing newer', () => {
    const cached = mixed(10, [ofMeter('a', 1, 30)])
    const same = mixed(10, [ofMeter('a', 2, 30)])
    expect(newerState(cached, same)).to.equal(same)
    const older = mixed(5, [ofMeter('a', 2, 20)])
    expect(newerState(cached, older)).to.equal(cached)
  })

  it('have the version of whichever is newer, also when no usage is taken over', () => {
    const cached = mixed(10, [ofMeter('gone', 1, 90)])
    const incoming = mixed(20, [ofMeter('a', 1, 30)])
    expect(newerState(cached, incoming)).to.deep.equal({ ...incoming, version: 90 })
  })

  it('take a usage with its period, and as often as it is told', () => {
    const before = mixed(10, [ofMeter('other', 1, 1), ofMeter('a', 1, 30)])
    const usage = { currentUsage: decimal.fromNumber(4), periodStart: 5, periodEnd: 9, updatedAt: 30 }
    const after = stateWithUsage(before, 'a', usage)
    expect(usageOf(after, 'a')).to.deep.equal(usage)
    expect(usageOf(after, 'other')).to.deep.equal(usageOf(before, 'other'))
    const without = { ...usage, periodStart: null, periodEnd: null, updatedAt: 31 }
    expect(usageOf(stateWithUsage(after, 'a', without), 'a')).to.deep.equal(without)
    for (const featureId of ['flag', 'none']) expect(stateWithUsage(before, featureId, usage)).to.equal(before)
  })

  it('are whole when all that is held is known with its usage', () => {
    expect(isWhole(toEntry(mixed(1, []), 0, 0))).to.equal(true)
    expect(isWhole(toEntry(mixed(1, [], { unknownFeatureIds: new Set(['a']) }), 0, 0))).to.equal(false)
  })

  it('are remembered shortly when there is no such resource', () => {
    expect(toEntry(state(0, [], { deniedReason: 'CustomerResourceNotFound' }), 1, 1_000).expiresAt).to.equal(6_000)
  })
})

describe('the numbers of a state', () => {
  it('are those of features with a meter only', () => {
    const one = mixed(1, [ofMeter('a', 1, 30), ofMeter('b', 2, 40)])
    expect(one.rights.usageAt).to.deep.equal([-1, 0, 5])
    expect(['flag', 'a', 'b', 'none'].map((featureId) => usageVersion(one, featureId))).to.deep.equal([null, 30, 40, null])
    expect(heldAt(one, 0)).to.include({ usage: null, usagePeriodAnchor: null })
    const plain = held('plain', 0, 0)
    const unmetered = { ...plain, feature: { ...plain.feature, meterType: 'None' as const } }
    const text = { ...plain, feature: { ...plain.feature, featureType: 'ENUM' as const } }
    expect(state(1, [unmetered, text]).rights.usageAt).to.deep.equal([-1, -1])
  })

  it('tell the earliest end of a period after which usage is reset', () => {
    const seats = held('seats', 1, 1)
    const endsAt = (periodEnd: number | null, featureId: string) => ofMeter(featureId, 1, 1, { periodEnd })
    const fluctuating = { ...endsAt(5, 'seats'), feature: { ...seats.feature, meterType: 'Fluctuating' as const } }
    expect(earliestPeriodEnd(mixed(1, [endsAt(30, 'a'), endsAt(20, 'b'), endsAt(25, 'c'), endsAt(null, 'd'), fluctuating]))).to.equal(20)
    expect(earliestPeriodEnd(mixed(1, []))).to.equal(Number.POSITIVE_INFINITY)
    const several = mixed(1, [endsAt(30, 'a'), endsAt(20, 'b'), endsAt(null, 'c')])
    expect(['a', 'b', 'c', 'none'].map((featureId) => earliestPeriodEnd(several, featureId))).to.deep.equal([30, 20, Infinity, Infinity])
  })

  it('take memory by what differs: names and values', () => {
    const bytesOf = (...rights: Held[]) => new RightsPool().list(rights.map(({ usage: _, ...right }) => right)).bytes
    expect(bytesOf()).to.equal(0)
    expect(bytesOf(held('calls', 1, 1))).to.equal(430)
    expect(bytesOf(held('calls', 1, 1, { enumValues: ['eu', 'asia'] }))).to.equal(430 + 46 + 52)
    expect(bytesOf(held('calls', 1, 1), held('seats', 1, 1))).to.equal(860)
  })

  it('are of features without what no answer carries', () => {
    const shown = { refId: 'calls', featureType: 'NUMBER', meterType: 'Incremental', units: 'call', unitsPlural: 'calls' } as const
    expect(toEntitledFeature({ ...shown, id: 'ours', displayName: 'API calls' } as never)).to.deep.equal({
      ...shown,
      id: '',
      displayName: '',
      description: null,
      unitTransformation: null,
    })
  })
})
