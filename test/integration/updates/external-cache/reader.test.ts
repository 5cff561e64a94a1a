import { expect } from 'chai'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { ExternalCacheReader } from '../../../../src/reader/cache/redis.js'
import { heldAt, RightsPool } from '../../../../src/reader/states/rights.js'
import { ExternalCacheWriter } from '../../../../src/updates/external-cache/writer.js'
import { boolean, metered, state, usage } from '../../../contract/cache/held.js'
import { testRedisPrefix, testRedisUrl } from '../../../support/redis.js'

const features = ['calls', 'seats', 'sso']
const step = fc.oneof(
  fc.record({ type: fc.constant('access' as const), featureIds: fc.subarray(features) }),
  fc.record({ type: fc.constant('usage' as const), featureId: fc.constantFrom('calls', 'seats'), value: fc.nat(9) }),
  fc.record({ type: fc.constant('purge' as const) }),
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('read' as const), featureId: fc.constantFrom('calls', 'seats', 'sso', undefined) }),
  },
)
const owner = { customerId: 'acme', resourceId: null }

describe('reader of the external cache', () => {
  let redis: Redis

  before(() => {
    redis = new Redis(testRedisUrl())
  })
  after(() => redis.disconnect())

  /** What is held of the features that were asked for. */
  async function seen(reader: ExternalCacheReader, featureId: string | undefined) {
    const { state: held } = await reader.read(owner, featureId)
    if (held === null) return null
    return held.rights.list
      .map((right, position) => ({ refId: right.feature.refId, usage: heldAt(held, position).usage }))
      .filter(({ refId }) => featureId === undefined || refId === featureId)
  }

  it('answers what one does that remembers nothing, of the feature that is asked for and of all', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), async (steps) => {
        const prefix = testRedisPrefix()
        const cache = new ExternalCacheWriter({ redis, prefix, ttlSeconds: 60 })
        const open = () => new ExternalCacheReader({ redis, prefix, pool: new RightsPool() })
        const reader = open()
        for (const [index, one] of steps.entries()) {
          const version = index + 1
          if (one.type === 'access')
            await cache.writeState(
              state(
                version,
                one.featureIds.map((refId) => (refId === 'sso' ? boolean(refId) : metered(refId, usage(0, version)))),
              ),
            )
          else if (one.type === 'usage') await cache.writeUsage(owner, { featureId: one.featureId, usage: usage(one.value, version) })
          else if (one.type === 'purge') await cache.purge(owner, version)
          else expect(await seen(reader, one.featureId)).to.deep.equal(await seen(open(), one.featureId))
        }
        const keys = await redis.keys(`${prefix}:*`)
        if (keys.length > 0) await redis.del(keys)
      }),
      { numRuns: 100 },
    )
  }).timeout(60_000)

  it('answers again about each feature once a usage that was lost is there, whichever it asks for', async () => {
    const prefix = testRedisPrefix()
    const cache = new ExternalCacheWriter({ redis, prefix, ttlSeconds: 60 })
    const reader = new ExternalCacheReader({ redis, prefix, pool: new RightsPool() })
    const held = state(5, [boolean('sso'), metered('calls', usage(3, 5)), metered('seats', usage(1, 5))])
    await cache.writeState(held)
    // As Redis does when its memory is full.
    await redis.del(`${prefix}:c_acme:f_calls`, `${prefix}:c_acme:f_calls#timestamp`)
    for (const featureId of ['sso', 'seats', 'calls']) expect(await seen(reader, featureId), featureId).to.equal(null)
    await cache.writeState(held)
    for (const featureId of ['sso', 'seats', 'calls']) expect(await seen(reader, featureId), featureId).to.have.length(1)
    await redis.del(await redis.keys(`${prefix}:*`))
  })
})
