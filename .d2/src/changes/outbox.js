import { unpackTold } from './wire/told-reports.js';
/**
 * Leases undelivered messages of one environment: others leave them alone until the lease is over, and get them when the delivery did not finish. The
 * lease is committed before anything is delivered, so no transaction waits for a network.
 */
export async function leaseChanges(pool, environmentId, { limit, seconds }) {
    const { rows } = await pool.query({
        name: 'updates_lease_changes',
        text: `
      WITH due AS MATERIALIZED (
        SELECT id, changes FROM outbox_message
        WHERE environment_id = $1::uuid AND (claimed_until IS NULL OR claimed_until < clock_timestamp())
        ORDER BY id LIMIT $2::int FOR UPDATE SKIP LOCKED
      ), taken AS (
        SELECT id FROM (SELECT id, sum(changes) OVER (ORDER BY id) - changes AS before FROM due) AS counted WHERE before < $2::int
      )
      UPDATE outbox_message AS message
      SET claimed_until = clock_timestamp() + make_interval(secs => $3), attempts = message.attempts + 1
      FROM taken
      WHERE message.environment_id = $1::uuid AND message.id = taken.id
      RETURNING message.id, message.kind::text AS kind, message.customer_id AS "customerId", message.resource_id AS "resourceId", message.version,
        message.payload, message.told, (extract(epoch FROM message.created_at) * 1000)::float8 AS "createdAt"`,
        values: [environmentId, limit, seconds],
    });
    return { rowIds: rows.map(({ id }) => id), changes: rows.flatMap(toChanges) };
}
function toChanges({ told, ...row }) {
    const { id, kind, createdAt, payload } = row;
    if (kind !== 'usage' || row.customerId !== null)
        return [{ ...row, version: Number(row.version) }];
    const usages = told === null ? (payload?.usages ?? []) : unpackTold(told);
    return usages.map(({ customerId, resourceId, ...change }) => {
        return { id, kind, customerId, resourceId, version: change.usage.updatedAt, payload: change, createdAt };
    });
}
/**
 * Deletes rows that were delivered. `undelivered`: those of their changes that were not, which stay as rows of their own, with as many `newIds`, and
 * are left alone for `seconds`.
 */
export async function deleteDelivered(pool, environmentId, ids, { undelivered, newIds, seconds }) {
    await pool.query({
        name: 'updates_delete_delivered',
        text: `
      WITH kept AS (
        INSERT INTO outbox_message (environment_id, id, kind, customer_id, resource_id, version, payload, created_at, claimed_until, attempts)
        SELECT $1::uuid, id, 'usage', customer_id, resource_id, version, payload, to_timestamp(created_at / 1000), clock_timestamp() + make_interval(secs => $9), 1
        FROM unnest($3::uuid[], $4::text[], $5::text[], $6::bigint[], $7::jsonb[], $8::float8[])
          AS given (id, customer_id, resource_id, version, payload, created_at)
      )
      DELETE FROM outbox_message WHERE environment_id = $1::uuid AND id = ANY($2::uuid[])`,
        values: [
            environmentId,
            ids,
            newIds,
            undelivered.map(({ customerId }) => customerId),
            undelivered.map(({ resourceId }) => resourceId),
            undelivered.map(({ version }) => version),
            undelivered.map(({ payload }) => JSON.stringify(payload)),
            undelivered.map(({ createdAt }) => createdAt),
            seconds,
        ],
    });
}
/** Environments with messages that nobody has leased: what a lost nudge or a killed worker left behind. */
export async function environmentsWithUndelivered(pool) {
    const { rows } = await pool.query('SELECT DISTINCT environment_id FROM outbox_message WHERE claimed_until IS NULL OR claimed_until < clock_timestamp()');
    return rows.map((row) => row.environment_id);
}
//# sourceMappingURL=outbox.js.map