import { expect } from 'chai'
import fc from 'fast-check'
import * as decimal from '../../../../src/kernel/decimal.js'
import { measure, memberHash, Tally } from '../../../../src/metering/model/aggregate.js'
import { type Aggregation, aggregations, type DimensionValue, type Meter } from '../../../../src/metering/model/meter.js'

const meter = (aggregation: Meter['aggregation'], field: string | null = null): Meter => ({
  featureId: 'ai-tokens',
  aggregation,
  field,
  filters: [[{ field: 'eventName', operation: 'EQUALS', value: 'completion' }]],
})
const completion = (dimensions: Record<string, DimensionValue | null> = {}) => ({ eventName: 'completion', dimensions })

describe('aggregate', () => {
  it('counts 1 for an event that the meter wants, and nothing for another', () => {
    expect(measure(meter('COUNT'), completion())).to.equal('1')
    expect(measure(meter('COUNT'), { eventName: 'upload', dimensions: {} })).to.equal(null)
    expect(measure(meter('SUM', 'tokens'), { eventName: 'upload', dimensions: { tokens: 5 } })).to.equal(null)
  })

  const summed: [value: DimensionValue, added: string][] = [
    [5, '5'],
    [0, '0'],
    [-2.5, '-2.5'],
    [0.1 + 0.2, '0.3'],
    ['12.50', '12.5'],
    ['1e3', '1000'],
    [999_999_999_999_999, '999999999999999'],
  ]
  for (const [value, added] of summed) {
    it(`sums ${JSON.stringify(value)} as ${added}`, () =>
      expect(measure(meter('SUM', 'tokens'), completion({ tokens: value }))).to.equal(added))
  }

  for (const value of [null, '', 'many', true, Number.NaN, Number.POSITIVE_INFINITY, 1e15, -1e15, '1e400', 'Infinity']) {
    it(`leaves an event out of the sum whose dimension is ${JSON.stringify(value)} (${String(value)})`, () => {
      expect(measure(meter('SUM', 'tokens'), completion({ tokens: value }))).to.equal(null)
    })
  }

  it('leaves an event out of the sum when the dimension is missing', () => {
    expect(measure(meter('SUM', 'tokens'), completion())).to.equal(null)
    expect(measure(meter('SUM', 'constructor'), completion())).to.equal(null)
  })

  it('names members by their text, and leaves out an event without one', () => {
    const member = (user: DimensionValue | null) => measure(meter('UNIQUE', 'user'), completion({ user }))
    expect([member('a'), member('5'), member(5), member(false), member(''), member('007')]).to.deep.equal([
      'a',
      '5',
      '5',
      'false',
      '',
      '007',
    ])
    expect(member(null)).to.equal(null)
    expect(memberHash('a')).to.have.length(16).and.not.to.deep.equal(memberHash('b'))
  })

  const tally = (aggregation: Meter['aggregation'], values: DimensionValue[]) => {
    const tallied = new Tally(aggregation)
    for (const value of values) {
      const share = measure(meter(aggregation, 'tokens'), completion({ tokens: value }))
      if (share !== null) tallied.add(share)
    }
    return tallied
  }

  it('keeps the largest and the smallest, of negative ones too', () => {
    expect([tally('MAX', [-3, '-1.5', 'x', -2]).value, tally('MIN', [4, 2, '2.5']).value]).to.deep.equal(['-1.5', '2'])
    expect([tally('MAX', []).value, tally('MIN', ['x']).value]).to.deep.equal(['0', '0'])
  })

  for (const aggregation of aggregations) {
    it(`adds up the same for ${aggregation} in any order and however it is split`, () => {
      const anyEvents = fc.array(
        fc.oneof(fc.integer({ min: -1e6, max: 1e6 }), fc.double({ min: -1e9, max: 1e9, noNaN: true }), fc.constantFrom('x', '7', 7)),
      )
      const isCounted = aggregation === 'COUNT' ? meter('COUNT') : meter(aggregation, 'tokens')
      const sides = (values: DimensionValue[]) => {
        const { value, members, events } = values.reduce<Tally>((all, tokens) => {
          const share = measure(isCounted, completion({ tokens }))
          if (share !== null) all.add(share)
          return all
        }, new Tally(aggregation))
        return { value, members: [...members].sort(), events }
      }
      fc.assert(
        fc.property(anyEvents, (values) => {
          expect(sides([...values].reverse())).to.deep.equal(sides(values))
        }),
      )
    })
  }
})

describe('what was added up before', () => {
  const d = decimal.fromNumber
  const tallied = (aggregation: Aggregation, ...parts: { value: decimal.Decimal; events: number }[]) => {
    const tally = new Tally(aggregation)
    for (const part of parts) tally.addTallied(part)
    return [tally.value, tally.events]
  }
  const [low, high, nothing] = [
    { value: d(-5), events: 2 },
    { value: d(-3), events: 1 },
    { value: d(99), events: 0 },
  ]

  it('goes on as if all of it had been added here, and nothing of no events', () => {
    expect(tallied('SUM', low, nothing, high)).to.deep.equal(['-8', 3])
    expect(tallied('MAX', low, nothing, high)).to.deep.equal(['-3', 3])
    expect(tallied('MIN', high, nothing, low)).to.deep.equal(['-5', 3])
    expect(tallied('MAX', low)).to.deep.equal(['-5', 2])
    expect(tallied('SUM', nothing)).to.deep.equal(['0', 0])
  })
})
