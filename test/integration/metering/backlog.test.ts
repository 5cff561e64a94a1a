import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { Problem } from '../../../src/kernel/problem.js'
import { Children } from '../../../src/local/processes/children.js'
import { Ports } from '../../../src/local/processes/ports.js'
import { startRedis } from '../../../src/local/redis/server.js'
import { Backlog } from '../../../src/metering/intake/backlog.js'
import type { Logger } from '../../../src/platform/logger.js'
import { createMetrics } from '../../../src/platform/metrics.js'
import { createEnvironment, event, eventually, type MeteringBench, openMeteringBench, report, usageOf } from './fixture.js'

const megabyte = 2 ** 20

/** What became of a call, and how long it took. */
interface Outcome {
  code: string
  ms: number
}

describe('back-pressure', () => {
  let bench: MeteringBench
  let environmentId: string

  const open = async (options: Parameters<typeof openMeteringBench>[0]) => {
    counted = 0
    bench = await openMeteringBench({ shards: 1, ...options })
    environmentId = await createEnvironment(bench)
    await bench.app.customers.provision(environmentId, { refId: 'customer', subscription: { planRefId: 'free' } })
  }
  afterEach(async () => expect(await bench.close()).to.deep.equal([]))

  let counted: number
  const send = async (): Promise<Outcome> => {
    const startedAt = performance.now()
    const code = await bench.usage.report(environmentId, [report('customer', 1)]).then(
      () => {
        counted += 1
        return 'counted'
      },
      (error: unknown) => (error instanceof Problem && error.isRetryable ? error.code : String(error)),
    )
    return { code, ms: performance.now() - startedAt }
  }
  /** Acknowledged is counted, and nothing else is. */
  const expectExact = async () => {
    const usage = () => usageOf(bench, environmentId, 'customer', 'calls')
    expect(await eventually(usage, (value) => value === String(counted))).to.equal(String(counted))
  }
  /** Callers that go on, until one is answered so. Waits for none of the others. */
  const sendUntil = async (code: string) => {
    let isAnswered = false
    const call = () => void send().then((outcome) => (isAnswered ||= outcome.code === code))
    const answered = await eventually(
      async () => {
        call()
        await sleep(30)
        return isAnswered
      },
      (yes) => yes,
    )
    expect(answered, code).to.equal(true)
  }
  const refusedFor = async () =>
    (await bench.life.metrics.getSingleMetric('tollgate_usage_refused_for_backlog')!.get()).values
      .filter(({ value }) => value === 1)
      .map(({ labels }) => labels.reason)

  it('of workers that have stopped: refuses quickly once the mark is passed, and takes usage again by itself when they are back', async function () {
    this.timeout(40_000)
    await open({ limits: { maxWaitingJobs: 3, maxRedisBytes: null } })
    // given: nobody works, and callers go on
    const early = Array.from({ length: 50 }, send)
    await sendUntil('RESOURCE_EXHAUSTED')
    const refused = await Promise.all(Array.from({ length: 200 }, send))
    expect(new Set(refused.map(({ code }) => code))).to.deep.equal(new Set(['RESOURCE_EXHAUSTED']))
    expect(Math.max(...refused.map(({ ms }) => ms))).to.be.below(250)
    expect(await refusedFor()).to.deep.equal(['jobs'])
    expect(new Set((await Promise.all(early)).map(({ code }) => code))).to.deep.equal(new Set(['DEADLINE_EXCEEDED']))
    // when: the workers are back
    bench.startIngestion()
    await sendUntil('counted')
    expect(await refusedFor()).to.deep.equal([])
    await expectExact()
  })

  it('of events that nobody counts refuses those of who sent so many, and nobody else', async function () {
    this.timeout(40_000)
    await open({ limits: { maxWaitingJobs: 3, maxRedisBytes: null } })
    bench.startIngestion()
    const quietId = await createEnvironment(bench)
    for (const id of [environmentId, quietId])
      await bench.app.customers.provision(id, { refId: 'holder', subscription: { planRefId: 'free' } })
    let sent = 0
    const store = (id: string) =>
      bench.usage.reportEvents(id, [event('holder', `key-${sent++}`)]).then(
        () => 'stored',
        (error: unknown) => (error as Problem).code,
      )
    // Jobs for which there is nothing to do refuse nobody.
    for (let n = 0; n < 10; n++) await bench.aggregationQueue.add({ v: 1, environmentId, batchId: randomUUID(), stored: null })
    for (let n = 0; n < 3; n++) {
      expect(await store(environmentId)).to.equal('stored')
      await sleep(600)
    }
    expect(await refusedFor()).to.deep.equal([])
    await store(environmentId)
    expect(
      await eventually(
        () => sleep(100).then(() => store(environmentId)),
        (code) => code !== 'stored',
      ),
    ).to.equal('RESOURCE_EXHAUSTED')
    for (let n = 0; n < 3; n++) {
      expect(await store(quietId)).to.equal('stored')
      expect((await send()).code).to.equal('counted')
      await sleep(300)
    }
    expect(await refusedFor()).to.deep.equal(['batches'])
    bench.startAggregation()
    expect(
      await eventually(
        () => sleep(100).then(() => store(environmentId)),
        (code) => code === 'stored',
      ),
    ).to.equal('stored')
    expect(await eventually(refusedFor, (reasons) => reasons.length === 0)).to.deep.equal([])
  })

  describe('of a Redis that fills', () => {
    const children = new Children()
    const ports = new Ports()
    const dataFolder = mkdtempSync(join(tmpdir(), 'tollgate-backlog-'))
    let redisUrl: string
    let redis: Redis

    before(async function () {
      this.timeout(60_000)
      const { signal } = new AbortController()
      const options = { dataFolder, cacheFolder: resolve('.cache'), children, ports, lastPort: undefined, notice: () => undefined, signal }
      redisUrl = (await startRedis(options)).url
      redis = new Redis(redisUrl)
    })
    after(async () => {
      await redis.quit()
      await children.stopAll()
      ports.release()
      rmSync(dataFolder, { recursive: true, force: true })
    })
    beforeEach(async () => {
      await redis.flushall()
      await redis.config('SET', 'maxmemory', '0')
    })

    const used = async () => Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))![1])
    /** Until so much is used, or a little more. */
    const fill = async (bytes: number) => {
      for (let i = 0; (await used()) < bytes; i++) await redis.set(`junk-${i}`, Buffer.alloc(megabyte / 4))
    }
    const empty = async () => redis.del(await redis.keys('junk-*'))

    it('refuses quickly at the mark that was set, and takes usage again when there is room', async function () {
      this.timeout(40_000)
      await open({ redisUrl, limits: { maxWaitingJobs: 1_000, maxRedisBytes: (await used()) + 8 * megabyte } })
      bench.startIngestion()
      expect((await send()).code).to.equal('counted')
      await fill((await used()) + 10 * megabyte)
      await sendUntil('RESOURCE_EXHAUSTED')
      const { code, ms } = await send()
      expect(code).to.equal('RESOURCE_EXHAUSTED')
      expect(ms).to.be.below(250)
      expect(await refusedFor()).to.deep.equal(['memory'])
      await empty()
      await sendUntil('counted')
      await expectExact()
    })

    it('refuses before it is full when no mark was set, so that the workers have room to work it off', async function () {
      this.timeout(40_000)
      await open({ redisUrl })
      bench.startIngestion()
      const limit = (await used()) + 40 * megabyte
      await redis.config('SET', 'maxmemory', String(limit))
      await fill(limit * 0.85)
      await sendUntil('RESOURCE_EXHAUSTED')
      expect(await used()).to.be.below(limit)
      expect(await refusedFor()).to.deep.equal(['memory'])
      await empty()
      await sendUntil('counted')
    })

    it('answers at once, retryably, when it is full all the same, and counts nothing of that', async function () {
      this.timeout(40_000)
      await open({ redisUrl, limits: { maxWaitingJobs: 1_000, maxRedisBytes: 2 ** 40 } })
      bench.startIngestion()
      expect((await send()).code).to.equal('counted')
      await redis.config('SET', 'maxmemory', String(1))
      const refused = await Promise.all(Array.from({ length: 20 }, send))
      expect(new Set(refused.map(({ code }) => code))).to.deep.equal(new Set(['RESOURCE_EXHAUSTED']))
      expect(Math.max(...refused.map(({ ms }) => ms))).to.be.below(1_000)
      await redis.config('SET', 'maxmemory', '0')
      await sendUntil('counted')
      await expectExact()
    })

    it('is logged when it begins and when it is over, once each', async () => {
      await open({ redisUrl })
      const lines: string[] = []
      const note = (_facts: object, line: string) => void lines.push(line)
      const waiting = { jobs: 0 }
      const backlog = new Backlog({
        redis,
        queues: [{ waiting: async () => waiting.jobs }],
        limits: { maxWaitingJobs: 10, maxRedisBytes: null },
        log: { warn: note, info: note } as unknown as Logger,
        metrics: createMetrics('backlog'),
      })
      for (const jobs of [5, 11, 12, 3, 2]) {
        waiting.jobs = jobs
        await backlog.refresh()
      }
      expect(lines).to.deep.equal(['usage is refused: too much of it waits', 'usage is taken again'])
    })
  })
})
