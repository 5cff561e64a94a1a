import { expect } from 'chai'
import fc from 'fast-check'
import * as decimal from '../../../../src/kernel/decimal.js'
import { settle, type TimedReport } from '../../../../src/metering/model/settle.js'

const report = (at: number, behavior: TimedReport['behavior'], value: number): TimedReport => ({
  at,
  behavior,
  value: decimal.fromNumber(value),
})
const delta = (at: number, value: number) => report(at, 'DELTA', value)
const set = (at: number, value: number) => report(at, 'SET', value)

/** What became the last SET, or null, and what was added. */
const settled = (reports: readonly TimedReport[], lastSetAt: number | null) => {
  const { set, added } = settle(reports, lastSetAt)
  return [set?.value ?? null, added]
}

describe('reports that are settled', () => {
  for (const [what, reports, lastSetAt, expected] of [
    ['nothing', [], null, [null, '0']],
    ['what is added', [delta(5, 2), delta(3, 4)], null, [null, '6']],
    ['what is added after a SET', [set(5, 10), delta(6, 1)], null, ['10', '1']],
    ['what arrives later and was before a SET', [set(5, 10), delta(4, 1)], null, ['10', '0']],
    ['what arrives before a SET of the same time', [delta(5, 1), set(5, 10)], null, ['10', '0']],
    ['what arrives after it at the same time', [set(5, 10), delta(5, 1)], null, ['10', '1']],
    ['two SETs, the later one first', [set(6, 20), set(5, 10), delta(7, 3)], null, ['20', '3']],
    ['what was before the SET that is there', [delta(4, 1), set(4, 9)], 5, [null, '0']],
    ['what is of its time', [delta(5, 1)], 5, [null, '1']],
    ['a SET of its time', [set(5, 9)], 5, ['9', '0']],
    ['what is after it', [delta(6, 1), delta(2, 7)], 5, [null, '1']],
    ['what was before 1970', [delta(-1, 7)], null, [null, '7']],
    ['what is at the beginning of time', [delta(0, 1), delta(-1, 7)], 0, [null, '1']],
  ] as const)
    it(`come to this: ${what}`, () => expect(settled(reports, lastSetAt)).to.deep.equal(expected))

  it('come to what their order by time, and then by arrival, says', () => {
    const reports = fc.array(
      fc.record({ at: fc.nat(6), behavior: fc.constantFrom('DELTA' as const, 'SET' as const), value: fc.integer({ min: -9, max: 9 }) }),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(reports, fc.option(fc.nat(6)), (some, lastSetAt) => {
        const before = lastSetAt === null ? [] : [{ at: lastSetAt, behavior: 'SET' as const, value: 100 }]
        const all = [...before, ...some].map((one, arrival) => ({ ...one, arrival }))
        const follows = (one: { at: number; arrival: number }, other: { at: number; arrival: number }) =>
          one.at > other.at || (one.at === other.at && one.arrival > other.arrival)
        const sets = all.filter(({ behavior }) => behavior === 'SET')
        const last = sets.find((one) => !sets.some((other) => follows(other, one)))
        const added = all
          .filter((one) => one.behavior === 'DELTA' && (!last || follows(one, last)))
          .reduce((sum, { value }) => sum + value, 0)
        const isNew = last !== undefined && (lastSetAt === null || last.arrival > 0)
        const given = some.map(({ at, behavior, value }) => report(at, behavior, value))
        const copy = [...given]
        expect(settled(given, lastSetAt)).to.deep.equal([isNew ? String(last.value) : null, String(added)])
        expect(given, 'as it was').to.deep.equal(copy)
      }),
    )
  })
})
