import { expect } from 'chai'
import * as decimal from '../../../src/kernel/decimal.js'
import { newId } from '../../../src/kernel/id.js'
import { sweepBatches } from '../../../src/metering/aggregation/batch-sweep.js'
import type { UsageEvent } from '../../../src/metering/model/report.js'
import { DeadLetters } from '../../../src/platform/dead-letters.js'
import {
  count,
  createEnvironment,
  event,
  eventually,
  type MeteringBench,
  openMeteringBench,
  problemOf,
  toldUsage,
  usageOf,
} from './fixture.js'

const day = 86_400_000

describe('reporting events', () => {
  let bench: MeteringBench
  let environmentId: string
  let serial = 0
  let customerId: string

  before(async () => {
    bench = await openMeteringBench()
    bench.startIngestion()
    environmentId = await createEnvironment(bench)
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    customerId = `customer-${++serial}`
    await bench.app.customers.provision(environmentId, { refId: customerId, subscription: { planRefId: 'free' } })
  })

  const send = (...events: UsageEvent[]) => bench.usage.reportEvents(environmentId, events)
  const usage = (featureId: string, resourceId: string | null = null) => usageOf(bench, environmentId, customerId, featureId, resourceId)
  const tokens = (key: string, value: unknown, more: Partial<UsageEvent> = {}) =>
    event(customerId, `${customerId}-${key}`, { ...more, dimensions: { tokens: value as number, ...more.dimensions } })
  const pending = () =>
    bench.pool
      .query<{ id: string }>('SELECT id FROM pending_batch WHERE environment_id = $1::uuid', [environmentId])
      .then(({ rows }) => rows.map(({ id }) => id))
  /** Counts everything that waits, with what is stored only, as a worker with nothing in its memory would. */
  const aggregateAll = async () => {
    for (const batchId of await pending()) await bench.newAggregation().aggregate({ v: 1, environmentId, batchId, stored: null })
  }

  it('counts and adds up what the filters want, with exact decimals', async () => {
    await send(
      ...Array.from({ length: 10 }, (_, index) => tokens(`${index}`, 0.1)),
      tokens('failed', 5, { dimensions: { status: 'failed' } }),
      {
        ...tokens('other', 7),
        eventName: 'other',
      },
    )
    await aggregateAll()
    expect([await usage('requests'), await usage('tokens')]).to.deep.equal(['11', '1'])
    await send(tokens('later', '2.5'), tokens('text', 'many'))
    await aggregateAll()
    expect([await usage('requests'), await usage('tokens')]).to.deep.equal(['13', '3.5'])
  })

  it('counts a repeat once: in the call, in another call, and after it was counted', async () => {
    await send(tokens('a', 1), tokens('a', 1), tokens('b', 1))
    await Promise.all([send(tokens('a', 1)), send(tokens('b', 9))])
    await aggregateAll()
    await send(tokens('a', 1))
    await aggregateAll()
    expect([await usage('requests'), await usage('tokens')]).to.deep.equal(['2', '2'])
  })

  it('takes the timestamp into the identity when there is one, and the resource', async () => {
    await bench.app.subscriptions.provision(environmentId, { customerRefId: customerId, planRefId: 'paid', resourceRefId: 'a' })
    const now = Date.now()
    await send(
      tokens('a', 1),
      tokens('a', 1, { timestamp: now }),
      tokens('a', 1, { timestamp: new Date(now).toISOString() }),
      tokens('a', 1, { resourceId: 'a' }),
    )
    await aggregateAll()
    expect([await usage('requests'), await usage('requests', 'a')]).to.deep.equal(['3', '1'])
  })

  it('counts a batch once that two workers count at once, and again', async () => {
    await send(tokens('a', 1))
    const jobs = (await pending()).map((batchId) => ({ v: 1 as const, environmentId, batchId, stored: null }))
    await Promise.all(jobs.flatMap((job) => [bench.newAggregation().aggregate(job), bench.newAggregation().aggregate(job)]))
    for (const job of jobs) await bench.newAggregation().aggregate(job)
    expect(await usage('requests')).to.equal('1')
    expect(await pending()).to.deep.equal([])
  })

  it('stores the good events of a call and names the bad ones', async () => {
    const problem = await problemOf(
      send(
        tokens('a', 1),
        event('nobody', 'x'),
        tokens('b', 1, { timestamp: Date.now() - 36 * day }),
        tokens('c', Number.NaN),
        tokens('d', 1, { resourceId: 'nothing' }),
        tokens('e', 1),
      ),
    )
    expect(problem).to.include({ code: 'INVALID_ARGUMENT', reason: 'BAD_USER_INPUT' })
    expect((problem.details.items as { index: number; code: string }[]).map(({ index, code }) => [index, code])).to.deep.equal([
      [1, 'CUSTOMER_NOT_FOUND'],
      [2, 'BAD_USER_INPUT'],
      [3, 'BAD_USER_INPUT'],
      [4, 'CUSTOMER_RESOURCE_NOT_FOUND'],
    ])
    await aggregateAll()
    expect(await usage('requests')).to.equal('2')
  })

  it('counts late events in the period of their time', async () => {
    await send(tokens('a', 1), tokens('late', 1, { timestamp: Date.now() - 2 * day }))
    await aggregateAll()
    // before the subscription: kept, and in no period of it
    expect(await usage('requests')).to.equal('1')
    expect(await bench.prisma.rawEvent.count({ where: { environmentId, occurredAt: { lt: new Date(Date.now() - day) } } })).to.be.at.least(
      1,
    )
  })

  it('adds what is stored for a meter that comes later, and never twice what still waits', async () => {
    await send(tokens('a', 1), tokens('b', 1))
    await aggregateAll()
    await send(tokens('c', 1))
    const waiting = await pending()
    // given a counter that is missing, as for a new meter
    await bench.pool.query('DELETE FROM usage_counter WHERE environment_id = $1::uuid', [environmentId])
    await send(tokens('d', 1))
    const last = (await pending()).filter((id) => !waiting.includes(id))
    // when the newer batch is counted first
    for (const batchId of [...last, ...waiting]) await bench.newAggregation().aggregate({ v: 1, environmentId, batchId, stored: null })
    expect(await usage('requests')).to.equal('4')
  })

  it('leaves batches alone for longer each time that they could not be counted, and takes the others first', async () => {
    await bench.pool.query(
      `INSERT INTO pending_batch (environment_id, id, created_at, swept_at, sweeps)
       SELECT $1::uuid, gen_random_uuid(), now() - interval '1 day', now() - interval '10 minutes', 20 FROM generate_series(1, 100)`,
      [environmentId],
    )
    await send(tokens('a', 1))
    await bench.pool.query("UPDATE pending_batch SET created_at = created_at - interval '20 minutes' WHERE sweeps = 0")
    expect(await sweepBatches(bench.pool, bench.aggregationQueue)).to.equal(100)
    const { rows } = await bench.pool.query('SELECT sweeps FROM pending_batch WHERE environment_id = $1::uuid AND sweeps < 20', [
      environmentId,
    ])
    expect(rows).to.deep.equal([{ sweeps: 1 }])
    expect(await sweepBatches(bench.pool, bench.aggregationQueue)).to.equal(1)
    expect(await sweepBatches(bench.pool, bench.aggregationQueue)).to.equal(0)
  })

  it('heals a lost job by the sweep', async () => {
    await send(tokens('a', 1))
    await bench.pool.query("UPDATE pending_batch SET created_at = created_at - interval '2 minutes'")
    // given that nobody was woken: the queue is emptied by counting nothing
    bench.startAggregation()
    await eventually(
      async () => (await pending()).length,
      (left) => left === 0,
    )
    const id = newId()
    await bench.prisma
      .$executeRaw`INSERT INTO pending_batch (environment_id, id, created_at) VALUES (${environmentId}::uuid, ${id}::uuid, now() - interval '2 minutes')`
    const { id: customer } = await bench.prisma.customer.findFirstOrThrow({ where: { environmentId, refId: customerId } })
    await bench.prisma.rawEvent.create({
      data: {
        environmentId,
        batchId: id,
        position: 0,
        occurredAt: new Date(),
        customerId: customer,
        eventName: 'request',
        dimensions: { tokens: 3 },
      },
    })
    expect(await sweepBatches(bench.pool, bench.aggregationQueue)).to.equal(1)
    expect(
      await eventually(
        () => usage('tokens'),
        (value) => value === '4',
      ),
    ).to.equal('4')
    expect(await count(bench.pool, 'pending_batch', environmentId)).to.equal(0)
  })

  it("counts a batch whose jobs have failed for good, the sweep's own too", async () => {
    await send(tokens('a', 5))
    await bench.pool.query("UPDATE pending_batch SET created_at = created_at - interval '2 minutes'")
    const failed = async () => (await new DeadLetters(bench.redis, bench.queues.prefix).list()).length
    // While a worker tries, the batch is locked.
    const swept = () =>
      eventually(
        () => sweepBatches(bench.pool, bench.aggregationQueue),
        (count) => count === 1,
      )
    await bench.pool.query('ALTER TABLE usage_counter RENAME TO usage_counter_away')
    try {
      await swept()
      // Its own job, and that of the sweep.
      await eventually(failed, (count) => count === 2)
    } finally {
      await bench.pool.query('ALTER TABLE usage_counter_away RENAME TO usage_counter')
    }
    await bench.pool.query("UPDATE pending_batch SET swept_at = swept_at - interval '6 seconds'")
    await swept()
    await eventually(
      async () => (await pending()).length,
      (left) => left === 0,
    )
    expect(await usage('tokens')).to.equal('5')
  })

  it('counts what arrives with its own job within moments, and tells the change', async () => {
    await send(tokens('a', 2), tokens('b', 3))
    expect(
      await eventually(
        () => usage('tokens'),
        (value) => value === '5',
      ),
    ).to.equal('5')
    const told = await toldUsage(bench, environmentId, customerId)
    expect(told.map(({ featureId }) => featureId).sort()).to.deep.equal(['avg', 'max', 'min', 'requests', 'tokens'])
  })

  it('equals what a recomputation from the stored events gives, whatever came late, twice and at once', async function () {
    this.timeout(60_000)
    const customers = Array.from({ length: 5 }, (_, index) => `${customerId}-${index}`)
    for (const refId of customers) await bench.app.customers.provision(environmentId, { refId, subscription: { planRefId: 'free' } })
    const now = Date.now()
    const events = Array.from({ length: 2_000 }, (_, index) =>
      event(customers[index % 5]!, `${customerId}-${index % 1_800}`, {
        dimensions: { tokens: ((index % 1_800) % 7) / 10 },
        timestamp: index % 20 === 0 ? now - (index % 3) * 10 * day : null,
      }),
    )
    const calls = Array.from({ length: 40 }, (_, index) => events.slice(index * 50, index * 50 + 50))
    await Promise.all(calls.map((call) => bench.usage.reportEvents(environmentId, call)))
    await eventually(
      async () => (await pending()).length,
      (left) => left === 0,
    )
    const incremented = await Promise.all(
      customers.flatMap((refId) => ['requests', 'tokens'].map((feature) => usageOf(bench, environmentId, refId, feature))),
    )
    const expected = customers.map((_, customer) => {
      // An event with a timestamp is another one than its repeat without.
      const own = new Map(
        events.flatMap((e, index) => (index % 5 === customer ? [[`${e.idempotencyKey}|${e.timestamp}`, e] as const] : [])),
      )
      const current = [...own.values()].filter(({ timestamp }) => timestamp === null || (timestamp as number) > Date.now() - day / 2)
      return current.reduce((sum, { dimensions }) => decimal.add(sum, decimal.fromNumber(dimensions.tokens as number)), decimal.zero)
    })
    expect(incremented.filter((_, index) => index % 2 === 1)).to.deep.equal(expected)
    // when every counter is lost and one more event arrives
    await bench.pool.query('DELETE FROM usage_counter WHERE environment_id = $1::uuid', [environmentId])
    for (const refId of customers)
      await bench.usage.reportEvents(environmentId, [event(refId, `${customerId}-last`, { dimensions: { tokens: 0 } })])
    const recomputed = async () => Promise.all(customers.map((refId) => usageOf(bench, environmentId, refId, 'tokens')))
    expect(await eventually(recomputed, (values) => values.join() === expected.join())).to.deep.equal(expected)
  })
})
