import type pg from 'pg'
import type { EpochMs } from '../../kernel/clock.js'
import type { Logger } from '../logger.js'
import { Gauge, type Registry } from '../metrics.js'
import type { Queryable } from '../sql.js'
import { inPoolTransaction, patiently } from '../transaction.js'

/** Writers wait behind a lock that is waited for, and a call of theirs has four seconds. */
const lockTimeoutMs = 500

/**
 * The months of a table that is partitioned by them, `table_YYYYMM`. Functions of the database make and drop them, each table its own. Any number of processes may
 * tend them at once. Both fail when a lock is not to be had for half a minute: nothing is lost then, the next run does it.
 */
export class MonthlyPartitions {
  readonly #pool: pg.Pool
  readonly #log: Logger
  readonly #what: string

  /** `what`: as log lines call it. `gauge`: tells where it begins. */
  constructor(parts: {
    pool: pg.Pool
    log: Logger
    metrics: Registry
    table: string
    what: string
    gauge: { name: string; help: string }
  }) {
    const { pool, table } = parts
    this.#pool = pool
    this.#log = parts.log
    this.#what = parts.what
    new Gauge({
      ...parts.gauge,
      registers: [parts.metrics],
      async collect() {
        // A database that is away leaves the last value: the scrape must not fail for it.
        const start = await findOldestMonth(pool, table).catch(() => null)
        if (start !== null) this.set(start / 1_000)
      },
    })
  }

  /** `sql`: calls the function that makes those that are missing, with numbers of days. */
  async ensure(sql: string, days: readonly number[], signal?: AbortSignal): Promise<void> {
    await this.#locked(sql, days, signal)
  }

  /** `sql`: calls the function that drops the oldest month if all of it is before a time, and answers its end as `until`, or null. Answers whether it dropped any. */
  async dropBefore(
    sql: string,
    before: EpochMs,
    { keptDays, signal }: { keptDays: number; signal?: AbortSignal | undefined },
  ): Promise<boolean> {
    for (let dropped = 0; ; dropped++) {
      const [row] = await this.#locked<{ until: Date | null }>(sql, [new Date(before).toISOString()], signal)
      if (!row?.until) return dropped > 0
      this.#log.info({ before: row.until.toISOString(), keptDays }, `a month of ${this.#what} dropped`)
    }
  }

  #locked<Row extends pg.QueryResultRow>(text: string, values: readonly (string | number)[], signal?: AbortSignal): Promise<Row[]> {
    return patiently(
      () =>
        inPoolTransaction(this.#pool, async (db) => {
          await db.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`)
          return (await db.query<Row>({ text, values: [...values] })).rows
        }),
      signal,
    )
  }
}

/** Its start: nothing that is kept is older. Null: there is no month. */
async function findOldestMonth(db: Queryable, table: string): Promise<EpochMs | null> {
  const { rows } = await db.query<{ start: Date | null }>({
    text: `
      SELECT min(to_date(right(child.relname, 6), 'YYYYMM')) AT TIME ZONE 'UTC' AS start
      FROM pg_partition_tree($1::text::regclass) JOIN pg_class AS child ON child.oid = relid
      WHERE child.relname ~ ($1::text || '_\\d{6}$')`,
    values: [table],
  })
  return rows[0]!.start?.getTime() ?? null
}
