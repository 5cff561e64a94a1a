import { AsyncResource } from 'node:async_hooks'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { Prisma, PrismaClient } from '../../.generated/prisma/client.js'
import { unavailable } from '../kernel/problem.js'
import { beginStatement } from './context/statements.js'
import { explainDatabaseError } from './database.js'
import { DatabaseEpoch } from './epoch/database-epoch.js'
import type { Life } from './process.js'
import { assertSchemaCompatible } from './schema.js'
import { statementNames } from './statement-names.js'
import { every } from './timer.js'
import { beyondSignal, currentSignal, sentBefore } from './within-signal.js'

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

/** The answer to a statement that the server has ended for taking too long, or that was canceled, is here by then. */
const answerMs = 5_000

/**
 * Sends one query at a time: Prisma asks for related records of a transaction at once, on its one connection; pg 8 queues such queries itself but
 * warns that pg 9 will refuse them. Gives a query up when the signal that it was sent within aborts (`withinSignal`). No query is sent while a
 * cancellation is under way, whoever has the connection by then and however it is sent: it would be hit by what is meant for the one before it. A
 * connection that carries nothing any more looks like a slow statement: `cutIfDead` finds out.
 */
class Connection extends pg.Client {
  readonly #config: ConnectionConfig
  #last: Promise<unknown> = Promise.resolve()
  /** Null: none is under way. Never rejects. */
  #cancellation: Promise<void> | null = null
  /** Queries without an answer. */
  #unanswered = 0
  /** When the first of them was sent, or the one before it answered. */
  #waitingSince = 0
  /** When one of them was canceled that is not answered yet. */
  #canceledAt: number | null = null

