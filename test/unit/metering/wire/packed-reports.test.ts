import { expect } from 'chai'
import fc from 'fast-check'
import { fromText } from '../../../../src/kernel/decimal.js'
import type { ReportItem } from '../../../../src/metering/model/report.js'
import type { ReportAnswer } from '../../../../src/metering/wire/call.js'
import { packAnswer, packCall, unpackAnswer, unpackCall } from '../../../../src/metering/wire/packed-reports.js'

const anyText = fc.constantFrom('a', 'b', '', '0')
const anyValue = fc.integer().map((value) => fromText(String(value)))
const anyTime = fc.integer({ min: 0 })
const anyReport: fc.Arbitrary<ReportItem> = fc.record({
  id: anyText,
  customerId: anyText,
  featureId: anyText,
  value: anyValue,
  behavior: fc.constantFrom('DELTA', 'SET'),
  resourceId: fc.option(anyText),
  timestamp: fc.option(anyTime),
  idempotencyKey: fc.option(anyText),
  dimensions: fc.option(
    fc.dictionary(anyText, fc.oneof(anyText, fc.integer(), fc.boolean(), fc.constant(null)), { noNullPrototype: true }),
  ),
})
const travelled = <T>(value: T) => JSON.parse(JSON.stringify(value)) as T

describe('packed reports', () => {
  it('are unpacked as they were, also after the way as JSON', () => {
    fc.assert(
      fc.property(anyTime, fc.array(anyReport, { maxLength: 5 }), (deadline, items) => {
        expect(unpackCall(travelled(packCall({ deadline, items })))).to.deep.equal({ deadline, items })
      }),
    )
  })

  it('have their answers unpacked as they were, with what the reports say', () => {
    const anyUsage = fc.record({
      id: anyText,
      currentUsage: anyValue,
      periodStart: fc.option(anyTime),
      periodEnd: fc.option(anyTime),
      timestamp: anyTime,
    })
    const anyCounted = fc.array(fc.record({ report: anyReport, usage: anyUsage }), { maxLength: 5 })
    fc.assert(
      fc.property(anyCounted, (counted) => {
        const usages = counted.map(({ report: { customerId, resourceId, featureId }, usage }) => ({
          customerId,
          resourceId,
          featureId,
          ...usage,
        }))
        const reports = counted.map(({ report }) => report)
        expect(unpackAnswer(travelled(packAnswer({ usages })), reports)).to.deep.equal({ usages })
      }),
    )
  })

  it('have a problem for an answer as it is', () => {
    const answer: ReportAnswer = { problem: { code: 'NOT_FOUND', reason: 'CUSTOMER_NOT_FOUND', message: 'none', details: {} } }
    expect(unpackAnswer(travelled(packAnswer(answer)), [])).to.deep.equal(answer)
  })

  it('leave out what most reports do not have', () => {
    const plain = { behavior: 'DELTA', resourceId: null, timestamp: null, idempotencyKey: null, dimensions: null } as const
    const report: ReportItem = { id: 'id', customerId: 'acme', featureId: 'calls', value: fromText('1'), ...plain }
    expect(packCall({ deadline: 1, items: [report] })).to.deep.equal([1, ['id', 'acme', 'calls', '1']])
  })

  it('keep each thing that a report says beyond the usual', () => {
    const usual: ReportItem = {
      id: 'id',
      customerId: 'acme',
      featureId: 'calls',
      value: fromText('1'),
      behavior: 'DELTA',
      resourceId: null,
      timestamp: null,
      idempotencyKey: null,
      dimensions: null,
    }
    const more: Partial<ReportItem>[] = [
      {},
      { behavior: 'SET' },
      { resourceId: 'site' },
      { timestamp: 2 },
      { idempotencyKey: 'key' },
      { dimensions: { region: 'eu' } },
    ]
    for (const one of more)
      expect(unpackCall(packCall({ deadline: 9, items: [{ ...usual, ...one }] })).items).to.deep.equal([{ ...usual, ...one }])
  })
})
