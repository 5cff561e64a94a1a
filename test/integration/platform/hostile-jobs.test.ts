import { Queue } from 'bullmq'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { silentLogger } from '../../../src/platform/logger.js'
import { Life } from '../../../src/platform/process.js'
import { consume } from '../../../src/platform/queue/consume.js'
import { type JobDefinition, openQueue, type QueueConnection } from '../../../src/platform/queue.js'
import { queuePrefix as prefixOf } from '../../../src/platform/redis/slots.js'
import { eventually } from '../../support/eventually.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'

interface Parcel {
  v: 1
  n: number
}

const parcel: JobDefinition<Parcel> = {
  queue: 'parcels',
  name: 'parcel',
  version: 1,
  parse: (data) => {
    if (typeof (data as Parcel).n !== 'number') throw new Error('n must be a number')
    return data as Parcel
  },
  options: { attempts: 2, backoff: { type: 'fixed', delay: 10 } },
}

const good = {
  name: 'parcel',
  data: '{"v":1,"n":-1}',
  opts: '{"attempts":2}',
  timestamp: '1',
  atm: '0',
  ats: '0',
  delay: '0',
  priority: '0',
}

/** What a job may be written as by who reaches its queue: the fields that differ from a good one's, whose handler fails. */
const hostile: Record<string, Partial<Record<string, string>>> = {
  'data that is no JSON': { data: '{' },
  'data that is nothing': { data: 'null' },
  'data of a version that nobody knows': { data: '{"v":99}' },
  'options that are no JSON': { opts: '{' },
  'options that are a list': { opts: '[1]' },
  'options that are nothing': { opts: 'null' },
  'more attempts than anybody has time for': { opts: '{"attempts":1000000000,"backoff":{"type":"fixed","delay":0}}' },
  'attempts that are text': { opts: '{"attempts":"many"}' },
  'a backoff that there is not': { opts: '{"attempts":9,"backoff":{"type":"strange","delay":1}}' },
  'to be kept in a strange way': { opts: '{"attempts":1,"removeOnFail":{"count":-1,"age":"x"}}' },
  'a parent that is no JSON': { parent: '{', parentKey: 'x:y:1' },
  'a parent elsewhere': { parent: '{"id":"1","queueKey":"PREFIX:victims","fpof":true}', parentKey: 'PREFIX:victims:1' },
  'a parent that is a number': { parent: '7', parentKey: 'x' },
  'a scheduler': { rjk: 'scheduler', nrjid: '9' },
  'counts that are text': { atm: 'x', ats: 'y', stc: 'z' },
  'a stack trace that is none': { stacktrace: '{' },
}

describe('a queue that others may write to', function () {
  this.timeout(60_000)

  let connection: QueueConnection
  let life: Life
  let redis: Redis
  let queue: Queue

  beforeEach(() => {
    connection = { redisUrl: testRedisUrl(), prefix: testRedisPrefix() }
    life = new Life('test', silentLogger())
    redis = new Redis(testRedisUrl())
    queue = new Queue(parcel.queue, { connection: redis, prefix: prefixOf(connection.prefix, parcel.queue) })
  })
  afterEach(async () => {
    expect(await life.stop()).to.deep.equal([])
    await queue.close()
    redis.disconnect()
  })

  async function write(id: string, fields: Partial<Record<string, string>>): Promise<void> {
    const own = Object.entries({ ...good, ...fields }).flatMap(([name, value]) => [name, value!.replaceAll('PREFIX', connection.prefix)])
    await redis.hset(`${prefixOf(connection.prefix, parcel.queue)}:${parcel.queue}:${id}`, ...own)
    await redis.lpush(`${prefixOf(connection.prefix, parcel.queue)}:${parcel.queue}:wait`, id)
    await redis.zadd(`${prefixOf(connection.prefix, parcel.queue)}:${parcel.queue}:marker`, 0, '0')
  }

  for (const [what, fields] of Object.entries(hostile))
    it(`works off the others beside a job with ${what}, which is out of the way soon`, async () => {
      const seen: number[] = []
      let tries = 0
      consume(life, connection, parcel, {
        concurrency: 1,
        lockMs: 400,
        handler: async ({ n }) => {
          if (n < 0 && tries++ >= 0) throw new TypeError('hostile')
          seen.push(n)
        },
      })
      await write('hostile', fields)
      for (let n = 0; n < 5; n++) await openQueue(life, connection, parcel).add({ v: 1, n })
      await eventually('the good jobs', () => seen.length === 5, 10_000)
      const isPutBack = fields.data?.includes('99')
      await eventually(
        'the hostile one to be set aside',
        async () => {
          const { wait, active, delayed } = await queue.getJobCounts('wait', 'active', 'delayed')
          return wait! + active! + (isPutBack ? 0 : delayed!) === 0
        },
        10_000,
      )
      expect(tries).to.be.at.most(3)
      expect(await redis.keys(`${prefixOf(connection.prefix, 'victims')}:victims*`)).to.deep.equal([])
    })
})
