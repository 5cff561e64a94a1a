import { Queue } from 'bullmq'
import { expect } from 'chai'
import type { ChangeKind } from '../../../src/changes/model/change.js'
import { environmentsWithUndelivered, leaseChanges } from '../../../src/changes/outbox.js'
import { UnreadableChanges } from '../../../src/changes/unreadable.js'
import type { EntitlementState } from '../../../src/entitlement/rules/state.js'
import type { EntitlementService } from '../../../src/entitlement/service.js'
import * as decimal from '../../../src/kernel/decimal.js'
import { newId } from '../../../src/kernel/id.js'
import type { Usage } from '../../../src/metering/model/usage.js'
import { createMetrics } from '../../../src/platform/metrics.js'
import { loosePrefix, queuePrefix as prefixOf } from '../../../src/platform/redis/slots.js'
import { openRedis, openSubscriber, type Redis } from '../../../src/platform/redis.js'
import { ChangeDelivery, type ChangeSinks } from '../../../src/updates/deliver/delivery.js'
import { changeSinks } from '../../../src/updates/deliver/sinks.js'
import { mergeStates, withUsages } from '../../../src/updates/held/merge-state.js'
import { StateCache } from '../../../src/updates/held/state-cache.js'
import { type ChangeMessage, changeChannel } from '../../../src/updates/wire/change-message.js'
import { countStatements } from '../../support/statements.js'
import { type Bench, openBench } from '../subscription/fixture.js'

