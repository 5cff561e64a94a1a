import { createHash } from 'node:crypto'
import { Queue } from 'bullmq'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { newId } from '../../../src/kernel/id.js'
import { DirectIngestion } from '../../../src/metering/ingestion/direct-ingestion.js'
import { checkReport } from '../../../src/metering/model/report.js'
import { directDoorPrefix, type IngestionJob, ingestDirectUsage, ingestUsage } from '../../../src/metering/wire/jobs.js'
import { packCall } from '../../../src/metering/wire/packed-reports.js'
import { consume } from '../../../src/platform/queue/consume.js'
import { queuePrefix as prefixOf } from '../../../src/platform/redis/slots.js'
import { keepQueueScriptsLoaded } from '../../../src/wiring/queue-scripts.js'
import { queueUserRules } from '../../../src/wiring/redis-users.js'
import { FakeApi } from '../../contract/grpc/fake-api.js'
import { detailsOf, errorOf, type RunningSidecar, runSidecar } from '../../contract/grpc/harness.js'
import { testRedisUrl } from '../../support/redis.js'
import {
  report as aReport,
  count,
  createEnvironment,
  eventually,
  type MeteringBench,
  openMeteringBench,
  usageOf,
} from '../metering/fixture.js'

describe('sidecar with a queue of its own', () => {
  let bench: MeteringBench
  let environmentId: string
  let serverKey: string
  let admin: Redis
  let user: string
  let api: FakeApi
  const sidecars: RunningSidecar[] = []

  before(async () => {
    bench = await openMeteringBench()
    environmentId = await createEnvironment(bench)
    await bench.app.customers.provision(environmentId, { refId: 'customer', subscription: { planRefId: 'free' } })
    const environment = (await bench.app.environments.list()).find(({ id }) => id === environmentId)!
    serverKey = (
      await bench.app.environments.createKey({ environment: environment.refId, kind: 'SERVER', name: 'sidecar', expiresAt: null })
    ).key
    admin = new Redis(testRedisUrl())
    user = `sidecar-${environmentId}`
    await admin.acl('SETUSER', user, 'on', '>secret', ...queueUserRules('sidecar', { queuePrefix: bench.queues.prefix, environmentId }))
    keepQueueScriptsLoaded(bench.life, bench.queues)
    const direct = new DirectIngestion(bench.app.environments, bench.newIngestion())
    consume(bench.life, bench.queues, ingestDirectUsage(environmentId), {
      concurrency: 2,
      handler: (job, { job: { attemptsStarted } }) => direct.ingest(environmentId, job, attemptsStarted > 1),
    })
    // Nothing but entitlements is asked of it.
    api = await FakeApi.start()
  })
  after(async () => {
    await admin.acl('DELUSER', user)
    admin.disconnect()
    await api.stop()
    expect(await bench.close()).to.deep.equal([])
  })
  afterEach(async () => {
    for (const sidecar of sidecars.splice(0)) await sidecar.stop()
  })

  const queueUrl = (): string => {
    const url = new URL(testRedisUrl())
    url.username = user
    url.password = 'secret'
    url.searchParams.set('environment', environmentId)
    url.searchParams.set('prefix', bench.queues.prefix)
    return url.href
  }
  const start = async (key = serverKey): Promise<RunningSidecar> => {
    api.acceptedKey = key
    const env = { SERVER_API_KEY: key, API_URL: api.url, WS_ENABLED: 'FALSE', QUEUE_REDIS_URL: queueUrl() }
    const sidecar = await runSidecar(env)
    sidecars.push(sidecar)
    return sidecar
  }
  const report = (sidecar: RunningSidecar, changes: object = {}) =>
    sidecar.call('ReportUsage', { customer_id: 'customer', feature_id: 'calls', value: 1, ...changes })
  const counted = () => usageOf(bench, environmentId, 'customer', 'calls')

  it('refuses at once while too much waits in the queue, and takes usage again when it is worked off', async function () {
    this.timeout(30_000)
    const sidecar = await start()
    const outcome = () =>
      report(sidecar).then(
        () => 0,
        ({ code }) => code as number,
      )
    expect(await outcome()).to.equal(0)
    // given: jobs that nobody takes
    const queue = new Queue(ingestDirectUsage(environmentId).queue, {
      connection: admin,
      prefix: prefixOf(bench.queues.prefix, ingestDirectUsage(environmentId).queue),
    })
    await queue.pause()
    const job = {
      name: 'ingest',
      data: { v: 1, environmentId, door: 'nobody', batchId: newId(), isRepeat: false, batch: { kind: 'events', calls: [] } },
    }
    await queue.addBulk(Array.from({ length: 2_001 }, () => job))
    expect(await eventually(outcome, (code) => code === 8)).to.equal(8)
    await queue.resume()
    expect(await eventually(outcome, (code) => code === 0)).to.equal(0)
    await queue.close()
  })

  describe('when the deadline of its caller comes first', () => {
    /** `work`, with jobs that nobody takes until it is done. */
    const whilePaused = async <T>(work: () => Promise<T>): Promise<T> => {
      const queue = new Queue(ingestDirectUsage(environmentId).queue, {
        connection: admin,
        prefix: prefixOf(bench.queues.prefix, ingestDirectUsage(environmentId).queue),
      })
      await queue.pause()
      try {
        return await work()
      } finally {
        await queue.resume()
        await queue.close()
      }
    }
    const within = (sidecar: RunningSidecar, deadlineMs: number, changes: object = {}) =>
      sidecar.call('ReportUsage', { customer_id: 'customer', feature_id: 'calls', value: 1, ...changes }, deadlineMs)

    for (const deadlineMs of [400, 900]) {
      it(`does not know what became of a report after ${deadlineMs} ms, and counts it once under the key that it names`, async () => {
        const sidecar = await start()
        await report(sidecar)
        const before = Number(await counted())
        const error = await whilePaused(() => errorOf(within(sidecar, deadlineMs)))
        expect(error.code).to.equal(4)
        const { reason, metadata } = detailsOf(error).info
        expect(reason).to.equal('USAGE_OUTCOME_UNKNOWN')
        await report(sidecar, { idempotency_key: metadata.idempotencyKey })
        await report(sidecar, { value: 0 })
        expect(Number(await counted())).to.equal(before + 1)
      })
    }

    it('nor of events', async () => {
      const sidecar = await start()
      const events = [{ customer_id: 'customer', event_name: 'request', idempotency_key: newId() }]
      const before = await count(bench.pool, 'raw_event', environmentId)
      const error = await whilePaused(() => errorOf(sidecar.call('ReportEvents', { events }, 200)))
      expect(error.code).to.equal(4)
      expect(detailsOf(error).info).to.deep.include({
        reason: 'USAGE_OUTCOME_UNKNOWN',
        metadata: { outcome: 'unknown', idempotencyKey: events[0]!.idempotency_key },
      })
      await sidecar.call('ReportEvents', { events })
      expect(await count(bench.pool, 'raw_event', environmentId)).to.equal(before + 1)
    })
  })

  it('says nothing of a job that ran before, though it would be refused by now', async () => {
    const refused: string[] = []
    const direct = new DirectIngestion(bench.app.environments, {
      clock: { now: () => Date.now() },
      ingest: async () => void refused.push('ingest'),
      refuse: async (_job, problem) => void refused.push(problem.code),
    })
    const job: IngestionJob = {
      v: 1,
      environmentId,
      door: `${environmentId}:door`,
      batchId: newId(),
      isRepeat: false,
      keyHash: createHash('sha256').update('revoked meanwhile').digest('base64'),
      batch: { kind: 'reports', calls: [] },
    }
    await direct.ingest(environmentId, job, true)
    await direct.ingest(environmentId, { ...job, isRepeat: true }, false)
    expect(refused).to.deep.equal([])
  })

  it('acknowledges usage that is committed, without the API', async () => {
    const sidecar = await start()
    const before = Number(await counted())
    const answers = await Promise.all(Array.from({ length: 20 }, () => report(sidecar)))
    expect(Math.max(...answers.map(({ current_usage }) => current_usage))).to.equal(before + 20)
    expect(answers[0]!.measurement_id).to.be.a('string').that.is.not.equal('')
    expect(Number(await counted())).to.equal(before + 20)
    const { usages } = await sidecar.call('ReportUsageBulk', {
      usages: [2, 3].map((value) => ({ customer_id: 'customer', feature_id: 'calls', value })),
    })
    expect(usages).to.have.length(2)
    expect(Number(await counted())).to.equal(before + 25)
    await sidecar.call('ReportEvents', { events: [{ customer_id: 'customer', event_name: 'request', idempotency_key: 'k1' }] })
    expect(api.operations).to.deep.equal([])
  })

  it('answers the same statuses as over the API', async () => {
    const sidecar = await start()
    expect((await errorOf(report(sidecar, { customer_id: 'nobody' }))).code).to.equal(5)
    expect((await errorOf(report(sidecar, { feature_id: 'nothing' }))).code).to.equal(5)
    expect((await errorOf(report(sidecar, { feature_id: 'requests' }))).code).to.equal(9)
    expect((await errorOf(report(sidecar, { value: -1 }))).code).to.be.oneOf([3, 9])
    const events = [{ customer_id: 'customer', event_name: '', idempotency_key: 'k2' }]
    expect((await errorOf(sidecar.call('ReportEvents', { events }))).code).to.equal(3)
  })

  it('is refused with a key that the platform does not know, and counts nothing', async () => {
    const before = await counted()
    const sidecar = await start('server-somebody-elses')
    expect((await errorOf(report(sidecar))).code).to.equal(16)
    expect(await counted()).to.equal(before)
  })

  it('judges times by the clock of the database, whatever that of the worker says', async () => {
    const heard: string[] = []
    const [hour, timestamp] = [3_600_000, Date.now() + 1_800_000]
    const item = { ...checkReport(aReport('customer', 1), newId(), Date.now()), timestamp }
    const job: IngestionJob = {
      v: 1,
      environmentId,
      door: `${directDoorPrefix(environmentId)}door`,
      batchId: newId(),
      isRepeat: false,
      keyHash: createHash('sha256').update(serverKey).digest('base64'),
      batch: { kind: 'reports', calls: [packCall({ deadline: timestamp, items: [item] })] },
    }
    for (const ahead of [0, hour]) {
      const direct = new DirectIngestion(bench.app.environments, {
        clock: { now: () => Date.now() + ahead },
        ingest: async () => void heard.push('ingest'),
        refuse: async (_job, problem) => void heard.push(problem.code),
      })
      await direct.ingest(environmentId, job, false)
    }
    expect(heard).to.deep.equal(['INVALID_ARGUMENT', 'ingest'])
  })

  it('counts nothing for another environment, whatever a job says', async () => {
    const other = await createEnvironment(bench)
    await bench.app.customers.provision(other, { refId: 'customer', subscription: { planRefId: 'free' } })
    const heard: string[] = []
    const direct = new DirectIngestion(bench.app.environments, {
      clock: { now: () => Date.now() },
      ingest: async () => void heard.push('ingest'),
      refuse: async (_job, problem) => void heard.push(problem.code),
    })
    const job: IngestionJob = {
      v: 1,
      environmentId: other,
      door: `${environmentId}:door`,
      batchId: environmentId,
      isRepeat: false,
      keyHash: createHash('sha256').update(serverKey).digest('base64'),
      batch: { kind: 'reports', calls: [] },
    }
    await direct.ingest(environmentId, job, false)
    await direct.ingest(environmentId, { ...job, environmentId, door: `${other}:door` }, false)
    await direct.ingest(environmentId, { ...job, environmentId, keyHash: undefined }, false)
    await direct.ingest(environmentId, { ...job, environmentId }, false)
    expect(heard).to.deep.equal(['PERMISSION_DENIED', 'UNAUTHENTICATED', 'ingest'])
  })

  it('reaches nothing else in Redis with its user', async () => {
    const url = new URL(queueUrl())
    url.search = ''
    const stranger = new Redis(url.href, {
      enableReadyCheck: false,
      disableClientInfo: true,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    })
    stranger.on('error', () => {})
    const refused = async (work: Promise<unknown>) =>
      expect(
        await work.then(
          () => 'done',
          (error: Error) => error.message,
        ),
      ).to.match(/NOPERM|No permissions/)
    await refused(stranger.get(`${bench.queues.prefix}:state:${environmentId}`))
    await refused(stranger.lpush(`${bench.queues.prefix}:${ingestUsage.queue}:wait`, 'job'))
    await refused(stranger.subscribe(`${bench.queues.prefix}:changes:${environmentId}`))
    await refused(stranger.flushdb())
    stranger.disconnect()
  })

  it('answers UNAVAILABLE at once while Redis refuses its user', async () => {
    const sidecar = await start()
    await admin.acl('SETUSER', user, 'off')
    await admin.client('KILL', 'USER', user)
    const began = Date.now()
    const error = await errorOf(report(sidecar))
    expect(error.code).to.be.oneOf([14, 4])
    expect(Date.now() - began).to.be.below(6_000)
    await admin.acl('SETUSER', user, 'on')
  }).timeout(15_000)
})
