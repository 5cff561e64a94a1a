import type pg from 'pg'
import type { PendingChange } from './model/change.js'
import { type ChangeRow, changesOf } from './wire/change-row.js'

export interface LeaseOptions {
  /** About so many changes; the last row may bring more. */
  limit: number
  seconds: number
}

export interface LeasedChanges {
  /** All rows, also those without a change, but not those that are unreadable. */
  rowIds: string[]
  changes: PendingChange[]
  unreadable: PostponedRow[]
}

/** A row that waits longer than its lease. */
interface PostponedRow {
  id: string
  /** Null: it can be read, and what it tells of could not be delivered. */
  unreadable: string | null
}

/**
 * Leases undelivered messages of one environment: others leave them alone until the lease is over, and get them when the delivery did not finish. The
 * lease is committed before anything is delivered, so no transaction waits for a network.
 */
export async function leaseChanges(pool: pg.Pool, environmentId: string, { limit, seconds }: LeaseOptions): Promise<LeasedChanges> {
  const { rows } = await pool.query<ChangeRow>({
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
  })
  const leased: LeasedChanges = { rowIds: [], changes: [], unreadable: [] }
  for (const row of rows) {
    try {
      leased.changes.push(...changesOf(row))
      leased.rowIds.push(row.id)
    } catch (error) {
      leased.unreadable.push({ id: row.id, unreadable: (error as Error).message })
    }
  }
  return leased
}

/** The longest that a row waits that could not be delivered. */
const longestPauseSeconds = 900

/**
 * Leaves rows alone for a time that doubles with each attempt, from `seconds` on: whoever can deliver them by then, such as a worker of a newer release, does.
 */
export async function postponeRows(pool: pg.Pool, environmentId: string, rows: readonly PostponedRow[], seconds: number): Promise<void> {
  if (rows.length === 0) return
  await pool.query({
    text: `
      UPDATE outbox_message AS message
      SET unreadable = given.unreadable, claimed_until = clock_timestamp() + make_interval(secs => least($4 * 2 ^ least(attempts - 1, 16), $5))
      FROM unnest($2::uuid[], $3::text[]) AS given (id, unreadable)
      WHERE message.environment_id = $1::uuid AND message.id = given.id`,
    values: [environmentId, rows.map(({ id }) => id), rows.map(({ unreadable }) => unreadable), seconds, longestPauseSeconds],
  })
}

/**
 * Deletes rows that were delivered. `undelivered`: those of their changes that were not, which stay as rows of their own, with as many `newIds`, and
 * are left alone for `seconds`.
 */
export async function deleteDelivered(
  pool: pg.Pool,
  environmentId: string,
  ids: string[],
  { undelivered, newIds, seconds }: { undelivered: PendingChange[]; newIds: string[]; seconds: number },
): Promise<void> {
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
  })
}

/** Environments with messages that nobody has leased: what a lost nudge or a killed worker left behind. */
export async function environmentsWithUndelivered(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ environment_id: string }>(
    'SELECT DISTINCT environment_id FROM outbox_message WHERE claimed_until IS NULL OR claimed_until < clock_timestamp()',
  )
  return rows.map((row) => row.environment_id)
}
