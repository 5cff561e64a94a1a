import type pg from 'pg'

/** A connection that is silent for longer is closed by it, so that the next look opens another one. */
const answerMs = 2_000

/** The cluster, and its timeline: a standby that is promoted begins another one, as does a recovery to some instant. */
const question = `
  SELECT CASE WHEN NOT pg_is_in_recovery() THEN
    (SELECT system_identifier FROM pg_control_system()) || '-' || ltrim(substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), '0') END AS epoch`

/** SQLSTATE: not allowed, unknown function, not supported. */
const unsupported = ['42501', '42883', '0A000']

/**
 * Vouches for what is remembered of the database. A standby that was promoted without the last commits has never heard of them: what was made of them is of
 * no use any more, and its versions may be above all that come. So whatever is remembered goes when the epoch changes.
 *
 * Each connection is asked before it is used for anything else: nothing is read from another history, or written to it, before that is known here. Whoever wanted it
 * first is refused.
 */
export class DatabaseEpoch {
  readonly #warn: (facts: object, line: string) => void
  #current = ''
  readonly #listeners: (() => void)[] = []
  #isToldUnknown = false

  constructor(warn: (facts: object, line: string) => void) {
    this.#warn = warn
  }

  /** Empty: not known, as before the first connection. */
  get current(): string {
    return this.#current
  }

  /** Called when what is remembered of the database is to be forgotten. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Never fails: a server that does not tell its epoch is taken to have the one that it had. */
  async ask(connection: Pick<pg.ClientBase | pg.Pool, 'query'>): Promise<void> {
    try {
      const asked = { text: question, query_timeout: answerMs }
      const { rows } = await connection.query<{ epoch: string | null }>(asked)
      // None: a standby, which takes no writes.
      if (rows[0]?.epoch) this.hear(rows[0].epoch)
    } catch (error) {
      if (this.#isToldUnknown || !unsupported.includes((error as { code?: string }).code ?? '')) return
      this.#isToldUnknown = true
      this.#warn({ err: error }, 'the database does not tell its timeline: a failover that loses commits would not be noticed')
    }
  }

  hear(epoch: string): void {
    if (epoch === this.#current) return
    const isFirst = this.#current === ''
    this.#current = epoch
    if (isFirst) return
    this.#warn({ epoch }, 'the database has another history: what was remembered of it is dropped')
    for (const listener of this.#listeners) listener()
  }
}
