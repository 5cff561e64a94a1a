import { createServer, type Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Queue, Worker } from 'bullmq'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { Problem } from '../../../src/kernel/problem.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { Life } from '../../../src/platform/process.js'
import { consume } from '../../../src/platform/queue/consume.js'
import { type JobDefinition, openQueue, openQueues, type QueueConnection } from '../../../src/platform/queue.js'
import { queuePrefix as prefixOf } from '../../../src/platform/redis/slots.js'
import { sharedRedis } from '../../../src/platform/redis.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'

interface Parcel {
  v: number
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
  options: { backoff: { type: 'fixed', delay: 10 } },
}

describe('queues', () => {
  let connection: QueueConnection
  let lives: Life[]

  beforeEach(() => {
    connection = { redisUrl: testRedisUrl(), prefix: testRedisPrefix() }
    lives = []
  })
  afterEach(async () => {
    for (const life of lives) expect(await life.stop()).to.deep.equal([])
  })

  const newLife = () => {
    const life = new Life('test', silentLogger())
    lives.push(life)
    return life
  }
  /** The queue as BullMQ sees it. */
  const inspect = (life: Life) =>
    life.open(
      'inspection',
      new Queue(parcel.queue, { connection: { url: connection.redisUrl }, prefix: prefixOf(connection.prefix, parcel.queue) }),
      (queue) => queue.close(),
    )
  const until = async (isTrue: () => boolean | Promise<boolean>) => {
    for (const end = performance.now() + 8_000; performance.now() < end; ) {
      if (await isTrue()) return
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    throw new Error('did not happen')
  }

  it('takes many jobs at once, in their order', async () => {
    const life = newLife()
    const queue = openQueue(life, connection, parcel)
    await queue.addAll([1, 2, 3].map((n) => ({ v: 1, n })))
    const jobs = await inspect(life).getWaiting()
    expect(jobs.map(({ name, data, opts }) => [name, data.n, opts.attempts])).to.have.deep.ordered.members([
      ['parcel', 1, 3],
      ['parcel', 2, 3],
      ['parcel', 3, 3],
    ])
  })

  it('are a thousand open at most where there may be more and more of them, and each takes what is added', async () => {
    const life = newLife()
    const queueOf = openQueues(life, connection, (whose) => ({ ...parcel, queue: `parcels-${whose}` }))
    const client = sharedRedis(life, connection.redisUrl, 'queue')
    await queueOf('a').add({ v: 1, n: 1 })
    const ofOne = client.listenerCount('close')
    for (let n = 0; n < 1_500; n++) queueOf(String(n))
    await until(() => client.listenerCount('close') < ofOne + 1_000)
    await queueOf('a').add({ v: 1, n: 2 })
    expect(await queueOf('a').waiting()).to.equal(2)
  })

  it('hands each job to a worker, with what the definition reads from it', async () => {
    const life = newLife()
    const queue = openQueue(life, connection, parcel)
    const seen: number[] = []
    consume(life, connection, parcel, { concurrency: 2, handler: async ({ n }) => void seen.push(n) })
    for (let n = 0; n < 20; n++) await queue.add({ v: 1, n })
    await until(() => seen.length === 20)
    expect(seen.sort((a, b) => a - b)).to.deep.equal(Array.from({ length: 20 }, (_, n) => n))
    await until(async () =>
      (await life.metrics.metrics()).includes('tollgate_jobs_total{queue="parcels",result="finished",process="test"} 20'),
    )
  })

  it('counts jobs that nobody can read apart from those that fail', async () => {
    const life = newLife()
    const queue = inspect(life)
    consume(life, connection, parcel, { concurrency: 1, handler: async () => undefined })
    for (const data of [{ n: 7 }, { v: 1, n: 'seven' }]) await queue.add('parcel', data)
    await until(async () =>
      (await life.metrics.metrics()).includes('tollgate_jobs_total{queue="parcels",result="unreadable",process="test"} 2'),
    )
    expect(await life.metrics.metrics()).not.to.include('result="failed"')
  })

  it('puts a job of an unknown version back for a worker that knows it, and never fails it', async () => {
    const life = newLife()
    const queue = inspect(life)
    const [old, current] = [newLife(), newLife()]
    const seen: number[] = []
    consume(old, connection, parcel, { concurrency: 1, handler: async () => void seen.push(-1) })
    await queue.add('parcel', { v: 2, n: 7 })
    await until(async () => (await queue.getDelayedCount()) === 1)
    await old.stop()
    consume(current, connection, { ...parcel, version: 2 }, { concurrency: 1, handler: async ({ n }) => void seen.push(n) })
    await until(() => seen.length === 1)
    expect(seen).to.deep.equal([7])
    expect(await queue.getFailedCount()).to.equal(0)
  })

  it('tries again what may pass later, and fails for good what may not', async () => {
    const life = newLife()
    const queue = openQueue(life, connection, parcel)
    const inspected = inspect(life)
    const attempts = new Map<number, number>()
    consume(life, connection, parcel, {
      concurrency: 1,
      handler: async ({ n }) => {
        attempts.set(n, (attempts.get(n) ?? 0) + 1)
        if (n === 1 && attempts.get(n)! < 3) throw new Error('not yet')
        if (n === 2) throw new Problem('FAILED_PRECONDITION', 'NEVER', 'Never.')
      },
    })
    await queue.add({ v: 1, n: 1 })
    await queue.add({ v: 1, n: 2 })
    await inspected.add('parcel', { v: 1 }, { attempts: 3 })
    await until(async () => (await inspected.getFailedCount()) === 2 && (await inspected.getCompletedCount()) === 1)
    expect([...attempts]).to.deep.equal([
      [1, 3],
      [2, 1],
    ])
  })

  it('adds a job that is there once at a time again when the one before has ended, well or not', async () => {
    const life = newLife()
    const queue = openQueue(life, connection, parcel)
    const inspected = inspect(life)
    const add = (n: number) => queue.add({ v: 1, n }, { onceAtATime: 'one' })
    await add(1)
    await add(2)
    expect((await inspected.getWaiting()).map(({ data }) => data.n)).to.deep.equal([1])
    const seen: number[] = []
    consume(life, connection, parcel, {
      concurrency: 1,
      handler: async ({ n }) => {
        seen.push(n)
        if (n === 1) throw new Problem('FAILED_PRECONDITION', 'NEVER', 'Never.')
      },
    })
    await until(async () => (await inspected.getFailedCount()) === 1)
    await add(3)
    await until(async () => (await inspected.getCompletedCount()) === 1)
    await add(4)
    await until(async () => (await inspected.getCompletedCount()) === 2)
    expect(seen).to.deep.equal([1, 3, 4])
  })

  it('waits for the jobs in work when it stops, and takes no more', async () => {
    const life = newLife()
    const queue = openQueue(newLife(), connection, parcel)
    let finish = () => {}
    let finished = 0
    let hasStarted = false
    consume(life, connection, parcel, {
      concurrency: 1,
      handler: async () => {
        hasStarted = true
        await new Promise<void>((resolve) => {
          finish = resolve
        })
        finished += 1
      },
    })
    await queue.add({ v: 1, n: 1 })
    await queue.add({ v: 1, n: 2 })
    await until(() => hasStarted)
    const stopped = life.stop()
    setTimeout(() => finish(), 100)
    expect(await stopped).to.deep.equal([])
    expect(finished).to.equal(1)
    expect(await queue.waiting()).to.equal(1)
  })

  it('takes jobs of others however many of one owner are in work, of which it has half of what there may be', async () => {
    const life = newLife()
    const queue = openQueue(life, connection, parcel)
    const loud = Array.from({ length: 20 }, () => ({ v: 1, n: 1 }))
    await queue.addAll([...loud, { v: 1, n: 2 }, { v: 1, n: 3 }])
    let finish = () => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    let [inWork, mostInWork] = [0, 0]
    const done: number[] = []
    consume(life, connection, parcel, {
      concurrency: 2,
      stalledAfterSeconds: 0.5,
      owners: { of: ({ n }) => String(n), mostJobs: 10 },
      handler: async ({ n }) => {
        inWork += n === 1 ? 1 : 0
        mostInWork = Math.max(mostInWork, inWork)
        if (n === 1) await finished
        inWork -= n === 1 ? 1 : 0
        done.push(n)
      },
    })
    await until(() => done.length === 2)
    expect(done).to.deep.equal([2, 3])
    await until(async () => (await queue.waiting()) === 0)
    expect(mostInWork).to.equal(5)
    // Of those that it holds none is finished.
    await until(async () => (await life.readiness()).status === 'DOWN')
    finish()
    await until(async () => (await queue.unfinished()) === 0)
    expect(done).to.have.length(22)
  })

  it('leaves room for who comes next however many are loud', async () => {
    const life = newLife()
    const queue = openQueue(life, connection, parcel)
    const loud = [1, 2, 3, 4].flatMap((n) => Array.from({ length: 20 }, () => ({ v: 1, n })))
    await queue.addAll([...loud, { v: 1, n: 9 }])
    let finish = () => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const done: number[] = []
    consume(life, connection, parcel, {
      concurrency: 8,
      owners: { of: ({ n }) => String(n), mostJobs: 20 },
      handler: async ({ n }) => {
        if (n < 9) await finished
        done.push(n)
      },
    })
    await until(() => done.length > 0)
    expect(done).to.deep.equal([9])
    finish()
    await until(async () => (await queue.unfinished()) === 0)
    expect(done).to.have.length(81)
  })

  it('is ready while it makes progress, and not when jobs wait and none is finished', async () => {
    const life = newLife()
    const queue = openQueue(life, connection, parcel)
    let finish = () => {}
    let isOver = false
    consume(life, connection, parcel, {
      concurrency: 1,
      stalledAfterSeconds: 0.2,
      handler: () =>
        new Promise<void>((resolve) => {
          if (isOver) resolve()
          finish = resolve
        }),
    })
    await until(async () => (await life.readiness()).status === 'UP')
    expect(await life.readiness()).to.deep.include({ redis: 'UP', parcels: { waiting: 0 } })
    await queue.add({ v: 1, n: 1 })
    await queue.add({ v: 1, n: 2 })
    await until(async () => (await life.readiness()).status === 'DOWN')
    finish()
    await until(async () => (await life.readiness()).status === 'UP')
    // The second job may be in work or not yet.
    isOver = true
    finish()
  })

  describe('behind a Redis that goes away', () => {
    let proxy: Server
    let port: number
    const sockets = new Set<Socket>()

    beforeEach(async () => {
      const target = new URL(testRedisUrl())
      proxy = createServer((client) => {
        const server = new Socket().connect(Number(target.port), target.hostname)
        for (const [from, to] of [
          [client, server],
          [server, client],
        ] as const) {
          sockets.add(from)
          from.pipe(to)
          from.on('error', () => to.destroy())
          from.on('close', () => {
            to.destroy()
            sockets.delete(from)
          })
        }
      })
      await listen(0)
      port = (proxy.address() as { port: number }).port
      connection = { ...connection, redisUrl: `redis://127.0.0.1:${port}${target.pathname}` }
    })
    afterEach(() => disconnect())

    const listen = (onPort: number) => new Promise<void>((resolve) => proxy.listen(onPort, '127.0.0.1', resolve))
    const disconnect = async () => {
      const closed = new Promise((resolve) => proxy.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    }

    it('refuses at once to add, and works on when Redis is back', async () => {
      const life = newLife()
      const queue = openQueue(life, connection, parcel)
      const seen: number[] = []
      consume(life, connection, parcel, { concurrency: 1, handler: async ({ n }) => void seen.push(n) })
      await queue.add({ v: 1, n: 1 })
      await until(() => seen.length === 1)
      await disconnect()
      await until(async () => (await life.readiness()).status === 'DOWN')
      const startedAt = performance.now()
      const error = await queue.add({ v: 1, n: 2 }).catch(Problem.from)
      expect(error).to.include({ code: 'UNAVAILABLE' })
      expect(performance.now() - startedAt).to.be.below(500)
      await listen(port)
      await until(async () => (await life.readiness()).status === 'UP')
      await queue.add({ v: 1, n: 3 })
      await until(() => seen.length === 2)
      expect(seen).to.deep.equal([1, 3])
    })

    it('stops with what is in work, and no later, though its worker never says that it has closed', async () => {
      const life = newLife()
      const queue = openQueue(life, connection, parcel)
      const close = Worker.prototype.close
      let stuck: Worker | undefined
      Worker.prototype.close = function (this: Worker) {
        stuck = this
        return new Promise(() => {})
      }
      try {
        let isDone = false
        const handler = async () => {
          await sleep(2_500)
          isDone = true
        }
        consume(life, connection, parcel, { concurrency: 1, handler })
        await queue.add({ v: 1, n: 1 })
        await until(async () => (await queue.waiting()) === 0)
        await life.stop()
        expect(isDone).to.equal(true)
      } finally {
        Worker.prototype.close = close
        await stuck?.close(true)
      }
    })

    it('stops in time without Redis', async () => {
      const life = newLife()
      consume(life, connection, parcel, { concurrency: 1, handler: async () => undefined })
      await until(async () => (await life.readiness()).status === 'UP')
      await disconnect()
      const startedAt = performance.now()
      await life.stop()
      expect(performance.now() - startedAt).to.be.below(5_000)
      await listen(port)
    })

    it('refuses within seconds when Redis was never there', async function () {
      this.timeout(8_000)
      await disconnect()
      const queue = openQueue(newLife(), connection, parcel)
      const error = await queue.add({ v: 1, n: 1 }).catch(Problem.from)
      expect(error).to.include({ code: 'UNAVAILABLE' })
      await listen(port)
    })
  })

  it('leaves no connection behind', async () => {
    const admin = new Redis(testRedisUrl())
    const clients = async () => ((await admin.client('LIST')) as string).split('\n').filter((line) => line.includes('name=')).length
    const before = await clients()
    const life = new Life('test', silentLogger())
    openQueue(life, connection, parcel)
    consume(life, connection, parcel, { concurrency: 1, handler: async () => undefined })
    await until(async () => (await life.readiness()).status === 'UP')
    expect(await life.stop()).to.deep.equal([])
    await until(async () => (await clients()) <= before)
    admin.disconnect()
  })
})
