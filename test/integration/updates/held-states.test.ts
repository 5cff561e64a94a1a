import { randomUUID } from 'node:crypto'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import type { HeldChange } from '../../../src/changes/model/change.js'
import { type AnnouncementTicket, announcementChannel, announcementOf } from '../../../src/changes/wire/announcements.js'
import { announceLua, holdersKey, type Listeners, leasePrefix } from '../../../src/changes/wire/holders.js'
import type { Entitlement, EntitlementState } from '../../../src/entitlement/rules/state.js'
import type { EntitlementService } from '../../../src/entitlement/service.js'
import { fromText } from '../../../src/kernel/decimal.js'
import { currentSignal, withinSignal } from '../../../src/platform/context/within-signal.js'
import { DatabaseEpoch } from '../../../src/platform/epoch/database-epoch.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { Life } from '../../../src/platform/process.js'
import { HeldStates } from '../../../src/updates/held/held-states.js'
import type { SharedStates } from '../../../src/updates/held/shared-states.js'
import { eventually } from '../../support/eventually.js'
import { failOver, OwnRedis } from '../../support/own-redis.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'

const environmentId = randomUUID()
const soon = Date.now() + 3_600_000

/** The records as a test changes them; reads can be held up. */
class Records {
  version = 1
  reads = 0
  usage = '0'
  validUntil: number | null = null
  /** Of whoever began the last read. */
  signal: AbortSignal | undefined
  /** Resolves when a read may go on. */
  gate: Promise<void> = Promise.resolve()

  async state(_: string, customerId: string, resourceId: string | null): Promise<EntitlementState> {
    this.reads += 1
    this.signal = currentSignal()
    const { version, usage, validUntil } = this
    await this.gate
    const deniedReason = null
    const entitlements = [entitlementOf(usage, version)]
    return {
      environmentId,
      customerId,
      resourceId,
      version,
      accessVersion: version,
      deniedReason,
      entitlements,
      validUntil,
      basis: { catalogVersion: 1, clock: 'real' },
    }
  }
}

