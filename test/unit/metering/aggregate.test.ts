import { expect } from 'chai'
import fc from 'fast-check'
import * as decimal from '../../../src/kernel/decimal.js'
import { measure, supportedAggregations } from '../../../src/metering/aggregate.js'
import { aggregations, type DimensionValue, type Meter } from '../../../src/metering/meter.js'

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

  it('measures exactly the supported aggregations', () => {
    for (const aggregation of aggregations) {
      const asked = () => measure(meter(aggregation, 'tokens'), completion({ tokens: 2 }))
      if ((supportedAggregations as readonly string[]).includes(aggregation)) expect(asked()).to.be.a('string')
      else expect(asked).to.throw(aggregation)
    }
  })

  it('gives the same usage in one run, in two runs and in any order', () => {
    const anyEvents = fc.array(
      fc.oneof(fc.integer({ min: -1e6, max: 1e6 }), fc.double({ min: -1e9, max: 1e9, noNaN: true }), fc.constant('x')),
    )
    const usage = (tokens: DimensionValue[]) =>
      tokens.reduce<decimal.Decimal>(
        (sum, value) => decimal.add(sum, measure(meter('SUM', 'tokens'), completion({ tokens: value })) ?? decimal.zero),
        decimal.zero,
      )
    fc.assert(
      fc.property(anyEvents, fc.nat(), (events, cut) => {
        const at = events.length === 0 ? 0 : cut % events.length
        expect(decimal.add(usage(events.slice(0, at)), usage(events.slice(at)))).to.equal(usage(events))
        expect(usage([...events].reverse())).to.equal(usage(events))
      }),
    )
  })
})
