import { expect } from 'chai'
import { Redis } from 'ioredis'
import { createClient, type TollgateClient } from '../../../../src/sdk/server/index.js'
import { toWritableState } from '../../../../src/updates/external-cache/state-json.js'
import { ExternalCacheWriter } from '../../../../src/updates/external-cache/writer.js'
import { at, FakeApi, holding, metered } from '../../../contract/grpc/fake-api.js'
import { until } from '../../../contract/grpc/harness.js'
import { testRedisPrefix, testRedisUrl } from '../../../support/redis.js'
import { TcpProxy } from '../../../support/tcp-proxy.js'

describe('server SDK with an external cache', () => {
  let api: FakeApi
  let redis: Redis
  let prefix: string
  let proxy: TcpProxy
  let client: TollgateClient

  before(() => {
    redis = new Redis(testRedisUrl())
  })
  after(() => redis.disconnect())
  beforeEach(async () => {
    api = await FakeApi.start()
    proxy = await TcpProxy.start(testRedisUrl())
    prefix = testRedisPrefix()
    const db = Number(new URL(testRedisUrl()).pathname.slice(1) || '0')
    client = await createClient({
      apiKey: api.acceptedKey,
      apiUrl: api.url,
      edgeEnabled: false,
      redis: { environmentPrefix: prefix, host: '127.0.0.1', port: proxy.port, db, ttl: 60 },
    })
  })
  afterEach(async () => {
    await client.close()
    await api.stop()
    await proxy.stop()
    const keys = await redis.keys(`${prefix}:*`)
    if (keys.length > 0) await redis.del(keys)
  })

  const version = (n: number, currentUsage: number) =>
    holding(metered('api-calls', { currentUsage, entitlementUpdatedAt: at(n), usageUpdatedAt: at(n) }))
  const write = (n: number, currentUsage: number) =>
    new ExternalCacheWriter({ redis, prefix, ttlSeconds: 60 }).writeState(
      toWritableState({ customerId: 'c', resourceId: null }, 1, version(n, currentUsage)),
    )
  const used = async (options: object = {}) =>
    (await client.getMeteredEntitlement({ customerId: 'c', featureId: 'api-calls', ...options })).entitlement?.currentUsage

  it('answers what it holds, and asks nobody', async () => {
    await write(1, 3)
    expect(await used()).to.equal(3)
    await write(2, 4)
    expect(await used()).to.equal(4)
    expect(api.operations).to.deep.equal([])
    expect(client.figures().lookups.hit).to.equal(2)
    expect(api.listeners).to.equal(0)
  })

  it('reads from the API what it does not hold, and keeps that there', async () => {
    api.states.set('c', version(1, 5))
    expect(await used()).to.equal(5)
    await until(async () => (await redis.exists(`${prefix}:c_c`)) === 1, 'it is kept')
  })

  it('answers who wants to know how old an answer is from the cache, when its heartbeat says that, else from the API', async () => {
    await write(1, 3)
    api.states.set('c', version(2, 6))
    const beat = (ageMs: number) => redis.set(`${prefix}:heartbeat`, String(Date.now() - ageMs))
    await beat(500)
    expect(await used({ maxStalenessMs: 5_000 })).to.equal(3)
    expect(api.operations).to.deep.equal([])
    await beat(60_000)
    expect(await used()).to.equal(3)
    expect(await used({ maxStalenessMs: 5_000 })).to.equal(6)
    expect(await used({ consistency: 'strong' })).to.equal(6)
  })

  it('does not know how old a cache without a heartbeat is', async () => {
    await write(1, 3)
    api.states.set('c', version(2, 6))
    expect(await used()).to.equal(3)
    expect(await used({ maxStalenessMs: 5_000 })).to.equal(6)
  })

  it('answers while the cache is away, and takes it again when it is back', async () => {
    await write(1, 3)
    api.states.set('c', version(1, 3))
    expect(await used()).to.equal(3)
    proxy.cut()
    for (let n = 0; n < 5; n++) expect(await used()).to.equal(3)
    expect(client.figures().externalCacheFailures).to.be.above(0)
    proxy.mend()
    await write(2, 9)
    await until(async () => (await used()) === 9, 'the cache answers again', 8_000)
  }).timeout(15_000)
})
