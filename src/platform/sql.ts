/** What raw SQL is sent with, and how values are written for it. */
import type pg from 'pg'
import type { EpochMs } from '../kernel/clock.js'
import type { Db } from './postgres.js'

/** A connection inside a transaction, or any one for reading. */
export type Queryable = Pick<pg.Pool, 'query'>

/** The connection of a Prisma transaction, for statements that are named and numbered. */
export function asQueryable(db: Db): Queryable {
  const query = async ({ text, values = [] }: { text: string; values?: unknown[] }) => ({
    rows: await db.$queryRawUnsafe<unknown[]>(text, ...values),
  })
  return { query } as unknown as Queryable
}

/** The database's time. */
export async function readTime(db: Queryable): Promise<EpochMs> {
  const { rows } = await db.query<{ now: string }>('SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now')
  return Number(rows[0]!.now)
}

export const toTime = (at: EpochMs | null): string | null => (at === null ? null : new Date(at).toISOString())
/** Of a range without a beginning: before everything. */
export const startTime = (at: EpochMs | null): string => toTime(at) ?? '-infinity'
/** Of a range without an end: after everything. */
export const endTime = (at: EpochMs | null): string => toTime(at) ?? 'infinity'

/**
 * PostgreSQL's text of an array whose elements need no quotes: ids, numbers, times, names of ours. Writing it takes a fraction of what the driver does
 * to any text.
 */
export const plainArray = (values: readonly (string | number | boolean | null)[]): string =>
  `{${values.map((value) => value ?? 'NULL').join()}}`
