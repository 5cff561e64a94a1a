import { AsyncResource } from 'node:async_hooks'
import pg from 'pg'
import { beginStatement } from './context/statements.js'
import { currentSignal, sentBefore } from './context/within-signal.js'

/** The answer to a statement that the server has ended for taking too long, or that was canceled, is here by then. */
const answerMs = 5_000

/**
 * Sends one query at a time: Prisma asks for related records of a transaction at once, on its one connection; pg 8 queues such queries itself but
 * warns that pg 9 will refuse them. Gives a query up when the signal that it was sent within aborts (`withinSignal`). No query is sent while a
 * cancellation is under way, whoever has the connection by then and however it is sent: it would be hit by what is meant for the one before it. A
 * connection that carries nothing any more looks like a slow statement: `cutIfDead` finds out.
 */
export class Connection extends pg.Client {
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
export function isEndOfTransaction(query: unknown): boolean {
  const text = typeof query === 'string' ? query : (query as { text?: unknown } | null)?.text
  return typeof text === 'string' && /^\s*(rollback|commit)\b/i.test(text)
}
