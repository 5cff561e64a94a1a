import { expect } from 'chai'
import { silentLogger } from '../../../src/platform/logger.js'
import { openPostgres, type Postgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { inPoolTransaction, inTransaction, withCommit } from '../../../src/platform/transaction.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'

describe('a statement that is sent with the commit', () => {
  let database: TestDatabase
  let life: Life
  let postgres: Postgres

  before(async () => {
    database = await createTestDatabase()
    life = new Life('test', silentLogger())
    // One connection: what one transaction leaves behind, the next one meets.
    postgres = openPostgres(life, database.url, { poolSize: 1 })
    await postgres.pool.query('CREATE TABLE note (text text PRIMARY KEY)')
  })
  after(async () => {
    expect(await life.stop()).to.deep.equal([])
    await database.drop()
  })
  beforeEach(() => postgres.pool.query('TRUNCATE note'))

  const notes = async () =>
    (await postgres.pool.query<{ text: string }>('SELECT text FROM note ORDER BY text')).rows.map(({ text }) => text)
  const insert = (text: string) => `INSERT INTO note VALUES ('${text}')`
  const failure = (work: Promise<unknown>) => work.then(() => 'none').catch((error: Error) => error.message)

  /** A transaction of each kind. */
  const kinds: Record<
    string,
    <T>(work: (run: (sql: string) => Promise<unknown>, last: (sql: string | null) => void) => Promise<T>) => Promise<T>
  > = {
    'the client': (work) =>
      inTransaction(postgres.prisma, (db) =>
        work(
          (sql) => db.$executeRawUnsafe(sql),
          (sql) => withCommit(db, () => sql),
        ),
      ),
    'the pool': (work) =>
      inPoolTransaction(postgres.pool, (db) =>
        work(
          (sql) => db.query(sql),
          (sql) => withCommit(db, () => sql),
        ),
      ),
  }

  for (const [kind, transaction] of Object.entries(kinds))
    describe(`of a transaction of ${kind}`, () => {
      it('is committed with the rest, and the answer is that of the work', async () => {
        const answer = await transaction(async (run, last) => {
          last(insert("it''s last"))
          last(null)
          last(insert('second'))
          await run(insert('first'))
          return 'done'
        })
        expect(answer).to.equal('done')
        expect(await notes()).to.deep.equal(['first', "it's last", 'second'])
      })

      it('takes the rest with it when it fails, and leaves the connection as it should be', async () => {
        const failed = await failure(
          transaction(async (run, last) => {
            await run(insert('first'))
            last('INSERT INTO note VALUES (NULL)')
          }),
        )
        expect(failed).to.match(/null/i)
        expect(await notes()).to.deep.equal([])
        await transaction((run) => run(insert('next')))
        expect(await notes()).to.deep.equal(['next'])
      })

      it('is not sent when the work fails', async () => {
        const failed = await failure(
          transaction(async (_, last) => {
            last(insert('never'))
            throw new Error('no')
          }),
        )
        expect(failed).to.equal('no')
        expect(await notes()).to.deep.equal([])
      })
    })

  it('belongs to its own transaction, whatever others are committed meanwhile', async () => {
    const own = openPostgres(life, database.url, { poolSize: 4 })
    await inTransaction(own.prisma, async (db) => {
      withCommit(db, () => insert('outer'))
      await own.prisma.$transaction((other) => other.$executeRawUnsafe(insert('inner')))
      expect(await notes()).to.deep.equal(['inner'])
    })
    const many = Array.from({ length: 20 }, (_, n) =>
      inTransaction(own.prisma, async (db) => {
        withCommit(db, () => insert(`many-${n}`))
        if (n % 2) throw new Error('no')
      }).catch(() => undefined),
    )
    await Promise.all(many)
    expect(await notes()).to.have.length(2 + 10)
  })

  it('cannot be said outside of a transaction', () => {
    expect(() => withCommit(postgres.prisma, () => null)).to.throw('in a transaction')
  })
})
