import { expect } from 'chai'
import { asNumber, type DimensionValue, type FilterCondition, matches, versionAt } from '../../../../src/metering/model/meter.js'

const eventWith = (value: DimensionValue | null) => ({ eventName: 'request', dimensions: { d: value } })
const holdsFor = (condition: FilterCondition, value: DimensionValue | null): boolean =>
  matches({ filters: [[condition]] }, eventWith(value))

/** A condition without its field. */
type Claim = FilterCondition extends infer C ? (C extends FilterCondition ? Omit<C, 'field'> : never) : never

/** For each condition the values of dimension `d` that it takes and that it does not. */
const table: { condition: Claim; takes: (DimensionValue | null)[]; refuses: (DimensionValue | null)[] }[] = [
  { condition: { operation: 'EQUALS', value: 'a' }, takes: ['a'], refuses: ['A', 'ab', '', 1, true, null] },
  { condition: { operation: 'EQUALS', value: 5 }, takes: [5, '5', '5.0', '5e0'], refuses: ['5 ', '0x5', 'five', '', 6, true, null] },
  { condition: { operation: 'EQUALS', value: '5.0' }, takes: ['5.0', 5], refuses: ['5', 6, null] },
  { condition: { operation: 'EQUALS', value: 0 }, takes: [0, '0', '-0'], refuses: ['', false, null] },
  { condition: { operation: 'EQUALS', value: false }, takes: [false], refuses: [true, 0, 'false', '', null] },
  { condition: { operation: 'EQUALS', value: '' }, takes: [''], refuses: [0, false, ' ', null] },
  { condition: { operation: 'NOT_EQUALS', value: 'a' }, takes: ['b', '', 0, false, null], refuses: ['a'] },
  { condition: { operation: 'NOT_EQUALS', value: 0 }, takes: [1, '', false, null], refuses: [0, '0'] },
  { condition: { operation: 'GREATER_THAN', value: 9 }, takes: [10, '10', 9.000001], refuses: [9, 8, '9', 'z', true, null] },
  { condition: { operation: 'GREATER_THAN', value: '9' }, takes: ['91', 10], refuses: ['10', '9', true, null] },
  { condition: { operation: 'GREATER_THAN_OR_EQUAL', value: 0 }, takes: [0, '0', 1], refuses: [-1, '', false, null] },
  { condition: { operation: 'LESS_THAN', value: 0 }, takes: [-1, '-0.5'], refuses: [0, '', true, null] },
  { condition: { operation: 'LESS_THAN', value: '2026-02-01' }, takes: ['2026-01-31', ''], refuses: ['2026-02-01', 5, null] },
  { condition: { operation: 'LESS_THAN_OR_EQUAL', value: 1 }, takes: [1, 0, '1.0'], refuses: [1.1, false, null] },
  { condition: { operation: 'IN', values: ['eu', 5, false] }, takes: ['eu', 5, '5', false], refuses: ['us', 0, 'false', null] },
  { condition: { operation: 'IN', values: [] }, takes: [], refuses: ['', 0, null] },
  { condition: { operation: 'CONTAINS', value: 'b' }, takes: ['abc', 'b'], refuses: ['ABC', '', 1, null] },
  { condition: { operation: 'CONTAINS', value: '' }, takes: ['', 'a', 0], refuses: [null] },
  { condition: { operation: 'STARTS_WITH', value: '44' }, takes: ['44x', 441], refuses: ['x44', 144, null] },
  { condition: { operation: 'ENDS_WITH', value: 5 }, takes: ['x5', 15], refuses: ['5x', 51, null] },
  { condition: { operation: 'IS_NULL' }, takes: [null], refuses: ['', 0, false, 'null'] },
  { condition: { operation: 'IS_NOT_NULL' }, takes: ['', 0, false, 'null'], refuses: [null] },
]

describe('meter', () => {
  for (const { condition, takes, refuses } of table) {
    const { operation, ...operand } = condition
    it(`${operation} ${JSON.stringify(operand)} takes ${JSON.stringify(takes)} and refuses ${JSON.stringify(refuses)}`, () => {
      const asked = { field: 'd', ...condition } as FilterCondition
      for (const value of takes) expect(holdsFor(asked, value), JSON.stringify(value)).to.equal(true)
      for (const value of refuses) expect(holdsFor(asked, value), JSON.stringify(value)).to.equal(false)
    })
  }

  it('takes an event when all conditions of any group hold', () => {
    const filters: FilterCondition[][] = [
      [
        { field: 'eventName', operation: 'EQUALS', value: 'completion' },
        { field: 'model', operation: 'STARTS_WITH', value: 'large' },
      ],
      [{ field: 'eventName', operation: 'EQUALS', value: 'embedding' }],
    ]
    const takes = (eventName: string, model: string) => matches({ filters }, { eventName, dimensions: { model } })
    expect(takes('completion', 'large-2')).to.equal(true)
    expect(takes('completion', 'small')).to.equal(false)
    expect(takes('embedding', 'small')).to.equal(true)
    expect(takes('upload', 'large-2')).to.equal(false)
  })

  it('takes every event when it has no groups, or a group without conditions', () => {
    expect(matches({ filters: [] }, eventWith(null))).to.equal(true)
    expect(matches({ filters: [[]] }, eventWith(null))).to.equal(true)
  })

  it('means the name of the event by eventName, also when a dimension is called so', () => {
    const event = { eventName: 'a', dimensions: { eventName: 'b' } }
    expect(matches({ filters: [[{ field: 'eventName', operation: 'EQUALS', value: 'a' }]] }, event)).to.equal(true)
    expect(matches({ filters: [[{ field: 'eventName', operation: 'EQUALS', value: 'b' }]] }, event)).to.equal(false)
  })

  it('does not take what every object inherits for a dimension', () => {
    for (const field of ['constructor', 'toString', '__proto__']) {
      expect(matches({ filters: [[{ field, operation: 'IS_NULL' }]] }, { eventName: 'a', dimensions: {} }), field).to.equal(true)
    }
  })

  it('is what it was when a period began, or what it was first', () => {
    const versions = [10, 20, 30].map((validFrom, index) => ({
      version: index + 1,
      validFrom,
      aggregation: 'COUNT' as const,
      field: null,
      filters: [],
    }))
    const meter = { featureId: 'f', featureRefId: 'f', versions, isGrouped: false }
    const versionOf = (start: number | null) => versionAt(meter, start).version
    expect([null, 9, 10, 19, 20, 29, 30, 99].map(versionOf)).to.deep.equal([1, 1, 1, 1, 2, 2, 3, 3])
  })

  it('reads numbers as they are written, and nothing else as one', () => {
    const read: [DimensionValue | null, number | null][] = [
      ['.25', 0.25],
      ['5.', 5],
      ['+1.5', 1.5],
      ['1e+12', 1e12],
      ['1e-3', 0.001],
      ['.x', null],
      ['1ex', null],
      ['', null],
      ['1e999', null],
      [true, null],
      [null, null],
      [7, 7],
    ]
    for (const [value, number] of read) expect(asNumber(value), String(value)).to.equal(number)
  })
})
