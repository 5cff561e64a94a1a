import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { announcementOf } from '../../../src/changes/wire/announcements.js'
import { holdersKey, type Listeners, leaseKey } from '../../../src/changes/wire/holders.js'
import { newId } from '../../../src/kernel/id.js'
import type { Problem } from '../../../src/kernel/problem.js'
import type { ReportedUsage } from '../../../src/metering/model/report.js'
import { type IngestionJob, ingestUsage } from '../../../src/metering/wire/jobs.js'
import { consume } from '../../../src/platform/queue/consume.js'
import { openSubscriber } from '../../../src/platform/redis.js'
import { createEnvironment, eventually, type MeteringBench, openMeteringBench, problemOf, report, usageOf } from './fixture.js'

const workerPath = fileURLToPath(new URL('../../../workers/usage-ingestion.js', import.meta.url))

describe('the door of usage', () => {
  let bench: MeteringBench
  let environmentId: string

  beforeEach(async () => {
    bench = await openMeteringBench({ shards: 1 })
    environmentId = await createEnvironment(bench)
    await bench.app.customers.provision(environmentId, { refId: 'customer', subscription: { planRefId: 'free' } })
  })
  afterEach(async () => expect(await bench.close()).to.deep.equal([]))

  const send = (value = 1) => bench.usage.report(environmentId, [report('customer', value)])
  const usage = () => usageOf(bench, environmentId, 'customer', 'calls')

  it('does not know of what it handed over when no worker is there, refuses when too much waits, and neither is counted any more', async function () {
    this.timeout(20_000)
    const startedAt = performance.now()
    const waiting = Array.from({ length: 20 }, () =>
      bench.usage.report(
        environmentId,
        Array.from({ length: 1_000 }, () => report('customer', 1)),
      ),
    )
    const outcomes = Promise.allSettled(waiting)
    expect(await problemOf(send())).to.include({ code: 'RESOURCE_EXHAUSTED', isRetryable: true })
    const results = await outcomes
    const said = results.map((result) => (result.status === 'rejected' ? result.reason.details.outcome : 'counted'))
    // Those that a slow machine never handed over were certainly not counted.
    expect(said.every((outcome) => outcome === 'unknown' || outcome === 'notCounted')).to.equal(true)
    expect(said).to.include('unknown')
    expect(performance.now() - startedAt).to.be.within(4_900, 8_000)
    // when a worker comes, it finds the jobs that nobody waits for
    bench.startIngestion()
    const [after] = await send(2)
    expect(after!.currentUsage).to.equal('2')
    expect(await usage()).to.equal('2')
  })

  it('asks again when there is no reply, and counts once', async () => {
    const ingestion = bench.newIngestion()
    let jobs = 0
    consume(bench.life, bench.queues, ingestUsage, {
      concurrency: 2,
      handler: async (job) => {
        jobs += 1
        // The first reply goes to nobody.
        await ingestion.ingest(jobs === 1 ? { ...job, door: 'nobody' } : job, false)
      },
    })
    const startedAt = performance.now()
    const [answer] = await send()
    expect(answer!.currentUsage).to.equal('1')
    expect(performance.now() - startedAt).to.be.within(450, 3_000)
    expect(jobs).to.equal(2)
    expect(await usage()).to.equal('1')
  })

  it('has usage announced before it answers the report, so that whoever reads it then sees it', async () => {
    bench.startIngestion()
    const ticket = { sender: 'web', number: 7 }
    const heard: { announced: string; holders: string[] }[] = []
    const redis = openSubscriber(bench.life, bench.queues)
    const [channel] = announcementOf(bench.queues.prefix, environmentId, [])
    await redis.subscribe(channel)
    // given: two processes that hold states, of which one has no lease any more
    const { prefix } = bench.queues
    await bench.redis.set(leaseKey(prefix, 'a'), '', 'PX', 60_000)
    await bench.redis.sadd(holdersKey(prefix, environmentId), 'a', 'b')
    let announced = ''
    redis.on('message', (_channel, text) => {
      announced = text
    })
    const expectAnnouncement = () => ({
      ticket,
      heardBy: async ({ holders }: Listeners) => {
        heard.push({ announced: await eventually(async () => announced, Boolean), holders })
      },
      forget: () => undefined,
    })
    const door = bench.newUsage({ expectAnnouncement })
    const [{ timestamp, currentUsage, periodStart, periodEnd }] = (await door.report(environmentId, [report('customer', 3)])) as [
      ReportedUsage,
    ]
    const usage = { currentUsage, periodStart, periodEnd, updatedAt: timestamp }
    const change = { customerId: 'customer', version: timestamp, usage: { resourceId: null, featureId: 'calls', usage } }
    const [, text] = announcementOf(bench.queues.prefix, environmentId, [change], ticket)
    expect(heard).to.deep.equal([{ announced: text, holders: ['a'] }])
    // What was not counted changes nothing.
    announced = ''
    await problemOf(door.report(environmentId, [report('nobody', 1)]))
    await sleep(50)
    expect(announced).to.equal('')
    expect(heard).to.have.length(1)
  })

  it('gathers concurrent calls into few jobs', async () => {
    const ingestion = bench.newIngestion()
    let jobs = 0
    consume(bench.life, bench.queues, ingestUsage, {
      concurrency: 2,
      handler: async (job) => {
        jobs += 1
        await ingestion.ingest(job, false)
      },
    })
    await Promise.all(Array.from({ length: 200 }, () => send()))
    expect(jobs).to.be.below(20)
    expect(await usage()).to.equal('200')
  })

  it('refuses quickly while too many jobs wait, and takes usage again once they are worked off', async () => {
    const isRefused = () =>
      send().then(
        () => false,
        (error: Problem) => error.code === 'RESOURCE_EXHAUSTED' && error.isRetryable,
      )
    // given more jobs than the mark, of a kind that ends at once
    const data: IngestionJob = {
      v: 1,
      environmentId,
      door: 'nobody',
      batchId: newId(),
      isRepeat: false,
      batch: { kind: 'events', calls: [] },
    }
    await Promise.all(Array.from({ length: 1_001 }, () => bench.ingestionQueue.add(data)))
    const startedAt = performance.now()
    await eventually(isRefused, (refused) => refused)
    expect(performance.now() - startedAt).to.be.below(9_000)
    bench.startIngestion()
    await eventually(isRefused, (refused) => !refused)
    expect(await usage()).to.equal('1')
  })

  it('refuses a call of more than 1,000 items', async () => {
    expect(
      await problemOf(
        bench.usage.report(
          environmentId,
          Array.from({ length: 1_001 }, () => report('customer', 1)),
        ),
      ),
    ).to.include({ code: 'INVALID_ARGUMENT' })
  })

  describe('before a worker process that is killed', () => {
    let worker: ChildProcess
    let restarts = 0

    const start = () => {
      worker = fork(workerPath, {
        env: {
          ...process.env,
          PORT: '0',
          BIND_ADDRESS: '127.0.0.1',
          LOG_LEVEL: 'error',
          DATABASE_URL: bench.databaseUrl,
          REDIS_URL: bench.queues.redisUrl,
          QUEUE_PREFIX: bench.queues.prefix,
        },
      })
      worker.once('exit', () => {
        restarts += 1
        if (restarts <= 2) start()
      })
    }
    afterEach(async () => {
      restarts = 2
      if (worker.exitCode !== null) return
      const exited = new Promise((resolve) => worker.once('exit', resolve))
      worker.kill('SIGKILL')
      await exited
    })

    it('counts every acknowledged report once, and no other', async function () {
      this.timeout(60_000)
      start()
      let acknowledged = 0
      let kills = 0
      const caller = async (calls: number) => {
        for (let i = 0; i < calls; i++) {
          const outcome = await bench.usage.report(environmentId, [report('customer', 1)]).then(
            () => 'counted',
            (error) => error.code,
          )
          if (outcome === 'counted') acknowledged += 1
          if (acknowledged === 300 && kills === 0) {
            kills += 1
            worker.kill('SIGKILL')
          }
        }
      }
      await Promise.all(Array.from({ length: 20 }, () => caller(30)))
      expect(kills).to.equal(1)
      expect(await usage()).to.equal(String(acknowledged))
      expect(acknowledged).to.be.above(500)
    })
  })
})
