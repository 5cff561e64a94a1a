import { newId } from '../kernel/id.js';
import { Prisma } from '../platform/postgres.js';
import { oncePerGroup } from '../platform/transaction-group.js';
import { noteChange } from './note.js';
/**
 * A new version of the customer's state with its message, in the transaction that changes what the customer may use. A customer that has no state
 * yet gets its first one.
 */
export function recordAccessChange(db, { environmentId, id, refId }) {
    return record(db, { environmentId, id, refId, kind: 'entitlements' });
}
/** The same for a customer that was archived: copies of what it holds are to be forgotten. */
export function recordArchiving(db, { environmentId, id, refId }) {
    return record(db, { environmentId, id, refId, kind: 'purge' });
}
async function record(db, change) {
    const recorded = await recordAll(db, change);
    noteChange({ environmentId: change.environmentId, customerId: change.refId, version: recorded.version });
    return recorded;
}
const recordAll = oncePerGroup(async (db, all) => {
    const rows = await db.$queryRaw(Prisma.sql `
    WITH asked AS (
      SELECT * FROM unnest(${all.map(({ environmentId }) => environmentId)}::uuid[], ${all.map(({ id }) => id)}::uuid[],
        ${all.map(({ refId }) => refId)}::text[], ${all.map(({ kind }) => kind)}::change_kind[], ${all.map(() => newId())}::uuid[])
        AS asked (environment_id, customer_id, ref_id, kind, message_id)
    ), changed AS (
      INSERT INTO customer_state AS state (environment_id, customer_id, version, access_version)
      SELECT environment_id, customer_id, clock, clock FROM asked, environment_clock(asked.environment_id) AS clock
      ON CONFLICT (environment_id, customer_id) DO UPDATE
        SET version = greatest(excluded.version, state.version + 1), access_version = greatest(excluded.version, state.version + 1)
      RETURNING environment_id, customer_id, version
    ), told AS (
      INSERT INTO outbox_message (environment_id, id, kind, customer_id, version)
      SELECT environment_id, message_id, kind, ref_id, version FROM changed JOIN asked USING (environment_id, customer_id)
    )
    SELECT customer_id, version, catalog_version FROM changed JOIN environment ON environment.id = changed.environment_id`);
    const versions = new Map(rows.map((row) => [row.customer_id, { version: Number(row.version), catalogVersion: Number(row.catalog_version) }]));
    return all.map(({ id }) => versions.get(id));
});
/** What every customer of the environment may use may be something else now; `packages`: the versions that were published. */
export async function recordCatalogChange(db, { environmentId, version, packages }) {
    noteChange({ environmentId, customerId: null, version });
    const payload = { packages };
    await db.outboxMessage.create({ data: { environmentId, id: newId(), kind: 'package', version: BigInt(version), payload } });
}
/**
 * Takes the customer's state row without changing it, so that what is read next is what the change is made of. Answers the time in the environment, which
 * rules every instant that the change writes; null when `ifFree` and another transaction holds the row.
 */
export async function lockCustomerState(db, environmentId, customerId, { ifFree = false } = {}) {
    const rows = await db.$queryRaw(Prisma.sql `
    SELECT environment_clock(environment_id)::float8 AS now FROM customer_state
    WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid
    FOR UPDATE ${ifFree ? Prisma.raw('SKIP LOCKED') : Prisma.empty}`);
    return rows[0]?.now ?? null;
}
/** The same, with the version of the catalog that the transaction sees: what was read at it before need not be read again. */
export async function lockCustomerForChange(db, environmentId, customerId) {
    const [row] = await db.$queryRaw(Prisma.sql `
    SELECT environment_clock(environment_id)::float8 AS now,
      (SELECT catalog_version FROM environment WHERE environment.id = ${environmentId}::uuid) AS catalog_version
    FROM customer_state WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid FOR UPDATE`);
    if (!row)
        throw new Error(`customer ${customerId} has no state row`);
    return { now: row.now, catalogVersion: Number(row.catalog_version) };
}
//# sourceMappingURL=access.js.map