import { randomUUID } from 'node:crypto'
import { Queue } from 'bullmq'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { silentLogger } from '../../../../src/platform/logger.js'
import { Life } from '../../../../src/platform/process.js'
import { type JobQueue, openQueue } from '../../../../src/platform/queue.js'
import { queuePrefix as prefixOf } from '../../../../src/platform/redis/slots.js'
import { environmentQueue } from '../../../../src/updates/deliver/jobs.js'
import type { ChangeMessage } from '../../../../src/updates/wire/change-message.js'
import type { QueueMessage } from '../../../../src/updates/wire/queue-message.js'
import { readRoute } from '../../../../src/web/edge/route.js'
import { boolean, message, metered, state, stateMessage, usage, usageMessage } from '../../../contract/cache/held.js'
import { type Reading, read } from '../../../contract/cache/reader.js'
import { testRedisPrefix, testRedisUrl } from '../../../support/redis.js'
import { eventually, type FakeApi, fakeApi, Line, Worker } from './harness.js'

const isUp = { http: 200, status: 'UP', consumers: 1, redis: 'CONNECTED' }
const isDown = { http: 503, status: 'DOWN', consumers: 0, redis: 'DISCONNECTED' }

describe('queue-consumption', function () {
  this.timeout(30_000)

  let redis: Redis
  let life: Life
  let environmentId: string
  let prefix: string
  let queuePrefix: string
  let queue: JobQueue<QueueMessage>
  /** For what only an operator sees: delayed and failed jobs. */
  let board: Queue
  const workers: Worker[] = []
  const lines: Line[] = []
  const apis: FakeApi[] = []

  before(() => {
    redis = new Redis(testRedisUrl())
  })
  after(() => redis.disconnect())

  beforeEach(() => {
    environmentId = randomUUID()
    prefix = testRedisPrefix()
    queuePrefix = testRedisPrefix()
    life = new Life('test', silentLogger())
    const connection = { redisUrl: testRedisUrl(), prefix: queuePrefix }
    const opened = openQueue(life, connection, environmentQueue(environmentId))
    queue = { ...opened, add: (told) => opened.add({ ...told, environmentId }) }
    board = new Queue(`environment-${environmentId}`, { connection: redis, prefix: prefixOf(queuePrefix, `environment-${environmentId}`) })
  })

  afterEach(async () => {
    expect(await Promise.all(workers.splice(0).map((worker) => worker.stop())), 'exit codes').to.satisfy((codes: number[]) =>
      codes.every((code) => code === 0),
    )
    await Promise.all([...lines.splice(0).map((line) => line.cut()), ...apis.splice(0).map((api) => api.close())])
    await board.close()
    await life.stop()
    for (const of of [prefix, queuePrefix]) {
      const keys = await redis.keys(`${of}:*`)
      if (keys.length > 0) await redis.del(keys)
    }
  })

  function variables(): Record<string, string> {
    const url = new URL(testRedisUrl())
    const database = url.pathname.slice(1)
    return {
      QUEUE_URL: `${testRedisUrl()}?queue=environment-${environmentId}&prefix=${queuePrefix}`,
      SERVER_API_KEY: 'server-key-of-the-test',
      EDGE_API_URL: 'http://127.0.0.1:1',
      ENVIRONMENT_PREFIX: prefix,
      REDIS_HOST: url.hostname,
      REDIS_PORT: url.port || '6379',
      ...(database && { REDIS_DB: database }),
      ...(url.username && { REDIS_USER: decodeURIComponent(url.username) }),
      ...(url.password && { REDIS_PASSWORD: decodeURIComponent(url.password) }),
    }
  }

  async function start(env: Record<string, string> = {}): Promise<Worker> {
    const worker = await Worker.start({ ...variables(), ...env })
    workers.push(worker)
    await eventually(
      () => worker.readiness(),
      (answer) => answer !== null,
    )
    return worker
  }

  async function lineToRedis(): Promise<Line> {
    const url = new URL(testRedisUrl())
    const line = await Line.to(url.hostname, Number(url.port || 6379))
    lines.push(line)
    return line
  }

  const reading = (isIt: (reading: Reading) => boolean) => eventually(() => read(redis, prefix, 'acme'), isIt)
  const holds = (refId: string) => reading((seen) => seen !== null && refId in seen.features)

  it('brings what an environment’s queue tells to the external cache', async () => {
    const worker = await start({ BATCH_SIZE: '8', KEYS_TTL_IN_SECS: '60' })
    await queue.add(stateMessage(state(5, [metered('calls', usage(1, 5))])))
    await queue.add(usageMessage('calls', usage(2, 6)))
    const seen = await reading((answer) => answer?.features.calls?.usage?.currentUsage === 2)
    expect(seen?.features.calls).to.include({ usageLimit: 10, hasUnlimitedUsage: false })
    expect(await redis.ttl(`${prefix}:c_acme`)).to.be.within(50, 60)
    await queue.add(message('purge', 7))
    await reading((answer) => answer === null)
    const metrics = await eventually(
      async () => (await worker.get('/metrics'))?.body ?? '',
      (text) => text.includes('kind="purge"'),
    )
    expect(metrics).to.match(/tollgate_external_cache_messages_total\{kind="entitlements",outcome="written",[^}]*\} 1/)
  })

  it('is ready with one consumer, and answers what the probes expect', async () => {
    const worker = await start()
    expect(
      await eventually(
        () => worker.readiness(),
        (answer) => answer?.status === 'UP',
      ),
    ).to.deep.equal(isUp)
    expect(await worker.get('/livez')).to.deep.equal({ status: 200, body: '{"status":"UP"}' })
  })

  it('fetches the state that a message does not carry', async () => {
    const api = await fakeApi(0, () => ({ body: { data: { entitlementsState: apiState } } }))
    apis.push(api)
    await start({ EDGE_API_URL: api.url })
    await queue.add(message('entitlements', 5, { resourceId: 'site-1' }))
    const seen = await eventually(
      () => read(redis, prefix, 'acme', 'site-1'),
      (answer) => answer !== null,
    )
    expect(api.asked).to.have.length(1)
    const { key, path, query } = api.asked[0]!
    expect({ key, query }).to.deep.equal({ key: 'server-key-of-the-test', query: { customerId: 'acme', resourceId: 'site-1' } })
    expect(readRoute(path), 'the question to the real door').to.deep.include({ document: 'entitlementsState', resourceIds: ['site-1'] })
    expect(seen).to.deep.equal({
      accessDeniedReason: null,
      features: {
        calls: {
          feature: { id: 'calls', featureType: 'NUMBER', meterType: 'Incremental', units: 'call', unitsPlural: 'calls' },
          resourceId: 'site-1',
          usageLimit: 10,
          hasUnlimitedUsage: false,
          hasSoftLimit: false,
          enumValues: null,
          validUntil: 1_900_000_000_000,
          usage: {
            resetPeriod: 'WEEK',
            resetPeriodConfiguration: { weeklyAccordingTo: 'EveryMonday' },
            currentUsage: 10.5,
            usagePeriodAnchor: Date.parse('2026-01-01T00:00:00.000Z'),
            usagePeriodStart: Date.parse('2026-01-05T00:00:00.000Z'),
            usagePeriodEnd: Date.parse('2026-01-12T00:00:00.000Z'),
          },
        },
        sso: {
          feature: { id: 'sso', featureType: 'BOOLEAN', meterType: 'None', units: null, unitsPlural: null },
          resourceId: 'site-1',
          usageLimit: null,
          hasUnlimitedUsage: false,
          hasSoftLimit: false,
          accessDeniedReason: 'Revoked',
          enumValues: null,
        },
      },
    })
    const entity = `${prefix}:c_acme:r_site-1`
    expect(await redis.mget(`${entity}#timestamp`, `${entity}:f_calls#timestamp`)).to.deep.equal([
      String(Date.parse('2026-01-06T00:00:00.000Z')),
      String(Date.parse('2026-01-07T00:00:00.000Z')),
    ])
  })

  it('tells the reason of a customer that the API says holds nothing, as of the message', async () => {
    const body = { data: { entitlementsState: { accessDeniedReason: 'CustomerIsArchived', entitlements: [] } } }
    const api = await fakeApi(0, () => ({ body }))
    apis.push(api)
    await start({ EDGE_API_URL: api.url })
    await queue.add(message('entitlements', 5))
    expect((await reading((answer) => answer !== null))?.accessDeniedReason).to.equal('CustomerIsArchived')
    expect(await redis.get(`${prefix}:c_acme#timestamp`)).to.equal('5')
  })

  it('tries again, more often than a queue would, until the API that is away, broken, or refuses the key answers', async () => {
    const answers: { status?: number; body: unknown }[] = [
      { status: 502, body: '<html>bad gateway</html>' },
      { status: 401, body: { errors: [{ message: 'The key is not known', extensions: { code: 'Unauthenticated' } }] } },
    ]
    const last = { body: { data: { entitlementsState: apiState } } }
    const away = await fakeApi(0, () => last)
    await away.close()
    const worker = await start({ EDGE_API_URL: away.url })
    await queue.add(message('entitlements', 5))
    await eventually(
      async () => worker.output,
      (text) => text.includes('The API cannot be reached'),
    )
    apis.push(await fakeApi(Number(new URL(away.url).port), () => answers.shift() ?? last))
    await eventually(
      () => read(redis, prefix, 'acme'),
      (answer) => answer !== null,
      20_000,
    )
    expect(worker.output).to.include('HTTP 502').and.to.include('The key is not known')
    expect(await board.getFailedCount()).to.equal(0)
  })

  it('sets a message aside that the API will never take, or fails on each time while it answers', async () => {
    const failing = { status: 200, body: { errors: [{ message: 'went wrong', extensions: { code: 'InternalServerError' } }] } }
    const answers: { status?: number; body: unknown }[] = [{ status: 413, body: '<html>too large</html>' }, failing]
    const api = await fakeApi(0, () => answers.shift() ?? failing)
    apis.push(api)
    const worker = await start({ EDGE_API_URL: api.url })
    await queue.add(message('entitlements', 5))
    await eventually(
      () => board.getFailedCount(),
      (count) => count === 1,
    )
    await queue.add(message('entitlements', 6))
    const [delayed] = await eventually(
      () => board.getDelayed(),
      (jobs) => jobs.length === 1,
    )
    expect(await board.getFailedCount()).to.equal(1)
    // given: an hour has passed
    await redis.hset(`${prefixOf(queuePrefix, `environment-${environmentId}`)}:environment-${environmentId}:${delayed!.id}`, 'ats', '500')
    await eventually(
      () => board.getFailedCount(),
      (count) => count === 2,
    )
    await queue.add(stateMessage(state(7, [boolean('sso')])))
    await holds('sso')
    expect(worker.output).to.include('went wrong')
  })

  it('keeps messages while the external cache is away, says so, and applies them when it is back', async () => {
    const line = await lineToRedis()
    const worker = await start({ REDIS_HOST: '127.0.0.1', REDIS_PORT: String(line.port) })
    await eventually(
      () => worker.readiness(),
      (answer) => answer?.status === 'UP',
    )
    await line.cut()
    expect(
      await eventually(
        () => worker.readiness(),
        (answer) => answer?.status === 'DOWN',
      ),
    ).to.deep.equal(isDown)
    await queue.add(stateMessage(state(5, [boolean('sso')])))
    await eventually(
      () => board.getDelayedCount(),
      (count) => count === 1,
    )
    await line.mend()
    await holds('sso')
    expect(
      await eventually(
        () => worker.readiness(),
        (answer) => answer?.status === 'UP',
      ),
    ).to.deep.equal(isUp)
    expect(await board.getFailedCount()).to.equal(0)
  })

  it('is not ready while its queue is away, and goes on when it is back', async () => {
    const line = await lineToRedis()
    const url = new URL(`${testRedisUrl()}?queue=environment-${environmentId}&prefix=${queuePrefix}`)
    url.host = `127.0.0.1:${line.port}`
    const worker = await start({ QUEUE_URL: url.href })
    await eventually(
      () => worker.readiness(),
      (answer) => answer?.status === 'UP',
    )
    await line.cut()
    const down = await eventually(
      () => worker.readiness(),
      (answer) => answer?.status === 'DOWN',
    )
    expect(down).to.deep.equal(isDown)
    await line.mend()
    await queue.add(stateMessage(state(5, [boolean('sso')])))
    await holds('sso')
  })

  const refusal = (code: string, message: string) => ({ body: { data: null, errors: [{ message, extensions: { code } }] } })
  const readinessOnceConnected = (worker: Worker) =>
    eventually(
      () => worker.readiness(),
      (answer) => answer?.redis === 'CONNECTED',
    )
  const isRefused = { http: 503, status: 'DOWN', consumers: 0, redis: 'CONNECTED' }

  it('is not ready with a key that the API refuses, says why once, and is as soon as the key is taken', async () => {
    let isTaken = false
    const taken = { body: { data: { testClock: null, entitlementsState: {} } } }
    const api = await fakeApi(
      0,
      () => taken,
      () => (isTaken ? taken : refusal('Unauthenticated', 'The key is not known')),
    )
    apis.push(api)
    const worker = await start({ EDGE_API_URL: api.url })
    expect(await readinessOnceConnected(worker)).to.deep.equal(isRefused)
    expect(worker.output.split('the API refuses SERVER_API_KEY')).to.have.length(2)
    expect(worker.output).to.include('The key is not known').and.not.include('server-key-of-the-test')
    expect((await worker.get('/metrics'))?.body).to.match(/tollgate_api_key_refused\{[^}]*\} 1/)
    isTaken = true
    await eventually(
      () => worker.readiness(),
      (answer) => answer?.status === 'UP',
    )
    expect((await worker.get('/metrics'))?.body).to.match(/tollgate_api_key_refused\{[^}]*\} 0/)
  })

  it('is not ready with the key of another environment than that of its queue, or with a queue of none', async () => {
    const api = await fakeApi(
      0,
      () => ({ body: {} }),
      (asked) =>
        asked === environmentId
          ? { body: { data: { testClock: null, entitlementsState: {} } } }
          : refusal('IdentityForbidden', 'The key belongs to another environment'),
    )
    apis.push(api)
    const url = (queue: string) => `${testRedisUrl()}?queue=${queue}&prefix=${queuePrefix}`
    for (const [queue, reason] of [
      [`environment-${randomUUID()}`, 'The key belongs to another environment'],
      ['made-up', 'is that of no environment'],
    ] as const) {
      const worker = await start({ EDGE_API_URL: api.url, QUEUE_URL: url(queue) })
      expect(await readinessOnceConnected(worker), queue).to.deep.equal(isRefused)
      expect(worker.output).to.include(reason)
    }
    expect(await readinessOnceConnected(await start({ EDGE_API_URL: api.url }))).to.deep.equal(isUp)
  })

  it('puts a message of a version that it does not know back, for a newer worker', async () => {
    await start()
    await queue.add({ ...stateMessage(state(5, [boolean('sso')])), v: 2 } as unknown as ChangeMessage)
    await queue.add(stateMessage(state(4, [boolean('audit')])))
    await holds('audit')
    await eventually(
      () => board.getDelayedCount(),
      (count) => count === 1,
    )
    expect(await board.getFailedCount()).to.equal(0)
  })

  describe('told to read everything anew', () => {
    /** After the versions that `apiState` tells. */
    const epoch = Date.parse('2026-02-01T00:00:00.000Z')
    const reload = (of = epoch): QueueMessage => ({ v: 1, id: randomUUID(), environmentId, kind: 'reload', epoch: of, timestamp: of })
    const told = (version: number, customerId: string, of?: number, resourceId: string | null = null): QueueMessage => ({
      ...stateMessage(state(version, [boolean('lost')], { customerId, resourceId })),
      epoch: of,
    })
    const asked = (api: FakeApi) => api.asked.map(({ query }) => query)
    const featuresOf = async (customerId: string, resourceId?: string) =>
      Object.keys((await read(redis, prefix, customerId, resourceId))?.features ?? {})

    it('replaces what is not true any more, also by what has a lower version, and what is of a resource', async () => {
      const api = await fakeApi(0, () => ({ body: { data: { entitlementsState: apiState } } }))
      apis.push(api)
      await start({ EDGE_API_URL: api.url })
      // given: states that were never committed in the history that goes on, of versions above all that come
      await queue.add(told(epoch - 1, 'acme', epoch - 10))
      await queue.add(told(epoch - 1, 'acme', epoch - 10, 'site-1'))
      await eventually(
        async () => [await featuresOf('acme'), await featuresOf('acme', 'site-1')],
        ([own, ofResource]) => own!.length > 0 && ofResource!.length > 0,
      )
      await queue.add(reload())
      await eventually(
        async () => [await featuresOf('acme'), await featuresOf('acme', 'site-1')],
        (all) => all.every((features) => features.includes('calls')),
      )
      expect(asked(api)).to.have.deep.members([
        { customerId: 'acme', resourceId: null },
        { customerId: 'acme', resourceId: 'site-1' },
      ])
      expect(await featuresOf('acme', 'site-1')).to.deep.equal(['calls', 'sso'])
      // and what comes later is news again, though it is older than what was there
      await queue.add({ ...usageMessage('calls', usage(3, Date.parse('2026-01-20T00:00:00.000Z'))), epoch })
      await reading((seen) => seen?.features.calls?.usage?.currentUsage === 3)
    })

    it('takes nothing earlier than that of an older epoch, but what a worker told that had not looked yet', async () => {
      const api = await fakeApi(0, () => ({ body: { data: { entitlementsState: apiState } } }))
      apis.push(api)
      await start({ EDGE_API_URL: api.url })
      await queue.add(reload())
      await eventually(
        () => redis.get(`${prefix}:epoch`),
        (value) => value === String(epoch),
      )
      await queue.add(told(epoch - 5, 'acme', epoch - 1))
      await queue.add(told(epoch + 5, 'late', epoch - 1))
      await queue.add(told(epoch + 5, 'other', epoch))
      await eventually(
        () => featuresOf('other'),
        (features) => features.length > 0,
      )
      await eventually(
        async () => await board.getJobCounts('waiting', 'active', 'delayed'),
        (counts) => Object.values(counts).every((n) => n === 0),
      )
      expect(await featuresOf('acme')).to.deep.equal([])
      expect(await featuresOf('late')).to.deep.equal(['lost'])
      // An earlier reload that comes late changes nothing.
      await queue.add(reload(epoch - 1))
      await queue.add(told(epoch + 6, 'third', epoch))
      await eventually(
        () => featuresOf('third'),
        (features) => features.length > 0,
      )
      expect(await redis.get(`${prefix}:epoch`)).to.equal(String(epoch))
      expect(api.asked).to.deep.equal([])
    })

    it('replaces also what is of a later version, when the platform does not say so either, and keeps every entry until another one is known', async () => {
      const answers: { status?: number; body: unknown }[] = [{ status: 502, body: 'bad gateway' }]
      const api = await fakeApi(0, () => answers.shift() ?? { body: { data: { entitlementsState: apiState } } })
      apis.push(api)
      await start({ EDGE_API_URL: api.url })
      await queue.add(told(epoch - 1, 'acme'))
      await queue.add(told(epoch + 1, 'newer', epoch))
      await eventually(
        async () => [await featuresOf('acme'), await featuresOf('newer')],
        ([one, other]) => one!.length > 0 && other!.length > 0,
      )
      await queue.add(reload())
      await eventually(
        () => board.getDelayedCount(),
        (count) => count === 1,
      )
      expect(await featuresOf('acme')).to.include.oneOf(['lost', 'calls'])
      await eventually(
        () => featuresOf('acme'),
        (features) => features.includes('calls'),
      )
      await eventually(
        () => featuresOf('newer'),
        (features) => features.includes('calls'),
      )
      expect(await board.getFailedCount()).to.equal(0)
    })
  })

  it('shares a queue with another copy, and nothing older wins', async () => {
    await Promise.all([start({ BATCH_SIZE: '4' }), start({ BATCH_SIZE: '4' })])
    const versions = Array.from({ length: 100 }, (_, i) => 1 + ((i * 37) % 100))
    await queue.add(stateMessage(state(1, [metered('calls', usage(1, 1))])))
    await Promise.all(versions.map((version) => queue.add(usageMessage('calls', usage(version, version)))))
    await eventually(
      async () => await board.getJobCounts('waiting', 'active', 'delayed'),
      (counts) => Object.values(counts).every((n) => n === 0),
    )
    expect((await read(redis, prefix, 'acme'))?.features.calls?.usage?.currentUsage).to.equal(100)
  })
})