  constructor(config: ConnectionConfig = {}) {
    super(config)
    this.#config = config
    // A connection that is lost between two queries of its user fails the next of them. Without a listener it would end the process.
    this.on('error', () => undefined)
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg overloads this for callbacks, streams and promises
  override query(...args: any[]): any {
    if (this.#config.isPooler && args[0]?.name) args[0] = withoutName(args[0])
    const isPlain = typeof args.at(-1) !== 'function' && typeof args[0]?.submit !== 'function'
    if (isPlain) {
      const signal = isEndOfTransaction(args[0]) ? undefined : currentSignal()
      const before = sentBefore(this, args[0])
      const result = this.#last.then(() => (before === null ? this.#send(args, signal) : this.#commitAfter(before)))
      this.#last = result.catch(() => undefined)
      return result
    }
    if (!this.#cancellation) return this.#sendAtOnce(args)
    const sendLater = AsyncResource.bind(() => this.#sendAtOnce(args))
    void this.#cancellation.then(sendLater)
    // As pg answers it: what is submitted is what it was given.
    return typeof args[0]?.submit === 'function' ? args[0] : undefined
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  #sendAtOnce(args: any[]): any {
    const callback: unknown = args.at(-1)
    if (typeof callback !== 'function') return super.query.apply(this, args as never)
    const signal = isEndOfTransaction(args[0]) ? undefined : currentSignal()
    if (signal?.aborted) return process.nextTick(callback, signal.reason)
    const answered = this.#await()
    const stop = signal && this.#cancelOn(signal)
    const ended = beginStatement(args[0])
    const settled = (...outcome: unknown[]) => {
      answered()
      ended(outcome[0])
      stop?.()
      callback(...outcome)
    }
    return super.query.apply(this, [...args.slice(0, -1), settled] as never)
  }

  /** A commit that failed is rolled back: whoever sent it gives the connection back. */
  async #commitAfter(sql: string): Promise<unknown> {
    try {
      const results = (await this.#send([`${sql}; COMMIT`], undefined)) as unknown[]
      return results.at(-1)
    } catch (error) {
      await this.#send(['ROLLBACK'], undefined).catch(() => undefined)
      throw error
    }
  }

  async #send(args: unknown[], signal: AbortSignal | undefined): Promise<unknown> {
    if (this.#cancellation) await this.#cancellation
    signal?.throwIfAborted()
    const answered = this.#await()
    const stop = signal && this.#cancelOn(signal)
    const ended = beginStatement(args[0])
    try {
      const result: unknown = await super.query.apply(this, args as never)
      ended()
      return result
    } catch (error) {
      ended(error)
      throw error
    } finally {
      answered()
      stop?.()
    }
  }

  /** Answers what is to be called when the query is answered. */
  #await(): () => void {
    if (this.#unanswered === 0) this.#waitingSince = performance.now()
    this.#unanswered += 1
    return () => {
      this.#unanswered -= 1
      this.#waitingSince = performance.now()
      this.#canceledAt = null
    }
  }

  /** The server ends a statement after `limitMs`, or when it is canceled. Whoever waits for its answer hears that the connection is lost. */
  cutIfDead(limitMs: number): boolean {
    const now = performance.now()
    const isDead =
      this.#unanswered > 0 &&
      (now > this.#waitingSince + limitMs + answerMs || (this.#canceledAt !== null && now > this.#canceledAt + answerMs))
    if (isDead) cut(this)
    return isDead
  }

  /** Answers what ends the watching. */
  #cancelOn(signal: AbortSignal): () => void {
    const cancel = () => {
      const cancellation = this.#cancelRunning().then(() => {
        if (this.#cancellation === cancellation) this.#cancellation = null
        // Nothing was sent meanwhile: what is not answered is what was canceled.
        if (this.#unanswered > 0) this.#canceledAt = performance.now()
      })
      this.#cancellation = cancellation
    }
    signal.addEventListener('abort', cancel, { once: true })
    return () => signal.removeEventListener('abort', cancel)
  }

  /** Over a connection of its own: the pool may have none left, which is when this is needed most. */
  async #cancelRunning(): Promise<void> {
    if (this.#config.isPooler) return this.#cancelThroughPooler()
    const { processID } = this as unknown as { processID: number }
    const canceler = new pg.Client({ ...this.#config, connectionTimeoutMillis: 2_000 })
    canceler.on('error', () => undefined)
    const patience = setTimeout(() => cut(canceler), answerMs)
    try {
      await canceler.connect()
      await canceler.query('SELECT pg_cancel_backend($1)', [processID])
    } catch {
      // Then the statement's own time limit ends it.
    } finally {
      await canceler.end().catch(() => undefined)
      clearTimeout(patience)
    }
  }

  /**
   * By the request that the protocol has for it: the process id is one that PgBouncer has made up, and it knows which of the database's is meant. It answers by
   * closing the connection, once the database has been told.
   */
  async #cancelThroughPooler(): Promise<void> {
    const { processID, secretKey } = this as unknown as { processID: number; secretKey: number }
    const canceler = new pg.Client(this.#config)
    canceler.on('error', () => undefined)
    const { host, port, connection } = canceler as unknown as { host: string; port: number; connection: CancelConnection }
    connection.on('error', () => undefined)
    const patience = setTimeout(() => cut(canceler), answerMs)
    await new Promise<void>((ended) => {
      connection.once('end', ended)
      connection.once(connection.ssl ? 'sslconnect' : 'connect', () => connection.cancel(processID, secretKey))
      if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`)
      else connection.connect(port, host)
    })
    clearTimeout(patience)
  }
}

/** Of pg, below its client. */
interface CancelConnection extends NodeJS.EventEmitter {
  ssl: unknown
  connect(...to: [port: number, host: string] | [path: string]): void
  cancel(processId: number, secretKey: number): void
}

/** What a connection is opened with. `isPooler`: PgBouncer answers, and gives each transaction to whichever connection of its own is free. */
interface ConnectionConfig extends pg.ClientConfig {
  isPooler?: boolean
}

/** A statement that is prepared under a name is known to one connection of the database only. */
function withoutName<Query extends { name?: string }>(query: Query): Query {
  if (typeof (query as { submit?: unknown }).submit !== 'function') return { ...query, name: undefined }
  query.name = undefined
  return query
}

/** What is under way fails as when the server is gone. */
function cut(client: pg.Client): void {
  ;(client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
}

/** What is aborted must still be able to leave its transaction. */
function isEndOfTransaction(query: unknown): boolean {
  const text: unknown = typeof query === 'string' ? query : (query as { text?: unknown } | null)?.text
  return /^\s*(rollback|commit)\b/i.test(String(text))
}

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
  const connections = new Set<Connection>()
  pool.on('error', (error) => life.log.warn({ err: error }, 'idle database connection lost'))
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
