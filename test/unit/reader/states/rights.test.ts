import { expect } from 'chai'
import fc from 'fast-check'
import * as decimal from '../../../../src/kernel/decimal.js'
import { heldAt, noRights, numbersPerUsage, packUsages, RightsPool } from '../../../../src/reader/states/rights.js'
import { held, state } from '../states.js'

describe('shared rights', () => {
  it('are one object for customers that hold the same, whatever their usage', () => {
    const pool = new RightsPool()
    const rightsOf = (used: number) => [held('a', used, 1), held('b', used, 1)].map(({ usage: _, ...right }) => right)
    expect(pool.list(rightsOf(1))).to.equal(pool.list(rightsOf(2)))
  })

  it('are not shared when anything differs, the order included', () => {
    const pool = new RightsPool()
    const of = (...changes: object[]) =>
      pool.list(changes.map((change) => ({ ...held('a', 0, 1), ...change })).map(({ usage: _, ...right }) => right))
    const base = of({})
    for (const change of [
      { usageLimit: decimal.fromNumber(11) },
      { hasSoftLimit: true },
      { deniedReason: 'Revoked' },
      { resetPeriod: 'DAY' },
    ])
      expect(of(change)).to.not.equal(base)
    expect(of({}, { hasSoftLimit: true })).to.not.equal(of({ hasSoftLimit: true }, {}))
  })

  it('are forgotten by their bytes: few large ones do not stay', () => {
    const pool = new RightsPool()
    const large = (letter: string) => {
      const { usage: _, ...right } = held('regions', 0, 0)
      return [{ ...right, enumValues: [letter.repeat(1_000_000)] }]
    }
    const first = pool.list(large('a'))
    expect(pool.list(large('a'))).to.equal(first)
    for (const letter of 'bcdefghijk') pool.list(large(letter))
    expect(pool.list(large('a'))).to.not.equal(first)
  })

  it('give back what was put in', () => {
    const instant = fc.option(fc.integer({ min: 0, max: 8_640_000_000_000 }))
    const usage = fc.record({
      currentUsage: fc.double({ min: -1e15, max: 1e15, noNaN: true }).map((value) => decimal.fromNumber(value)),
      periodStart: instant,
      periodEnd: instant,
      updatedAt: fc.integer({ min: 0, max: 8_640_000_000_000 }),
      anchor: instant,
    })
    fc.assert(
      fc.property(usage, usage, (one, other) => {
        const of = state(1, [held('a', 0, 0, { usage: one }), held('b', 0, 0, { usage: other })])
        for (const [position, expected] of [one, other].entries()) {
          const { anchor, ...rest } = expected
          const { usage: got, usagePeriodAnchor } = heldAt(of, position)
          expect({ ...got, currentUsage: Number(got?.currentUsage) }).to.deep.equal({ ...rest, currentUsage: Number(rest.currentUsage) })
          expect(usagePeriodAnchor).to.equal(anchor)
        }
      }),
    )
  })

  it('have a place for the numbers of what has a meter, and know where each feature stands', () => {
    const right = (featureId: string, featureType: 'NUMBER' | 'BOOLEAN' | 'ENUM', meterType: 'None' | 'Incremental' | 'Fluctuating') => {
      const { usage: _, ...one } = held(featureId, 0, 0)
      return { ...one, feature: { ...one.feature, featureType, meterType } }
    }
    const rights = new RightsPool().list([
      right('flag', 'BOOLEAN', 'None'),
      right('calls', 'NUMBER', 'Incremental'),
      right('value', 'NUMBER', 'None'),
      right('regions', 'ENUM', 'None'),
      right('seats', 'NUMBER', 'Fluctuating'),
      // What the API would not say: a meter of what is no number counts nothing.
      right('odd', 'ENUM', 'Incremental'),
    ])
    expect(rights.usageAt).to.deep.equal([-1, 0, -1, -1, numbersPerUsage, -1])
    expect(['seats', 'flag', 'odd', 'none'].map((featureId) => rights.positions.get(featureId))).to.deep.equal([4, 0, 5, undefined])
    expect(new RightsPool().list([])).to.equal(noRights)
  })

  it('keep a usage in five numbers', () => {
    const { usage } = held('a', 1, 1)
    expect(packUsages([usage, usage, usage])).to.have.length(3 * numbersPerUsage)
    expect(packUsages([])).to.equal(packUsages([]))
  })
})
