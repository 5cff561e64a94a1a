/** Reports of usage, valid and not, as clients send them. */
import fc from 'fast-check'

const text = fc.oneof(
  { weight: 12, arbitrary: fc.string({ minLength: 1 }) },
  fc.constantFrom('', null, undefined, 3, true, ['a'], { a: 1 }),
)
const number = fc.oneof(
  { weight: 12, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  fc.integer(),
  fc.constantFrom(null, undefined, '3', true, 2 ** 53, [1]),
)
const time = fc.constantFrom('2026-05-01T00:00:00.000Z', '2026-05-01T02:00:00+02:00', null, undefined, '2026-05-01', 1_777_593_600_000, {})
const dimensions = fc.oneof(
  fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)), { maxKeys: 3 }),
  fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 }),
  fc.constantFrom(null, undefined, 'a', 1, ['a']),
)
const behavior = fc.oneof({ weight: 4, arbitrary: fc.constantFrom('DELTA', 'SET', null, undefined) }, fc.constantFrom('OTHER', 1))
const environmentId = fc.oneof({ weight: 5, arbitrary: fc.constantFrom('test', null, undefined) }, fc.constantFrom('other', 7))
const mostly = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof({ weight: 12, arbitrary }, fc.constantFrom(null, undefined, 3, 'a', []))

const reportFields = {
  customerId: text,
  featureId: text,
  value: number,
  resourceId: text,
  dimensions,
  createdAt: time,
  updateBehavior: behavior,
  idempotencyKey: text,
}
const stranger = fc.oneof({ weight: 12, arbitrary: fc.constant(undefined) }, fc.constant(1))
const requiredKeys = ['customerId', 'featureId', 'value'] as const
const usage = fc.record({ ...reportFields, environmentId, stranger }, { requiredKeys: [...requiredKeys] })
const item = fc.record({ ...reportFields, stranger }, { requiredKeys: [...requiredKeys] })
const event = fc.record(
  { customerId: text, eventName: text, idempotencyKey: text, resourceId: text, dimensions, timestamp: time, stranger },
  { requiredKeys: ['customerId', 'eventName', 'idempotencyKey'] },
)
const listOf = <T>(arbitrary: fc.Arbitrary<T>) => mostly(fc.array(mostly(arbitrary), { maxLength: 3 }))

/** The mutations that report usage: their argument, its type, and inputs for it. */
export const reports = {
  reportUsage: { argument: 'input', type: 'ReportUsageInput', input: mostly(usage) },
  createUsageMeasurement: { argument: 'usageMeasurement', type: 'UsageMeasurementCreateInput', input: mostly(usage) },
  reportUsageBulk: {
    argument: 'input',
    type: 'ReportUsageBulkInput',
    input: mostly(fc.record({ environmentId, usages: listOf(item) }, { requiredKeys: ['usages'] })),
  },
  reportEvent: {
    argument: 'events',
    type: 'UsageEventsReportInput',
    input: mostly(fc.record({ environmentId, usageEvents: listOf(event) }, { requiredKeys: ['usageEvents'] })),
  },
} as const
