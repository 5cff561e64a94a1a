import { randomUUID } from 'node:crypto'
import { Queue } from 'bullmq'
import { expect } from 'chai'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { queuePrefix as prefixOf } from '../../../../src/platform/redis/slots.js'
import { boolean, metered, state, stateMessage, usage, usageMessage } from '../../../contract/cache/held.js'
import { read } from '../../../contract/cache/reader.js'
import { testRedisPrefix, testRedisUrl } from '../../../support/redis.js'
import { eventually, Worker } from './harness.js'

/** Whoever can write to the queue of one environment: what it reaches in the Redis that two environments share. */
describe('hostile messages', function () {
  this.timeout(60_000)

  const environmentId = randomUUID()
  let redis: Redis
  let queuePrefix: string
  let prefix: string
  let board: Queue
  let worker: Worker

  before(async () => {
    redis = new Redis(testRedisUrl())
    queuePrefix = testRedisPrefix()
    prefix = testRedisPrefix()
    board = new Queue(`environment-${environmentId}`, { connection: redis, prefix: prefixOf(queuePrefix, `environment-${environmentId}`) })
    const url = new URL(testRedisUrl())
    worker = await Worker.start({
      QUEUE_URL: `${testRedisUrl()}?queue=environment-${environmentId}&prefix=${queuePrefix}`,
      SERVER_API_KEY: 'server-key-of-the-test',
      EDGE_API_URL: 'http://127.0.0.1:1',
      ENVIRONMENT_PREFIX: prefix,
      REDIS_HOST: url.hostname,
      REDIS_PORT: url.port || '6379',
      ...(url.pathname.length > 1 && { REDIS_DB: url.pathname.slice(1) }),
      ...(url.password && { REDIS_PASSWORD: decodeURIComponent(url.password) }),
      BATCH_SIZE: '20',
    })
  })
  after(async () => {
    expect(await worker.stop()).to.equal(0)
    await board.close()
    for (const of of [prefix, queuePrefix]) {
      const keys = await redis.keys(`${of}*`)
      if (keys.length > 0) await redis.del(keys)
    }
    redis.disconnect()
  })

  const add = (messages: object[]) => board.addBulk(messages.map((data) => ({ name: 'change', data })))
  const own = (message: object) => ({ ...message, environmentId })
  /** A message that is applied after all of those before it: the worker has gone on. */
  async function expectGoesOn(): Promise<void> {
    const customerId = `good-${randomUUID()}`
    await add([own(stateMessage(state(5, [boolean('sso')], { customerId })))])
    await eventually(
      () => read(redis, prefix, customerId),
      (seen) => seen !== null,
      20_000,
    )
  }
  const failed = async () => (await board.getFailed(0, 1_000)).length

  it('with identifiers that look like keys write below the prefix of their own environment, and never into the entry of another customer', async () => {
    const neighbour = stateMessage(state(1, [boolean('own')], { customerId: 'acme' }))
    await add([own(neighbour)])
    await eventually(
      () => read(redis, prefix, 'acme'),
      (seen) => seen !== null,
    )
    const before = new Map((await redis.keys(`${prefix}:c_acme*`)).map((key) => [key, redis.get(key)]))
    const hostile = [
      'acme#timestamp',
      'acme:metadata',
      'acme:f_calls',
      'acme:f_calls#timestamp',
      'acme:r_site-1',
      `../${prefix}:c_acme`,
      `x:c_acme`,
      `*`,
      `[ac]me`,
      `acme\\`,
      '{other}',
      '__proto__',
      'constructor',
      'toString',
      '%23timestamp',
      'acme%3Ametadata',
    ]
    await add(
      hostile.flatMap((id) => [
        own(stateMessage(state(9, [metered(id, usage(7, 9))], { customerId: id }))),
        own(usageMessage(id, usage(8, 10))),
        own({ ...usageMessage('calls', usage(8, 10), id), customerId: id }),
        own({ ...stateMessage(state(11, [boolean('x')], { customerId: id, resourceId: id })) }),
        own({ v: 1, id: 'm', kind: 'purge', customerId: id, version: 12, timestamp: 12 }),
        own({ v: 1, id: 'm', kind: 'purge', customerId: id, resourceId: id, version: 12, timestamp: 12 }),
      ]),
    )
    await expectGoesOn()
    await eventually(
      async () => Object.values(await board.getJobCounts('waiting', 'active')).reduce((sum, count) => sum + count, 0),
      (count) => count === 0,
    )
    for (const [key, value] of before) expect(await redis.get(key), key).to.equal(await value)
    // Of the customer itself, only usages were told: those of features that look like keys.
    const others = (await redis.keys('*')).filter((key) => !key.startsWith(`${prefix}:c_`) && !key.includes(queuePrefix.slice(1, -1)))
    expect(others.filter((key) => hostile.some((id) => id.length > 3 && key.includes(id)))).to.deep.equal([])
    expect(await failed()).to.equal(0)
  })

  it('of another environment, with what is no identifier or version, or about somebody else than they say, are set aside', async () => {
    const good = stateMessage(state(50, [metered('calls', usage(1, 50))]))
    const bad = [
      { ...good, environmentId: randomUUID() },
      { ...good, environmentId: '' },
      ...['', '\u0000', 'a\nb', '\ud800', 'x'.repeat(256), 5, null, {}, ['acme']].map((customerId) => own({ ...good, customerId })),
      own({ ...good, state: { ...good.state, customerId: 'other' } }),
      own({ ...good, state: { ...good.state, resourceId: 'site' } }),
      own({ ...good, resourceId: '' }),
      ...[-1, 0.5, 2 ** 53, 1e300, '5', null].map((version) => own({ ...good, version })),
      ...[-1, 1e300, '5'].map((accessVersion) => own({ ...good, state: { ...good.state, accessVersion } })),
      ...['abc', '1e400', '', ' 1', '01', 'NaN', 'Infinity'].map((currentUsage) =>
        own({ ...usageMessage('calls', usage(1, 50)), usage: { featureId: 'calls', usage: { ...usage(1, 50), currentUsage } } }),
      ),
      own({ ...usageMessage('', usage(1, 50)) }),
      own({ v: 1, id: 'm', kind: 'reload', epoch: 1e300, timestamp: 1 }),
      own({ v: 1, id: 'm', kind: 'nonsense', timestamp: 1 }),
    ]
    const already = await failed()
    await add(bad)
    await eventually(
      async () => (await failed()) - already,
      (count) => count === bad.length,
      20_000,
    )
    expect((await read(redis, prefix, 'acme'))?.features).to.not.have.property('calls')
    await expectGoesOn()
  })

  it('of any shape do not stop the worker', async () => {
    const shapes = fc.sample(fc.object({ maxDepth: 4, maxKeys: 6 }), { numRuns: 200, seed: 11 })
    const good = stateMessage(state(60, [metered('calls', usage(1, 60))]))
    const paths = Object.keys(good) as (keyof typeof good)[]
    const values = JSON.parse(JSON.stringify(shapes)) as object[]
    const changed = values.map((value, n) => own({ ...good, customerId: 'mangled', [paths[n % paths.length]!]: value }))
    const deep = JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`) as object
    await add([...values.map((value) => ({ v: 1, ...value })), ...changed, own({ ...good, state: { ...good.state, entitlements: deep } })])
    await expectGoesOn()
    expect(await worker.readiness()).to.include({ status: 'UP' })
  })
})
