import { type Db, Prisma } from '../platform/postgres.js'

export interface DueCustomer {
  environmentId: string
  customerId: string
}

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

/** The next instant at which something is due in an environment, not after `until`; null: nothing is. */
export async function findNextDue(db: Db, environmentId: string, until: number): Promise<{ at: number; customerIds: string[] } | null> {
  const rows = await db.$queryRaw<{ at: Date; customer_id: string }[]>(Prisma.sql`
    SELECT DISTINCT due_at AS at, customer_id FROM subscription
    WHERE environment_id = ${environmentId}::uuid
      AND due_at = (SELECT min(due_at) FROM subscription WHERE environment_id = ${environmentId}::uuid AND due_at <= ${new Date(until)})`)
  return rows.length === 0 ? null : { at: rows[0]!.at.getTime(), customerIds: rows.map(({ customer_id }) => customer_id) }
}
