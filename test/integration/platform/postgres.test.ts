import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { Problem } from '../../../src/kernel/problem.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { openPostgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { withinSignal } from '../../../src/platform/within-signal.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'
import { eventually } from '../../support/eventually.js'

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
