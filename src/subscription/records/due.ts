import type { DueCustomer } from '../../platform/due-sweep.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { busyEnvironments } from '../../platform/sql.js'

/**
 * Customers with a subscription that is due by the clock of its environment, of each environment in turn: by turns those that have waited longest and those
 * that came due last, so that neither a crowd nor customers that fail again and again keep the others from their turn. The time of each environment is
 * found out first: asked in the condition no index could be gone by.
 */
export async function findDueCustomers(db: Db, limit: number, leftAlone: readonly string[]): Promise<DueCustomer[]> {
  const half = Math.ceil(limit / 2)
  const isWanted = Prisma.sql`s.environment_id = environment.id AND s.due_at <= environment.now AND customer_id <> ALL(${[...leftAlone]}::uuid[])`
  const rows = await db.$queryRaw<{ environment_id: string; customer_id: string }[]>(Prisma.sql`
    WITH RECURSIVE ${busyEnvironments('subscription', 'due_at IS NOT NULL')}
    SELECT environment.id AS environment_id, due.customer_id
    FROM (
      SELECT environment_id AS id, to_timestamp(environment_clock(environment_id) / 1000.0) AS now FROM busy WHERE environment_id IS NOT NULL OFFSET 0
    ) AS environment CROSS JOIN LATERAL (
      SELECT customer_id, min(place) AS place, min(due_at) AS due_at FROM (
        SELECT *, row_number() OVER (ORDER BY due_at) AS place FROM (
          SELECT customer_id, due_at FROM subscription AS s
          WHERE ${isWanted} ORDER BY due_at LIMIT ${half}) AS oldest
        UNION ALL
        SELECT *, row_number() OVER (ORDER BY due_at DESC) AS place FROM (
          SELECT customer_id, due_at FROM subscription AS s
          WHERE ${isWanted} ORDER BY due_at DESC LIMIT ${half}) AS latest
      ) AS either
      GROUP BY customer_id
    ) AS due
    ORDER BY due.place, due.due_at LIMIT ${limit}`)
  return rows.map((row) => ({ environmentId: row.environment_id, customerId: row.customer_id }))
}

/** Seconds since the oldest due subscription came due, by the real time; 0: none is. */
export async function dueLagSeconds(db: Db): Promise<number> {
  const [row] = await db.$queryRaw<{ seconds: number | null }[]>(Prisma.sql`
    WITH RECURSIVE ${busyEnvironments('subscription', 'due_at IS NOT NULL')}
    SELECT greatest(0, extract(epoch FROM clock_timestamp() - min(oldest.due_at)))::float8 AS seconds
    FROM busy CROSS JOIN LATERAL (
      SELECT due_at FROM subscription AS s
      WHERE s.environment_id = busy.environment_id AND s.due_at IS NOT NULL ORDER BY due_at LIMIT 1
    ) AS oldest`)
  return row!.seconds ?? 0
}

/** Those of the customers (our ids) that have something due. */
export async function findDueAmong(db: Db, environmentId: string, customerIds: readonly string[]): Promise<string[]> {
  const rows = await db.$queryRaw<{ customer_id: string }[]>(Prisma.sql`
    SELECT DISTINCT s.customer_id FROM subscription s
    WHERE s.environment_id = ${environmentId}::uuid AND s.customer_id = ANY(${[...customerIds]}::uuid[]) AND ${isDueNow}`)
  return rows.map(({ customer_id }) => customer_id)
}

/** Of a subscription `s`, by the clock of its environment. */
const isDueNow = Prisma.sql`s.due_at <= to_timestamp(environment_clock(s.environment_id) / 1000.0)`

/** Whether the customer (our id) has something due. */
export async function hasDue(db: Db, environmentId: string, customerId: string): Promise<boolean> {
  const [row] = await db.$queryRaw<{ is_due: boolean }[]>(Prisma.sql`
    SELECT EXISTS (
      SELECT FROM subscription s WHERE s.environment_id = ${environmentId}::uuid AND s.customer_id = ${customerId}::uuid AND ${isDueNow}) AS is_due`)
  return row!.is_due
}

/** The next instant at which something is due in an environment, not after `until`; null: nothing is. */
export async function findNextDue(db: Db, environmentId: string, until: number): Promise<{ at: number; customerIds: string[] } | null> {
  const rows = await db.$queryRaw<{ at: Date; customer_id: string }[]>(Prisma.sql`
    SELECT DISTINCT due_at AS at, customer_id FROM subscription
    WHERE environment_id = ${environmentId}::uuid
      AND due_at = (SELECT min(due_at) FROM subscription WHERE environment_id = ${environmentId}::uuid AND due_at <= ${new Date(until)})`)
  return rows.length === 0 ? null : { at: rows[0]!.at.getTime(), customerIds: rows.map(({ customer_id }) => customer_id) }
}
