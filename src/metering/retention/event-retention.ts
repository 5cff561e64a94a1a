import type pg from 'pg'
import type { Logger } from '../../platform/logger.js'
import { Gauge, type Registry } from '../../platform/metrics.js'
import { readTime } from '../../platform/sql.js'
import { inPoolTransaction, patiently } from '../../platform/transaction.js'
import { retentionMs } from '../model/retention.js'
import type { ResetPeriod } from '../model/usage-period.js'
import { dayMs } from '../model/windows.js'
import { dropOldestMonth, ensurePartitions, findOldestMonth } from './partition-repository.js'

/**
 * Tends the months of raw events: makes those that events may be stored in, and drops those that no usage period can need. Usage, its history and the
 * identities of events live elsewhere and stay. Any number may run at once.
 */
export class EventRetention {
  readonly #pool: pg.Pool
  readonly #log: Logger
  readonly #keptDays: number
  readonly #usagePeriods: () => Promise<(ResetPeriod | null)[]>

  /**
   * `keptDays`: what is kept at least. `usagePeriods`: all that anybody's usage is counted in, which may need more; null among them: usage that is
   * counted from events and never reset.
   */
  constructor({
    pool,
    log,
    metrics,
    keptDays,
    usagePeriods,
  }: {
    pool: pg.Pool
    log: Logger
    metrics: Registry
    keptDays: number
    usagePeriods: () => Promise<(ResetPeriod | null)[]>
  }) {
    this.#pool = pool
    this.#log = log
    this.#keptDays = keptDays
    this.#usagePeriods = usagePeriods
    new Gauge({
      name: 'tollgate_raw_events_kept_since_seconds',
      help: 'Start of the oldest month of raw events that is kept, as Unix time',
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
    await patiently(() => inPoolTransaction(this.#pool, ensurePartitions), signal)
    const kept = retentionMs(await this.#usagePeriods(), this.#keptDays)
    if (kept === null) return
    const before = (await readTime(this.#pool)) - kept
    for (;;) {
      const until = await patiently(() => inPoolTransaction(this.#pool, (db) => dropOldestMonth(db, before)), signal)
      if (until === null) return
      this.#log.info({ before: new Date(until).toISOString(), keptDays: Math.round(kept / dayMs) }, 'a month of raw events dropped')
    }
  }
}
