import { Queue } from 'bullmq'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { DatabaseClock } from '../../../src/platform/database-clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { openPostgres, type Postgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { queuePrefix as prefixOf } from '../../../src/platform/redis/slots.js'
import { FeedEpochs } from '../../../src/updates/deliver/feed-epochs.js'
import type { HeartbeatMessage, ReloadMessage } from '../../../src/updates/wire/queue-message.js'
import { createApp } from '../../../src/wiring/app.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'
import { failOver, OwnRedis } from '../../support/own-redis.js'
import { testRedisPrefix } from '../../support/redis.js'

describe('epochs of persistent caches', function () {
  this.timeout(60_000)

  const server = new OwnRedis()
  const databaseEpoch = { current: '7-1' }
  const sqs = { tell: async () => Promise.reject(new Error('there is no queue of SQS')) }
  let database: TestDatabase
  let life: Life
  let postgres: Postgres
  let redis: Redis
  let queues: { redisUrl: string; prefix: string }
  let environments: ReturnType<typeof createApp>['environments']
  let environmentId: string

  before(async () => {
    await server.start()
    redis = new Redis(server.url)
    database = await createTestDatabase()
    life = new Life('test', silentLogger())
    postgres = openPostgres(life, database.url, { poolSize: 4 })
    queues = { redisUrl: server.url, prefix: testRedisPrefix() }
    environments = createApp({ life, postgres, queues, clock: await DatabaseClock.open(life, postgres.pool) }).environments
    environmentId = (await environments.create({ refId: 'cached', hasPersistentCache: true })).environment.id
    await environments.create({ refId: 'plain' })
  })
  after(async () => {
    expect(await life.stop()).to.deep.equal([])
    await database.drop()
    redis.disconnect()
    await server.stop()
  })

  /** As each worker has it. */
  const newEpochs = () => new FeedEpochs({ life, queues, pool: postgres.pool, databaseEpoch, sqs })
  async function epochOf(): Promise<number | undefined> {
    const feed = await postgres.prisma.environmentFeed.findUnique({ where: { environmentId } })
    return feed ? Number(feed.epoch) : undefined
  }
  /** Takes all messages that wait, as one consumer would. */
  async function told(): Promise<ReloadMessage[]> {
    const queue = new Queue(`environment-${environmentId}`, {
      connection: redis,
      prefix: prefixOf(queues.prefix, `environment-${environmentId}`),
    })
    const jobs = await queue.getWaiting()
    await queue.obliterate({ force: true })
    await queue.close()
    return jobs.map(({ data }) => data as ReloadMessage)
  }

  it('begin with what nobody has vouched for, and last as long as both stores do', async () => {
    const epochs = newEpochs()
    expect(await epochOf()).to.equal(undefined)
    await Promise.all([epochs.look(), newEpochs().look()])
    await epochs.look()
    const [message, ...others] = await told()
    expect(others).to.deep.equal([])
    expect(message).to.deep.include({ v: 1, environmentId, kind: 'reload', epoch: await epochOf() })
    expect(message!.epoch).to.be.closeTo(Date.now(), 10_000)
    await newEpochs().look()
    expect(await told()).to.deep.equal([])
  })

  it('begin anew when the Redis of the queues fails over, or is lost with all that it had', async () => {
    const epochs = newEpochs()
    await epochs.look()
    const first = (await epochOf())!
    await failOver(redis, async () => undefined)
    await epochs.look()
    const second = (await epochOf())!
    expect(second).to.be.above(first)
    expect((await told()).map(({ epoch }) => epoch)).to.deep.equal([second])
    await server.lose()
    await server.start()
    await epochs.look().catch(() => undefined)
    for (let n = 0; (await epochOf()) === second && n < 300; n++) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      await epochs.look().catch(() => undefined)
    }
    const third = (await epochOf())!
    expect(third).to.be.above(second)
    expect((await told()).map(({ epoch }) => epoch)).to.deep.equal([third])
  })

  it('begin anew when the database has another history', async () => {
    const epochs = newEpochs()
    await epochs.look()
    const before = (await epochOf())!
    databaseEpoch.current = '7-2'
    await epochs.look()
    expect(await epochOf()).to.be.above(before)
    expect((await told()).map(({ epoch }) => epoch)).to.deep.equal([await epochOf()])
  })

  it('begin anew when too much waits that nobody works off: it is dropped, and a consumer that comes back reads everything', async () => {
    const bounded = () => new FeedEpochs({ life, queues, pool: postgres.pool, databaseEpoch, sqs, mostWaitingBytes: 1_000_000 })
    const waiting = new Queue<object>(`environment-${environmentId}`, {
      connection: redis,
      prefix: prefixOf(queues.prefix, `environment-${environmentId}`),
    })
    const add = (count: number, bytes: number, delay = 0) =>
      waiting.addBulk(Array.from({ length: count }, () => ({ name: 'change', data: { text: 'x'.repeat(bytes) }, opts: { delay } })))
    try {
      const epochs = bounded()
      await epochs.look()
      const first = (await epochOf())!
      await told()
      // given: less than it may be
      await add(600, 100)
      await epochs.look()
      expect([await waiting.getWaitingCount(), await epochOf()]).to.deep.equal([600, first])
      // when
      await add(1_200, 2_000)
      await add(100, 2_000, 60_000)
      await Promise.all([epochs.look(), bounded().look()])
      await epochs.look()
      // then
      const second = (await epochOf())!
      expect(second).to.be.above(first)
      expect(await waiting.getDelayedCount()).to.equal(0)
      expect((await told()).map(({ kind, epoch }) => ({ kind, epoch }))).to.deep.equal([{ kind: 'reload', epoch: second }])
      expect(await redis.keys(`*:environment-${environmentId}:[0-9]*`)).to.deep.equal([])
      await epochs.look()
      expect(await epochOf()).to.equal(second)
    } finally {
      await waiting.close()
    }
  })

  it('are told again by who comes next when a process has ended in between', async () => {
    const epochs = newEpochs()
    await epochs.look()
    await told()
    await postgres.prisma.environmentFeed.updateMany({ where: { environmentId }, data: { isTold: false } })
    await newEpochs().look()
    expect((await told()).map(({ epoch }) => epoch)).to.deep.equal([await epochOf()])
  })

  it('are vouched for by a heartbeat, one at a time, as of the oldest change that is not delivered', async () => {
    const epochs = newEpochs()
    await epochs.look()
    await told()
    const again = () => postgres.pool.query('UPDATE environment_feed SET beat_at = NULL')
    const beats = async () => (await told()).filter(({ kind }) => (kind as string) === 'heartbeat') as unknown as HeartbeatMessage[]
    const place = await epochs.number(environmentId, 3)
    await again()
    await Promise.all([epochs.beat(), newEpochs().beat()])
    const [first, ...others] = await beats()
    expect(others, 'of one process').to.deep.equal([])
    expect(first).to.deep.include({ epoch: place!.epoch, sequence: place!.sequence + 2 })
    expect(first!.asOf).to.be.closeTo(Date.now(), 5_000)
    await epochs.beat()
    expect(await beats(), 'too soon').to.deep.equal([])
    // given: a change that waits
    await postgres.pool.query(
      `INSERT INTO outbox_message (environment_id, id, kind, version, created_at) VALUES ($1, gen_random_uuid(), 'package', 1, now() - interval '1 hour')`,
      [environmentId],
    )
    for (let n = 0; n < 3; n++) {
      await again()
      await epochs.beat()
    }
    const waiting = await beats()
    expect(waiting, 'nobody takes them').to.have.length(1)
    expect(waiting[0]!.asOf).to.be.closeTo(Date.now() - 3_600_000, 5_000)
    await postgres.pool.query('DELETE FROM outbox_message')
  })

  describe('of one environment that is in trouble', () => {
    const away = new Error('away')
    /** The queues of SQS take what they are told when they are let. */
    const unanswered = () => {
      const told: string[] = []
      let answer = (_isTaken: boolean) => {}
      const answered = new Promise<boolean>((resolve) => {
        answer = resolve
      })
      const tell = (url: string) => {
        told.push(url)
        return answered
      }
      return { told, answer, epochs: new FeedEpochs({ life, queues, pool: postgres.pool, databaseEpoch, sqs: { tell } }) }
    }
    const failureOf = (work: Promise<unknown>) => work.then(() => null).catch((error: unknown) => error)

    before(async () => {
      await newEpochs().look()
      for (const refId of ['1', '2']) {
        const { id } = (await environments.create({ refId, hasPersistentCache: true })).environment
        await postgres.pool.query('UPDATE environment SET persistent_cache_queue_url = $2 WHERE id = $1', [id, `https://sqs/${refId}`])
      }
    })

    it('hold up no other when they are to begin', async () => {
      let looks = 0
      const epochs = new FeedEpochs({
        life,
        queues,
        pool: {
          query: (statement: { text: string }) =>
            statement.text.includes('INSERT INTO environment_feed') ? Promise.reject(away) : postgres.pool.query(statement),
        } as unknown as Postgres['pool'],
        databaseEpoch: {
          get current() {
            looks += 1
            return '7-3'
          },
        },
        sqs,
      })
      expect(await failureOf(epochs.look())).to.equal(away)
      expect(looks).to.equal(3)
    })

    it('hold up the heartbeat of no other', async () => {
      await postgres.pool.query(
        `INSERT INTO environment_feed (environment_id, epoch, vouched_by, is_told)
         SELECT id, 1, 'x', true FROM environment WHERE persistent_cache_queue_url IS NOT NULL`,
      )
      const { epochs, told, answer } = unanswered()
      await epochs.beat()
      expect(told.sort()).to.deep.equal(['https://sqs/1', 'https://sqs/2'])
      await postgres.pool.query('UPDATE environment_feed SET beat_at = NULL')
      await epochs.beat()
      expect(told, 'no heap for one that does not answer').to.have.length(2)
      answer(false)
      await epochs.toldAll()
    })

    it('hold up no other that is to read everything anew', async () => {
      await postgres.pool.query(`
        UPDATE environment SET persistent_cache_since = persistent_cache_since - interval '1 minute' WHERE persistent_cache_queue_url IS NOT NULL`)
      const { epochs, told, answer } = unanswered()
      await epochs.look()
      await epochs.look()
      expect(told.sort()).to.deep.equal(['https://sqs/1', 'https://sqs/2'])
      answer(true)
      await epochs.toldAll()
      await epochs.look()
      expect(told, 'they have taken it').to.have.length(2)
    })
  })
})
