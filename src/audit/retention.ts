import type pg from 'pg'
import type { Logger } from '../platform/logger.js'
import type { Registry } from '../platform/metrics.js'
import { MonthlyPartitions } from '../platform/retention/monthly-partitions.js'
import { readTime } from '../platform/sql.js'

/** Months are there before anything is written in them, also when nobody tends them for a month. */
const monthsAheadDays = 62
const dayMs = 86_400_000

/** Tends the months of the audit log: makes those that come, and drops those that are older than entries are kept. Any number may run at once. */
export class AuditRetention {
  readonly #pool: pg.Pool
  readonly #months: MonthlyPartitions
  readonly #keptDays: number

  /** `keptDays`: what is kept at least; a month goes when all of it is older. */
  constructor({ keptDays, ...parts }: { pool: pg.Pool; log: Logger; metrics: Registry; keptDays: number }) {
    this.#pool = parts.pool
    this.#keptDays = keptDays
    const gauge = {
      name: 'tollgate_audit_kept_since_seconds',
      help: 'Start of the oldest month of the audit log that is kept, as Unix time',
    }
    this.#months = new MonthlyPartitions({ ...parts, table: 'audit_entry', what: 'the audit log', gauge })
  }

  async run(signal?: AbortSignal): Promise<void> {
    // What can't be made now keeps nothing that is old.
    try {
      await this.#months.ensure('SELECT ensure_audit_partitions(now() + make_interval(days => $1::int))', [monthsAheadDays], signal)
    } finally {
      await this.#drop(signal)
    }
  }

  async #drop(signal?: AbortSignal): Promise<void> {
    const before = (await readTime(this.#pool)) - this.#keptDays * dayMs
    await this.#months.dropBefore('SELECT drop_audit_month($1::timestamptz) AS until', before, { keptDays: this.#keptDays, signal })
  }
}
