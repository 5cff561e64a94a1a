import { expect } from 'chai'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { toWritableState } from '../../src/updates/external-cache/state-json.js'
import { ExternalCacheWriter } from '../../src/updates/external-cache/writer.js'
import { boolean, enumerated, FakeApi, holding, metered, numeric } from '../contract/grpc/fake-api.js'
import { type RunningSidecar, runSidecar } from '../contract/grpc/harness.js'
import { testRedisPrefix, testRedisUrl } from '../support/redis.js'
import { holds, timeoutOf } from './fuzz.js'
import { json, nearly, nearlyBytes, text, written } from './values.js'
import { expectNothingInternal, expectQuiet, watchedLog } from './watch.js'

/** A sidecar may say that a write was refused, and a busy machine may be too slow for it; not that what it read is a fault. */
const expected = /external cache refuses|timed out|external cache answers again/

/** What may stand under a key: bytes, or a value of another kind. */
type Content = { bytes: Buffer } | { kind: 'list' | 'set' | 'hash' | 'none' }

describe('an external cache that anybody writes to', () => {
  const { log, lines } = watchedLog('warn')
  const prefix = testRedisPrefix()
  const held = holding(metered('api-calls', { currentUsage: 3 }), boolean('sso'), numeric('seats', 5), enumerated('regions', ['eu']))
  let api: FakeApi
  let redis: Redis
  let sidecar: RunningSidecar
  let count = 0

  before(async () => {
    redis = new Redis(testRedisUrl())
    api = await FakeApi.start()
    sidecar = await runSidecar(
      {
        SERVER_API_KEY: api.acceptedKey,
        API_URL: api.url,
        REDIS_ENVIRONMENT_PREFIX: prefix,
        REDIS_HOST: '127.0.0.1',
        REDIS_PORT: new URL(testRedisUrl()).port,
        REDIS_DB: new URL(testRedisUrl()).pathname.slice(1) || '0',
      },
      log,
    )
  })
  after(async () => {
    await sidecar.stop()
    await api.stop()
    const keys = await redis.keys(`${prefix}:*`)
    if (keys.length > 0) await redis.del(keys)
    redis.disconnect()
  })

  const writer = () => new ExternalCacheWriter({ redis, prefix, ttlSeconds: 60 })

  /** What is kept of a customer who holds all kinds of features, by the end of its keys. */
  async function samples(): Promise<Map<string, string>> {
    await writer().writeState(toWritableState({ customerId: 'sample', resourceId: null }, 1, held))
    const keys = await redis.keys(`${prefix}:c_sample*`)
    const values = await redis.mget(keys)
    return new Map(keys.map((key, index) => [key.slice(`${prefix}:c_sample`.length), values[index]!]))
  }

  async function put(key: string, content: Content): Promise<void> {
    await redis.del(key)
    if ('bytes' in content) await redis.set(key, content.bytes)
    else if (content.kind === 'list') await redis.rpush(key, 'x')
    else if (content.kind === 'set') await redis.sadd(key, 'x')
    else if (content.kind === 'hash') await redis.hset(key, 'a', 'b')
  }

  const anything = (value: string): fc.Arbitrary<Content> => {
    const parsed = JSON.parse(value) as unknown
    return fc.oneof(
      { arbitrary: fc.oneof(nearly([parsed]), json).map((changed) => ({ bytes: Buffer.from(written(changed)) })), weight: 8 },
      { arbitrary: nearlyBytes(fc.constant(Buffer.from(value))).map((bytes) => ({ bytes })), weight: 2 },
      { arbitrary: text.map((odd) => ({ bytes: Buffer.from(odd) })), weight: 1 },
      { arbitrary: fc.constantFrom<'list' | 'set' | 'hash' | 'none'>('list', 'set', 'hash', 'none').map((kind) => ({ kind })), weight: 1 },
    )
  }

  it('is answered past by a sidecar, which goes on reading what is right', async () => {
    const kept = await samples()
    const suffixes = [...kept.keys()].sort()
    expect(suffixes.length).to.be.at.least(6)
    const changed = fc
      .constantFrom(...suffixes, '', '')
      .chain((suffix) => anything(kept.get(suffix)!).map((content) => ({ suffix, content })))
    await writer().writeState(toWritableState({ customerId: 'bystander', resourceId: null }, 1, held))
    api.states.set('bystander', held)
    await holds(25, fc.array(changed, { minLength: 1, maxLength: 2 }), async (changes) => {
      const customerId = `customer-${count++}`
      const about = JSON.stringify(changes.map(({ suffix, content }) => [suffix, 'bytes' in content ? content.bytes.toString() : content]))
      api.states.set(customerId, held)
      for (const [suffix, value] of kept) await redis.set(`${prefix}:c_${customerId}${suffix}`, value)
      for (const { suffix, content } of changes) await put(`${prefix}:c_${customerId}${suffix}`, content)
      const asked = { customer_id: customerId, feature_id: 'api-calls' }
      const calls: [string, object][] = [
        ['GetMeteredEntitlement', { ...asked, requested_usage: 1 }],
        ['GetEntitlement', { customer_id: customerId, feature_id: 'regions', enum_options: { requested_values: ['eu'] } }],
        ['GetEnumEntitlement', { customer_id: customerId, feature_id: 'regions', requested_values: ['eu'] }],
        ['GetNumericEntitlement', { customer_id: customerId, feature_id: 'seats' }],
        ['GetEntitlements', { customer_id: customerId }],
        ['ReportUsage', { ...asked, value: 9 }],
        ['ReloadEntitlements', { customer_id: customerId }],
        ['GetEntitlements', { customer_id: customerId }],
      ]
      for (const [method, request] of calls)
        await sidecar.call(method, request).catch((error: Error & { code: number }) => {
          expectNothingInternal(error.message, about)
          expect.fail(`${method} is refused with ${error.message} for ${about}`)
        })
      expectQuiet(
        lines.splice(0).filter((line) => !expected.test(line)),
        about,
      )
      const right = await sidecar.call('GetMeteredEntitlement', { customer_id: 'bystander', feature_id: 'api-calls' })
      expect(right.entitlement.current_usage).to.equal(3)
    })
  }).timeout(timeoutOf(25))
})