describe('delivering changes', () => {
  let bench: Bench
  let redis: Redis
  let subscriber: Redis
  let cache: StateCache
  let sinks: ChangeSinks
  let environmentId: string
  /** What the channel of the environment carried. */
  let heard: ChangeMessage[]

  before(async () => {
    bench = await openBench()
    redis = openRedis(bench.life, bench.queues.redisUrl, 'request')
    subscriber = openSubscriber(bench.life, bench.queues)
    subscriber.on('message', (_channel, text: string) => {
      // Where it stands in the stream is given when it is published, so it is not in the queue's copy.
      const { position, ...message } = JSON.parse(text) as ChangeMessage
      heard.push(message)
    })
    cache = new StateCache(redis, bench.queues.prefix, bench.epoch)
    sinks = openSinks({ redis, persistentCacheOf: async () => ({ queueUrl: null }) })
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await bench.createEnvironment()
    heard = []
    await subscriber.subscribe(changeChannel(bench.queues.prefix, environmentId))
  })

  const openSinks = (parts: Pick<Parameters<typeof changeSinks>[0], 'redis' | 'persistentCacheOf'>) =>
    changeSinks({
      life: bench.life,
      queues: bench.queues,
      databaseEpoch: bench.epoch,
      sqs: { tell: async () => true },
      epochs: { number: async () => null, lose: async () => undefined },
      ...parts,
    })

  /** As one process of the worker has it. */
  const worker = (override: Partial<ChangeSinks> = {}, entitlements = bench.entitlements) =>
    new ChangeDelivery({
      pool: bench.pool,
      epoch: bench.epoch,
      clock: bench.clock,
      entitlements,
      cache,
      sinks: { ...sinks, ...override },
      metrics: createMetrics('test'),
      log: bench.life.log,
    })
  const deliver = () => worker().deliver(environmentId)
  /** The entitlements of PostgreSQL, with another way to build states. */
  const withStates = (states: EntitlementService['states']) =>
    ({ access: bench.entitlements.access.bind(bench.entitlements), states }) as unknown as EntitlementService
  const withoutStates = () => withStates(() => Promise.reject(new Error('no state is to be built')))
  const provision = (refId = 'acme') => bench.customers.provision(environmentId, { refId })
  const subscribe = (planRefId: string, resourceRefId: string | null = null) =>
    bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId, resourceRefId })
  const built = (resourceId: string | null = null) => bench.entitlements.state(environmentId, 'acme', resourceId)
  const waiting = () => bench.prisma.outboxMessage.count({ where: { environmentId } })
  /** How long the customer's changes are left alone, in seconds. */
  async function pauseOf(customerId: string): Promise<number> {
    const { claimedUntil } = await bench.prisma.outboxMessage.findFirstOrThrow({ where: { environmentId, customerId } })
    return (claimedUntil!.getTime() - Date.now()) / 1_000
  }
  const endLeases = () => bench.prisma.outboxMessage.updateMany({ where: { environmentId }, data: { claimedUntil: new Date(0) } })

  async function cached(resourceId: string | null = null): Promise<EntitlementState | null> {
    let found: EntitlementState | null = null
    await cache.update({ environmentId, customerId: 'acme', resourceId }, (stored) => {
      found = stored
      return null
    })
    return found
  }

  /** Everything published before has been heard when a message of our own has. */
  async function listened(): Promise<ChangeMessage[]> {
    const mark = newId()
    await redis.publish(changeChannel(bench.queues.prefix, environmentId), JSON.stringify({ id: mark }))
    while (heard.at(-1)?.id !== mark) await new Promise((resolve) => subscriber.once('message', resolve))
    return heard.splice(0).slice(0, -1)
  }

  /** A report of usage as ingestion commits it: version, counter and message in one transaction, under the customer's state row. */
  async function report(refId: string, usage: number): Promise<number> {
    const feature = (await bench.catalog.features(bench.prisma, environmentId)).get(refId)!
    return bench.prisma.$transaction(async (db) => {
      const customer = await db.customer.findUniqueOrThrow({ where: { environmentId_refId: { environmentId, refId: 'acme' } } })
      const [state] = await db.$queryRaw<{ version: bigint }[]>`
        UPDATE customer_state SET version = greatest(version + 1, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
        WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customer.id}::uuid RETURNING version`
      const version = state!.version
      const ofSeries = { environmentId, customerId: customer.id, featureId: feature.id, resourceId: null }
      const found = await db.usageSeries.findFirst({ where: ofSeries })
      // Seats: one series that is never reset, whatever the plan.
      const { id: seriesId } = found ?? (await db.usageSeries.create({ data: { ...ofSeries, id: newId() } }))
      await db.$executeRaw`
        INSERT INTO usage_counter (environment_id, series_id, period_start, period_end, usage, version)
        VALUES (${environmentId}::uuid, ${seriesId}::uuid, '-infinity', 'infinity', ${usage}::numeric, ${version})
        ON CONFLICT (environment_id, series_id, period_start) DO UPDATE SET usage = excluded.usage, version = excluded.version`
      const payload = {
        featureId: refId,
        usage: { currentUsage: String(usage), periodStart: null, periodEnd: null, updatedAt: Number(version) },
      }
      await db.outboxMessage.create({ data: { environmentId, id: newId(), kind: 'usage', customerId: 'acme', version, payload } })
      return Number(version)
    })
  }

  it('builds the state, keeps it and tells it, with the version of the change', async () => {
    await provision()
    const state = await built()
    await deliver()
    const [message, ...others] = await listened()
    expect(others).to.deep.equal([])
    expect(message).to.deep.include({ v: 1, environmentId, customerId: 'acme', kind: 'entitlements', version: state.version, state })
    expect(message).not.to.have.property('resourceId')
    expect(await cached()).to.deep.equal(state)
    expect(await waiting()).to.equal(0)
  })

  it('puts it into the environment’s queue, for the persistent cache', async () => {
    await provision()
    await deliver()
    const queue = new Queue(`environment-${environmentId}`, {
      connection: { url: bench.queues.redisUrl },
      prefix: prefixOf(bench.queues.prefix, `environment-${environmentId}`),
    })
    try {
      const jobs = await queue.getWaiting()
      expect(jobs.map(({ data }) => data)).to.deep.equal(await listened())
    } finally {
      await queue.close()
    }
  })

  it('makes one message of many changes that wait', async () => {
    await provision()
    await subscribe('business')
    const { state } = await subscribe('team')
    await deliver()
    expect((await listened()).map(({ kind, version }) => [kind, version])).to.deep.equal([['entitlements', state.version]])
  })

  it('reaches the resources of the customer too', async () => {
    await provision()
    await subscribe('room', 'r1')
    await deliver()
    const messages = await listened()
    expect(messages.map(({ resourceId }) => resourceId ?? null)).to.have.members([null, 'r1'])
    expect(await cached('r1')).to.deep.equal(await built('r1'))
    await subscribe('business')
    await deliver()
    expect((await cached('r1'))!.entitlements.map(({ feature }) => feature.refId)).to.deep.equal(['calls', 'seats', 'sso'])
  })

  describe('more than one batch', () => {
    beforeEach(async () => {
      await provision()
      await deliver()
      const rows = Array.from({ length: 1_100 }, (_, index) => ({
        environmentId,
        id: newId(),
        kind: 'package' as const,
        version: BigInt(index),
      }))
      await bench.prisma.outboxMessage.createMany({ data: rows })
    })

    it('goes to the last of them', async () => {
      await deliver()
      expect(await waiting()).to.equal(0)
      expect((await listened()).filter(({ kind }) => kind === 'package')).to.have.length(1_100)
    })

    it('ends after the batch in work when the process is to stop, and another one goes on', async () => {
      const stopping = new AbortController()
      const publish: ChangeSinks['publish'] = (messages) => {
        stopping.abort()
        return sinks.publish(messages)
      }
      await worker({ publish }).deliver(environmentId, stopping.signal)
      expect(await waiting()).to.equal(100)
      expect(await environmentsWithUndelivered(bench.pool)).to.include(environmentId)
      await deliver()
      expect(await waiting()).to.equal(0)
    })
  })

  it('tells a change of the catalog once for the environment', async () => {
    const product = 'products: [{ refId: another }]'
    await bench.catalog.apply(environmentId, product, { dryRun: false, archiveMissing: false })
    await deliver()
    expect((await listened()).map(({ kind, customerId }) => [kind, customerId])).to.deep.equal([['package', '']])
  })

  it('tells that an archived customer is to be forgotten, with its resources, unless it is back already', async () => {
    await provision()
    await subscribe('room', 'r1')
    await deliver()
    await listened()
    await bench.customers.archive(environmentId, 'acme')
    await deliver()
    const told = await listened()
    expect(told.map(({ kind, resourceId, state }) => [kind, resourceId, state!.deniedReason])).to.deep.equal([
      ['purge', undefined, 'CustomerIsArchived'],
      ['purge', 'r1', 'CustomerIsArchived'],
    ])
    await bench.customers.unarchive(environmentId, 'acme')
    await bench.customers.archive(environmentId, 'acme')
    await bench.customers.unarchive(environmentId, 'acme')
    await deliver()
    expect((await listened()).map(({ kind }) => kind)).to.deep.equal(['entitlements', 'entitlements'])
  })

  it('forgets no customer that is back when its archiving is told late', async () => {
    await provision()
    await deliver()
    await bench.customers.archive(environmentId, 'acme')
    // A worker takes the change and dies.
    await leaseChanges(bench.pool, environmentId, { limit: 10, seconds: 60 })
    await bench.customers.unarchive(environmentId, 'acme')
    await subscribe('business')
    await deliver()
    await listened()
    await endLeases()
    await deliver()
    expect((await listened()).map(({ kind, state }) => [kind, state!.deniedReason])).to.deep.equal([['entitlements', null]])
    expect(await waiting()).to.equal(0)
  })

  describe('usage', () => {
    beforeEach(async () => {
      await provision()
      await deliver()
      await listened()
    })

    it('is told with the entitlement that is known, which is not read anew', async () => {
      const before = await cached()
      const version = await report('seats', 3)
      await worker({}, withoutStates()).deliver(environmentId)
      const [message, ...others] = await listened()
      expect(others).to.deep.equal([])
      const usage: Usage = { currentUsage: decimal.fromNumber(3), periodStart: null, periodEnd: null, updatedAt: version }
      expect(message).to.deep.include({ kind: 'usage', customerId: 'acme', version })
      expect(message!.usage).to.deep.include({ featureId: 'seats', usage })
      expect(message!.usage!.entitlement).to.deep.include({ usageLimit: '1', usage })
      // The version of the customer has moved on, so nobody takes that state for the current one.
      expect(await cached()).to.deep.equal(before)
    })

    it('is told once for reports that wait, with the newest', async () => {
      await report('seats', 1)
      const version = await report('seats', 2)
      await deliver()
      expect((await listened()).map(({ usage }) => [usage!.usage.currentUsage, usage!.usage.updatedAt])).to.deep.equal([['2', version]])
    })

    it('is told beside a change of access that waits with it, to those who listen to usage alone', async () => {
      await report('seats', 2)
      await subscribe('room', null)
      await deliver()
      const told = (await listened()).map(({ kind, usage }) => [kind, usage?.entitlement?.usageLimit, usage?.usage.currentUsage])
      expect(told).to.deep.equal([
        ['entitlements', undefined, undefined],
        ['usage', '20', '2'],
      ])
    })

    it('does not wait for states that are to be built', async () => {
      await provision('other')
      await report('seats', 1)
      const failing = withStates(() => Promise.reject(new Error('no state can be built')))
      const lots: string[][] = []
      const publish = async (messages: ChangeMessage[]) => void lots.push(messages.map(({ customerId }) => customerId))
      const error = await worker({ publish }, failing)
        .deliver(environmentId)
        .catch((error: unknown) => error)
      expect(error).to.be.instanceOf(AggregateError)
      expect(lots).to.deep.equal([['acme']])
    })

    it('that arrives late never replaces newer usage', async () => {
      const one = worker()
      await report('seats', 1)
      const late = await bench.prisma.outboxMessage.findFirstOrThrow({ where: { environmentId } })
      await bench.prisma.outboxMessage.delete({ where: { environmentId_id: { environmentId, id: late.id } } })
      const version = await report('seats', 2)
      await one.deliver(environmentId)
      await bench.prisma.outboxMessage.create({ data: { ...late, payload: late.payload as object } })
      await one.deliver(environmentId)
      const told = (await listened()).map(({ version, usage }) => [version, usage!.usage.currentUsage])
      expect(told).to.deep.equal([
        [version, '2'],
        [version, '2'],
      ])
    })

    it('goes with what is granted now, when another worker has delivered a change of access', async () => {
      const [one, other] = [worker(), worker()]
      await report('seats', 1)
      await one.deliver(environmentId)
      await subscribe('room', null)
      await other.deliver(environmentId)
      await listened()
      await report('seats', 2)
      await one.deliver(environmentId)
      expect((await listened()).map(({ usage }) => [usage!.entitlement!.usageLimit, usage!.usage.currentUsage])).to.deep.equal([
        ['20', '2'],
      ])
    })

    describe('of several customers in one row', () => {
      /** Later than all that is known. */
      let now: number

      beforeEach(async () => {
        await provision('other')
        await deliver()
        await listened()
        now = Date.now() + 1_000
      })

      const told = (customerId: string, currentUsage: string, updatedAt: number) => {
        return { customerId, resourceId: null, featureId: 'seats', usage: { currentUsage, periodStart: null, periodEnd: null, updatedAt } }
      }
      const write = (usages: object[]) =>
        bench.prisma.outboxMessage.create({
          data: { environmentId, id: newId(), kind: 'usage', version: 0n, changes: usages.length, payload: { usages } as object },
        })
      const shown = async () => (await listened()).map(({ customerId, version, usage }) => [customerId, version, usage!.usage.currentUsage])

      it('is told for each, once with the newest', async () => {
        await write([told('acme', '1', now), told('other', '5', now)])
        await write([told('acme', '2', now + 1)])
        await deliver()
        expect(await shown()).to.have.deep.members([
          ['acme', now + 1, '2'],
          ['other', now, '5'],
        ])
        expect(await waiting()).to.equal(0)
      })

      it('does not wait for one whose state cannot be built, and tells that one later', async () => {
        const broken = withStates(async (environment, customerIds) => {
          if (customerIds.includes('acme')) throw new Error('acme cannot be built')
          return bench.entitlements.states(environment, customerIds)
        })
        await redis.del(await redis.keys(`${loosePrefix(bench.queues.prefix)}:state:v2:*:${environmentId}:*`))
        await write([told('acme', '1', now), told('other', '5', now)])
        const error = await worker({}, broken)
          .deliver(environmentId)
          .catch((error: unknown) => error)
        expect((error as AggregateError).errors.map(String)).to.deep.equal(['Error: acme cannot be built'])
        expect((await listened()).map(({ customerId }) => customerId)).to.deep.equal(['other'])
        await deliver()
        expect(await listened()).to.deep.equal([])
        await endLeases()
        await deliver()
        expect((await listened()).map(({ customerId }) => customerId)).to.deep.equal(['acme'])
        expect(await waiting()).to.equal(0)
      })

      it('goes when there is none', async () => {
        await write([])
        await deliver()
        expect(await listened()).to.deep.equal([])
        expect(await waiting()).to.equal(0)
      })

      it('is taken as many changes, so that a batch stays small', async () => {
        const rows = 5
        for (let row = 0; row < rows; row++) await write(Array.from({ length: 400 }, (_, n) => told(`c${n}`, '1', now)))
        const { changes } = await leaseChanges(bench.pool, environmentId, { limit: 500, seconds: 15 })
        expect(changes).to.have.length(800)
        await deliver()
        await endLeases()
        await deliver()
        expect(await waiting()).to.equal(0)
      })
    })

    it('of what the customer does not hold is kept and not told', async () => {
      const { version } = (await cached())!
      const payload = { featureId: 'gold', usage: { currentUsage: '1', periodStart: null, periodEnd: null, updatedAt: version + 1 } }
      await bench.prisma.outboxMessage.create({
        data: { environmentId, id: newId(), kind: 'usage', customerId: 'acme', version: BigInt(version + 1), payload },
      })
      await deliver()
      expect(await listened()).to.deep.equal([])
      expect(await waiting()).to.equal(0)
    })

    it('builds the state anew when Redis has lost it', async () => {
      const keys = await redis.keys(`${loosePrefix(bench.queues.prefix)}:state:v2:*:${environmentId}:*`)
      expect(await redis.del(keys)).to.equal(1)
      await report('seats', 3)
      await deliver()
      expect(await cached()).to.deep.equal(await built())
      expect((await listened()).map(({ kind }) => kind)).to.deep.equal(['usage'])
    })

    it('of a feature that came with a change of access which is still on its way is not lost', async () => {
      // The other worker has leased the change of access and built the state, and is slow to store it.
      await subscribe('room', null)
      const slow = await built()
      await bench.prisma.outboxMessage.updateMany({ where: { environmentId }, data: { claimedUntil: new Date(Date.now() + 60_000) } })
      const keys = await redis.keys(`${loosePrefix(bench.queues.prefix)}:state:v2:*:${environmentId}:*`)
      const before = JSON.parse((await redis.hget(keys[0]!, 'body'))!) as EntitlementState
      const withoutSeats = { ...before, entitlements: before.entitlements.filter(({ feature }) => feature.refId !== 'seats') }
      await redis.hset(keys[0]!, 'body', JSON.stringify(withoutSeats))
      const version = await report('seats', 7)
      await deliver()
      await cache.update(slow, (stored) => mergeStates(stored, slow))
      expect((await cached())!.entitlements.find(({ feature }) => feature.refId === 'seats')).to.deep.nested.include({
        'usage.currentUsage': '7',
        'usage.updatedAt': version,
      })
    })

    it('and access that change at once end in the state that the records say', async () => {
      const [one, other] = [worker(), worker()]
      const changes = async () => {
        for (let n = 1; n <= 10; n++) {
          await report('seats', n)
          void one.deliver(environmentId)
          if (n % 3 === 0) await subscribe(n % 2 === 0 ? 'business' : 'free')
          void other.deliver(environmentId)
        }
      }
      await Promise.all([changes(), changes()])
      while ((await waiting()) > 0) await Promise.all([one.deliver(environmentId), other.deliver(environmentId)])
      const truth = await built()
      const shown = ({ deniedReason, entitlements }: EntitlementState) => [
        deniedReason,
        ...entitlements.map(({ feature, usageLimit, usage }) => [feature.refId, usageLimit, usage?.currentUsage]),
      ]
      // As a reader does: states and usages as they come, the newer stays.
      let held: EntitlementState | null = null
      for (const { state, usage } of await listened()) {
        if (state) held = mergeStates(held, state)
        else held &&= withUsages(held, new Map([[usage!.featureId, usage!.usage]]))
      }
      expect(shown(held!)).to.deep.equal(shown(truth))
      expect(held!.accessVersion).to.equal(truth.accessVersion)
      expect((await cached())!.accessVersion).to.equal(truth.accessVersion)
    })
  })

  it('builds the states of many customers with as many statements as that of one', async () => {
    const statementsOf = async (refIds: string[]) => {
      for (const refId of refIds) await provision(refId)
      const { texts, stop } = countStatements()
      await deliver().finally(stop)
      expect((await listened()).map(({ customerId }) => customerId)).to.have.members(refIds)
      return texts.length
    }
    await statementsOf(['first'])
    const ofOne = await statementsOf(['one'])
    expect(await statementsOf(['two', 'three', 'four', 'five', 'six'])).to.equal(ofOne)
  })

  describe('when something fails', () => {
    it('between the lease and the end, delivers again once the lease is over, and not before', async () => {
      await provision()
      const failing = worker({ publish: () => Promise.reject(new Error('redis is away')) })
      expect(await failing.deliver(environmentId).catch((error: Error) => error.message)).to.equal('redis is away')
      expect(await waiting()).to.be.greaterThan(0)
      await deliver()
      expect(await listened()).to.deep.equal([])
      await endLeases()
      expect(await environmentsWithUndelivered(bench.pool)).to.include(environmentId)
      await deliver()
      expect((await listened()).map(({ kind }) => kind)).to.deep.equal(['entitlements'])
      expect(await waiting()).to.equal(0)
      expect(await environmentsWithUndelivered(bench.pool)).not.to.include(environmentId)
    })

    it('in Redis, is noticed, and nothing counts as told', async () => {
      await provision()
      const gone = openRedis(bench.life, bench.queues.redisUrl, 'request')
      gone.disconnect()
      const { publish } = openSinks({ redis: gone, persistentCacheOf: async () => null })
      const outcome = await worker({ publish })
        .deliver(environmentId)
        .catch((error: Error) => error.message)
      expect(outcome).to.equal('Connection is closed.')
      expect(await waiting()).to.be.greaterThan(0)
    })

    it('after telling, tells the same again', async () => {
      await provision()
      const failing = worker({ enqueue: () => Promise.reject(new Error('redis is away')) })
      await failing.deliver(environmentId).catch(() => undefined)
      await endLeases()
      await deliver()
      const [first, second] = await listened()
      expect({ ...second, id: '', timestamp: 0 }).to.deep.equal({ ...first, id: '', timestamp: 0 })
    })

    it('for one customer, does not hold up the others, and is tried again after a while that grows', async () => {
      await provision()
      await provision('broken')
      const failing = withStates(async (...asked) => {
        if (asked[1].includes('broken')) throw new Error('cannot be built')
        return bench.entitlements.states(...asked)
      })
      const pauses: number[] = []
      for (let attempt = 0; attempt < 3; attempt++) {
        const error = await worker({}, failing)
          .deliver(environmentId)
          .catch((error: unknown) => error)
        expect(error).to.be.instanceOf(AggregateError)
        pauses.push(await pauseOf('broken'))
        await endLeases()
      }
      expect((await listened()).map(({ customerId }) => customerId)).to.deep.equal(['acme'])
      for (const [attempt, pause] of pauses.entries()) expect(pause).to.be.within(15 * 2 ** attempt - 5, 15 * 2 ** attempt)
      await deliver()
      expect((await listened()).map(({ customerId }) => customerId)).to.deep.equal(['broken'])
    })

    it('on what it cannot read, leaves that for who can, and delivers the others', async () => {
      const unreadable: [what: string, row: { kind: ChangeKind; customerId?: string; payload?: object; told?: string }][] = [
        ['told reports of a later version', { kind: 'usage', told: '[2,[],[]]\n\n' }],
        ['told reports that are none', { kind: 'usage', told: 'x' }],
        ['told reports with less usages than reports', { kind: 'usage', told: '[1,[[null,null]],[[3,"acme","calls",0]]]\n1\n1' }],
        ['usages that are none', { kind: 'usage', payload: { usages: 7 } }],
        ['usages of nobody', { kind: 'usage', payload: { usages: [{ featureId: 'calls' }] } }],
        [
          'usage that is no number',
          { kind: 'usage', customerId: 'acme', payload: { featureId: 'calls', usage: { currentUsage: 'x', updatedAt: 1 } } },
        ],
        ['usage without the usage', { kind: 'usage', customerId: 'acme' }],
        ['packages that are none', { kind: 'package', payload: { packages: 5 } }],
        ['packages of nothing', { kind: 'package', payload: { packages: [null] } }],
        ['access of nobody', { kind: 'entitlements' }],
      ]
      await provision()
      await deliver()
      await listened()
      const ids = unreadable.map(() => newId())
      for (const [index, [, row]] of unreadable.entries())
        await bench.prisma.outboxMessage.create({ data: { environmentId, id: ids[index]!, version: 1n, ...row } })
      await subscribe('business')
      await deliver()
      expect((await listened()).map(({ customerId }) => customerId)).to.deep.equal(['acme'])
      const left = await bench.prisma.outboxMessage.findMany({ where: { environmentId } })
      for (const [index, [what]] of unreadable.entries())
        expect(left.find(({ id }) => id === ids[index])?.unreadable, what).to.be.a('string').that.is.not.empty
      expect(left).to.have.length(unreadable.length)

      // It is no more than a dead letter until somebody can read it.
      const letters = new UnreadableChanges(bench.pool)
      const listed = await letters.list()
      expect(listed.map(({ id }) => id)).to.have.members(ids.map((id) => `outbox/${id}`))
      await bench.prisma.outboxMessage.update({
        where: { environmentId_id: { environmentId, id: ids[6]! } },
        data: { kind: 'entitlements' },
      })
      await letters.retry(`outbox/${ids[6]}`)
      await deliver()
      expect((await listened()).map(({ customerId }) => customerId)).to.deep.equal(['acme'])
      for (const id of ids.filter((_, index) => index !== 6)) await letters.discard(`outbox/${id}`)
      expect(await waiting()).to.equal(0)
    })
  })

  it('is done once for each change by three workers at once', async () => {
    for (const refId of ['a', 'b', 'c', 'd', 'e', 'f']) await provision(refId)
    await Promise.all([worker(), worker(), worker()].map((one) => one.deliver(environmentId)))
    const messages = await listened()
    expect(messages.map(({ customerId }) => customerId)).to.have.members(['a', 'b', 'c', 'd', 'e', 'f'])
    expect(await waiting()).to.equal(0)
  })

  it('writes a change and its message together or not at all', async () => {
    await provision()
    await deliver()
    const before = await built()
    await bench.pool.query(`ALTER TABLE outbox_message ADD CONSTRAINT refuse CHECK (environment_id <> '${environmentId}') NOT VALID`)
    try {
      expect(await subscribe('business').catch(() => 'refused')).to.equal('refused')
    } finally {
      await bench.pool.query('ALTER TABLE outbox_message DROP CONSTRAINT refuse')
    }
    expect(await built()).to.deep.equal(before)
  })
})
