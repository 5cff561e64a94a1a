import { randomUUID } from 'node:crypto'
import { setImmediate as nextRound, setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { Client, type Pool } from 'pg'
import { Problem } from '../../../src/kernel/problem.js'
import { withinSignal } from '../../../src/platform/context/within-signal.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { openPostgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'
import { eventually } from '../../support/eventually.js'
import { TcpProxy } from '../../support/tcp-proxy.js'

describe('a connection that PostgreSQL cuts', () => {
  let database: TestDatabase
  before(async () => {
    database = await createTestDatabase()
  })
  after(() => database.drop())

  it('fails the next query of its user as an outage, ends no process, and leaves the pool usable', async () => {
    const life = new Life('postgres', silentLogger())
    try {
      const { pool } = openPostgres(life, database.url, { poolSize: 2 })
      const client = await pool.connect()
      // Between two queries nobody waits for an answer that could fail.
      const lost = new Promise((resolve) => client.once('end', resolve))
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      await pool.query('SELECT pg_terminate_backend($1)', [rows[0]!.pid])
      await lost
      const failure = await client.query('SELECT 1').catch((error: unknown) => error)
      client.release(failure as Error)
      expect(Problem.from(failure)).to.include({ code: 'UNAVAILABLE', isRetryable: true })
      await eventually('the pool to serve', async () => (await pool.query('SELECT 1')).rowCount === 1)
    } finally {
      expect(await life.stop()).to.deep.equal([])
    }
  })
})

describe('statements of Prisma that add rows', () => {
  it('are planned once for a connection when they come again and again', async () => {
    const database = await createTestDatabase()
    const life = new Life('postgres', silentLogger())
    try {
      const { prisma } = openPostgres(life, database.url, { poolSize: 1 })
      const add = (id: string) =>
        prisma.environment.create({ data: { id, refId: id, displayName: id, signingSecret: Buffer.from('secret') } })
      for (let n = 0; n < 3; n++) await add(randomUUID())
      const prepared = await prisma.$queryRaw<{ name: string; statement: string }[]>`SELECT name, statement FROM pg_prepared_statements`
      expect(prepared.filter(({ name }) => name !== '').map(({ statement }) => statement.slice(0, 34))).to.deep.equal([
        'INSERT INTO "public"."environment"',
      ])
    } finally {
      expect(await life.stop()).to.deep.equal([])
      await database.drop()
    }
  })
})

describe('a connection that carries nothing any more', () => {
  let database: TestDatabase
  let link: TcpProxy
  before(async () => {
    database = await createTestDatabase()
  })
  after(() => database.drop())
  beforeEach(async () => {
    link = await TcpProxy.start(database.url)
  })
  afterEach(() => link.stop())

  const urlOver = ({ port }: TcpProxy) => Object.assign(new URL(database.url), { hostname: '127.0.0.1', port: String(port) }).href

  /** Both of its connections are stranded for ever; others are not. */
  async function strand(pool: Pool, ask: () => Promise<unknown>): Promise<unknown[]> {
    await Promise.all([pool.query('SELECT pg_sleep(0.1)'), pool.query('SELECT pg_sleep(0.1)')])
    link.freeze()
    link.deafen()
    const asked = [ask(), ask()].map((one) => one.catch((error: unknown) => error))
    await setTimeout(100)
    link.mend()
    return Promise.all(asked)
  }

  it('is cut when the server has long ended whatever was asked, which fails as an outage, and the pool serves again', async () => {
    const life = new Life('postgres', silentLogger())
    try {
      const { pool } = openPostgres(life, urlOver(link), { poolSize: 2, session: { statement_timeout: '500' } })
      const failures = await strand(pool, () => pool.query('SELECT 1'))
      for (const failure of failures) expect(Problem.from(failure)).to.include({ code: 'UNAVAILABLE', isRetryable: true })
      expect((await pool.query('SELECT 1')).rowCount).to.equal(1)
    } finally {
      expect(await life.stop()).to.deep.equal([])
    }
  })

  it('is cut soon when its statement was canceled, and says nothing', async () => {
    const life = new Life('postgres', silentLogger())
    try {
      const { pool } = openPostgres(life, urlOver(link), { poolSize: 2 })
      const operation = new AbortController()
      const failed = strand(pool, () => withinSignal(operation, () => pool.query('SELECT 1')))
      await setTimeout(300)
      operation.abort(new Error('the client hung up'))
      expect(await failed).to.have.length(2)
      expect((await pool.query('SELECT 1')).rowCount).to.equal(1)
    } finally {
      expect(await life.stop()).to.deep.equal([])
    }
  })
})

describe('a connection whose query was canceled too late', () => {
  let database: TestDatabase
  before(async () => {
    database = await createTestDatabase()
  })
  after(() => database.drop())

  it('is not cut for what is asked next, however long that takes', async () => {
    const life = new Life('postgres', silentLogger())
    try {
      const { pool } = openPostgres(life, database.url, { poolSize: 1 })
      const operation = new AbortController()
      await pool.query('SELECT 1')
      // It is answered before the connection is there that the cancellation needs.
      const first = withinSignal(operation, () => pool.query('SELECT 1'))
      await nextRound()
      operation.abort(new Error('the client hung up'))
      await first.catch(() => undefined)
      expect((await pool.query('SELECT pg_sleep(7)')).rowCount).to.equal(1)
    } finally {
      expect(await life.stop()).to.deep.equal([])
    }
  })
})

describe('a query that is given up', () => {
  let database: TestDatabase
  before(async () => {
    database = await createTestDatabase()
  })
  after(() => database.drop())

  it('fails alone: whoever has its connection next is not hit by the cancellation, however it sends its query', async () => {
    const life = new Life('postgres', silentLogger())
    try {
      const { pool, prisma } = openPostgres(life, database.url, { poolSize: 1 })
      const failures: unknown[] = []
      let givenUp = 0
      for (let round = 0; round < 60; round++) {
        const operation = new AbortController()
        // It ends about when it is given up, so that the cancellation may come too late for it.
        const query = withinSignal(operation, () => pool.query(`SELECT pg_sleep(${0.002 + (round % 10) * 0.0005})`)).catch(() => {
          givenUp += 1
        })
        await setTimeout(2 + (round % 3))
        operation.abort(new Error('the client hung up'))
        const strangers = [pool.query('SELECT pg_sleep(0.02)'), prisma.$queryRaw`SELECT 1 FROM pg_sleep(0.02)`]
        for (const outcome of await Promise.allSettled([query, ...strangers]))
          if (outcome.status === 'rejected') failures.push(outcome.reason)
      }
      expect(failures).to.deep.equal([])
      expect(givenUp).to.be.above(0)
    } finally {
      expect(await life.stop()).to.deep.equal([])
    }
  })
})

describe('a transaction that has ended', () => {
  let database: TestDatabase
  before(async () => {
    database = await createTestDatabase()
  })
  after(() => database.drop())

  it('has nothing sent that Prisma goes on with', async () => {
    const life = new Life('postgres', silentLogger())
    try {
      const { pool, prisma } = openPostgres(life, database.url, { poolSize: 1 })
      const sent: string[] = []
      pool.on('connect', (client) => {
        const query = client.query.bind(client) as (...args: unknown[]) => unknown
        client.query = ((...args: unknown[]) => {
          sent.push(typeof args[0] === 'string' ? args[0] : (args[0] as { text: string }).text)
          return query(...args)
        }) as typeof client.query
      })
      await prisma.environment.create({
        data: { id: randomUUID(), refId: 'one', displayName: 'one', signingSecret: Buffer.from('secret') },
      })
      // given an operation of two steps, the first of which has to wait until its transaction has expired
      const locker = new Client({ connectionString: database.url })
      await locker.connect()
      await locker.query('BEGIN')
      await locker.query('LOCK TABLE environment')
      const read = (db: Pick<typeof prisma, 'environment'>) => db.environment.findMany({ include: { features: true } })
      const expired = prisma.$transaction((db) => read(db as typeof prisma), { timeout: 200 }).catch((error: Error) => error.message)
      await setTimeout(500)
      await locker.query('COMMIT')
      await locker.end()

      // then the second step fails, and is not done outside of it
      expect(await expired).to.match(/ended|expired|closed/)
      await eventually('it to be rolled back', () => sent.includes('ROLLBACK'))
      await setTimeout(200)
      expect(sent.slice(sent.indexOf('ROLLBACK') + 1)).to.deep.equal([])
      expect(await read(prisma)).to.have.length(1)
      expect(sent.filter((text) => /"feature"/.test(text))).to.have.length(1)
    } finally {
      expect(await life.stop()).to.deep.equal([])
    }
  })

  it('gives a connection back over which nothing can be sent any more', async () => {
    const life = new Life('postgres', silentLogger())
    try {
      const { pool } = openPostgres(life, database.url, { poolSize: 1 })
      for (const end of ['COMMIT', 'ROLLBACK', null]) {
        const client = await pool.connect()
        await client.query('BEGIN')
        if (end) await client.query(end)
        else client.release()
        const late = await client.query('SELECT 1').catch((error: Error) => error.message)
        expect(late, String(end)).to.equal('The transaction has ended.')
        if (end) client.release()
        else await pool.query('ROLLBACK')
        expect((await pool.query('SELECT 1 AS one')).rows).to.deep.equal([{ one: 1 }])
      }
    } finally {
      expect(await life.stop()).to.deep.equal([])
    }
  })
})
