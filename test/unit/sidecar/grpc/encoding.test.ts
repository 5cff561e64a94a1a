import { loadSync, type ServiceDefinition } from '@grpc/proto-loader'
import { expect } from 'chai'
import fc from 'fast-check'
import { encodeCheckAnswer, encodeFields, encodeMeteredEntitlement } from '../../../../src/sidecar/grpc/encoding.js'
import { encodeEntitlement, serviceName } from '../../../../src/sidecar/grpc/proto.js'

// A zero that is written and one that is left out are the same message.
const definitions = loadSync('service/sidecar/v1/sidecar.proto', { includeDirs: ['proto'], keepCase: true, defaults: true })
const { GetMeteredEntitlement, GetEntitlement, GetEnumEntitlement } = definitions[serviceName] as ServiceDefinition

function toTimestamp(at: number | null) {
  if (at === null) return undefined
  const seconds = Math.floor(at / 1_000)
  return { seconds: seconds || undefined, nanos: (at - seconds * 1_000) * 1_000_000 || undefined }
}

describe('encoding of check answers', () => {
  it('is what the ordinary encoder writes, for whatever answer', () => {
    const answers = fc.record({
      hasAccess: fc.boolean(),
      isFallback: fc.boolean(),
      reason: fc.integer({ min: 0, max: 14 }),
      requestedUsage: fc.double({ noNaN: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
      // Up to lengths that take three bytes to write.
      id: fc.option(
        fc.oneof(
          fc.string(),
          fc.integer({ min: 0, max: 20_000 }).map((length) => 'é'.repeat(length)),
        ),
      ),
    })
    fc.assert(
      fc.property(answers, ({ id, ...answer }) => {
        const message = { feature: { id }, usage_limit: 12.5 }
        const entitlement = id === null ? null : { field: 5, bytes: encodeEntitlement.metered(message) }
        const expected = GetMeteredEntitlement!.responseSerialize({
          has_access: answer.hasAccess,
          is_fallback: answer.isFallback,
          access_denied_reason: answer.reason === 0 ? undefined : answer.reason,
          requested_usage: answer.requestedUsage,
          entitlement: id === null ? undefined : message,
        })
        expect(GetMeteredEntitlement!.responseDeserialize(encodeCheckAnswer({ ...answer, entitlement }))).to.deep.equal(
          GetMeteredEntitlement!.responseDeserialize(expected),
        )
      }),
    )
  })

  it('makes the same bytes of a metered entitlement as the ordinary encoder, whatever its usage', () => {
    const instant = fc.option(fc.integer({ min: 0, max: 8_640_000_000_000 }))
    const usages = fc.record({
      currentUsage: fc.double({ min: 0, max: 1e15, noNaN: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
      resetPeriod: fc.integer({ min: 0, max: 5 }),
      anchor: instant,
      periodStart: instant,
      periodEnd: instant,
      hasSoftLimit: fc.boolean(),
    })
    const shared = { feature: { id: 'api-calls' }, usage_limit: 10 }
    fc.assert(
      fc.property(usages, ({ hasSoftLimit, ...usage }) => {
        const after = hasSoftLimit ? encodeEntitlement.metered({ has_soft_limit: true }) : new Uint8Array()
        const message = {
          ...shared,
          current_usage: usage.currentUsage || undefined,
          reset_period: usage.resetPeriod || undefined,
          next_reset_date: toTimestamp(usage.periodEnd),
          usage_period_anchor: toTimestamp(usage.anchor),
          usage_period_start: toTimestamp(usage.periodStart),
          usage_period_end: toTimestamp(usage.periodEnd),
          has_soft_limit: hasSoftLimit || undefined,
        }
        const bytes = encodeMeteredEntitlement({ before: encodeEntitlement.metered(shared), after, ...usage })
        expect(bytes.toString('hex')).to.equal(Buffer.from(encodeEntitlement.metered(message)).toString('hex'))
      }),
    )
  })

  it('writes the entitlement to the field that is asked for', () => {
    const bytes = encodeEntitlement.boolean({ feature: { id: 'f' } })
    const answer = encodeCheckAnswer({ hasAccess: true, isFallback: false, reason: 0, requestedUsage: 0, entitlement: { field: 4, bytes } })
    expect(GetEntitlement!.responseDeserialize(answer)).to.have.nested.property('boolean.feature.id', 'f')
  })

  it('writes a list of values in their order', () => {
    const values = ['eu', 'é', '']
    const encoded = encodeFields(values.map((value) => ({ field: 4, bytes: Buffer.from(value) })))
    expect(GetEnumEntitlement!.responseDeserialize(encoded)).to.deep.include({ requested_values: values })
  })
})
