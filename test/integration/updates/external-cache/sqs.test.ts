import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { boolean, message, metered, state, stateMessage, usage, usageMessage } from '../../../contract/cache/held.js'
import { type Reading, read } from '../../../contract/cache/reader.js'
import { type ErrorTracker, startErrorTracker } from '../../../support/error-tracker.js'
import { testRedisPrefix, testRedisUrl } from '../../../support/redis.js'
import { SqsServer } from '../../../support/sqs-server.js'
import { eventually, type FakeApi, fakeApi, Line, Worker } from './harness.js'

const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret-of-the-queue', region: 'eu-west-1' }

/** The real process with a queue of SQS. */
describe('queue-consumption from SQS', function () {
  this.timeout(60_000)

  const environmentId = randomUUID()
  let redis: Redis
  let server: SqsServer
  let prefix: string
  const workers: Worker[] = []
  const closing: { close(): Promise<unknown> }[] = []

  before(() => {
    redis = new Redis(testRedisUrl())
  })
  after(() => redis.disconnect())

  beforeEach(async () => {
    prefix = testRedisPrefix()
    server = await SqsServer.start(credentials)
    server.create('dead')
    server.create('changes', { redrive: { to: 'dead', maxReceiveCount: 1 } })
  })
  afterEach(async () => {
    const codes = await Promise.all(workers.splice(0).map((worker) => worker.stop()))
    await Promise.all(closing.splice(0).map((one) => one.close()))
    await server.close()
    const keys = await redis.keys(`${prefix}:*`)
    if (keys.length > 0) await redis.del(keys)
    expect(codes, 'exit codes').to.satisfy((all: number[]) => all.every((code) => code === 0))
  })

  /** The key is that of `environmentId`. */
  const keyCheck = (of: string | null) =>
    of === null || of === environmentId
      ? { body: { data: { entitlementsState: {} } } }
      : { body: { errors: [{ message: 'not its environment', extensions: { code: 'IdentityForbidden' } }] } }
  const answers = () => ({ status: 502, body: 'nothing else is answered' })

  async function start(env: Record<string, string> = {}): Promise<Worker> {
    const api = env.EDGE_API_URL ?? (await fake(0, answers, keyCheck)).url
    const url = new URL(testRedisUrl())
    const worker = await Worker.start({
      QUEUE_URL: server.urlOf('changes'),
      CLOUD_REGION: credentials.region,
      CLOUD_ACCESS_KEY_ID: credentials.accessKeyId,
      CLOUD_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_ENDPOINT_URL_SQS: server.endpoint,
      SERVER_API_KEY: 'server-key-of-the-test',
      EDGE_API_URL: api,
      ENVIRONMENT_PREFIX: prefix,
      REDIS_HOST: url.hostname,
      REDIS_PORT: url.port || '6379',
      ...(url.pathname.length > 1 && { REDIS_DB: url.pathname.slice(1) }),
      ...(url.password && { REDIS_PASSWORD: decodeURIComponent(url.password) }),
      ...env,
    })
    workers.push(worker)
    return worker
  }

  const send = (told: object) => server.send('changes', JSON.stringify({ ...told, environmentId }))
  const readiness = (worker: Worker, isIt: (answer: Awaited<ReturnType<Worker['readiness']>>) => boolean) =>
    eventually(() => worker.readiness(), isIt, 20_000)
  const reading = (isIt: (reading: Reading) => boolean) => eventually(() => read(redis, prefix, 'acme'), isIt, 20_000)
  const isEmpty = () =>
    eventually(
      async () => server.bodies('changes').length,
      (count) => count === 0,
      20_000,
    )
  const fake = async (...given: Parameters<typeof fakeApi>): Promise<FakeApi> => {
    const api = await fakeApi(...given)
    closing.push(api)
    return api
  }

  it('brings what the queue tells to the external cache, in any order and twice, and deletes it', async () => {
    const told = [
      stateMessage(state(5, [metered('calls', usage(1, 5))])),
      usageMessage('calls', usage(2, 6)),
      usageMessage('calls', usage(9, 4)),
      stateMessage(state(3, [boolean('old')])),
    ]
    for (const one of [...told, ...told.toReversed()]) send(one)
    const worker = await start({ BATCH_SIZE: '10' })
    const seen = await reading((answer) => answer?.features.calls?.usage?.currentUsage === 2)
    expect(Object.keys(seen!.features)).to.deep.equal(['calls'])
    await isEmpty()
    send(message('purge', 7))
    await reading((answer) => answer === null)
    expect(await readiness(worker, (answer) => answer?.status === 'UP')).to.deep.equal({
      http: 200,
      status: 'UP',
      consumers: 1,
      redis: 'CONNECTED',
    })
    expect((await worker.get('/metrics'))?.body).to.match(/tollgate_jobs_total\{queue="changes",result="finished"[^}]*\} 9/)
    expect(worker.output).not.to.include(credentials.secretAccessKey)
  })

  it('asks the edge API for a state that a message does not carry, and reads everything anew when it is told to', async () => {
    const body = { data: { entitlementsState: { accessDeniedReason: 'CustomerIsArchived', entitlements: [] } } }
    const api = await fake(0, () => ({ body }))
    await start({ EDGE_API_URL: api.url })
    send(message('entitlements', 5))
    expect((await reading((answer) => answer !== null))?.accessDeniedReason).to.equal('CustomerIsArchived')
    await isEmpty()
    send({ v: 1, id: 'reload', kind: 'reload', epoch: 10, timestamp: 10 })
    await isEmpty()
    expect(api.asked.map(({ query }) => query.customerId)).to.deep.equal(['acme', 'acme'])
    expect(await redis.get(`${prefix}:epoch`)).to.equal('10')
  })

  it('refuses what is of another environment than its key, and applies all else', async () => {
    const foreign = { ...stateMessage(state(9, [boolean('stolen')])), epoch: 9_000, sequence: 1 }
    server.send('changes', JSON.stringify({ ...foreign, environmentId: randomUUID() }))
    const worker = await start({ BATCH_SIZE: '4' })
    await eventually(
      async () => worker.output,
      (text) => text.includes('another environment than the key'),
    )
    send({ ...stateMessage(state(5, [boolean('sso')])), epoch: 10, sequence: 1 })
    const seen = await reading((answer) => answer !== null)
    expect(Object.keys(seen!.features)).to.deep.equal(['sso'])
    await eventually(
      () => redis.hget(`${prefix}:feed`, 'epoch'),
      (epoch) => epoch === '10',
    )
    server.send('changes', JSON.stringify({ ...foreign, environmentId: randomUUID() }))
    server.send('changes', JSON.stringify({ v: 1, id: 'r', kind: 'reload', epoch: 10_000, timestamp: 1, environmentId: randomUUID() }))
    await eventually(
      async () => server.bodies('changes').length,
      (count) => count === 3,
    )
    await eventually(
      async () => worker.output.split('another environment than the key').length,
      (parts) => parts >= 4,
    )
    expect(Object.keys((await read(redis, prefix, 'acme'))!.features)).to.deep.equal(['sso'])
    expect([await redis.hget(`${prefix}:feed`, 'epoch'), await redis.get(`${prefix}:epoch`)]).to.deep.equal(['10', null])
  })

  it('loses nothing while the cache is away, though SQS would move a message that is received twice', async () => {
    const { hostname, port } = new URL(testRedisUrl())
    const line = await Line.to(hostname, Number(port || 6379))
    closing.push({ close: () => line.cut() })
    const worker = await start({ REDIS_HOST: '127.0.0.1', REDIS_PORT: String(line.port) })
    await readiness(worker, (answer) => answer?.status === 'UP')
    await line.cut()
    send(stateMessage(state(5, [boolean('sso')])))
    expect(await readiness(worker, (answer) => answer?.status === 'DOWN')).to.include({ consumers: 0, redis: 'DISCONNECTED' })
    await eventually(
      async () => worker.output,
      (text) => text.includes('message held'),
    )
    await line.mend()
    await reading((answer) => answer !== null && 'sso' in answer.features)
    await isEmpty()
    expect(server.bodies('dead')).to.deep.equal([])
  })

  it('is not ready while SQS is away, and says so of the queue and not of the cache', async () => {
    const worker = await start()
    await readiness(worker, (answer) => answer?.status === 'UP')
    await server.close()
    expect(await readiness(worker, (answer) => answer?.status === 'DOWN')).to.deep.equal({
      http: 503,
      status: 'DOWN',
      consumers: 0,
      redis: 'CONNECTED',
    })
    await server.listen()
    await readiness(worker, (answer) => answer?.status === 'UP')
  })

  it('gives back what it holds when it is stopped, and lets go of what the API fails on while it answers', async () => {
    const api = await fake(0, () => ({
      status: 500,
      body: { data: null, errors: [{ message: 'broken', extensions: { code: 'InternalServerError' } }] },
    }))
    const worker = await start({ EDGE_API_URL: api.url })
    send(message('entitlements', 5))
    await eventually(
      async () => worker.output,
      (text) => text.includes('message let go'),
    )
    expect(server.bodies('changes')).to.have.length(1)
  })

  describe('with an error tracker', () => {
    let tracker: ErrorTracker
    beforeEach(async () => {
      tracker = await startErrorTracker()
      closing.push(tracker)
    })

    /** Nothing that any reader would write: what is done with it fails where nobody has thought of it. */
    const broken = stateMessage(state(5, [boolean('sso', { usageLimit: { toString: 1, valueOf: 1 } as never })]))
    const fails = async (worker: Worker) => {
      send({ ...broken, customerId: 'very-secret-customer', state: { ...broken.state, customerId: 'very-secret-customer' } })
      await eventually(
        async () => worker.output,
        (text) => text.includes('message let go'),
      )
    }

    it('tells it of unexpected errors, without customers and keys', async () => {
      const worker = await start({ ERRTRACK_DSN: tracker.dsn })
      await fails(worker)
      await eventually(
        async () => tracker.requests.length,
        (count) => count > 0,
      )
      const [event] = tracker.events()
      expect(event!.tags).to.deep.equal({ process: 'queue-consumption' })
      expect(event!.exception.values[0]!.type).to.equal('TypeError')
      expect(event!.exception.values[0]!.stacktrace?.frames.map(({ filename }) => filename).join(' ')).to.include('external-cache/value')
      const all = JSON.stringify(tracker.requests)
      for (const secret of ['very-secret-customer', 'sso', 'server-key-of-the-test', credentials.secretAccessKey, environmentId, prefix])
        expect(all).not.to.include(secret)
    })

    it('tells it nothing of what is away or cannot be read, and nothing at all when that is disabled', async () => {
      const [worker, silent] = [
        await start({ ERRTRACK_DSN: tracker.dsn }),
        await start({ ERRTRACK_DSN: tracker.dsn, DISABLE_ERRTRACK: '1' }),
      ]
      await readiness(worker, (answer) => answer?.status === 'UP')
      await worker.stop()
      await fails(silent)
      await silent.stop()
      const reader = await start({ ERRTRACK_DSN: tracker.dsn })
      server.send('changes', 'no message')
      send(message('entitlements', 9))
      await eventually(
        async () => reader.output,
        (text) => text.includes('message held') && text.includes('message let go'),
      )
      await reader.stop()
      expect(tracker.requests).to.deep.equal([])
    })
  })
})
