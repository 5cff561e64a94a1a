import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { type Answer, type RunningSidecar, runSidecar } from '../../../contract/grpc/harness.js'
import { testRedisUrl } from '../../../support/redis.js'
import { Chain, prefix } from './chain.js'
import { eventually } from './harness.js'

/** How long something is away; more take their time. */
const awaySeconds = (process.env.CACHE_OUTAGE_SECONDS ?? '3').split(',').map(Number)

/** A platform, the real consumer, a cache and a sidecar that answers from it: each of the ways between them fails, and no check that could be answered does. */
describe('outages around a persistent cache', function () {
  this.timeout(120_000)

  const chain = new Chain()
  const customers = ['acme', 'globex', 'initech']
  /** Nobody asks for it, so that no reader writes it. */
  const all = [...customers, 'umbrella']
  let sidecar: RunningSidecar

  before(async () => {
    await chain.start(all)
    sidecar = await runSidecar({
      SERVER_API_KEY: chain.door.serverKey,
      API_URL: `http://127.0.0.1:${chain.toApi.port}`,
      REDIS_ENVIRONMENT_PREFIX: prefix,
      REDIS_HOST: '127.0.0.1',
      REDIS_PORT: String(chain.toCache.port),
      REFRESH_AFTER_SECS: '1',
      MAX_STALENESS_SECS: '3',
    })
  })
  after(async () => {
    await sidecar?.stop()
    expect(await chain.stop()).to.deep.equal([])
  })
  afterEach(() => {
    for (const proxy of [chain.toCache, chain.toQueue, chain.toApi]) proxy.mend()
  })

  const agrees = () =>
    eventually(
      () => chain.differences(all),
      (lines) => lines.length === 0,
      20_000,
    )
  /** The consumer has caught up with what is committed by now. */
  const isCaughtUp = async () => {
    const now = Date.now()
    await eventually(
      () => chain.heartbeat(),
      (heartbeat) => heartbeat >= now,
      20_000,
    )
  }
  const check = (id: string): Promise<Answer> => sidecar.call('GetMeteredEntitlement', { customer_id: id, feature_id: 'api-calls' })
  const limitOf = async (id: string): Promise<number | null> => (await check(id)).entitlement?.usage_limit ?? null
  const truthOf = async (id: string): Promise<number | null> => {
    const { entitlements } = await chain.door.app.entitlements.state(chain.door.environmentId, id, null)
    return Number(entitlements.find(({ feature }) => feature.refId === 'api-calls')?.usageLimit ?? null)
  }
  /** Asks for all, again and again, while `work` is under way; none is answered by a fallback, nor late. */
  async function whileChecked(work: () => Promise<unknown>): Promise<number> {
    let isDone = false
    let checks = 0
    const working = work().finally(() => {
      isDone = true
    })
    while (!isDone) {
      for (const id of customers) {
        const began = performance.now()
        expect((await check(id)).is_fallback, `${id}, check ${checks}`).to.equal(false)
        expect(performance.now() - began).to.be.below(3_000)
        checks++
      }
      await sleep(10)
    }
    await working
    return checks
  }

  it('an empty cache is filled with every customer, whom nothing has changed since, and its heartbeat shows what it knows', async () => {
    expect(await chain.cache.dbsize()).to.equal(0)
    await chain.startConsumer()
    await agrees()
    await isCaughtUp()
    const { persistentCacheWarming: warming } = await chain.ask<{
      persistentCacheWarming: { told: number; total: number; endedAt: string }
    }>('{ persistentCacheWarming { told total endedAt } }')
    expect(warming).to.include({ told: 4, total: 4 })
    expect(warming.endedAt).to.be.a('string')
    chain.toApi.cut()
    for (const id of customers) expect(await limitOf(id), id).to.equal(await truthOf(id))
  })

  for (const seconds of awaySeconds)
    it(`the cache is away for ${seconds} s: the API answers, and afterwards the cache holds what came meanwhile`, async () => {
      const checks = await whileChecked(async () => {
        chain.toCache.cut()
        await chain.subscribe('acme', 'team')
        await sleep(seconds * 1_000)
        expect(await limitOf('acme')).to.equal(await truthOf('acme'))
        chain.toCache.mend()
        await agrees()
      })
      expect(checks).to.be.above(20)
      await isCaughtUp()
    })

  it('the cache takes 2 s for each answer: the API answers', async () => {
    await whileChecked(async () => {
      chain.toCache.delay(2_000)
      await sleep(2_500)
      chain.toCache.mend()
    })
    await agrees()
  })

  it('the queue is away: what is in the cache is too old after the time given, and the API answers with what has changed', async () => {
    await isCaughtUp()
    const before = await limitOf('globex')
    await whileChecked(async () => {
      chain.toQueue.cut()
      await chain.subscribe('globex', 'team')
      await eventually(
        () => limitOf('globex'),
        (limit) => limit !== before,
        6_000,
      )
      expect(await limitOf('globex')).to.equal(await truthOf('globex'))
      chain.toQueue.mend()
      await agrees()
    })
    await isCaughtUp()
  })

  it('the API is away: the cache answers, as long as its heart beats; without both, what is remembered', async () => {
    await isCaughtUp()
    chain.toApi.cut()
    await whileChecked(() => sleep(1_000))
    chain.toApi.mend()
    chain.toCache.cut()
    await whileChecked(() => sleep(500))
    chain.toApi.cut()
    await whileChecked(() => sleep(1_000))
  })

  it('the queue and the API are away: the cache answers, as long as its heart has beaten lately, and afterwards holds what came meanwhile', async () => {
    await isCaughtUp()
    chain.toQueue.cut()
    chain.toApi.cut()
    await whileChecked(async () => {
      await chain.subscribe('umbrella', 'team')
      await sleep(1_000)
    })
    chain.toApi.mend()
    chain.toQueue.mend()
    await agrees()
    await isCaughtUp()
  })

  it('the cache comes back empty: each check is answered, and it is filled again', async () => {
    await isCaughtUp()
    await chain.sql(`UPDATE cache_warming SET began_at = began_at - interval '2 minutes'`)
    await whileChecked(async () => {
      await chain.server.lose()
      await chain.server.start()
      await agrees()
    })
    expect(await chain.cache.exists(`${prefix}:filled`)).to.equal(1)
  })

  it('the platform’s Redis loses what waits for the cache: everything is read anew', async () => {
    chain.toQueue.cut()
    await chain.subscribe('initech', 'team')
    await chain.tick()
    const redis = new Redis(testRedisUrl())
    const lost = await redis.keys(`${chain.door.queuePrefix}:environment-${chain.door.environmentId}:*`)
    if (lost.length > 0) await redis.del(lost)
    redis.disconnect()
    await chain.sql(`UPDATE environment_feed SET vouched_by = 'the Redis that was lost'`)
    chain.toQueue.mend()
    await agrees()
    await eventually(
      async () => Number(await chain.cache.get(`${prefix}:epoch`)),
      (epoch) => epoch > Date.now() - 60_000,
    )
  })
})
