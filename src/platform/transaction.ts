/**
 * Transactions: in Prisma's words, or of raw SQL on a pool.
 *
 * lost race  PostgreSQL gave a transaction up for another's sake: it runs again at once
 */
import type pg from 'pg'
import { storeErrorOf } from '../kernel/store-errors.js'
import type { Db, PrismaClient } from './postgres.js'

const maxAttempts = 5
const readOnly = '25006'

/** What is left to be done in transactions that are under way, before they commit. */
const lastWorks = new WeakMap<Db, (() => Promise<void>)[]>()

/** `work` must not call anything but the database: it runs again after a lost race. */
export function inTransaction<T>(prisma: PrismaClient, work: (db: Db) => Promise<T>): Promise<T> {
  return repeated(() =>
    prisma.$transaction(async (db) => {
      const last: (() => Promise<void>)[] = []
      lastWorks.set(db, last)
      const result = await work(db)
      for (const lastWork of last) await lastWork()
      return result
    }),
  )
}

/** Whether it is a transaction of `inTransaction` that is under way. */
export const isUnderWay = (db: Db): boolean => lastWorks.has(db)

/** Has `work` done as the last of the transaction, in the order in which it was asked for. False: `db` is of none, and nothing was taken. */
export function beforeCommit(db: Db, work: () => Promise<void>): boolean {
  const last = lastWorks.get(db)
  last?.push(work)
  return last !== undefined
}

/** The same on one connection of the pool. A connection that cannot even roll back, or only reads, is not used again. */
export function inPoolTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  return repeated(() => attempt(pool, work))
}

async function attempt<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('BEGIN')
    const result = await work(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    // Where a server was demoted, a new connection may find the one that has taken over.
    if ((error as { code?: unknown }).code === readOnly) broken = error as Error
    await client.query('ROLLBACK').catch((rollbackError: Error) => {
      broken = rollbackError
    })
    throw error
  } finally {
    client.release(broken)
  }
}

async function repeated<T>(run: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await run()
    } catch (error) {
      if (attempts >= maxAttempts || !isLostRace(error)) throw error
    }
  }
}

function isLostRace(error: unknown): boolean {
  const kind = storeErrorOf(error)
  return kind === 'lost race' || kind === 'taken'
}
