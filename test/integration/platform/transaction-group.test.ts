import { expect } from 'chai'
import { silentLogger } from '../../../src/platform/logger.js'
import { type Db, openPostgres, type Postgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { inTransaction } from '../../../src/platform/transaction.js'
import { inGroup, insertRows, oncePerGroup, toRow, updateRows } from '../../../src/platform/transaction-group.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'

describe('work for several things in one transaction', () => {
  let database: TestDatabase
  let life: Life
  let postgres: Postgres

  before(async () => {
    database = await createTestDatabase()
    life = new Life('test', silentLogger())
    postgres = openPostgres(life, database.url, { poolSize: 2 })
    await postgres.pool.query(
      "CREATE TABLE thing (environment_id uuid, id int, big_name text, at timestamptz, amount numeric, facts jsonb DEFAULT '{}')",
    )
  })
  after(async () => {
    expect(await life.stop()).to.deep.equal([])
    await database.drop()
  })
  beforeEach(() => postgres.pool.query('TRUNCATE thing'))

  const environmentId = '00000000-0000-4000-8000-000000000001'
  const things = async () => (await postgres.pool.query('SELECT id, big_name, at, amount::text, facts FROM thing ORDER BY id')).rows
  /** Doubles numbers, and remembers which it was given at once. */
  const doubling = () => {
    const calls: number[][] = []
    const double = oncePerGroup(async (db: Db, inputs: number[]) => {
      calls.push(inputs)
      await db.$queryRaw`SELECT 1`
      return inputs.map((input) => 2 * input)
    })
    return { calls, double }
  }

  it('makes a statement once for all who come to it, and answers each', async () => {
    const { calls, double } = doubling()
    const results = await inTransaction(postgres.prisma, (db) =>
      inGroup(db, [1, 2, 3], async (n) => {
        const twice = await double(db, n)
        return n === 2 ? twice : double(db, twice)
      }),
    )
    expect(results).to.deep.equal([4, 4, 12])
    expect(calls).to.deep.equal([
      [1, 2, 3],
      [2, 6],
    ])
  })

  it('is the plain call outside of a group', async () => {
    const { calls, double } = doubling()
    const results = await inTransaction(postgres.prisma, (db) => Promise.all([double(db, 1), double(db, 2)]))
    expect(results).to.deep.equal([2, 4])
    expect(calls).to.deep.equal([[1], [2]])
  })

  it('of which one part fails changes nothing', async () => {
    const add = oncePerGroup(async (db: Db, ids: number[]) => {
      await insertRows(
        db,
        'thing',
        ids.map((id) => toRow({ environmentId, id })),
      )
      return ids
    })
    const work = inTransaction(postgres.prisma, (db) =>
      inGroup(db, [1, 2, 3], async (id) => {
        await add(db, id)
        if (id === 2) throw new Error('two is too many')
      }),
    )
    expect(await work.catch((error: Error) => error.message)).to.equal('two is too many')
    expect(await things()).to.deep.equal([])
  })

  it('writes rows of every kind of value, and refuses those that differ in their columns', async () => {
    const at = new Date('2044-02-29T12:00:00.123Z')
    const row = (id: number, amount: string | null, facts: object | null) =>
      toRow({ environmentId, id, bigName: `it's "${id}"`, at, amount, facts })
    await inTransaction(postgres.prisma, async (db) => {
      await insertRows(db, 'thing', [row(1, '0.1', { a: [1] }), row(2, null, null)])
      await insertRows(db, 'thing', [toRow({ environmentId, id: 3, facts: undefined })])
      await updateRows(db, 'thing', [toRow({ environmentId, id: 1, amount: '12345678901234567890.123456789' })])
    })
    expect(await things()).to.deep.equal([
      { id: 1, big_name: 'it\'s "1"', at, amount: '12345678901234567890.123456789', facts: { a: [1] } },
      { id: 2, big_name: 'it\'s "2"', at, amount: null, facts: null },
      { id: 3, big_name: null, at: null, amount: null, facts: {} },
    ])
    const different = insertRows(postgres.prisma, 'thing', [toRow({ id: 4 }), toRow({ id: 5, at })])
    expect(await different.catch((error: Error) => error.message)).to.include('different columns')
  })
})
