import type { DueCustomer } from '../../platform/due-sweep.js'
import { type Db, Prisma } from '../../platform/postgres.js'

/**
 * Customers with a subscription that is due by the clock of its environment. One half are those that have waited longest, one half those that came
 * due last: neither a crowd nor customers that fail again and again keep the others from their turn.
 */
export async function findDueCustomers(db: Db, limit: number): Promise<DueCustomer[]> {
  const half = Math.ceil(limit / 2)
  const rows = await db.$queryRaw<{ environment_id: string; customer_id: string }[]>(Prisma.sql`
    SELECT DISTINCT environment_id, customer_id FROM (
      (SELECT environment_id, customer_id FROM subscription WHERE due_at <= clock_timestamp() ORDER BY due_at LIMIT ${half})
      UNION ALL
      (SELECT environment_id, customer_id FROM subscription WHERE due_at <= clock_timestamp() ORDER BY due_at DESC LIMIT ${half})
      UNION ALL
      (SELECT s.environment_id, s.customer_id FROM environment e JOIN subscription s ON s.environment_id = e.id AND s.due_at <= e.test_clock
       WHERE e.test_clock IS NOT NULL ORDER BY s.due_at LIMIT ${half})
    ) AS due`)
  return rows.map((row) => ({ environmentId: row.environment_id, customerId: row.customer_id }))
}

/** Seconds since the oldest due subscription came due, by the real time; 0: none is. */
export async function dueLagSeconds(db: Db): Promise<number> {
  const [row] = await db.$queryRaw<{ seconds: number | null }[]>(Prisma.sql`
    SELECT greatest(0, extract(epoch FROM clock_timestamp() - min(due_at)))::float8 AS seconds FROM subscription`)
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
