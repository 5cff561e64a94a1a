import type pg from 'pg'
import type { EpochMs } from '../kernel/clock.js'
import type { Logger } from '../platform/logger.js'
import { Gauge, type Registry } from '../platform/metrics.js'
import { type Queryable, readTime } from '../platform/sql.js'
import { inPoolTransaction, patiently } from '../platform/transaction.js'

/** Writers wait behind a lock that is waited for. */
const lockTimeoutMs = 500
/** Months are there before anything is written in them, also when nobody tends them for a month. */
const monthsAheadDays = 62
const dayMs = 86_400_000

/** Tends the months of the audit log: makes those that come, and drops those that are older than entries are kept. Any number may run at once. */
export class AuditRetention {
  readonly #pool: pg.Pool
  readonly #log: Logger
  readonly #keptDays: number

  /** `keptDays`: what is kept at least; a month goes when all of it is older. */
  constructor({ pool, log, metrics, keptDays }: { pool: pg.Pool; log: Logger; metrics: Registry; keptDays: number }) {
    this.#pool = pool
    this.#log = log
    this.#keptDays = keptDays
    new Gauge({
      name: 'tollgate_audit_kept_since_seconds',
      help: 'Start of the oldest month of the audit log that is kept, as Unix time',
      registers: [metrics],
      async collect() {
        // A database that is away leaves the last value: the scrape must not fail for it.
        const start = await findOldestMonth(pool).catch(() => null)
        if (start !== null) this.set(start / 1_000)
      },
    })
  }

  /** Fails when a lock is not to be had for half a minute: nothing is lost then, the next run does it. */
  async run(signal?: AbortSignal): Promise<void> {
    await patiently(() => this.#locked('SELECT ensure_audit_partitions(now() + make_interval(days => $1::int))', monthsAheadDays), signal)
    const before = new Date((await readTime(this.#pool)) - this.#keptDays * dayMs).toISOString()
    for (;;) {
      const [row] = await patiently(
        () => this.#locked<{ until: Date | null }>('SELECT drop_audit_month($1::timestamptz) AS until', before),
        signal,
      )
      if (!row?.until) return
      this.#log.info({ before: row.until.toISOString(), keptDays: this.#keptDays }, 'a month of the audit log dropped')
    }
  }

  #locked<Row extends object>(text: string, value: string | number): Promise<Row[]> {
    return inPoolTransaction(this.#pool, async (db) => {
      await db.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`)
      return (await db.query<Row & pg.QueryResultRow>({ text, values: [value] })).rows
    })
  }
}

/** Null: no month has been made. */
async function findOldestMonth(db: Queryable): Promise<EpochMs | null> {
  const { rows } = await db.query<{ start: Date | null }>(`
    SELECT min(to_date(right(child.relname, 6), 'YYYYMM')) AT TIME ZONE 'UTC' AS start
    FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
    WHERE inhparent = 'audit_entry'::regclass AND child.relname ~ '^audit_entry_\\d{6}$'`)
  return rows[0]!.start?.getTime() ?? null
}
