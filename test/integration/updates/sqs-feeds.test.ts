import { Queue } from 'bullmq'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { Secret } from '../../../src/kernel/secret.js'
import { SqsSender } from '../../../src/platform/cloud/sqs-sender.js'
import { DatabaseClock } from '../../../src/platform/database-clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { openPostgres, type Postgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { queuePrefix as prefixOf } from '../../../src/platform/redis/slots.js'
import type { ChangeSinks } from '../../../src/updates/deliver/delivery.js'
import { FeedEpochs } from '../../../src/updates/deliver/feed-epochs.js'
import { changeSinks } from '../../../src/updates/deliver/sinks.js'
import { SqsFeeds } from '../../../src/updates/deliver/sqs-feeds.js'
import type { ChangeMessage } from '../../../src/updates/wire/change-message.js'
import type { QueuedChange, QueueMessage } from '../../../src/updates/wire/queue-message.js'
import { type App, createApp } from '../../../src/wiring/app.js'
import { boolean, state, stateMessage } from '../../contract/cache/held.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'
import { eventually } from '../../support/eventually.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'
import { SqsServer } from '../../support/sqs-server.js'

const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret-of-the-platform', region: 'eu-west-1' }

interface Worker {
  sinks: ChangeSinks
  epochs: FeedEpochs
}

