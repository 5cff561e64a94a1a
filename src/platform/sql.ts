/** What raw SQL is sent with, and how values are written for it. */
import type pg from 'pg'
import type { EpochMs } from '../kernel/clock.js'
import { type Db, Prisma } from './postgres.js'

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

/**
 * A call of a database function with its parameters by their names, whose types are the function's. Planned once for each connection.
 * @param outs  what of its OUT parameters is answered
 */
export function callOf(
  name: string,
  parameters: Readonly<Record<string, unknown>>,
  outs: string,
): { name: string; text: string; values: unknown[] } {
  const named = Object.keys(parameters).map((parameter, index) => `${parameter} => $${index + 1}`)
  return { name, text: `SELECT ${outs} FROM ${name}(${named.join()})`, values: Object.values(parameters) }
}

/**
 * `busy AS (…)`, after WITH RECURSIVE: the environments (`environment_id`) that have rows of the table for which the condition holds, in their order, and a last
 * row of null. Each is found by a step in an index that begins with the environment, however many rows the others have: so each can be given its turn.
 * @param condition  names columns of the table without it; an index must have it
 * @param range      from which environment to which; absent: all
 */
export function busyEnvironments(table: string, condition: string, range?: { from: string; to: string }): Prisma.Sql {
  const rows = Prisma.raw(`SELECT environment_id FROM ${table}`)
  const holds = Prisma.raw(condition)
  const [first, next] = range
    ? [
        Prisma.sql` AND environment_id BETWEEN ${range.from}::uuid AND ${range.to}::uuid`,
        Prisma.sql` AND environment_id <= ${range.to}::uuid`,
      ]
    : [Prisma.empty, Prisma.empty]
  return Prisma.sql`busy AS (
      (${rows} WHERE ${holds}${first} ORDER BY environment_id LIMIT 1)
      UNION ALL
      SELECT (${rows} WHERE ${holds} AND environment_id > busy.environment_id${next} ORDER BY environment_id LIMIT 1)
      FROM busy WHERE environment_id IS NOT NULL
    )`
}