describe('states held in memory', () => {
  let records: Records
  let prefix: string
  let redis: Redis
  const lives: Life[] = []
  /** Of all processes. */
  let databaseEpoch: DatabaseEpoch

  before(() => {
    redis = new Redis(testRedisUrl())
  })
  beforeEach(() => {
    records = new Records()
    prefix = testRedisPrefix()
    databaseEpoch = new DatabaseEpoch(() => undefined)
    databaseEpoch.hear('7-1')
  })
  afterEach(async () => {
    for (const life of lives.splice(0)) expect(await life.stop()).to.deep.equal([])
  })
  after(() => redis.disconnect())

  /** A process that holds states. */
  async function open(redisUrl = testRedisUrl()): Promise<HeldStates> {
    const life = new Life('web', silentLogger())
    lives.push(life)
    const held = new HeldStates({
      life,
      queues: { redisUrl, prefix },
      databaseEpoch,
      source: records as unknown as EntitlementService,
      // Nothing is shared: what is not in memory is read from the records.
      shared: { read: async () => null, offer: () => undefined } as unknown as SharedStates,
      clock: { now: () => Date.now() },
      maxBytes: 1_000_000,
    })
    await eventually('it hears changes', async () => {
      await held.state(environmentId, 'warm-up', null)
      return held.held(environmentId, 'warm-up', null)
    })
    records.reads = 0
    return held
  }

  const read = (held: HeldStates, customerId = 'a', resourceId: string | null = null) => held.state(environmentId, customerId, resourceId)
  const usageIn = (state: EntitlementState) => state.entitlements[0]!.usage!.currentUsage
  const change = (version: number | null, customerId: string | null = 'a'): HeldChange => ({ customerId, version })
  const usageChange = (currentUsage: string, updatedAt: number, resourceId: string | null = null): HeldChange => ({
    customerId: 'a',
    version: updatedAt,
    usage: { resourceId, featureId: 'calls', usage: { ...entitlementOf(currentUsage, updatedAt).usage! } },
  })

  /** As a worker does. */
  const publish = async (changes: HeldChange[], ticket?: AnnouncementTicket): Promise<Listeners> => {
    const keys = [leasePrefix(prefix), holdersKey(prefix, environmentId)]
    const [epoch, holders] = (await redis.eval(announceLua, 2, ...keys, ...announcementOf(prefix, environmentId, changes, ticket))) as [
      string,
      string[],
    ]
    return { epoch, holders }
  }

  it('are read once', async () => {
    const held = await open()
    for (let n = 0; n < 5; n++) expect((await read(held)).version).to.equal(1)
    expect(records.reads).to.equal(1)
  })

  it('are read once for all who ask at the same time', async () => {
    const held = await open()
    await Promise.all(Array.from({ length: 10 }, () => read(held)))
    expect(records.reads).to.equal(1)
  })

  it('are read for all, also when the first that asked gives up', async () => {
    const held = await open()
    const { signal } = new AbortController()
    await withinSignal({ signal }, () => read(held))
    expect(records.reads).to.equal(1)
    expect(records.signal).to.equal(undefined)
  })

  it('are gone in every process when an announcement has been answered', async () => {
    const [one, other] = [await open(), await open()]
    await Promise.all([read(one), read(other)])
    records.version = 2
    await one.announce(environmentId, [change(2)])
    expect(one.held(environmentId, 'a', null)).to.equal(null)
    expect(other.held(environmentId, 'a', null)).to.equal(null)
    expect((await read(other)).version).to.equal(2)
  })

  it('are gone in every process that hears what a worker announced, once that has been waited for', async () => {
    const [one, other] = [await open(), await open()]
    await Promise.all([read(one), read(other)])
    records.version = 2
    const expected = one.expectAnnouncement()
    const listeners = await publish([change(2)], expected.ticket)
    expect(listeners.holders).to.have.length(2)
    await expected.heardBy(listeners)
    for (const held of [one, other]) expect(held.held(environmentId, 'a', null)).to.equal(null)
  })

  it('are waited for as well when the acknowledgements come before the names of those that hear, and at most for the lease', async () => {
    const [one] = [await open(), await open()]
    const waited = async (...silent: string[]) => {
      const expected = one.expectAnnouncement()
      const { epoch, holders } = await publish([change(2)], expected.ticket)
      await sleep(100)
      const startedAt = performance.now()
      await expected.heardBy({ epoch, holders: [...holders, ...silent] })
      return performance.now() - startedAt
    }
    expect(await waited()).to.be.below(50)
    expect(await waited('silent')).to.be.within(900, 3_000)
  })

  it('are waited for by name: who acknowledges often stands for nobody else', async () => {
    const one = await open()
    const expected = one.expectAnnouncement()
    for (let n = 0; n < 3; n++) await publish([change(2)], expected.ticket)
    const { epoch, holders } = await publish([change(2)], expected.ticket)
    await sleep(100)
    const startedAt = performance.now()
    await expected.heardBy({ epoch, holders: [...holders, 'silent'] })
    expect(performance.now() - startedAt).to.be.within(900, 3_000)
  })

  it('stay when they know of the change already', async () => {
    const held = await open()
    records.version = 5
    const state = await read(held)
    await held.announce(environmentId, [change(5), change(4)])
    expect(held.held(environmentId, 'a', null)).to.equal(state)
    await held.announce(environmentId, [change(null)])
    expect(held.held(environmentId, 'a', null)).to.equal(null)
  })

  it('are not kept from a read that began before a change, nor given to who asks after it', async () => {
    const held = await open()
    let open1 = () => {}
    records.gate = new Promise((resolve) => {
      open1 = resolve
    })
    const before = read(held)
    await eventually('the read is under way', () => records.reads === 1)
    records.gate = Promise.resolve()
    records.version = 2
    await held.announce(environmentId, [change(2)])
    const after = await read(held)
    open1()
    expect((await before).version).to.equal(1)
    expect(after.version).to.equal(2)
    expect((await read(held)).version).to.equal(2)
  })

  it('take over a usage, without a read', async () => {
    const [one, other] = [await open(), await open()]
    await Promise.all([read(one), read(other)])
    records.reads = 0
    await one.announce(environmentId, [usageChange('7', 3)])
    for (const held of [one, other]) expect(usageIn(await read(held))).to.equal('7')
    // An older one that arrives later changes nothing.
    await one.announce(environmentId, [usageChange('6', 2)])
    for (const held of [one, other]) expect(usageIn(await read(held))).to.equal('7')
    expect(records.reads).to.equal(0)
  })

  it('of a customer with resources are read anew after a usage: it may count in several', async () => {
    const held = await open()
    await Promise.all([read(held, 'a', null), read(held, 'a', 'r')])
    Object.assign(records, { usage: '7', version: 3, reads: 0 })
    await held.announce(environmentId, [usageChange('7', 3, 'r')])
    expect(usageIn(await read(held, 'a', null))).to.equal('7')
    expect(usageIn(await read(held, 'a', 'r'))).to.equal('7')
    expect(records.reads).to.equal(2)
  })

  it('of all customers are gone when the catalog changed, and of no other environment', async () => {
    const held = await open()
    await Promise.all([read(held, 'a'), read(held, 'b')])
    await redis.publish(...announcementOf(prefix, randomUUID(), [change(null, null)]))
    await publish([change(null, null)])
    await eventually('the states are forgotten', () => !held.held(environmentId, 'a', null) && !held.held(environmentId, 'b', null))
  })

  it('are read anew from the instant on at which time alone may have changed them', async () => {
    const held = await open()
    records.validUntil = Date.now() + 60
    await read(held)
    expect(held.held(environmentId, 'a', null)).to.not.equal(null)
    await eventually('the instant', () => held.held(environmentId, 'a', null) === null)
  })

  it('are not trusted while changes cannot be heard, and forgotten then', async () => {
    const held = await open()
    await read(held)
    await redis.client('KILL', 'TYPE', 'pubsub')
    await eventually('the loss is noticed', () => held.held(environmentId, 'a', null) === null)
    records.version = 2
    expect((await read(held)).version).to.equal(2)
    await eventually('it hears again', async () => {
      await read(held)
      return held.held(environmentId, 'a', null)
    })
  })

  it('of a process that does not acknowledge are not trusted by it when the announcement is answered', async () => {
    const network = await openNetwork(testRedisUrl())
    const [one, other] = [await open(), await open(network.url)]
    await Promise.all([read(one), read(other)])
    records.version = 2
    network.isStuck = true
    const startedAt = performance.now()
    await one.announce(environmentId, [change(2)])
    expect(performance.now() - startedAt).to.be.within(500, 3_000)
    expect(other.held(environmentId, 'a', null)).to.equal(null)
    expect((await read(other)).version).to.equal(2)
    network.isStuck = false
    await eventually('it hears again', async () => (await read(other)) && other.held(environmentId, 'a', null))
    expect(other.held(environmentId, 'a', null)!.version).to.equal(2)
    await lives.pop()!.stop()
    await network.close()
  })

  it('of a process whose subscription was closed without its noticing are not trusted by it when the announcement is answered', async () => {
    const network = await openNetwork(testRedisUrl())
    const [one, other] = [await open(), await open(network.url)]
    await Promise.all([read(one), read(other)])
    // given: Redis has closed the other's subscription, and the network has swallowed the end of it
    const subscribers = String(await redis.call('CLIENT', 'LIST', 'TYPE', 'pubsub'))
    await network.closeOnFarSide(subscribers, (address) => redis.client('KILL', 'ADDR', address))
    expect(await redis.pubsub('NUMSUB', announcementChannel(prefix, environmentId))).to.deep.equal([
      announcementChannel(prefix, environmentId),
      1,
    ])
    expect(other.held(environmentId, 'a', null)).to.not.equal(null)
    records.version = 2
    const startedAt = performance.now()
    await one.announce(environmentId, [change(2)])
    expect(other.held(environmentId, 'a', null)).to.equal(null)
    expect((await read(other)).version).to.equal(2)
    expect(performance.now() - startedAt).to.be.within(300, 3_000)
    // and it finds out, and connects anew; until then nobody waits for it
    const again = performance.now()
    await one.announce(environmentId, [change(3)])
    expect(performance.now() - again).to.be.below(300)
    await eventually('it hears again', async () => (await read(other)) && other.held(environmentId, 'a', null))
    await lives.pop()!.stop()
    await network.close()
  })

  const leases = (of = redis) => of.keys(`${leasePrefix(prefix)}*`)

  it('are waited for no longer when their process has stopped', async () => {
    const one = await open()
    await open()
    await lives.pop()!.stop()
    const startedAt = performance.now()
    await one.announce(environmentId, [change(2)])
    expect(performance.now() - startedAt).to.be.below(300)
  })

  it('are registered anew by a process that has been struck off, which trusts nothing until then', async () => {
    const [one, other] = [await open(), await open()]
    await read(other)
    // given: no lease of anybody, as after a pause of both
    await redis.del(await leases())
    const { holders } = await publish([change(2)])
    expect(holders).to.deep.equal([])
    // Both hear that one all the same.
    await eventually('it is heard', () => other.held(environmentId, 'a', null) === null)
    await eventually('both are waited for', async () => (await publish([])).holders.length === 2)
    expect((await read(one)).version).to.equal(1)
    expect(one.held(environmentId, 'a', null)).to.not.equal(null)
  })

  it('are forgotten when the database has another history, with the reads that are under way', async () => {
    const held = await open()
    records.version = 9
    await read(held)
    let open1 = () => {}
    records.gate = new Promise((resolve) => {
      open1 = resolve
    })
    const before = read(held, 'b')
    databaseEpoch.hear('7-2')
    expect(held.held(environmentId, 'a', null)).to.equal(null)
    records.version = 8
    open1()
    await before
    expect((await read(held, 'b')).version).to.equal(8)
    expect((await read(held)).version).to.equal(8)
  })

  it('are forgotten when Redis fails over, and announcements wait for those that it does not know of', async function () {
    this.timeout(60_000)
    const server = new OwnRedis()
    await server.start()
    const own = new Redis(server.url)
    const [one, other] = [await open(server.url), await open(server.url)]
    await Promise.all([read(one), read(other)])
    records.version = 2
    // when: the other's registration is among what was lost
    await failOver(own, () => own.flushall())
    const startedAt = performance.now()
    await one.announce(environmentId, [change(2)])
    expect(other.held(environmentId, 'a', null)).to.equal(null)
    expect((await read(other)).version).to.equal(2)
    expect(performance.now() - startedAt).to.be.below(3_000)
    // and: a Redis that is full takes nobody its trust
    await eventually('both are registered', async () => (await own.scard(holdersKey(prefix, environmentId))) === 2)
    await own.config('SET', 'maxmemory', '1')
    await read(one)
    await sleep(1_500)
    expect(await own.set('more', 'of it').catch(({ message }: Error) => message)).to.include('OOM')
    expect((await leases(own)).length).to.equal(2)
    await eventually('both hold again', async () => {
      await Promise.all([read(one), read(other)])
      return one.held(environmentId, 'a', null) && other.held(environmentId, 'a', null)
    })
    for (const life of lives.splice(0)) expect(await life.stop()).to.deep.equal([])
    own.disconnect()
    await server.stop()
  })

  it('do not grow without bound', async () => {
    const held = await open()
    for (let n = 0; n < 1_000; n++) await read(held, `customer-${n}`)
    expect(held.held(environmentId, 'customer-0', null)).to.equal(null)
    expect(held.held(environmentId, 'customer-999', null)).to.not.equal(null)
  })
})

