/** Changes of usage, in the transactions that count: raw SQL. */
import type { EpochMs } from '../kernel/clock.js'
import { newId } from '../kernel/id.js'
import { plainArray, type Queryable } from '../platform/sql.js'
import type { ToldUsage } from './model/change.js'
import { noteChange } from './note.js'

export interface LockedCustomer {
  /** The version that the customer's state gets when this transaction changes it: the time in the environment, above the last version. */
  version: EpochMs
  accessVersion: EpochMs
  /** The state has that version already. */
  isWritten: boolean
}

/**
 * Takes the state rows of the customers in the order of their ids, which is everybody's order; a customer without one is absent. `now` is the
 * database's time, not earlier than it is.
 */
export async function lockCustomers(
  db: Queryable,
  environmentId: string,
  customerIds: string[],
): Promise<{ customers: Map<string, LockedCustomer>; now: EpochMs }> {
  const startedAt = performance.now()
  const { rows } = await db.query<{ customer_id: string; version: string; access_version: string; clock: string; time: string }>({
    name: 'changes_lock_customers',
    text: `
      SELECT state.customer_id, state.version, state.access_version, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS clock,
        (SELECT environment_clock($1::uuid)) AS time
      FROM customer_state AS state
      WHERE state.environment_id = $1::uuid AND state.customer_id = ANY($2::uuid[])
      ORDER BY state.customer_id FOR UPDATE`,
    values: [environmentId, customerIds],
  })
  // The clock was read before a row was waited for. Versions still grow, by the last one; for deadlines the wait is added.
  const customers = rows.map(({ customer_id, version, access_version, time }): [string, LockedCustomer] => [
    customer_id,
    { version: Math.max(Number(time), Number(version) + 1), accessVersion: Number(access_version), isWritten: false },
  ])
  const waitedMs = Math.ceil(performance.now() - startedAt)
  return { customers: new Map(customers), now: rows.reduce((latest, { clock }) => Math.max(latest, Number(clock)), 0) + waitedMs }
}

/**
 * Takes the state rows of the customers, given in the order of their ids, and gives those that change their new version in the same step; a customer
 * without a state is absent. What they change is recorded with `recordCounted`.
 */
export async function advanceCustomers(
  db: Queryable,
  environmentId: string,
  customers: { id: string; isChanged: boolean }[],
): Promise<Map<string, LockedCustomer>> {
  const { rows } = await db.query<{ ords: string | null; versions: string; access_versions: string }>({
    name: 'changes_advance_customers',
    // One text for many rows: the driver takes several times as long for arrays.
    text: `
      SELECT array_to_string(o_ords, ',') AS ords, array_to_string(o_versions, ',') AS versions, array_to_string(o_access_versions, ',') AS access_versions
      FROM advance_customers($1::uuid, $2::uuid[], $3::boolean[])`,
    values: [environmentId, plainArray(customers.map(({ id }) => id)), plainArray(customers.map(({ isChanged }) => isChanged))],
  })
  const { ords, versions, access_versions } = rows[0]!
  if (ords === null) return new Map()
  const [versionOf, accessVersionOf] = [versions.split(','), access_versions.split(',')]
  return new Map(
    ords.split(',').map((ord, i) => {
      const { id, isChanged } = customers[Number(ord) - 1]!
      return [id, { version: Number(versionOf[i]), accessVersion: Number(accessVersionOf[i]), isWritten: isChanged }]
    }),
  )
}

/** What a transaction that counts has changed of customers whose state rows it holds. */
export interface CountedChanges {
  /** Customers (our ids) whose state changes, with the versions that they were locked with; not those that have it already. */
  versions: { customerId: string; version: EpochMs /** More than usage. */; isAccess: boolean }[]
  /** Customers (the caller's ids) whose state is to be built anew. */
  access: { customerId: string; version: EpochMs }[]
  usages: readonly ToldUsage[]
}

/** Gives the states their versions, and writes the messages of what has changed. */
export async function recordCounted(db: Queryable, environmentId: string, { versions, access, usages }: CountedChanges): Promise<void> {
  if (versions.length > 0) await writeVersions(db, environmentId, versions)
  if (access.length > 0) await tellAccess(db, environmentId, access)
  if (usages.length > 0) await tellUsages(db, environmentId, usages)
  for (const { customerId, version } of access) noteChange({ environmentId, customerId, version })
  for (const { customerId, usage } of usages) noteChange({ environmentId, customerId, version: usage.updatedAt })
}

async function writeVersions(db: Queryable, environmentId: string, versions: CountedChanges['versions']): Promise<void> {
  await db.query({
    name: 'changes_write_versions',
    text: `
      WITH changed AS (
        UPDATE customer_state AS state
        SET version = given.version, access_version = CASE WHEN given.is_access THEN given.version ELSE state.access_version END
        FROM unnest($2::uuid[], $3::bigint[], $4::boolean[]) AS given (customer_id, version, is_access)
        WHERE state.environment_id = $1::uuid AND state.customer_id = given.customer_id
        RETURNING state.customer_id, state.version, given.is_access
      )
      INSERT INTO customer_evaluation AS evaluation (environment_id, customer_id, version)
      SELECT $1::uuid, changed.customer_id, changed.version FROM changed, environment
      WHERE environment.id = $1::uuid AND (environment.watches_usage OR (environment.hears_events AND changed.is_access))
      ORDER BY changed.customer_id
      ON CONFLICT (environment_id, customer_id) DO UPDATE SET version = greatest(excluded.version, evaluation.version + 1)`,
    values: [
      environmentId,
      plainArray(versions.map((v) => v.customerId)),
      plainArray(versions.map((v) => v.version)),
      plainArray(versions.map((v) => v.isAccess)),
    ],
  })
}

async function tellAccess(db: Queryable, environmentId: string, access: CountedChanges['access']): Promise<void> {
  await db.query({
    text: `
      INSERT INTO outbox_message (environment_id, id, kind, customer_id, version)
      SELECT $1::uuid, id, 'entitlements', ref_id, version FROM unnest($2::uuid[], $3::text[], $4::bigint[]) AS given (id, ref_id, version)`,
    values: [environmentId, access.map(() => newId()), access.map(({ customerId }) => customerId), access.map(({ version }) => version)],
  })
}

/** Delivered, and so delivered again, together: small enough to share the work, large enough that a message for each is not what counting costs. */
const toldPerMessage = 200

async function tellUsages(db: Queryable, environmentId: string, usages: readonly ToldUsage[]): Promise<void> {
  const messages: { version: EpochMs; usages: readonly ToldUsage[] }[] = []
  for (let start = 0; start < usages.length; start += toldPerMessage) {
    const together = usages.slice(start, start + toldPerMessage)
    messages.push({ version: Math.max(...together.map(({ usage }) => usage.updatedAt)), usages: together })
  }
  await db.query({
    name: 'changes_tell_usages',
    text: `
      INSERT INTO outbox_message (environment_id, id, kind, version, changes, payload)
      SELECT $1::uuid, id, 'usage', version, jsonb_array_length(payload -> 'usages'), payload
      FROM ROWS FROM (unnest($2::uuid[]), unnest($3::bigint[]), jsonb_array_elements($4::jsonb)) AS given (id, version, payload)`,
    values: [
      environmentId,
      plainArray(messages.map(() => newId())),
      plainArray(messages.map(({ version }) => version)),
      JSON.stringify(messages.map((message) => ({ usages: message.usages }))),
    ],
  })
}
