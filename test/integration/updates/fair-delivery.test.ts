import { expect } from 'chai'
import { newId } from '../../../src/kernel/id.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { createMetrics } from '../../../src/platform/metrics.js'
import { Life } from '../../../src/platform/process.js'
import { consume } from '../../../src/platform/queue/consume.js'
import { type JobQueue, openQueue } from '../../../src/platform/queue.js'
import { openRedis } from '../../../src/platform/redis.js'
import { ChangeDelivery } from '../../../src/updates/deliver/delivery.js'
import { deliverChanges } from '../../../src/updates/deliver/jobs.js'
import { StateCache } from '../../../src/updates/held/state-cache.js'
import { eventually } from '../../support/eventually.js'
import { type Bench, openBench } from '../subscription/fixture.js'

/** Of one delivery. */
const batchSize = 1_000

describe('delivering the changes of several environments', () => {
  let bench: Bench
  let loud: string
  let quiet: string
  /** Whose messages were published, by batch. */
  let told: string[]
  /** Holds up what is published. */
  let before: (environmentId: string) => Promise<void>
  /** Whose messages were given to a queue, by batch; and what the queue answers. */
  let queued: string[]
  let answer: (environmentId: string) => Promise<boolean>

  beforeEach(async () => {
    bench = await openBench()
    ;[loud, quiet] = [await bench.createEnvironment(), await bench.createEnvironment()]
    await bench.prisma.outboxMessage.deleteMany()
    told = []
    queued = []
    before = async () => undefined
    answer = async () => true
  })
  afterEach(async () => expect(await bench.close()).to.deep.equal([]))

  const change = (environmentId: string, count: number) =>
    bench.prisma.outboxMessage.createMany({
      data: Array.from({ length: count }, (_, index) => ({ environmentId, id: newId(), kind: 'package' as const, version: BigInt(index) })),
    })
  const waiting = (environmentId: string) => bench.prisma.outboxMessage.count({ where: { environmentId } })

  /** As one process of the worker has it. */
  const worker = (concurrency: number) =>
    new ChangeDelivery({
      pool: bench.pool,
      epoch: bench.epoch,
      clock: bench.clock,
      entitlements: bench.entitlements,
      cache: new StateCache(openRedis(bench.life, bench.queues.redisUrl, 'request'), bench.queues.prefix, bench.epoch),
      sinks: {
        publish: async ([message]) => {
          told.push(message!.environmentId)
          await before(message!.environmentId)
        },
        enqueue: async ([message]) => {
          queued.push(message!.environmentId)
          return () => answer(message!.environmentId)
        },
      },
      metrics: createMetrics('test'),
      log: bench.life.log,
      concurrency,
    })

  /** A worker on the real queue. */
  function start(concurrency: number, life = bench.life): JobQueue<{ v: 1; environmentId: string }> {
    const delivery = worker(concurrency)
    consume(life, bench.queues, deliverChanges, {
      concurrency: 100,
      handler: ({ environmentId }, { signal }) => delivery.deliver(environmentId, signal),
    })
    return openQueue(bench.life, bench.queues, deliverChanges)
  }

  it('has each take its turn after a batch of another, also while nudges of that one come', async () => {
    const queue = start(1)
    await change(loud, 6 * batchSize)
    await change(quiet, 1)
    before = async (environmentId) => {
      if (environmentId === loud) await queue.add({ v: 1, environmentId: loud })
      if (told.length === 1) {
        await queue.add({ v: 1, environmentId: quiet })
        await eventually('the nudge to be taken', async () => (await queue.waiting()) === 0)
      }
    }
    await queue.add({ v: 1, environmentId: loud })
    await eventually('all to be told', async () => (await waiting(loud)) + (await waiting(quiet)) === 0)
    // The nudge may be taken a moment before it is heeded.
    expect(told.indexOf(quiet)).to.be.within(1, 2)
    expect(told).to.have.length(7)
  })

  it('leaves nudges whose turn has not come when it stops to another worker', async () => {
    const life = new Life('test', silentLogger())
    const queue = start(1, life)
    await change(loud, 1)
    await change(quiet, 1)
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    before = async () => ended
    await queue.add({ v: 1, environmentId: loud })
    await eventually('the first one to be at work', () => told.includes(loud))
    await queue.add({ v: 1, environmentId: quiet })
    await eventually('the nudge to be taken', async () => (await queue.waiting()) === 0)
    const stopped = life.stop()
    await eventually('the stop to be known', () => life.signal.aborted)
    end()
    expect(await stopped).to.deep.equal([])
    expect(await waiting(quiet)).to.equal(1)
    // That of its making may come so late that it is another.
    expect(await queue.unfinished()).to.be.within(1, 2)
    start(1)
    await eventually('the other one to be told', async () => (await waiting(quiet)) === 0)
  })

  it('has one alone take batch after batch', async () => {
    await change(loud, 3 * batchSize)
    await worker(1).deliver(loud)
    expect(await waiting(loud)).to.equal(0)
    expect(told).to.deep.equal([loud, loud, loud])
  })

  it('is held up by no queue of another that does not answer, and waits for its own before it is told more', async () => {
    const delivery = worker(1)
    let end = (_isTaken: boolean) => {}
    const answered = new Promise<boolean>((resolve) => {
      end = resolve
    })
    answer = (environmentId) => (environmentId === loud ? answered : Promise.resolve(true))
    await change(loud, 2 * batchSize)
    const delivering = delivery.deliver(loud)
    await eventually('its queue to be told', () => queued.includes(loud))
    await change(quiet, 1)
    await delivery.deliver(quiet)
    expect(await waiting(quiet)).to.equal(0)
    expect([queued, await waiting(loud)]).to.deep.equal([[loud, quiet], 2 * batchSize])
    // What it did not take was given up for a reload by then.
    end(false)
    await delivering
    expect([queued, await waiting(loud)]).to.deep.equal([[loud, quiet, loud], 0])
  })

  it('is swept though one of them does not come to an end', async () => {
    const delivery = worker(2)
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    before = async (environmentId) => {
      if (environmentId === loud) await ended
    }
    await change(loud, 1)
    await delivery.sweep(bench.life.signal)
    await eventually('the slow one to be at work', () => told.includes(loud))
    for (const count of [1, 2]) {
      await change(quiet, count)
      await delivery.sweep(bench.life.signal)
      await eventually('the other one to be told', async () => (await waiting(quiet)) === 0)
    }
    expect(await waiting(loud)).to.equal(1)
    end()
    await delivery.sweptAll()
    expect(await waiting(loud)).to.equal(0)
  })
})