describe('persistent caches that are told through SQS', function () {
  this.timeout(60_000)

  const databaseEpoch = { current: '7-1' }
  let server: SqsServer
  let database: TestDatabase
  let life: Life
  let postgres: Postgres
  let redis: Redis
  let queues: { redisUrl: string; prefix: string }
  let app: App
  let refId: string
  let environmentId: string
  let one: Worker
  let count = 0

  before(async () => {
    server = await SqsServer.start(credentials)
    redis = new Redis(testRedisUrl())
    database = await createTestDatabase()
    life = new Life('test', silentLogger())
    postgres = openPostgres(life, database.url, { poolSize: 4 })
    queues = { redisUrl: testRedisUrl(), prefix: testRedisPrefix() }
    app = createApp({ life, postgres, queues, clock: await DatabaseClock.open(life, postgres.pool) })
  })
  after(async () => {
    expect(await life.stop()).to.deep.equal([])
    await database.drop()
    const keys = await redis.keys(`${queues.prefix}*`)
    if (keys.length > 0) await redis.del(keys)
    redis.disconnect()
    await server.close()
  })
  beforeEach(async () => {
    refId = `cached-${++count}`
    environmentId = (await app.environments.create({ refId })).environment.id
    server.create(refId)
    one = worker()
  })

  /** As each process that delivers has it. */
  function worker(): Worker {
    const access = { ...credentials, secretAccessKey: new Secret(credentials.secretAccessKey), endpoint: server.endpoint }
    const sqs = new SqsFeeds({ sender: new SqsSender(life, access), log: life.log })
    const epochs = new FeedEpochs({ life, queues, pool: postgres.pool, databaseEpoch, sqs })
    const persistentCacheOf = (id: string) => app.environments.persistentCacheOf(id)
    return { epochs, sinks: changeSinks({ life, redis, queues, databaseEpoch, persistentCacheOf, sqs, epochs }) }
  }
  const enqueue = async (messages: ChangeMessage[], { sinks } = one) => (await sinks.enqueue(messages))()
  const look = async ({ epochs } = one) => {
    await epochs.look()
    await epochs.toldAll()
  }
  const change = (version: number, customerId = 'acme', bytes = 0): ChangeMessage => ({
    ...stateMessage(state(version, [boolean('sso', { enumValues: ['x'.repeat(bytes)] })], { customerId, environmentId })),
    environmentId,
  })
  const epochOf = async () => Number((await postgres.prisma.environmentFeed.findUniqueOrThrow({ where: { environmentId } })).epoch)
  const told = () => server.take(refId).map((body) => JSON.parse(body) as QueueMessage)
  const kinds = () => told().map(({ kind }) => kind)
  /** As if it had been switched on a while ago. */
  const settle = () =>
    postgres.pool.query(`UPDATE environment SET persistent_cache_since = persistent_cache_since - interval '1 minute' WHERE id = $1`, [
      environmentId,
    ])
  async function enabled(): Promise<void> {
    await app.environments.enablePersistentCache(refId, { queueUrl: server.urlOf(refId) })
    await settle()
    await look()
    expect(kinds()).to.deep.equal(['reload'])
  }
  const waitingInRedis = async () => {
    const queue = new Queue(`environment-${environmentId}`, {
      connection: redis,
      prefix: prefixOf(queues.prefix, `environment-${environmentId}`),
    })
    const waiting = await queue.getWaitingCount()
    await queue.close()
    return waiting
  }

  it('are told of each change, with its epoch, in calls that SQS takes', async () => {
    await enabled()
    const changes = Array.from({ length: 37 }, (_, n) => change(n + 1, `customer-${n}`, n * 3_000))
    await enqueue(changes)
    const messages = told()
    const epoch = await epochOf()
    expect(messages.map((message) => (message as ChangeMessage).customerId)).to.have.members(changes.map(({ customerId }) => customerId))
    expect(messages.every((message) => 'epoch' in message && message.epoch === epoch)).to.equal(true)
    expect(messages.map((message) => (message as QueuedChange).sequence)).to.have.members(changes.map((_, n) => n + 1))
    expect(await waitingInRedis()).to.equal(0)
  })

  it('are not waited for by who tells them, who learns later whether they have taken it', async () => {
    await enabled()
    let answer = () => {}
    server.answering = new Promise<void>((resolve) => {
      answer = resolve
    })
    const isTold = await one.sinks.enqueue([change(1)])
    expect(server.bodies(refId)).to.deep.equal([])
    answer()
    expect(await isTold()).to.equal(true)
    expect(kinds()).to.include('entitlements')
  })

  it('are told of a state that is too large for SQS without it', async () => {
    await enabled()
    await enqueue([change(1, 'large', 300_000), change(2, 'small')])
    const states = told().map((message) => [(message as ChangeMessage).customerId, 'state' in message])
    expect(states).to.have.deep.members([
      ['large', false],
      ['small', true],
    ])
  })

  it('lose nothing while SQS is away, for which nothing waits anywhere: they are told to read everything anew when it is back', async () => {
    await enabled()
    const first = await epochOf()
    await server.close()
    for (let n = 0; n < 50; n++) await enqueue([change(n + 1)])
    await look()
    expect(await waitingInRedis()).to.equal(0)
    expect(kinds()).to.deep.equal([])
    await server.listen()
    await eventually('it is told', async () => {
      await look()
      return server.bodies(refId).length > 0
    })
    await look()
    const [message, ...others] = told()
    expect(others).to.deep.equal([])
    expect(message).to.include({ kind: 'reload', epoch: await epochOf() })
    expect(await epochOf()).to.be.above(first)
    await enqueue([change(100)])
    expect(kinds()).to.deep.equal(['entitlements'])
  })

  it('hear of a change that one worker could not tell from whichever looks next', async () => {
    await enabled()
    const other = worker()
    server.failure = { status: 503, type: 'ServiceUnavailable', message: 'away' }
    await enqueue([change(1)])
    server.failure = null
    await look(other)
    expect(kinds()).to.deep.equal(['reload'])
  })

  it('begin with reading everything anew, once every process has noticed that they are there', async () => {
    await enqueue([change(1)])
    await app.environments.enablePersistentCache(refId, { queueUrl: server.urlOf(refId) })
    await look()
    expect(kinds()).to.deep.equal([])
    await eventually('the sinks have noticed', async () => {
      await enqueue([change(2)])
      return server.bodies(refId).length > 0
    })
    told()
    await settle()
    await look()
    expect(kinds()).to.deep.equal(['reload'])
    await look()
    expect(kinds()).to.deep.equal([])
  })

  it('are left alone when they are switched off, and begin anew when they are switched on again, or told through another queue', async () => {
    await enabled()
    await app.environments.disablePersistentCache(refId)
    const after = worker()
    await enqueue([change(1)], after)
    await look(after)
    expect(kinds()).to.deep.equal([])
    await enabled()
    // through Redis
    await app.environments.enablePersistentCache(refId, { queueUrl: null })
    await settle()
    await look()
    await enqueue([change(2)], worker())
    expect([kinds(), await waitingInRedis()]).to.deep.equal([[], 2])
    expect(await app.environments.find(refId)).to.include({ hasPersistentCache: true, persistentCacheQueueUrl: null })
  })

  it('are not led to what is no standard queue of SQS, nor of an environment that there is not', async () => {
    const refusal = (asked: Promise<unknown>) =>
      asked.then(
        () => 'none',
        ({ reason }: { reason: string }) => reason,
      )
    for (const queueUrl of [
      '',
      'http://sqs.eu-west-1.amazonaws.com/1/q',
      'https://host',
      'https://u:p@host/1/q',
      'https://host/1/q.fifo',
      'https://host/1/q?x=1',
      'redis://host/0?queue=q',
    ])
      expect(await refusal(app.environments.enablePersistentCache(refId, { queueUrl })), queueUrl).to.equal('BAD_USER_INPUT')
    expect(await refusal(app.environments.enablePersistentCache('nobody', { queueUrl: null }))).to.equal('ENVIRONMENT_NOT_FOUND')
    expect(await refusal(app.environments.disablePersistentCache('nobody'))).to.equal('ENVIRONMENT_NOT_FOUND')
  })

  it('that a worker has no key for are told by one that has', async () => {
    await enabled()
    const sqs = new SqsFeeds({ sender: new SqsSender(life, null), log: life.log })
    expect(await sqs.tell(server.urlOf(refId), [])).to.equal(false)
  })
})
