import { loadSync, type ServiceDefinition } from '@grpc/proto-loader'
import { expect } from 'chai'
import fc from 'fast-check'
import { encodeCheckAnswer, encodeFields, toByteString } from '../../../src/sidecar/encoding.js'
import { encodeEntitlement, serviceName } from '../../../src/sidecar/proto.js'

// A zero that is written and one that is left out are the same message.
const definitions = loadSync('service/sidecar/v1/sidecar.proto', { includeDirs: ['proto'], keepCase: true, defaults: true })
const { GetMeteredEntitlement, GetEntitlement, GetEnumEntitlement } = definitions[serviceName] as ServiceDefinition

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
        const entitlement = id === null ? null : { field: 5, bytes: toByteString(encodeEntitlement.metered(message)) }
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

  it('writes the entitlement to the field that is asked for', () => {
    const bytes = toByteString(encodeEntitlement.boolean({ feature: { id: 'f' } }))
    const answer = encodeCheckAnswer({ hasAccess: true, isFallback: false, reason: 0, requestedUsage: 0, entitlement: { field: 4, bytes } })
    expect(GetEntitlement!.responseDeserialize(answer)).to.have.nested.property('boolean.feature.id', 'f')
  })

  it('writes a list of values in their order', () => {
    const values = ['eu', 'é', '']
    const encoded = encodeFields(values.map((value) => ({ field: 4, bytes: toByteString(Buffer.from(value)) })))
    expect(GetEnumEntitlement!.responseDeserialize(encoded)).to.deep.include({ requested_values: values })
  })
})
