import { expect } from 'chai'
import { type ImportItem, ImportService } from '../../../src/customer/imports.js'
import { runImport } from '../../../src/customer/jobs.js'
import { Problem, unavailable } from '../../../src/kernel/problem.js'
import type { Db } from '../../../src/platform/postgres.js'
import { consume } from '../../../src/platform/queue/consume.js'
import { eventually } from '../../support/eventually.js'
import { type Bench, openBench, reasonOf } from '../subscription/fixture.js'

describe('importing many customers', () => {
  let bench: Bench
  let environmentId: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await bench.createEnvironment()
  })

  const never = new AbortController().signal
  const start = (customers: object[], service: ImportService = bench.imports) => service.start(environmentId, 'CUSTOMERS', customers)
  const find = async (id: string) => (await bench.imports.find(environmentId, id))!
  const items = (id: string, options = {}) => bench.imports.items(environmentId, id, options)
  const names = async () =>
    (await bench.prisma.customer.findMany({ where: { environmentId }, orderBy: { refId: 'asc' } })).map(({ refId }) => refId)

  it('tells the outcome of each, and one that is refused hinders no other', async () => {
    await bench.customers.create(environmentId, { refId: 'known', name: 'Known', email: 'k@known.test' })
    await bench.customers.create(environmentId, { refId: 'gone' })
    await bench.customers.archive(environmentId, 'gone')
    const id = await start([
      { refId: 'new', name: 'New' },
      { refId: 'gone', name: 'Gone' },
      { refId: ' ', name: 'Nobody' },
      { refId: 'known', email: null, additionalMetaData: { a: 1 } },
      { refId: null, name: 'Nameless' },
    ])
    expect(await find(id)).to.deep.include({ total: 5, done: 0, failed: 0, finishedAt: null })
    await bench.imports.run(environmentId, id, never)
    const job = await find(id)
    expect(job).to.deep.include({ kind: 'CUSTOMERS', total: 5, done: 3, failed: 2 })
    expect(job.finishedAt).to.be.a('number')
    const outcomes = await items(id)
    expect(outcomes.map(({ position, status, errorReason }) => [position, status, errorReason])).to.deep.equal([
      [0, 'DONE', null],
      [1, 'FAILED', 'ENTITY_IS_ARCHIVED'],
      [2, 'FAILED', 'BAD_USER_INPUT'],
      [3, 'DONE', null],
      [4, 'DONE', null],
    ])
    expect(outcomes[1]!.errorMessage).to.include('"gone" is archived')
    expect(await bench.customers.get(environmentId, 'known')).to.deep.include({ name: 'Known', email: null, additionalMetaData: { a: 1 } })
    expect(await bench.customers.get(environmentId, outcomes[4]!.refId!)).to.deep.include({ name: 'Nameless' })
    expect(await bench.prisma.subscription.count({ where: { environmentId } })).to.equal(0)
  })
  it('keeps nothing of what was imported beside the customers', async () => {
    const id = await start([
      { refId: 'a', email: 'a@a.test' },
      { refId: ' ', email: 'b@b.test' },
    ])
    await bench.imports.run(environmentId, id, never)
    const kept = JSON.stringify(await bench.prisma.importItem.findMany({ where: { environmentId } }))
    expect(kept).to.not.include('@')
  })
  it('answers outcomes in pages, and of one status', async () => {
    const id = await start(Array.from({ length: 7 }, (_, index) => ({ refId: index % 3 === 0 ? ' ' : `c${index}` })))
    await bench.imports.run(environmentId, id, never)
    const positions = async (options: object) => (await items(id, options)).map(({ position }) => position)
    expect(await positions({ limit: 3 })).to.deep.equal([0, 1, 2])
    expect(await positions({ limit: 3, after: 2 })).to.deep.equal([3, 4, 5])
    expect(await positions({ status: 'FAILED', after: 0 })).to.deep.equal([3, 6])
    expect(await reasonOf(items(id, { limit: 1_001 }))).to.equal('BAD_USER_INPUT')
  })
  it('is known in its environment only', async () => {
    const id = await start([{ refId: 'a' }])
    const other = await bench.createEnvironment()
    expect(await bench.imports.find(other, id)).to.equal(null)
    expect(await bench.imports.items(other, id, {})).to.deep.equal([])
    await bench.imports.run(other, id, never)
    expect(await names()).to.deep.equal([])
    expect(await bench.imports.find(environmentId, 'no such import')).to.equal(null)
  })
  it('refuses none and too many', async () => {
    expect(await reasonOf(start([]))).to.equal('BAD_USER_INPUT')
    expect(await reasonOf(start(Array.from({ length: 1_001 }, () => ({ refId: 'a' }))))).to.equal('BAD_USER_INPUT')
  })

  type Import = (db: Db, environment: string, input: unknown) => Promise<string>
  const imported: Import = async (db, environment, input) => (await bench.customers.importIn(db, environment, input as never)).refId
  /** As another process has it. */
  const serviceWith = (importer: Import, wake: (environmentId: string, importId: string) => void = () => undefined, waiting = 0) =>
    new ImportService({
      prisma: bench.prisma,
      importers: { CUSTOMERS: importer },
      changed: () => undefined,
      unexpected: () => undefined,
      wake,
      waiting: async () => waiting,
    })
  const setLease = (leasedUntil: Date) => bench.prisma.importJob.updateMany({ where: { environmentId }, data: { leasedUntil } })
  const isOver = new Date(0)
  /** An importer that waits for `letGo` at its first record. */
  function held() {
    let letGo = () => {}
    const released = new Promise<void>((resolve) => {
      letGo = resolve
    })
    let isAtWork = false
    const importer: Import = async (...record) => {
      isAtWork = true
      await released
      return imported(...record)
    }
    return { importer, letGo: () => letGo(), isAtWork: () => isAtWork }
  }

  /** Fails once, as if the process had died after so many records. */
  const dyingAfter = (most: number) => {
    let count = -most
    const stop = new AbortController()
    const service = serviceWith((...record) => {
      if (++count === 0) stop.abort()
      return imported(...record)
    })
    return { service, signal: stop.signal }
  }
  it('goes on where it stopped, importing each once', async () => {
    const id = await start(Array.from({ length: 20 }, (_, index) => ({ refId: null, name: `Customer ${index}` })))
    const { service, signal } = dyingAfter(7)
    await service.run(environmentId, id, signal)
    const stopped = await find(id)
    // Those that were on their way are done too.
    expect(stopped.done).to.be.within(7, 10)
    expect(stopped.finishedAt).to.equal(null)
    await bench.imports.run(environmentId, id, never)
    expect(await find(id)).to.deep.include({ done: 20, failed: 0 })
    expect(await names()).to.have.length(20)
  })
  it('is worked off by one at a time, and each record is imported once by eight', async () => {
    const id = await start(Array.from({ length: 50 }, () => ({ refId: null })))
    await Promise.all(Array.from({ length: 8 }, () => serviceWith(imported).run(environmentId, id, never)))
    await bench.prisma.importJob.updateMany({ where: { environmentId }, data: { leasedUntil: null } })
    await bench.imports.run(environmentId, id, never)
    expect(await find(id)).to.deep.include({ done: 50 })
    expect(await names()).to.have.length(50)
  })
  it('imports in the order of the request: the last of one customer stays', async () => {
    const id = await start(Array.from({ length: 9 }, (_, index) => ({ refId: 'acme', name: `Acme ${index}` })))
    await bench.imports.run(environmentId, id, never)
    expect((await bench.customers.get(environmentId, 'acme'))!.name).to.equal('Acme 8')
  })

  it('imports nothing of a customer before what another worker, which has taken too long, is at', async () => {
    const id = await start([
      { refId: 'acme', name: 'Acme 0' },
      { refId: 'acme', name: 'Acme 1' },
    ])
    const { importer, letGo, isAtWork } = held()
    const late = serviceWith(importer).run(environmentId, id, never)
    await eventually('it to be at work', isAtWork)
    await setLease(isOver)
    const next = serviceWith(imported).run(environmentId, id, never)
    const isWaiting = async () =>
      (await bench.pool.query("SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")).rowCount !==
      0
    await eventually('the next worker to wait or to end', async () => (await isWaiting()) || (await find(id)).done > 0)
    letGo()
    await Promise.all([late, next])
    expect(await find(id)).to.deep.include({ done: 2, failed: 0 })
    expect((await bench.customers.get(environmentId, 'acme'))!.name).to.equal('Acme 1')
  })
  it('is not given back by who has lost it to another worker', async () => {
    const id = await start([{ refId: 'a' }])
    const { importer, letGo, isAtWork } = held()
    const late = serviceWith(importer).run(environmentId, id, never)
    await eventually('it to be at work', isAtWork)
    const leasedUntil = new Date(Date.now() + 60_000)
    await setLease(leasedUntil)
    letGo()
    await late
    const job = await bench.prisma.importJob.findFirstOrThrow({ where: { environmentId } })
    expect(job).to.deep.include({ leasedUntil, finishedAt: null })
  })

  it('hides the text of our own failures, tells them to whoever runs it, and goes on', async () => {
    const told: unknown[] = []
    const service = new ImportService({
      prisma: bench.prisma,
      importers: {
        CUSTOMERS: async (_, __, input) => {
          if ((input as { refId: string }).refId === 'bad') throw new Error('secret of ours')
          return 'good'
        },
      },
      changed: () => undefined,
      unexpected: (error, { position }) => told.push([(error as Error).message, position]),
      wake: () => undefined,
      waiting: async () => 0,
    })
    const id = await start([{ refId: 'bad' }, { refId: 'good' }], service)
    await service.run(environmentId, id, never)
    const outcomes = await items(id)
    expect(outcomes.map(({ status, errorReason }) => [status, errorReason])).to.deep.equal([
      ['FAILED', 'INTERNAL'],
      ['DONE', null],
    ])
    expect(JSON.stringify(outcomes)).to.not.include('secret')
    expect(told).to.deep.equal([['secret of ours', 0]])
  })

  const faults: Readonly<Record<string, (db: Db) => Promise<unknown>>> = {
    'its connection is cut': (db) => db.$queryRaw`SELECT pg_terminate_backend(pg_backend_pid())::text`,
    'its statement is stopped for taking too long': async (db) => {
      await db.$executeRaw`SET LOCAL statement_timeout = 20`
      await db.$queryRaw`SELECT pg_sleep(30)::text`
    },
  }
  for (const [what, fail] of Object.entries(faults))
    it(`imports a record later when ${what}, after it what follows of its customer, and the others meanwhile`, async () => {
      let isFailing = true
      const service = serviceWith(async (db, environment, input) => {
        if (isFailing && (input as { refId: string }).refId === 'acme') await fail(db)
        return imported(db, environment, input)
      })
      const id = await start([{ refId: 'acme', name: 'Acme 0' }, { refId: 'other' }, { refId: 'acme', name: 'Acme 1' }], service)
      expect(await service.run(environmentId, id, never).then(String, (error) => Problem.from(error).code)).to.equal('UNAVAILABLE')
      const statuses = async () => (await items(id)).map(({ status }) => status)
      expect(await statuses()).to.deep.equal(['PENDING', 'DONE', 'PENDING'])

      isFailing = false
      await service.run(environmentId, id, never)
      expect(await statuses(), 'left alone for a while').to.deep.equal(['PENDING', 'DONE', 'PENDING'])
      await setLease(isOver)
      await service.run(environmentId, id, never)
      expect(await find(id)).to.deep.include({ done: 3, failed: 0 })
      expect((await bench.customers.get(environmentId, 'acme'))!.name).to.equal('Acme 1')
    })

  it('imports those that fail again and again after the others, however long they take', async () => {
    /** As many as are imported at the same time. */
    const bad = Array.from({ length: 4 }, (_, index) => ({ refId: `bad-${index}` }))
    let stop = new AbortController()
    let waiting: (() => void)[] = []
    const service = serviceWith(async (db, environment, input) => {
      if (!(input as { refId: string }).refId.startsWith('bad')) return imported(db, environment, input)
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        if (waiting.length < bad.length) return
        // As if the slice were over when they fail.
        stop.abort()
        for (const fail of waiting) fail()
        waiting = []
      })
      throw unavailable('busy')
    })
    const id = await start([...bad, { refId: 'good' }], service)
    const run = async () => {
      stop = new AbortController()
      await setLease(isOver)
      return service.run(environmentId, id, stop.signal).then(String, (error) => Problem.from(error).code)
    }
    expect(await run()).to.equal('UNAVAILABLE')
    expect(await find(id)).to.deep.include({ done: 0, failed: 0 })
    expect(await run()).to.equal('UNAVAILABLE')
    expect(await find(id)).to.deep.include({ done: 1, failed: 0, finishedAt: null })
    expect(await names()).to.deep.equal(['good'])
  })
  it('tries a record less and less often, and refuses it in the end', async () => {
    const service = serviceWith(async () => {
      throw unavailable('busy')
    })
    const id = await start([{ refId: 'acme' }], service)
    const pausedMs: number[] = []
    for (const attempts of [0, 18]) {
      await bench.prisma.importItem.updateMany({ where: { environmentId }, data: { attempts } })
      await setLease(isOver)
      expect(await service.run(environmentId, id, never).then(String, (error) => Problem.from(error).code)).to.equal('UNAVAILABLE')
      const { leasedUntil } = await bench.prisma.importJob.findFirstOrThrow({ where: { environmentId } })
      pausedMs.push(leasedUntil!.getTime() - Date.now())
    }
    expect(pausedMs[0]).to.be.below(10_000)
    expect(pausedMs[1]).to.be.within(60_000, 310_000)
    expect(await find(id)).to.deep.include({ failed: 0, finishedAt: null })

    await setLease(isOver)
    await service.run(environmentId, id, never)
    expect((await find(id)).finishedAt).to.be.a('number')
    const [{ status, errorReason, errorMessage }] = (await items(id)) as [ImportItem]
    expect([status, errorReason, errorMessage]).to.deep.equal(['FAILED', unavailable('busy').reason, 'busy'])
  })
  it('is woken by the sweep only while few jobs wait', async () => {
    const woken: string[] = []
    const id = await start([{ refId: 'a' }], serviceWith(imported))
    await bench.prisma.importJob.updateMany({ where: { environmentId }, data: { createdAt: new Date(Date.now() - 20_000) } })
    const sweepWith = (waiting: number) => serviceWith(imported, (_, importId) => woken.push(importId), waiting).sweep()
    await sweepWith(20)
    expect(woken).to.deep.equal([])
    await sweepWith(19)
    expect(woken).to.include(id)
    await serviceWith(imported).run(environmentId, id, never)
  })

  describe('with a worker', () => {
    let service: ImportService
    before(() =>
      consume(bench.life, bench.queues, runImport, {
        concurrency: 2,
        handler: (job, { signal }) => service.run(job.environmentId, job.importId, signal),
      }),
    )
    beforeEach(() => {
      service = bench.imports
    })

    it('takes one of an environment at a time, so that others are not kept waiting by many that are slow', async () => {
      const small = await bench.createEnvironment()
      let letGo = () => {}
      const released = new Promise<void>((resolve) => {
        letGo = resolve
      })
      service = serviceWith(
        async (db, environment, input) => {
          if (environment === environmentId) await released
          return imported(db, environment, input)
        },
        (environment, importId) => bench.after.importDue(environment, importId),
      )
      const many: string[] = []
      for (let index = 0; index < 5; index++) many.push(await start([{ refId: `a${index}` }, { refId: `b${index}` }]))
      try {
        const id = await bench.imports.start(small, 'CUSTOMERS', [{ refId: 'small' }])
        await eventually('the small one to be finished', async () => (await bench.imports.find(small, id))!.finishedAt)
        for (const other of many) expect((await find(other)).done).to.equal(0)
      } finally {
        letGo()
      }
      for (const id of many) await eventually('the others to be finished', async () => (await find(id)).finishedAt)
    })
    it('is worked off soon', async () => {
      const id = await start([{ refId: 'a' }, { refId: 'b' }])
      await eventually('the import to be finished', async () => (await find(id)).finishedAt)
      expect(await names()).to.deep.equal(['a', 'b'])
    })
    it('is found by the sweep when its job was lost, and forgotten a month after its end', async () => {
      const lost = new ImportService({
        prisma: bench.prisma,
        importers: {},
        changed: () => undefined,
        unexpected: () => undefined,
        wake: () => undefined,
        waiting: async () => 0,
      })
      const id = await start([{ refId: 'a' }], lost)
      await bench.prisma.importJob.updateMany({ where: { environmentId }, data: { createdAt: new Date(Date.now() - 20_000) } })
      expect(await bench.imports.sweep()).to.equal(1)
      await eventually('the import to be finished', async () => (await find(id)).finishedAt)
      await bench.prisma.importJob.updateMany({ where: { environmentId }, data: { finishedAt: new Date(Date.now() - 31 * 86_400_000) } })
      await bench.imports.sweep()
      expect(await bench.imports.find(environmentId, id)).to.equal(null)
    })
  })
})
