import { AsyncResource } from 'node:async_hooks'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { Prisma, PrismaClient } from '../../.generated/prisma/client.js'
import { unavailable } from '../kernel/problem.js'
import { beyondSignal } from './context/within-signal.js'
import { explainDatabaseError } from './database.js'
import { DatabaseEpoch } from './epoch/database-epoch.js'
import { Connection, isEndOfTransaction } from './postgres-connection.js'
import type { Life } from './process.js'
import { assertSchemaCompatible } from './schema.js'
import { statementNames } from './statement-names.js'
import { every } from './timer.js'

/** The Prisma client, or the one bound to a transaction: what a repository is given. */
export type Db = Prisma.TransactionClient
export { Prisma, type PrismaClient }

export interface Postgres {
  /** For hot statements in raw SQL. */
  pool: pg.Pool
  prisma: PrismaClient
  epoch: DatabaseEpoch
}

// A statement that runs longer than this holds locks that others wait for.
const statementTimeoutMs = 30_000

/** Who waits for a connection goes on in its own context, not in that of whoever gave the connection back. */
class Pool extends pg.Pool {
  // biome-ignore lint/suspicious/noExplicitAny: pg overloads this for callbacks and promises
  override connect(callback?: any): any {
    return callback ? super.connect(AsyncResource.bind(callback)) : super.connect().then(lend)
  }
}

/**
 * The connection for one transaction, after whose end nothing is sent over it. When a transaction expires, or one of several queries in it fails, Prisma
 * rolls back and goes on with the steps of the others all the same: they would be done outside of it, or in that of whoever has the connection next.
 */
function lend(client: pg.PoolClient): pg.PoolClient {
  let isOver = false
  const { release } = client
  const own: Partial<pg.PoolClient> = {
    release: (error) => {
      isOver = true
      release.call(client, error)
    },
    query: ((...args: [unknown]) => {
      if (isOver) return Promise.reject(new Error('The transaction has ended.'))
      isOver = isEndOfTransaction(args[0])
      return client.query(...(args as unknown as [string]))
    }) as unknown as pg.PoolClient['query'],
  }
  return new Proxy(client, {
    get(_, name) {
      const value = Reflect.get(name in own ? own : client, name) as unknown
      return typeof value === 'function' ? value.bind(client) : value
    },
  })
}

/**
 * One pool of connections for Prisma and for raw statements, to a database whose schema this code can work with. Prisma is loaded: its first query would keep all others waiting.
 * @throws StartError with one sentence when the database can't be reached or its schema does not fit
 */
export async function connectPostgres(life: Life, url: string, options: PoolOptions): Promise<Postgres> {
  const postgres = openPostgres(life, url, options)
  try {
    await assertSchemaCompatible(postgres.pool)
    await postgres.prisma.$connect()
  } catch (error) {
    throw explainDatabaseError(error, url)
  }
  return postgres
}

export interface PoolOptions {
  poolSize: number
  /** PostgreSQL settings of every connection. Behind PgBouncer its user has to have them. */
  session?: Record<string, string>
  /** The URL is that of PgBouncer in transaction mode. */
  isPooler?: boolean
}

const epochIntervalMs = 1_000

/** For a process that may answer from memory for long without asking the database anything: it looks whether it has another history. */
export function watchEpoch(life: Life, { epoch, pool }: Pick<Postgres, 'epoch' | 'pool'>): void {
  every(life, 'epoch of the database', epochIntervalMs, () => epoch.ask(pool))
}

/** Who asked for the connection has begun with what was remembered of another history, and has to begin anew. */
async function learnEpoch(epoch: DatabaseEpoch, client: pg.ClientBase): Promise<Error | undefined> {
  const before = epoch.current
  await epoch.ask(client)
  return before === '' || before === epoch.current ? undefined : unavailable('The database has failed over. Try again.')
}

const asOptions = (settings: Record<string, string>) =>
  Object.entries(settings)
    .map((setting) => `-c ${setting.join('=')}`)
    .join(' ')

/** What each connection of the database would be asked, and told, is not for each of PgBouncer's. */
function watchPooler(life: Life, pool: pg.Pool, epoch: DatabaseEpoch): void {
  watchEpoch(life, { epoch, pool })
  pool.query<{ limit: string }>(`SELECT current_setting('statement_timeout') AS limit`).then(
    ({ rows }) => {
      if (rows[0]?.limit === '0')
        life.log.warn('the user of PgBouncer has no statement_timeout: a statement that hangs keeps its locks (docs/scaling)')
    },
    () => undefined,
  )
}

/** The same without asking the database anything: for tests and tools. */
export function openPostgres(life: Life, url: string, { poolSize, session = {}, isPooler = false }: PoolOptions): Postgres {
  const settings = {
    // Compiling a plan costs tens of milliseconds, and our statements run for one.
    jit: 'off',
    statement_timeout: String(statementTimeoutMs),
    idle_in_transaction_session_timeout: String(statementTimeoutMs),
    ...session,
  }
  const epoch = new DatabaseEpoch((facts, line) => life.log.warn(facts, line))
  const pool = new Pool({
    Client: Connection,
    verify: (client, done) => void beyondSignal(() => learnEpoch(epoch, client)).then(done),
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: 5_000,
    application_name: `tollgate ${life.name}`,
    ...(isPooler ? { isPooler } : { options: asOptions(settings) }),
  } as pg.PoolConfig)
  pool.on('error', (error) => life.log.warn({ err: error }, 'idle database connection lost'))
  const connections = new Set<Connection>()
  pool.on('connect', (client) => connections.add(client as unknown as Connection))
  pool.on('remove', (client) => connections.delete(client as unknown as Connection))
  const limitMs = Number(settings.statement_timeout) || Number.POSITIVE_INFINITY
  every(life, 'database connections', 1_000, async () => {
    for (const connection of connections)
      if (connection.cutIfDead(limitMs)) life.log.warn('a database connection carried nothing any more, and was cut')
  })
  if (isPooler) watchPooler(life, pool, epoch)
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool, { onPoolError: () => undefined, statementNameGenerator: statementNames() }),
    transactionOptions: { maxWait: 5_000, timeout: 15_000 },
  })
  life.open('database pool', pool, (p) => p.end())
  life.open('prisma', prisma, (p) => p.$disconnect())
  return { pool, prisma, epoch }
}
