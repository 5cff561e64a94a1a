/** Raw SQL of the monthly partitions of raw events. */
import type pg from 'pg'
import type { EpochMs } from '../../kernel/clock.js'
import type { Queryable } from '../../platform/sql.js'
import { monthsAheadDays, reachedDays } from '../model/windows.js'

/** Writers wait behind a lock that is waited for, and a call of theirs has four seconds. */
const lockTimeoutMs = 500

/** Makes sure that the months in which events may be stored have their partitions. Any number may run at once. */
export async function ensurePartitions(db: pg.PoolClient): Promise<void> {
  await limitLocks(db)
  await db.query({
    text: 'SELECT ensure_raw_event_partitions(now() - make_interval(days => $1::int), now() + make_interval(days => $2::int))',
    values: [reachedDays, monthsAheadDays],
  })
}

/** Drops the oldest month if all of it is before `before`. Answers its end; null: there is nothing to drop, or some of it waits to be counted. */
export async function dropOldestMonth(db: pg.PoolClient, before: EpochMs): Promise<EpochMs | null> {
  await limitLocks(db)
  const { rows } = await db.query<{ until: Date | null }>({
    text: 'SELECT drop_raw_event_month($1::timestamptz) AS until',
    values: [new Date(before).toISOString()],
  })
  return rows[0]!.until?.getTime() ?? null
}

async function limitLocks(db: pg.PoolClient): Promise<void> {
  await db.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`)
}

/** The start of the oldest month that there is: no kept event is older. Null: there is no month. */
export async function findOldestMonth(db: Queryable): Promise<EpochMs | null> {
  const { rows } = await db.query<{ start: Date | null }>(`
    SELECT min(to_date(right(child.relname, 6), 'YYYYMM')) AT TIME ZONE 'UTC' AS start
    FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
    WHERE inhparent = 'raw_event'::regclass AND child.relname ~ '^raw_event_\\d{6}$'`)
  return rows[0]!.start?.getTime() ?? null
}

/** Raw events of the environment before it have been dropped; null: all are there. */
export async function findKeptSince(db: Queryable, environmentId: string): Promise<EpochMs | null> {
  const { rows } = await db.query<{ events_kept_since: Date | null }>({
    text: 'SELECT events_kept_since FROM environment WHERE id = $1::uuid',
    values: [environmentId],
  })
  return rows[0]?.events_kept_since?.getTime() ?? null
}
