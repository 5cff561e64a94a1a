/**
 * Transactions: in Prisma's words, or of raw SQL on a pool.
 *
 * lost race  PostgreSQL gave a transaction up for another's sake: it runs again at once
 * transient  the same work is expected to pass later
 */
import type pg from 'pg'
import type { Db, PrismaClient } from './postgres.js'

const maxAttempts = 5

/** `work` must not call anything but the database: it runs again after a lost race. */
export function inTransaction<T>(prisma: PrismaClient, work: (db: Db) => Promise<T>): Promise<T> {
  return repeated(() => prisma.$transaction(work))
}

/** The same on one connection of the pool. A connection that cannot even roll back is not used again. */
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

/** Serialization failure, deadlock, a unique key that another took first. */
const lostRaces = new Set(['40001', '40P01', '23505'])

function isLostRace(error: unknown): boolean {
  return codesOf(error).some((code) => lostRaces.has(code) || code === 'P2034' || code === 'P2002')
}

/** Connection lost, server restarting or read-only for a while, lost races that went on, timeouts. */
export function isTransient(error: unknown): boolean {
  const codes = codesOf(error)
  if (codes.some((code) => /^(08|40|53|57)/.test(code) || code === '55P03' || code === '25006')) return true
  if (codes.some((code) => /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)$/.test(code))) return true
  return /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/.test(
    (error as Error).message ?? '',
  )
}

/** The error's own code, and PostgreSQL's where Prisma has wrapped it. */
function codesOf(error: unknown): string[] {
  const { code, cause, meta } = error as { code?: unknown; cause?: { originalCode?: unknown }; meta?: { code?: unknown } }
  return [code, cause?.originalCode ?? meta?.code].flatMap((found) => (typeof found === 'string' ? found : []))
}
