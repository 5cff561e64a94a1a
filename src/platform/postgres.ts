import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { Prisma, PrismaClient } from '../../.generated/prisma/client.js'
import { explainDatabaseError } from './database.js'
import { assertSchemaCompatible } from './migrations.js'
import type { Life } from './process.js'

/** The Prisma client, or the one bound to a transaction: what a repository is given. */
export type Db = Prisma.TransactionClient
export type { PrismaClient }
export { Prisma }

export interface Postgres {
  /** For hot statements in raw SQL. */
  pool: pg.Pool
  prisma: PrismaClient
}

// A statement that runs longer than this holds locks that others wait for.
const statementTimeoutMs = 30_000

/**
 * Sends one query at a time. Prisma asks for related records of a transaction at once, on its one connection; pg 8 queues such queries itself but
 * warns that pg 9 will refuse them.
 */
class SerialClient extends pg.Client {
  #last: Promise<unknown> = Promise.resolve()

  // biome-ignore lint/suspicious/noExplicitAny: pg overloads this for callbacks, streams and promises, and only promises need care
  override query(...args: any[]): any {
    const send = () => super.query.apply(this, args as never)
    const isPromised = typeof args.at(-1) !== 'function' && typeof args[0]?.submit !== 'function'
    if (!isPromised) return send()
    const result = this.#last.then(send)
    this.#last = result.catch(() => undefined)
    return result
  }
}

/**
 * One pool of connections for Prisma and for raw statements, to a database whose schema this code can work with.
 * @throws StartError with one sentence when the database can't be reached or its schema does not fit
 */
export async function connectPostgres(life: Life, url: string, options: PoolOptions): Promise<Postgres> {
  const postgres = openPostgres(life, url, options)
  try {
    await assertSchemaCompatible(postgres.pool)
  } catch (error) {
    throw explainDatabaseError(error, url)
  }
  return postgres
}

export interface PoolOptions {
  poolSize: number
  /** PostgreSQL settings of every connection. */
  session?: Record<string, string>
}

/** The same without asking the database anything: for tests and tools. */
export function openPostgres(life: Life, url: string, { poolSize, session = {} }: PoolOptions): Postgres {
  const settings = { statement_timeout: String(statementTimeoutMs), idle_in_transaction_session_timeout: String(statementTimeoutMs), ...session }
  const pool = new pg.Pool({
    Client: SerialClient,
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: 5_000,
    application_name: `tollgate ${life.name}`,
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
  })
  pool.on('error', (error) => life.log.warn({ err: error }, 'idle database connection lost'))
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool, { onPoolError: () => undefined }),
    transactionOptions: { maxWait: 5_000, timeout: 15_000 },
  })
  life.open('database pool', pool, (p) => p.end())
  life.open('prisma', prisma, (p) => p.$disconnect())
  return { pool, prisma }
}

/**
 * Runs `work` in one transaction and again when PostgreSQL gave it up for another's sake (serialization failure, deadlock, unique race).
 * `work` must not call anything but the database.
 */
export async function inTransaction<T>(prisma: PrismaClient, work: (db: Db) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await prisma.$transaction(work)
    } catch (error) {
      if (attempt >= 5 || !isTransient(error)) throw error
    }
  }
}

/** Lost races: the same transaction is expected to pass when it runs again. */
function isTransient(error: unknown): boolean {
  const code = (error as { code?: unknown }).code
  if (code === 'P2034' || code === 'P2002' || code === '40001' || code === '40P01') return true
  const cause = (error as { cause?: { originalCode?: unknown } }).cause?.originalCode ?? (error as { meta?: { code?: unknown } }).meta?.code
  return cause === '40001' || cause === '40P01'
}
