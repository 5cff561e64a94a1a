import pg from 'pg'

/** A statement that is sent just after a cancellation has gone by is met by the next one. */
const againMs = 250
const connectMs = 2_000

/**
 * Ends what one connection does once a signal aborts: each statement that it runs is canceled until this is closed, but for those that leave half of
 * something behind.
 */
export class Stopper {
  readonly #databaseUrl: string
  /** Of the connection, in the database. */
  readonly #pid: number
  readonly #signal: AbortSignal
  #isSparing = false
  #canceling: Promise<void> | null = null
  #timer: NodeJS.Timeout | undefined

  constructor({ databaseUrl, pid, signal }: { databaseUrl: string; pid: number; signal: AbortSignal }) {
    this.#databaseUrl = databaseUrl
    this.#pid = pid
    this.#signal = signal
    signal.addEventListener('abort', this.#begin)
  }

  readonly #begin = () => {
    this.#cancel()
    this.#timer = setInterval(() => this.#cancel(), againMs)
  }

  /** Does what is to end once it has begun. Not begun when the signal has aborted, with whose reason it fails then. */
  async sparing<T>(work: () => Promise<T>): Promise<T> {
    this.#signal.throwIfAborted()
    this.#isSparing = true
    try {
      return await work()
    } finally {
      this.#isSparing = false
    }
  }

  async close(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#begin)
    clearInterval(this.#timer)
    await this.#canceling
  }

  #cancel(): void {
    if (this.#isSparing) return
    this.#canceling ??= this.#cancelOnce().finally(() => {
      this.#canceling = null
    })
  }

  async #cancelOnce(): Promise<void> {
    const client = new pg.Client({ connectionString: this.#databaseUrl, connectionTimeoutMillis: connectMs })
    client.on('error', () => undefined)
    try {
      await client.connect()
      await client.query('select pg_cancel_backend($1)', [this.#pid])
    } catch {
      // Then the next attempt does, or the statement ends by itself.
    } finally {
      await client.end().catch(() => undefined)
    }
  }
}
