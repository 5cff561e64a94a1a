import { expect } from 'chai'
import { newId } from '../../../src/kernel/id.js'
import { unavailable } from '../../../src/kernel/problem.js'
import { openRedis, openSubscriber, type Redis } from '../../../src/platform/redis.js'
import { EndedPeriods } from '../../../src/updates/deliver/ended-periods.js'
import { changeSinks } from '../../../src/updates/deliver/sinks.js'
import { type ChangeMessage, changeChannel } from '../../../src/updates/wire/change-message.js'
import { type Bench, openBench } from '../subscription/fixture.js'

const catalog = `
features:
  - { refId: calls, type: NUMBER, meter: Incremental }
  - { refId: images, type: NUMBER, meter: Incremental }
  - { refId: seats, type: NUMBER, meter: Fluctuating }
products: [{ refId: cloud, settings: { multipleSubscriptions: true } }]
plans:
  - refId: hourly
    product: cloud
    entitlements:
      - { feature: calls, limit: 10, resetPeriod: HOUR }
      - { feature: images, limit: 5, resetPeriod: MONTH }
      - { feature: seats, limit: 3 }
`
const hour = 3_600_000
/** After that every customer has had its turn. */
const allTurnsMs = 41_000

describe('ends of usage periods', () => {
  let bench: Bench
  let redis: Redis
  let subscriber: Redis
  let environmentId: string
  let heard: ChangeMessage[]

  before(async () => {
    bench = await openBench()
    redis = openRedis(bench.life, bench.queues.redisUrl, 'request')
    subscriber = openSubscriber(bench.life, bench.queues)
    subscriber.on('message', (_channel, text: string) => heard.push(JSON.parse(text) as ChangeMessage))
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    heard = []
    environmentId = await bench.createEnvironment({ catalog, isTest: true })
  })
  afterEach(() => subscriber.unsubscribe())

  const listen = () => subscriber.subscribe(changeChannel(bench.queues.prefix, environmentId))
  /** As one process of the worker has it. */
  const worker = (entitlements: Pick<Bench['entitlements'], 'states'> = bench.entitlements) =>
    new EndedPeriods({
      pool: bench.pool,
      redis,
      prefix: bench.queues.prefix,
      entitlements,
      sinks: changeSinks({
        life: bench.life,
        redis,
        queues: bench.queues,
        databaseEpoch: bench.epoch,
        persistentCacheOf: async () => null,
        sqs: { tell: async () => true },
        epochs: { number: async () => null, lose: async () => undefined },
      }),
      log: bench.life.log,
    })
  /** Everything published before has been heard when a message of our own has. */
  async function told(): Promise<ChangeMessage[]> {
    const mark = newId()
    await redis.publish(changeChannel(bench.queues.prefix, environmentId), JSON.stringify({ id: mark }))
    while (heard.at(-1)?.id !== mark) await new Promise((resolve) => subscriber.once('message', resolve))
    return heard.splice(0).slice(0, -1)
  }
  const subscribe = async (customerRefId: string, startDate: number, resourceRefId: string | null = null) => {
    await bench.customers.provision(environmentId, { refId: customerRefId })
    await bench.subscriptions.provision(environmentId, { customerRefId, planRefId: 'hourly', resourceRefId, startDate })
  }
  /** A counter as counting has left it. */
  async function used(customerRefId: string, featureRefId: string, usage: number, [start, end]: [number, number]) {
    const feature = (await bench.catalog.features(bench.prisma, environmentId)).get(featureRefId)!
    const customer = await bench.prisma.customer.findFirstOrThrow({ where: { environmentId, refId: customerRefId } })
    const ofSeries = { environmentId, customerId: customer.id, featureId: feature.id, resourceId: null }
    const { id: seriesId } = await bench.prisma.usageSeries.create({ data: { ...ofSeries, id: newId(), anchor: new Date(start) } })
    const period = { periodStart: new Date(start), periodEnd: new Date(end) }
    await bench.prisma.usageCounter.create({ data: { environmentId, seriesId, ...period, usage, version: 1 } })
  }

  it('are told to who listens, with the usage and the period of now, newer than all that was told before', async () => {
    await listen()
    const endedAt = Date.now() - allTurnsMs
    await subscribe('acme', endedAt - hour)
    await used('acme', 'calls', 7, [endedAt - hour, endedAt])
    await worker().tell()
    const [message, ...others] = await told()
    expect(others).to.deep.equal([])
    expect(message).to.deep.include({ environmentId, customerId: 'acme', kind: 'usage' })
    const { featureId, usage, entitlement } = message!.usage!
    expect({ featureId, ...usage, updatedAt: null }).to.deep.equal({
      featureId: 'calls',
      currentUsage: '0',
      periodStart: endedAt,
      periodEnd: endedAt + hour,
      updatedAt: null,
    })
    expect(entitlement).to.deep.include({ usageLimit: '10', usage })
    expect(message!.version).to.equal(usage.updatedAt).and.at.least(endedAt)
    expect((await bench.entitlements.state(environmentId, 'acme', null)).version).to.be.at.most(usage.updatedAt)
  })

  it('are told once, whichever process looks', async () => {
    await listen()
    const endedAt = Date.now() - allTurnsMs
    for (const customer of ['a', 'b', 'c']) {
      await subscribe(customer, endedAt - hour)
      await used(customer, 'calls', 1, [endedAt - hour, endedAt])
    }
    await Promise.all([worker().tell(), worker().tell(), worker().tell()])
    await worker().tell()
    expect((await told()).map(({ customerId }) => customerId)).to.have.members(['a', 'b', 'c'])
  })

  it('are told of resources whose own usage starts again too', async () => {
    await listen()
    const endedAt = Date.now() - allTurnsMs
    await subscribe('acme', endedAt - hour, 'site')
    await used('acme', 'calls', 7, [endedAt - hour, endedAt])
    await worker().tell()
    expect((await told()).map(({ resourceId }) => resourceId)).to.deep.equal(['site'])
  })

  it('are not told when there was no usage, when nothing began, when it is not their turn, or when they are long past', async () => {
    await listen()
    const now = Date.now()
    await subscribe('acme', now - allTurnsMs - hour)
    // None; a series that measures nothing any more; never reset; not yet; told long ago to who listened then.
    await used('acme', 'calls', 0, [now - allTurnsMs - hour, now - allTurnsMs])
    await used('acme', 'images', 4, [now - allTurnsMs - hour, now - allTurnsMs])
    await used('acme', 'calls', 4, [now - 10 * hour, now - 1_000])
    await used('acme', 'calls', 4, [now - 11 * hour, now - 5 * hour])
    await worker().tell()
    expect(await told()).to.deep.equal([])
  })

  it('are not looked for when nobody listens', async () => {
    const endedAt = Date.now() - allTurnsMs
    await subscribe('acme', endedAt - hour)
    await used('acme', 'calls', 7, [endedAt - hour, endedAt])
    const states = () => Promise.reject(new Error('no state is to be built'))
    await worker({ states }).tell()
    await listen()
    expect(await told()).to.deep.equal([])
  })

  it('of one customer whose state cannot be built hold up nobody else', async () => {
    await listen()
    const endedAt = Date.now() - allTurnsMs
    for (const customer of ['a', 'broken', 'c']) {
      await subscribe(customer, endedAt - hour)
      await used(customer, 'calls', 1, [endedAt - hour, endedAt])
    }
    const states: Bench['entitlements']['states'] = async (id, customers) => {
      if (customers.includes('broken')) throw new Error('broken')
      return bench.entitlements.states(id, customers)
    }
    await worker({ states }).tell()
    expect((await told()).map(({ customerId }) => customerId)).to.have.members(['a', 'c'])
  })

  for (const [what, away] of [
    ['is away', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })],
    ['has failed over', unavailable('The database has failed over. Try again.')],
  ] as const)
    it(`are told later when the database ${what} while they are told`, async () => {
      await listen()
      const endedAt = Date.now() - allTurnsMs
      for (const customer of ['a', 'b', 'c']) {
        await subscribe(customer, endedAt - hour)
        await used(customer, 'calls', 1, [endedAt - hour, endedAt])
      }
      let asked = 0
      const states = () => {
        asked += 1
        return Promise.reject(away)
      }
      await worker({ states }).tell()
      expect(asked, 'nobody is asked for alone once one has failed').to.equal(2)
      expect(await told()).to.deep.equal([])
      await worker().tell()
      expect((await told()).map(({ customerId }) => customerId)).to.have.members(['a', 'b', 'c'])
    })

  it('go on where the last look ended, also when that took more than one step', async () => {
    await listen()
    const endedAt = Date.now() - allTurnsMs
    const names = Array.from({ length: 2_300 }, (_, n) => `c${n}`)
    await subscribe('c0', endedAt - hour)
    const [feature] = (await bench.catalog.features(bench.prisma, environmentId)).values()
    await bench.pool.query(
      `WITH made AS (
         INSERT INTO customer (environment_id, id, ref_id, updated_at) SELECT $1::uuid, gen_random_uuid(), name, now() FROM unnest($2::text[]) AS name RETURNING id),
       series AS (
         INSERT INTO usage_series (environment_id, id, customer_id, feature_id) SELECT $1::uuid, gen_random_uuid(), id, $3::uuid FROM made RETURNING id)
       INSERT INTO usage_counter (environment_id, series_id, period_start, period_end, usage, version)
       SELECT $1::uuid, id, $4::timestamptz, $5::timestamptz, 1, 1 FROM series`,
      [environmentId, names.slice(1), feature!.id, new Date(endedAt - hour), new Date(endedAt)],
    )
    await used('c0', 'calls', 1, [endedAt - hour, endedAt])
    const built: string[] = []
    const states: Bench['entitlements']['states'] = async (_, customers) => {
      built.push(...customers)
      return []
    }
    await worker({ states }).tell()
    await worker({ states }).tell()
    expect(built).to.have.length(2_300)
    expect(new Set(built)).to.deep.equal(new Set(names))
  }).timeout(20_000)

  it('are spread over the customers, each with its own turn within a minute', async () => {
    await listen()
    const endedAt = Date.now() - 22_000
    const names = Array.from({ length: 40 }, (_, n) => `c${n}`)
    for (const name of names) {
      await bench.customers.provision(environmentId, { refId: name })
      await used(name, 'calls', 1, [endedAt - hour, endedAt])
    }
    const built: string[] = []
    const states: Bench['entitlements']['states'] = async (_, customers) => {
      built.push(...customers)
      return []
    }
    await worker({ states }).tell()
    expect(built.length).to.be.within(5, 35)
  }).timeout(20_000)

  it('of an environment with a test clock are told when it has been moved', async () => {
    await listen()
    const now = Date.now()
    await bench.testClocks.create(environmentId, now + 60_000)
    await bench.customers.provision(environmentId, { refId: 'acme' })
    await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'hourly', resourceRefId: null })
    await worker().tell()
    await used('acme', 'calls', 7, [now + 60_000, now + 60_000 + hour])
    await worker().tell()
    expect(await told()).to.deep.equal([])
    await bench.testClocks.advance(environmentId, now + 60_000 + hour)
    await worker().tell()
    expect((await told()).map(({ usage }) => [usage?.featureId, usage?.usage.currentUsage])).to.deep.equal([['calls', '0']])
  })
})
