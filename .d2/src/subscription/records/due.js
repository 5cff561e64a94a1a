import { Prisma } from '../../platform/postgres.js';
/**
 * Customers with a subscription that is due by the clock of its environment. One half are those that have waited longest, one half those that came
 * due last: neither a crowd nor customers that fail again and again keep the others from their turn.
 */
export async function findDueCustomers(db, limit) {
    const half = Math.ceil(limit / 2);
    const rows = await db.$queryRaw(Prisma.sql `
    SELECT DISTINCT environment_id, customer_id FROM (
      (SELECT environment_id, customer_id FROM subscription WHERE due_at <= clock_timestamp() ORDER BY due_at LIMIT ${half})
      UNION ALL
      (SELECT environment_id, customer_id FROM subscription WHERE due_at <= clock_timestamp() ORDER BY due_at DESC LIMIT ${half})
      UNION ALL
      (SELECT s.environment_id, s.customer_id FROM environment e JOIN subscription s ON s.environment_id = e.id AND s.due_at <= e.test_clock
       WHERE e.test_clock IS NOT NULL ORDER BY s.due_at LIMIT ${half})
    ) AS due`);
    return rows.map((row) => ({ environmentId: row.environment_id, customerId: row.customer_id }));
}
/**
 * Takes the state rows of those of the customers that have something due and are not held by another transaction. It waits for nobody, so it does not
 * matter in which order.
 */
export async function holdDueCustomers(db, environmentId, customerIds) {
    const rows = await db.$queryRaw(Prisma.sql `
    SELECT customer.id, customer.ref_id, customer.billing_currency, environment_clock(environment.id)::float8 AS now, environment.catalog_version
    FROM customer_state state
    JOIN customer ON customer.environment_id = state.environment_id AND customer.id = state.customer_id
    JOIN environment ON environment.id = state.environment_id
    WHERE state.environment_id = ${environmentId}::uuid AND state.customer_id = ANY(${[...customerIds]}::uuid[])
      AND EXISTS (SELECT FROM subscription s WHERE s.environment_id = state.environment_id AND s.customer_id = state.customer_id AND ${isDueNow})
    FOR UPDATE OF state SKIP LOCKED`);
    return rows.map((row) => ({
        environmentId,
        id: row.id,
        refId: row.ref_id,
        billingCurrency: row.billing_currency,
        now: row.now,
        catalogVersion: Number(row.catalog_version),
    }));
}
/** Of a subscription `s`, by the clock of its environment. */
const isDueNow = Prisma.sql `s.due_at <= to_timestamp(environment_clock(s.environment_id) / 1000.0)`;
/** Whether the customer (our id) has something due. */
export async function hasDue(db, environmentId, customerId) {
    const [row] = await db.$queryRaw(Prisma.sql `
    SELECT EXISTS (
      SELECT FROM subscription s WHERE s.environment_id = ${environmentId}::uuid AND s.customer_id = ${customerId}::uuid AND ${isDueNow}) AS is_due`);
    return row.is_due;
}
/** The next instant at which something is due in an environment, not after `until`; null: nothing is. */
export async function findNextDue(db, environmentId, until) {
    const rows = await db.$queryRaw(Prisma.sql `
    SELECT DISTINCT due_at AS at, customer_id FROM subscription
    WHERE environment_id = ${environmentId}::uuid
      AND due_at = (SELECT min(due_at) FROM subscription WHERE environment_id = ${environmentId}::uuid AND due_at <= ${new Date(until)})`);
    return rows.length === 0 ? null : { at: rows[0].at.getTime(), customerIds: rows.map(({ customer_id }) => customer_id) };
}
//# sourceMappingURL=due.js.map