import { expect } from 'chai'
import { Redis } from 'ioredis'
import { toWritableState } from '../../../src/updates/external-cache/state-json.js'
import { ExternalCacheWriter } from '../../../src/updates/external-cache/writer.js'
import { at, boolean, FakeApi, holding, metered } from '../../contract/grpc/fake-api.js'
import { type Answer, type RunningSidecar, runSidecar, until } from '../../contract/grpc/harness.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'
import { TcpProxy } from '../../support/tcp-proxy.js'

/** What sidecars with an external cache have in common with each other and with the persistent-cache-service. */
describe('sidecar with an external cache', () => {
  let api: FakeApi
  let redis: Redis
  let prefix: string
  let proxy: TcpProxy
  const sidecars: RunningSidecar[] = []

  before(async () => {
    redis = new Redis(testRedisUrl())
  })
  after(() => redis.disconnect())
  beforeEach(async () => {
    api = await FakeApi.start()
    proxy = await TcpProxy.start(testRedisUrl())
    prefix = testRedisPrefix()
  })
  afterEach(async () => {
    for (const sidecar of sidecars.splice(0)) await sidecar.stop()
    await api.stop()
    await proxy.stop()
    const keys = await redis.keys(`${prefix}:*`)
    if (keys.length > 0) await redis.del(keys)
  })

  const start = async (env: Record<string, string> = {}): Promise<RunningSidecar> => {
    const sidecar = await runSidecar({
      ...env,
      SERVER_API_KEY: api.acceptedKey,
      API_URL: api.url,
      REDIS_ENVIRONMENT_PREFIX: prefix,
      REDIS_HOST: '127.0.0.1',
      REDIS_PORT: String(proxy.port),
      REDIS_DB: new URL(testRedisUrl()).pathname.slice(1) || '0',
    })
    sidecars.push(sidecar)
    return sidecar
  }
  const check = (sidecar: RunningSidecar, customerId = 'c', resourceId?: string): Promise<Answer> =>
    sidecar.call('GetMeteredEntitlement', { customer_id: customerId, resource_id: resourceId, feature_id: 'api-calls' })
  const usageOf = async (sidecar: RunningSidecar, customerId = 'c', resourceId?: string): Promise<number> =>
    (await check(sidecar, customerId, resourceId)).entitlement?.current_usage ?? 0
  const write = (held: ReturnType<typeof holding>, resourceId: string | null = null) =>
    new ExternalCacheWriter({ redis, prefix, ttlSeconds: 60 }).writeState(toWritableState({ customerId: 'c', resourceId }, 1, held))
  const version = (n: number, currentUsage: number) =>
    metered('api-calls', { currentUsage, entitlementUpdatedAt: at(n), usageUpdatedAt: at(n) })

  it('shares what one has read from the API with the others, and opens no real-time connection', async () => {
    const [one, other] = [await start(), await start()]
    api.states.set('c', holding(version(1, 3)))
    expect(await usageOf(one)).to.equal(3)
    await until(async () => (await redis.exists(`${prefix}:c_c`)) === 1, 'the answer is in the cache')
    expect(await usageOf(other)).to.equal(3)
    expect(api.operations).to.have.length(1)
    expect(api.listeners).to.equal(0)
  })

  it('answers what the persistent-cache-service wrote last', async () => {
    const sidecar = await start()
    await write(holding(version(1, 1)))
    expect(await usageOf(sidecar)).to.equal(1)
    await write(holding(version(2, 2)))
    expect(await usageOf(sidecar)).to.equal(2)
    await write(holding(boolean('sso', { entitlementUpdatedAt: at(3) })))
    expect((await check(sidecar)).access_denied_reason).to.equal(7)
    expect(api.operations).to.have.length(0)
  })

  it('survives a restart', async () => {
    const first = await start()
    api.states.set('c', holding(version(1, 3)))
    await check(first)
    await until(async () => (await redis.exists(`${prefix}:c_c`)) === 1, 'the answer is in the cache')
    await sidecars.pop()!.stop()
    api.behaviour = 'breaks'
    expect(await check(await start())).to.deep.include({ has_access: true, is_fallback: false })
  })

  it('does not let an old answer of the API replace what is newer in the cache', async () => {
    const sidecar = await start()
    api.states.set('c', holding(version(1, 1)))
    await write(holding(version(5, 5)))
    await sidecar.call('ReloadEntitlements', { customer_id: 'c' })
    expect(await usageOf(sidecar)).to.equal(5)
  })

  it('shows a reported usage to every sidecar as soon as it is acknowledged', async () => {
    const [one, other] = [await start(), await start()]
    await write(holding(version(1, 1)))
    await one.call('ReportUsage', { customer_id: 'c', feature_id: 'api-calls', value: 9 })
    expect([await usageOf(one), await usageOf(other)]).to.deep.equal([9, 9])
  })

  it("takes a resource's entry that is older than the customer's own for a miss", async () => {
    const sidecar = await start()
    api.states.set('c/r', holding(version(6, 6)))
    await write(holding(version(1, 1)), 'r')
    await write(holding(version(5, 5)))
    expect(await usageOf(sidecar, 'c', 'r')).to.equal(6)
  })

  it('takes a metered feature without its usage for a miss', async () => {
    const sidecar = await start()
    api.states.set('c', holding(version(2, 2)))
    await write(holding(version(1, 1)))
    await redis.del(`${prefix}:c_c:f_api-calls`)
    expect(await usageOf(sidecar)).to.equal(2)
  })

  it('asks the API once for an unknown customer, and answers the provisioned one from the cache at once', async () => {
    const sidecar = await start()
    for (let n = 0; n < 5; n++) expect((await check(sidecar)).access_denied_reason).to.equal(3)
    expect(api.operations).to.have.length(1)
    await write(holding(version(1, 1)))
    expect((await check(sidecar)).has_access).to.equal(true)
  })

  it('answers 0 past the usage period, and asks the API for the new one', async () => {
    const sidecar = await start()
    const past = { usagePeriodEnd: '2026-01-02T00:00:00.000Z' }
    await write(holding(metered('api-calls', { currentUsage: 10, ...past })))
    api.states.set('c', holding(version(2, 4)))
    expect(await usageOf(sidecar)).to.equal(0)
    await until(async () => (await usageOf(sidecar)) === 4, 'the new period is in the cache')
    expect(api.operations).to.have.length(1)
  })

  it('takes what it cannot read for a miss of that key, and goes on reading all others', async () => {
    const sidecar = await start()
    await write(holding(version(1, 1)))
    const entity = (await redis.get(`${prefix}:c_c`))!
    const put = (key: string, right: string | RegExp, wrong: string) => {
      expect(entity).to.match(new RegExp(right))
      return redis.mset(key, entity.replace(right, wrong), `${key}#timestamp`, '5')
    }
    const unreadable: Record<string, (key: string) => Promise<unknown>> = {
      'no JSON': (key) => redis.mset(key, '{', `${key}#timestamp`, '5'),
      nothing: (key) => redis.mset(key, 'null', `${key}#timestamp`, '5'),
      'an entry of another shape': (key) => redis.mset(key, '{"api-calls":7}', `${key}#timestamp`, '5'),
      'a name that is no text': (key) => put(key, '"id":"api-calls"', '"id":{}'),
      'a limit that is no number': (key) => put(key, '"usageLimit":10', '"usageLimit":"10"'),
      'values that are no list': (key) => put(key, '"enumValues":null', '"enumValues":7'),
      'units that are no text': (key) => put(key, '"units":"call"', '"units":{}'),
      'an anchor beyond all time': (key) => put(key, /"usagePeriodAnchor":\d+/, '"usagePeriodAnchor":1e300'),
      'a period beyond all time': async (key) => [
        await redis.mset(key, entity, `${key}#timestamp`, '1', `${key}:f_api-calls#timestamp`, '1'),
        await redis.set(`${key}:f_api-calls`, '{"currentUsage":1,"usagePeriodStart":0,"usagePeriodEnd":1e300}'),
      ],
      'a version beyond all time': (key) => redis.mset(key, entity, `${key}#timestamp`, '1e300'),
      'a list': (key) => redis.rpush(key, 'x'),
      'a list for a timestamp': async (key) => [await redis.set(key, entity), await redis.rpush(`${key}#timestamp`, 'x')],
      'a version that is none': (key) =>
        redis.mset(key, entity, `${key}#timestamp`, 'x', `${key}:f_api-calls`, '{}', `${key}:f_api-calls#timestamp`, '1'),
      'a usage that is none': (key) =>
        redis.mset(key, entity, `${key}#timestamp`, '1', `${key}:f_api-calls`, '7', `${key}:f_api-calls#timestamp`, '1'),
      'metadata that is none': (key) => redis.mset(key, '{}', `${key}#timestamp`, '1', `${key}:metadata`, '{'),
    }
    for (const [what, put] of Object.entries(unreadable)) {
      const customerId = `hostile-${what.replaceAll(' ', '-')}`
      await put(`${prefix}:c_${customerId}`)
      api.states.set(customerId, holding(version(2, 7)))
      expect(await usageOf(sidecar, customerId), what).to.equal(7)
    }
    expect(await usageOf(sidecar)).to.equal(1)
    expect(await sidecar.metric('sidecar_external_cache_failures_total')).to.equal(0)
  })

  it('is written over where a version is none, so that it is right again with the next change', async () => {
    const sidecar = await start()
    const key = `${prefix}:c_c`
    const wrong: ((of: string) => Promise<unknown>)[] = [
      (of) => redis.set(of, 'inf'),
      (of) => redis.set(of, 'nan'),
      (of) => redis.set(of, '1e300'),
      (of) => redis.rpush(of, 'x'),
    ]
    for (const [index, put] of wrong.entries())
      for (const of of [key, `${key}:f_api-calls`, `${prefix}:epoch`]) {
        const timestamp = of.endsWith('epoch') ? of : `${of}#timestamp`
        await redis.del(timestamp)
        await put(timestamp)
        await write(holding(version(index + 1, index + 1)))
        await until(async () => (await usageOf(sidecar)) === index + 1, `${index} ${of} is written over`, 8_000)
      }
  })

  describe('with a bound on age', () => {
    const bound = { REFRESH_AFTER_SECS: '10', MAX_STALENESS_SECS: '20' }
    const beat = (ageMs: number) => redis.set(`${prefix}:heartbeat`, String(Date.now() - ageMs))

    it('answers from the cache while the consumer of its changes has caught up, however long nothing has changed', async () => {
      const sidecar = await start(bound)
      await write(holding(version(1, 1)))
      await beat(1_000)
      expect(await usageOf(sidecar)).to.equal(1)
      await beat(15_000)
      expect(await usageOf(sidecar)).to.equal(1)
      expect(api.operations).to.have.length(0)
    })

    it('asks the API when it has not, and falls back when nobody answers', async () => {
      const sidecar = await start({ ...bound, ENTITLEMENTS_FALLBACK: '{"api-calls":{"hasAccess":true,"usageLimit":100}}' })
      await write(holding(version(9, 1)))
      api.states.set('c', holding(version(2, 2)))
      for (const [title, put] of [
        ['too old', () => beat(21_000)],
        ['none', () => redis.del(`${prefix}:heartbeat`)],
        ['no time', () => redis.set(`${prefix}:heartbeat`, 'soon')],
      ] as const) {
        await put()
        expect(await usageOf(sidecar), title).to.equal(2)
      }
      expect(api.operations, 'what was read a moment ago is remembered').to.have.length(1)
      api.behaviour = 'breaks'
      await write(holding(version(9, 1)))
      await beat(21_000)
      expect(await check(sidecar, 'never-read')).to.include({ is_fallback: true, has_access: true })
      await beat(0)
      expect(await check(sidecar)).to.include({ is_fallback: false })
    })
  })

  describe('without its Redis', () => {
    it('asks the API, remembers its answers, and comes back by itself', async () => {
      const sidecar = await start()
      await write(holding(version(1, 1)))
      expect(await usageOf(sidecar)).to.equal(1)
      proxy.cut()
      api.states.set('c', holding(version(2, 2)))
      await until(async () => (await usageOf(sidecar)) === 2, 'the API answers')
      const asked = api.operations.length
      for (let n = 0; n < 5; n++) await check(sidecar)
      expect(api.operations).to.have.length(asked)
      expect(await sidecar.metric('sidecar_external_cache_failures_total')).to.be.at.least(1)
      await write(holding(version(7, 7)))
      proxy.mend()
      await until(async () => (await usageOf(sidecar)) === 7, 'the cache answers again', 6_000)
    }).timeout(20_000)

    it('waits a moment for one that hangs, then not at all', async () => {
      const sidecar = await start()
      api.states.set('c', holding(version(1, 1)))
      await check(sidecar)
      proxy.freeze()
      const began = Date.now()
      for (let n = 0; n < 20; n++) expect((await check(sidecar)).has_access).to.equal(true)
      expect(Date.now() - began).to.be.below(1_500)
    })

    it('starts, and acknowledges usage', async () => {
      proxy.cut()
      const sidecar = await start()
      api.states.set('c', holding(version(1, 1)))
      expect(await usageOf(sidecar)).to.equal(1)
      const reported = await sidecar.call('ReportUsage', { customer_id: 'c', feature_id: 'api-calls', value: 9 })
      expect(reported.measurement_id).to.equal('measurement-1')
    })
  })
})
