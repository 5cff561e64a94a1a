import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import type { HeldChange } from '../../../src/changes/model/change.js'
import { StateBus } from '../../../src/changes/state-bus.js'
import { announcementChannel } from '../../../src/changes/wire/announcements.js'
import { holdersKey } from '../../../src/changes/wire/holders.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { Life } from '../../../src/platform/process.js'
import { eventually } from '../../support/eventually.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'

const hourMs = 3_600_000

describe('an environment that a process has been asked for', () => {
  const [idle, busy] = [randomUUID(), randomUUID()]
  let prefix: string
  let redis: Redis
  let life: Life
  let bus: StateBus
  let applied: { environmentId: string; changes: readonly HeldChange[] }[]

  beforeEach(async () => {
    prefix = testRedisPrefix()
    redis = new Redis(testRedisUrl())
    life = new Life('web', silentLogger())
    applied = []
    const listener = {
      apply: (environmentId: string, changes: readonly HeldChange[]) => void applied.push({ environmentId, changes }),
      forgetAll: () => undefined,
    }
    bus = new StateBus({ life, queues: { redisUrl: testRedisUrl(), prefix }, listener })
    for (const environmentId of [idle, busy]) await eventually('it hears', () => bus.isTrusted(environmentId))
  })
  afterEach(async () => {
    expect(await life.stop()).to.deep.equal([])
    redis.disconnect()
  })

  const holders = (environmentId: string) => redis.scard(holdersKey(prefix, environmentId))
  const subscribers = async (environmentId: string) => Number((await redis.pubsub('NUMSUB', announcementChannel(prefix, environmentId)))[1])

  it('is left when nobody has asked for an hour: its states are forgotten, and nobody waits or publishes for it', async () => {
    await bus.leaveIdle(performance.now())
    expect([await holders(idle), await subscribers(idle)]).to.deep.equal([1, 1])
    expect(applied).to.deep.equal([])
    await bus.leaveIdle(performance.now() + hourMs)
    for (const environmentId of [idle, busy]) {
      expect([await holders(environmentId), await subscribers(environmentId)]).to.deep.equal([0, 0])
      expect(applied).to.deep.include({ environmentId, changes: [{ customerId: null, version: null }] })
    }
  })

  it('is heard of again when somebody asks, who is not answered from before', async () => {
    await bus.leaveIdle(performance.now() + hourMs)
    expect(bus.isTrusted(idle)).to.equal(false)
    await eventually('it hears', () => bus.isTrusted(idle))
    expect([await holders(idle), await subscribers(idle)]).to.deep.equal([1, 1])
    expect([await holders(busy), await subscribers(busy)]).to.deep.equal([0, 0])
  })

  it('is not left by who asks in the middle of it', async () => {
    const left = bus.leaveIdle(performance.now() + hourMs)
    expect(bus.isTrusted(idle)).to.equal(false)
    await left
    await eventually('it hears', () => bus.isTrusted(idle))
    expect([await holders(idle), await subscribers(idle)]).to.deep.equal([1, 1])
  })

  it('is left later when Redis does not answer, and what is announced is acknowledged until then', async () => {
    await redis.del(holdersKey(prefix, idle))
    await redis.set(holdersKey(prefix, idle), 'no set')
    await bus.leaveIdle(performance.now() + hourMs)
    expect([await subscribers(idle), await subscribers(busy)]).to.deep.equal([1, 0])
    await redis.del(holdersKey(prefix, idle))
    await bus.leaveIdle(performance.now() + hourMs)
    expect(await subscribers(idle)).to.equal(0)
  })

  it('stays registered when somebody asks again between two looks, the first of which failed', async () => {
    // They come before it, so that it is registered anew before the look comes to it.
    const others = Array.from({ length: 20 }, () => randomUUID())
    const all = [...others, randomUUID()]
    const last = all.at(-1)!
    for (const environmentId of all) await eventually('it hears', () => bus.isTrusted(environmentId))
    const registered = await Promise.all(all.map((environmentId) => redis.smembers(holdersKey(prefix, environmentId))))
    for (const environmentId of all)
      await redis.multi().del(holdersKey(prefix, environmentId)).set(holdersKey(prefix, environmentId), 'no set').exec()
    await bus.leaveIdle(performance.now() + hourMs)
    for (const [index, environmentId] of all.entries())
      await redis.multi().del(holdersKey(prefix, environmentId)).sadd(holdersKey(prefix, environmentId), registered[index]!).exec()

    const look = bus.leaveIdle(performance.now() + hourMs)
    expect(bus.isTrusted(last)).to.equal(false)
    await look
    await eventually('it hears', () => bus.isTrusted(last))
    expect([await holders(last), await subscribers(last)]).to.deep.equal([1, 1])
    expect([await holders(others[0]!), await subscribers(others[0]!)]).to.deep.equal([0, 0])
  })
})
