import { expect } from 'chai'
import { newId } from '../../../src/kernel/id.js'
import { sweepBatches } from '../../../src/metering/aggregation/batch-sweep.js'
import { batchOwners, EventAggregation } from '../../../src/metering/aggregation/event-aggregation.js'
import { Bindings } from '../../../src/metering/counting/bindings.js'
import { aggregateEvents } from '../../../src/metering/wire/jobs.js'
import { packStored } from '../../../src/metering/wire/stored-events.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { createMetrics } from '../../../src/platform/metrics.js'
import { Life } from '../../../src/platform/process.js'
import { consume } from '../../../src/platform/queue/consume.js'
import { queuePrefix } from '../../../src/platform/redis/slots.js'
import { eventually } from '../../support/eventually.js'
import { countStatements } from '../../support/statements.js'
import { count, createEnvironment, type MeteringBench, openMeteringBench, usageOf } from './fixture.js'

/** More than are counted together. */
const ofLoud = 200

describe('counting the events of several environments', function () {
  this.timeout(240_000)
  let bench: MeteringBench
  let workers: Life[]
  let loud: string
  let quiet: string
  /** Of both, before the test. */
  let had: number[]

  before(async () => {
    bench = await openMeteringBench()
    ;[loud, quiet] = [await createEnvironment(bench), await createEnvironment(bench)]
    for (const environmentId of [loud, quiet])
      await bench.app.customers.provision(environmentId, { refId: 'acme', subscription: { planRefId: 'free' } })
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    workers = []
    had = await counted()
  })
  afterEach(async () => {
    for (const life of workers) expect(await life.stop()).to.deep.equal([])
  })

  /** As ingestion does: an event in each batch, and a job for each unless nobody is woken. */
  async function store(environmentId: string, batches: number, { isWoken = true, agedSeconds = 0 } = {}): Promise<void> {
    const { id: customerId } = await bench.prisma.customer.findFirstOrThrow({ where: { environmentId, refId: 'acme' } })
    const now = Date.now()
    const ids = Array.from({ length: batches }, newId)
    const createdAt = new Date(now - agedSeconds * 1_000)
    await bench.prisma.pendingBatch.createMany({ data: ids.map((id) => ({ environmentId, id, createdAt })) })
    const event = { customerId, eventName: 'request', dimensions: { tokens: 1 } }
    await bench.prisma.rawEvent.createMany({
      data: ids.map((batchId) => ({ ...event, environmentId, batchId, position: 0, occurredAt: new Date(now) })),
    })
    const stored = () =>
      packStored(now, [{ ...event, resourceId: null, holder: { customerId: 'acme', resourceId: null }, occurredAt: now }])
    if (isWoken) await bench.aggregationQueue.addAll(ids.map((batchId) => ({ v: 1, environmentId, batchId, stored: stored() })))
  }

  /** As one process. */
  function start({ maxWaitingBytes }: { maxWaitingBytes?: number } = {}): Life {
    const life = new Life('aggregation', silentLogger())
    workers.push(life)
    const aggregation = new EventAggregation({
      pool: bench.pool,
      clock: bench.app.clock,
      bindings: new Bindings(bench.app.heldSeries),
      metrics: createMetrics('aggregation'),
      changed: () => undefined,
      ...(maxWaitingBytes !== undefined && { maxWaitingBytes }),
    })
    consume(life, bench.queues, aggregateEvents, {
      concurrency: 2,
      owners: batchOwners,
      handler: (job) => aggregation.aggregate(job),
    })
    life.onStop('batches that wait', () => aggregation.stop())
    return life
  }

  /** While `work` runs nobody counts for the customer of the loud environment. */
  async function whileHeld(work: () => Promise<void>): Promise<void> {
    const db = await bench.pool.connect()
    try {
      await db.query('BEGIN')
      await db.query('SELECT FROM customer_state WHERE environment_id = $1::uuid FOR UPDATE', [loud])
      await work()
    } finally {
      await db.query('ROLLBACK')
      db.release()
    }
  }

  const pending = (environmentId: string) => count(bench.pool, 'pending_batch', environmentId)
  const counted = () =>
    Promise.all([loud, quiet].map(async (environmentId) => Number(await usageOf(bench, environmentId, 'acme', 'requests'))))
  const soon = (what: string, condition: () => Promise<boolean>) => eventually(what, condition, 60_000)
  const allTaken = () => soon('all to be taken', async () => (await bench.aggregationQueue.waiting()) === 0)
  const allCounted = (environmentId: string) => soon('all to be counted', async () => (await pending(environmentId)) === 0)

  it('counts those of one though hundreds of batches of another came before, of which none can be counted', async () => {
    await store(loud, ofLoud)
    await store(quiet, 1)
    await whileHeld(async () => {
      start()
      await allCounted(quiet)
      expect(await pending(loud)).to.equal(ofLoud)
    })
    await allCounted(loud)
    expect(await counted()).to.deep.equal([had[0]! + ofLoud, had[1]! + 1])
    expect(await bench.aggregationQueue.unfinished()).to.equal(0)
  })

  for (const { what, maxWaitingBytes, isRead } of [
    { what: 'reads none of them again while they have room', isRead: false },
    { what: 'reads what has no room when it is counted', maxWaitingBytes: 0, isRead: true },
  ])
    it(`counts those that wait in a few lots, and ${what}`, async () => {
      await store(loud, ofLoud)
      const { texts, stop } = countStatements()
      await whileHeld(async () => {
        start(maxWaitingBytes === undefined ? {} : { maxWaitingBytes })
        await allTaken()
      })
      await allCounted(loud).finally(stop)
      expect(await counted()).to.deep.equal([had[0]! + ofLoud, had[1]])
      expect(texts.filter((text) => text.includes('DELETE FROM pending_batch'))).to.have.length.below(ofLoud / 10)
      expect(texts.some((text) => text.includes('ORDER BY event.position'))).to.equal(isRead)
    })

  it('leaves what waits to another worker when one stops', async () => {
    await store(loud, ofLoud)
    const stopping = start()
    const delayed = `${queuePrefix(bench.queues.prefix, aggregateEvents.queue)}:${aggregateEvents.queue}:delayed`
    await whileHeld(async () => {
      await allTaken()
      void stopping.stop()
      await soon('most to be left', async () => (await bench.redis.zcard(delayed)) >= ofLoud / 4)
    })
    expect(await stopping.stop()).to.deep.equal([])
    expect(await pending(loud)).to.be.above(0)
    start()
    await allCounted(loud)
    expect(await counted()).to.deep.equal([had[0]! + ofLoud, had[1]])
  })

  it('has a sweep find what is lost of each, however much there is of one', async () => {
    await store(loud, ofLoud, { isWoken: false, agedSeconds: 600 })
    await store(quiet, 1, { isWoken: false, agedSeconds: 120 })
    expect(await sweepBatches(bench.pool, bench.aggregationQueue)).to.equal(101)
    expect(await sweepBatches(bench.pool, bench.aggregationQueue)).to.equal(100)
    start()
    await allCounted(quiet)
    await soon('the rest to be swept', async () => (await sweepBatches(bench.pool, bench.aggregationQueue)) === 0)
    await allCounted(loud)
  })
})
