import type pg from 'pg'
import type { Logger } from '../../platform/logger.js'
import type { Registry } from '../../platform/metrics.js'
import { MonthlyPartitions } from '../../platform/retention/monthly-partitions.js'
import { readTime } from '../../platform/sql.js'
import { retentionMs } from '../model/retention.js'
import type { ResetPeriod } from '../model/usage-period.js'
import { dayMs, monthsAheadDays, reachedDays } from '../model/windows.js'
import { deleteBesideMonths } from './beside-months.js'

/**
 * Tends the months of raw events: makes those that events may be stored in, and drops those that no usage period can need, but none with events that wait to be
 * counted, and with them what is as old and in none. Usage, its history and the identities of events live elsewhere and stay. Any number may run at once.
 */
export class EventRetention {
  readonly #pool: pg.Pool
  readonly #months: MonthlyPartitions
  readonly #keptDays: number
  readonly #usagePeriods: () => Promise<(ResetPeriod | null)[]>

  /**
   * `keptDays`: what is kept at least. `usagePeriods`: all that anybody's usage is counted in, which may need more; null among them: usage that is
   * counted from events and never reset.
   */
  constructor({
    keptDays,
    usagePeriods,
    ...parts
  }: {
    pool: pg.Pool
    log: Logger
    metrics: Registry
    keptDays: number
    usagePeriods: () => Promise<(ResetPeriod | null)[]>
  }) {
    this.#pool = parts.pool
    this.#keptDays = keptDays
    this.#usagePeriods = usagePeriods
    const gauge = {
      name: 'tollgate_raw_events_kept_since_seconds',
      help: 'Start of the oldest month of raw events that is kept, as Unix time',
    }
    this.#months = new MonthlyPartitions({ ...parts, table: 'raw_event', what: 'raw events', gauge })
  }

  async run(signal?: AbortSignal): Promise<void> {
    // What can't be made now keeps nothing that is old.
    try {
      await this.#make(signal)
    } finally {
      await this.#drop(signal)
    }
  }

  async #make(signal?: AbortSignal): Promise<void> {
    const months = 'SELECT ensure_raw_event_partitions(now() - make_interval(days => $1::int), now() + make_interval(days => $2::int))'
    await this.#months.ensure(months, [reachedDays, monthsAheadDays], signal)
  }

  async #drop(signal?: AbortSignal): Promise<void> {
    const kept = retentionMs(await this.#usagePeriods(), this.#keptDays)
    if (kept === null) return
    const before = (await readTime(this.#pool)) - kept
    const keptDays = Math.round(kept / dayMs)
    const sql = 'SELECT drop_raw_event_month($1::timestamptz) AS until'
    if (await this.#months.dropBefore(sql, before, { keptDays, signal })) await deleteBesideMonths(this.#pool, signal)
  }
}