const apiState = {
  accessDeniedReason: null,
  entitlements: [
    {
      isGranted: false,
      accessDeniedReason: 'RequestedUsageExceedingLimit',
      usageLimit: 10,
      hasUnlimitedUsage: false,
      hasSoftLimit: false,
      enumValues: null,
      currentUsage: 10.5,
      validUntil: 1_900_000_000_000,
      resetPeriod: 'WEEK',
      resetPeriodConfiguration: { weeklyAccordingTo: 'EveryMonday' },
      usagePeriodAnchor: '2026-01-01T00:00:00.000Z',
      usagePeriodStart: '2026-01-05T00:00:00.000Z',
      usagePeriodEnd: '2026-01-12T00:00:00.000Z',
      entitlementUpdatedAt: '2026-01-06T00:00:00.000Z',
      usageUpdatedAt: '2026-01-07T00:00:00.000Z',
      feature: { refId: 'calls', featureType: 'NUMBER', meterType: 'Incremental', featureUnits: 'call', featureUnitsPlural: 'calls' },
    },
    {
      isGranted: false,
      accessDeniedReason: 'Revoked',
      usageLimit: null,
      hasUnlimitedUsage: false,
      hasSoftLimit: null,
      enumValues: null,
      currentUsage: null,
      validUntil: null,
      resetPeriod: null,
      resetPeriodConfiguration: null,
      usagePeriodAnchor: null,
      usagePeriodStart: null,
      usagePeriodEnd: null,
      entitlementUpdatedAt: '2026-01-06T00:00:00.000Z',
      usageUpdatedAt: '2026-01-06T00:00:00.000Z',
      feature: { refId: 'sso', featureType: 'BOOLEAN', meterType: 'None', featureUnits: null, featureUnitsPlural: null },
    },
  ],
}
