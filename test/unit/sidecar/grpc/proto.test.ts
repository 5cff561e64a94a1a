import { createRequire } from 'node:module'
import type { ServiceDefinition } from '@grpc/proto-loader'
import { expect } from 'chai'
import fc from 'fast-check'
import { Problem } from '../../../../src/kernel/problem.js'
import { countFields, maxFields } from '../../../../src/sidecar/grpc/field-count.js'
import { type DescribedMessage, serviceName, serviceNamed, shapeOf, sidecarPackage } from '../../../../src/sidecar/grpc/proto.js'

const loaded = sidecarPackage[serviceName] as ServiceDefinition
const served = serviceNamed(serviceName)

/** A field of bytes, its number below 16. */
function field(number: number, bytes: Buffer): Buffer {
  const length: number[] = []
  for (let rest = bytes.length; rest > 0 || length.length === 0; rest >>>= 7) length.push((rest & 0x7f) | (rest > 127 ? 0x80 : 0))
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes])
}

/** As many empty fields as a request of 4 MiB has. */
const emptyFields = (number: number) => Buffer.alloc(4_000_000, Buffer.from([(number << 3) | 2, 0]))

describe('the request of a sidecar', function () {
  this.timeout(30_000)

  it('is not decoded when it has more fields than it may, wherever they are', () => {
    const hostile: Record<string, [method: string, bytes: Buffer, most: number]> = {
      'requested values': ['GetEnumEntitlement', field(4, emptyFields(1)), maxFields.question],
      'values of a fallback': ['GetEnumEntitlement', field(4, field(2, emptyFields(2))), maxFields.question],
      'values of whatever type': ['GetEntitlement', field(4, emptyFields(3)), maxFields.question],
      'one text again and again': ['ReloadEntitlements', emptyFields(1), maxFields.question],
      'one message again and again': ['GetBooleanEntitlement', emptyFields(4), maxFields.question],
      'what is not known': ['GetEntitlements', emptyFields(15), maxFields.question],
      'dimensions of a report': ['ReportUsage', emptyFields(6), maxFields.usage],
      'dimensions of one of many': ['ReportUsageBulk', field(1, emptyFields(6)), maxFields.usage],
      'dimensions of an event': ['ReportEvents', field(1, emptyFields(5)), maxFields.usage],
      'what a dimension has': ['ReportEvents', field(1, field(5, field(2, emptyFields(1)))), maxFields.usage],
    }
    for (const [what, [method, bytes, most]] of Object.entries(hostile)) {
      const refused = served[method]!.requestDeserialize(bytes)
      expect(refused, what).to.be.instanceOf(Problem)
      expect((refused as Problem).message, what).to.include(`more than ${most} fields`)
    }
  })

  it('is not decoded when its list is too long, whatever comes before it', () => {
    for (const method of ['ReportUsageBulk', 'ReportEvents'])
      for (const before of ['', '0b0c', '8a80808080' + '00ffffff7f00']) {
        const bytes = Buffer.concat([Buffer.from(before, 'hex'), emptyFields(1)])
        expect(served[method]!.requestDeserialize(bytes), `${method} ${before}`).to.be.instanceOf(Problem)
      }
  })

  it('is decoded when it is as large as anybody needs it', () => {
    const dimensions = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`d${index}`, index % 2 ? { string_value: 'v' } : { number_value: index }]),
    )
    const usage = {
      customer_id: 'c',
      resource_id: 'r',
      feature_id: 'f',
      value: -1.5,
      update_behavior: 1,
      dimensions,
      timestamp: { seconds: 253_402_300_799, nanos: 999_999_999 },
      idempotency_key: 'k',
    }
    const bulk = { usages: Array<object>(1_000).fill(usage) }
    const read = served.ReportUsageBulk!.requestDeserialize(loaded.ReportUsageBulk!.requestSerialize(bulk)) as typeof bulk
    expect(read.usages).to.have.length(1_000)
    expect(read.usages[999]).to.deep.include({ ...usage, dimensions: read.usages[0]!['dimensions' as never] })

    const values = Array.from({ length: 1_000 }, (_, index) => `value-${index}`)
    const question = {
      customer_id: 'c',
      feature_id: 'f',
      options: { requested_values: values, fallback: { has_access: true, value: -1, enum_values: values } },
      consistency: 1,
      max_staleness_ms: Number.MAX_SAFE_INTEGER,
    }
    const asked = served.GetEntitlement!.requestDeserialize(loaded.GetEntitlement!.requestSerialize(question))
    expect(asked).to.deep.include(question)
  })

  it('has no fewer fields than its decoder comes upon, whatever the bytes are', () => {
    const { Reader } = createRequire(createRequire(import.meta.url).resolve('@grpc/proto-loader'))('protobufjs') as ProtobufJs
    const { uint32 } = Reader.prototype
    let readings = 0
    Reader.prototype.uint32 = function () {
      readings += 1
      return uint32.call(this)
    }
    const bytes = fc.array(
      fc.oneof(
        {
          weight: 4,
          arbitrary: fc.tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 0, max: 5 })).map(([n, type]) => [(n << 3) | type]),
        },
        { weight: 2, arbitrary: fc.integer({ min: 0, max: 12 }).map((length) => [length]) },
        { weight: 1, arbitrary: fc.integer({ min: 4, max: 10 }).map((length) => [...Array<number>(length).fill(0x80), 0]) },
        { weight: 1, arbitrary: fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 8 }) },
      ),
      { maxLength: 30 },
    )
    let counted = 0
    try {
      for (const { requestType, requestDeserialize } of Object.values(loaded)) {
        const shape = shapeOf(requestType.type as DescribedMessage)
        fc.assert(
          fc.property(bytes, (parts) => {
            const message = Buffer.from(parts.flat())
            let count: number
            try {
              count = countFields(message, shape, 1_000)
            } catch {
              return
            }
            counted += 1
            readings = 0
            try {
              requestDeserialize(message)
            } catch {
              // As far as it came.
            }
            // Of its tag, and of a length or a number.
            expect(readings).to.be.at.most(2 * count)
          }),
          { numRuns: 300 },
        )
      }
    } finally {
      Reader.prototype.uint32 = uint32
    }
    expect(counted).to.be.above(100)
  })
})

interface ProtobufJs {
  Reader: { prototype: { uint32(): number } }
}
