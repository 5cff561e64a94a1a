import { expect } from 'chai'
import { Redis } from 'ioredis'
import { ChangeStream } from '../../../src/updates/stream/change-stream.js'
import { type ChangeMessage, changeChannel } from '../../../src/updates/wire/change-message.js'
import { epochOf, isReached } from '../../../src/updates/wire/position.js'
import { message } from '../../contract/cache/held.js'
import { eventually } from '../../support/eventually.js'
import { failOver, OwnRedis } from '../../support/own-redis.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'

describe('change stream', () => {
  let redis: Redis
  let prefix: string
  let stream: ChangeStream
  const databaseEpoch = { current: '7-1' }

  before(() => {
    redis = new Redis(testRedisUrl())
  })
  after(() => redis.disconnect())
  beforeEach(() => {
    prefix = testRedisPrefix()
    stream = new ChangeStream({ redis, prefix, databaseEpoch })
  })
  afterEach(async () => {
    const keys = await redis.keys(`${prefix}:*`)
    if (keys.length > 0) await redis.del(keys)
  })

  const change = (customerId: string, version: number, differing: Partial<ChangeMessage> = {}) =>
    message('entitlements', version, { customerId, ...differing })
  const position = async () => (await stream.since('environment', null)).position
  const missed = async (after: string) =>
    (await stream.since('environment', after)).missed.map(({ customerId, resourceId, version }) => [customerId, resourceId, version])

  it('knows a position before the first change, to which one can come back', async () => {
    const first = await position()
    await stream.append([change('a', 1)])
    const { isGap, missed: found } = await stream.since('environment', first)
    expect(isGap).to.equal(false)
    expect(found.map(({ customerId }) => customerId)).to.deep.equal(['a'])
  })

  it('tells what came after a position, each customer and resource once and in the order of their last changes', async () => {
    const first = await position()
    await stream.append([change('a', 1), change('b', 2), change('a', 3, { resourceId: 'r' }), change('a', 4)])
    expect(await missed(first)).to.deep.equal([
      ['b', null, 2],
      ['a', 'r', 3],
      ['a', null, 4],
    ])
    expect(await missed(await position())).to.deep.equal([])
  })

  it('keeps environments apart', async () => {
    const first = await position()
    await stream.append([change('a', 1, { environmentId: 'another' })])
    expect(await missed(first)).to.deep.equal([])
  })

  it('tells a gap when the position was trimmed away', async () => {
    const first = await position()
    await stream.append(Array.from({ length: 12_000 }, (_, n) => change(`c${n}`, n)))
    const { isGap, missed: found, position: last } = await stream.since('environment', first)
    expect({ isGap, found: found.length }).to.deep.equal({ isGap: true, found: 0 })
    expect(isReached(first, last)).to.equal(true)
    const [key] = await redis.keys(`${prefix}:change-stream:*`)
    expect(await redis.xlen(key!)).to.be.below(11_000)
  })

  it('tells a gap when the stream was lost, and when the position is none of it', async () => {
    const first = await position()
    await stream.append([change('a', 1)])
    const keys = await redis.keys(`${prefix}:*`)
    await redis.del(keys)
    // Positions begin with the time: a stream that was lost is not there again in the millisecond that it began in.
    await eventually('a later millisecond', () => Date.now() > Number(first.split('-')[0]) + 1)
    await stream.append([change('b', 2)])
    for (const after of [first, 'nonsense', '0-0', '99999999999999-0', `99999999999999-0@${epochOf(first)}`]) {
      const { isGap } = await stream.since('environment', after)
      expect(isGap, after).to.equal(true)
    }
  })

  it('tells a gap when its end was lost, though all positions that are left are in order', async function () {
    this.timeout(60_000)
    const server = new OwnRedis()
    await server.start()
    const own = new Redis(server.url)
    const ofOwn = new ChangeStream({ redis: own, prefix, databaseEpoch })
    await ofOwn.append([change('a', 1)])
    const read = (await ofOwn.since('environment', null)).position
    await ofOwn.append([change('b', 2)])
    expect((await ofOwn.since('environment', read)).missed).to.have.length(1)
    // when: the primary that comes next has never heard of the last change
    await failOver(own, async () => {
      const [key] = await own.keys(`${prefix}:change-stream:*`)
      const [last] = await own.xrevrange(key!, '+', '-', 'COUNT', 1)
      await own.xdel(key!, last![0])
    })
    const after = await ofOwn.since('environment', read)
    expect({ isGap: after.isGap, missed: after.missed }).to.deep.equal({ isGap: true, missed: [] })
    expect((await ofOwn.since('environment', after.position)).isGap).to.equal(false)
    own.disconnect()
    await server.stop()
  })

  it('tells a gap when a replica is promoted that the last changes had not reached', async function () {
    this.timeout(60_000)
    const [primary, replica] = [new OwnRedis(), new OwnRedis()]
    await Promise.all([primary.start(), replica.start()])
    const [old, next] = [new Redis(primary.url), new Redis(replica.url)]
    await next.call('REPLICAOF', '127.0.0.1', new URL(primary.url).port)
    await eventually('the replica follows', async () => /master_link_status:up/.test(await next.info('replication')))
    const [before, after] = [old, next].map((redisOf) => new ChangeStream({ redis: redisOf, prefix, databaseEpoch })) as [
      ChangeStream,
      ChangeStream,
    ]
    await before.append([change('a', 1)])
    const read = (await before.since('environment', null)).position
    await eventually('the replica has it', async () => (await old.wait(1, 1_000)) === 1)
    expect((await before.since('environment', read)).isGap).to.equal(false)
    await next.call('REPLICAOF', 'NO', 'ONE')
    await before.append([change('b', 2)])
    await primary.lose()
    await after.append([change('c', 3)])
    expect((await after.since('environment', read)).isGap).to.equal(true)
    old.disconnect()
    next.disconnect()
    await Promise.all([primary.stop(), replica.stop()])
  })

  it('tells a gap when the database has another history', async () => {
    await stream.append([change('a', 1)])
    const before = await position()
    const promoted = new ChangeStream({ redis, prefix, databaseEpoch: { current: '7-2' } })
    expect((await promoted.since('environment', before)).isGap).to.equal(true)
    expect((await stream.since('environment', before)).isGap).to.equal(false)
  })

  it('publishes each message whole, with its position, in the order of the positions', async () => {
    const subscriber = redis.duplicate()
    try {
      const heard: ChangeMessage[] = []
      subscriber.on('message', (_channel, text: string) => heard.push(JSON.parse(text) as ChangeMessage))
      await subscriber.subscribe(changeChannel(prefix, 'environment'))
      const sent = [change('a', 1), change('b', 2, { resourceId: 'r' })]
      await stream.append(sent)
      await eventually('both messages', () => heard.length === 2)
      expect(heard.map(({ position: _, ...rest }) => rest)).to.deep.equal(sent)
      const [one, other] = heard.map(({ position: at }) => at!)
      expect(isReached(one!, other!) && !isReached(other!, one!)).to.equal(true)
      expect((await stream.since('environment', one!)).missed.map(({ customerId }) => customerId)).to.deep.equal(['b'])
    } finally {
      subscriber.disconnect()
    }
  })

  it('takes a few hundred bytes for each change, however large the state in its message', async () => {
    await stream.append(
      Array.from({ length: 1_000 }, (_, n) => change(`customer-${n}`, n, { state: { padding: 'x'.repeat(5_000) } as never })),
    )
    const [key] = await redis.keys(`${prefix}:change-stream:*`)
    expect(Number(await redis.memory('USAGE', key!)) / 1_000).to.be.below(300)
  })
})