/** A way to Redis on which nothing comes through while it is stuck, and nothing is lost; and which never tells that Redis has closed a connection. */
async function openNetwork(redisUrl: string) {
  const { hostname, port, pathname } = new URL(redisUrl)
  const sockets = new Set<Socket>()
  /** Those to Redis, by what they are called there. */
  const pairs = new Map<string, Socket>()
  let isStuck = false
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    }
    client.pipe(upstream)
    upstream.on('data', (data) => client.write(data))
    upstream.on('connect', () => pairs.set(`${upstream.localAddress}:${upstream.localPort}`, upstream))
    client.on('close', () => upstream.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    set isStuck(value: boolean) {
      isStuck = value
      for (const socket of sockets) {
        if (isStuck) socket.cork()
        else socket.uncork()
      }
    },
    async closeOnFarSide(clients: string, kill: (address: string) => Promise<unknown>) {
      for (const [address, upstream] of pairs) {
        if (!clients.includes(` addr=${address} `)) continue
        const isClosed = new Promise((resolve) => upstream.once('close', resolve))
        await kill(address)
        await isClosed
      }
    },
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}

function entitlementOf(currentUsage: string, updatedAt: number): Entitlement {
  return {
    feature: {
      id: 'f',
      refId: 'calls',
      displayName: 'Calls',
      description: null,
      featureType: 'NUMBER',
      meterType: 'Incremental',
      units: null,
      unitsPlural: null,
      unitTransformation: null,
    },
    usageLimit: fromText('10'),
    hasUnlimitedUsage: false,
    hasSoftLimit: false,
    enumValues: [],
    reset: null,
    usage: { currentUsage: fromText(currentUsage), periodStart: null, periodEnd: soon, updatedAt },
    usageRestartsAt: null,
    deniedReason: null,
    validUntil: null,
  }
}
