/**
 * Transactions: in Prisma's words, or of raw SQL on a pool.
 *
 * lost race  PostgreSQL gave a transaction up for another's sake: it runs again at once
 * parting    what is sent with the commit of a transaction: for what is gathered in it and written once
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { storeErrorOf } from '../kernel/store-errors.js'
import { leaving } from './context/within-signal.js'
import type { Db, PrismaClient } from './postgres.js'

const maxAttempts = 5
const readOnly = '25006'

type Transaction = Db | pg.PoolClient
/** Answers SQL that needs no values; null: there is nothing to be said. */
type Parting = () => string | null

/** What is to be done when the work of a transaction is done. */
interface AtTheEnd {
  last: (() => Promise<void>)[]
  partings: Parting[]
}

/** Those that are under way. */
const underWay = new WeakMap<object, AtTheEnd>()

/** Whether it is a transaction of this file that is under way. */
export const isUnderWay = (db: Transaction): boolean => underWay.has(db)

/** Has `work` done as the last of the transaction, in the order in which it was asked for. False: `db` is of none, and nothing was taken. */
export function beforeCommit(db: Transaction, work: () => Promise<void>): boolean {
  const atTheEnd = underWay.get(db)
  atTheEnd?.last.push(work)
  return atTheEnd !== undefined
}

/**
 * Has a statement sent together with the commit, in one message, when all that is done before it is done: another round trip would be a tenth of a small
 * transaction. What it answers is not read; when it fails, the transaction does. @throws Error when `db` is none of the transactions of this file
 */
export function withCommit(db: Transaction, parting: Parting): void {
  const atTheEnd = underWay.get(db)
  if (!atTheEnd) throw new Error('this is to be done in a transaction')
  atTheEnd.partings.push(parting)
}

/** Does the work; answers what is to be sent with the commit, too. */
async function done<Tx extends Transaction, T>(db: Tx, work: (db: Tx) => Promise<T>): Promise<{ result: T; sql: string }> {
  const { last, partings }: AtTheEnd = { last: [], partings: [] }
  underWay.set(db, { last, partings })
  try {
    const result = await work(db)
    for (const lastWork of last) await lastWork()
    const sql = partings.map((parting) => parting()).filter((text) => text !== null)
    return { result, sql: sql.join('; ') }
  } finally {
    underWay.delete(db)
  }
}

/** `work` must not call anything but the database: it runs again after a lost race. */
export function inTransaction<T>(prisma: PrismaClient, work: (db: Db) => Promise<T>): Promise<T> {
  return repeated(() =>
    leaving((commit) =>
      prisma.$transaction(async (db) => {
        const { result, sql } = await done(db, work)
        commit.sql = sql
        return result
      }),
    ),
  )
}

/** Reads with several statements what is of one instant. What is read is not locked. */
export function inSnapshot<T>(prisma: PrismaClient, read: (db: Db) => Promise<T>): Promise<T> {
  return prisma.$transaction(read, { isolationLevel: 'RepeatableRead' })
}

/** The same as `inTransaction` on one connection of the pool. A connection that cannot even roll back, or only reads, is not used again. */
export function inPoolTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  return repeated(() => attempt(pool, work))
}

async function attempt<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('BEGIN')
    const { result, sql } = await done(client, work)
    await client.query(sql === '' ? 'COMMIT' : `${sql}; COMMIT`)
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

/** Attempts to get a lock that others hold: for longer than any of them has it. */
const lockAttempts = 10
const pauseMs = 3_000
/** PostgreSQL: a lock was not to be had in time. */
const lockNotAvailable = '55P03'

/**
 * Who waits for the lock of a table holds up those that come after: so `work` asks for it briefly (`lock_timeout`), and again. Fails when it is not to be
 * had for half a minute.
 */
export async function patiently<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if ((error as { code?: unknown }).code !== lockNotAvailable || attempt >= lockAttempts) throw error
      await sleep(pauseMs, undefined, { signal })
    }
  }
}
