/** Raw SQL of batches of events that wait to be counted. */
import type { EpochMs } from '../../kernel/clock.js'
import type { Queryable } from '../../platform/sql.js'
import type { Dimensions } from '../model/report.js'
import { packStored, type StoredEvents } from '../wire/stored-events.js'

/** Takes batches to count them; answers those that nobody has counted or is counting. They come back with a rollback. */
export async function claimBatches(db: Queryable, environmentId: string, batchIds: string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>({
    name: 'metering_claim_batches',
    text: `
      WITH claimed AS MATERIALIZED (
        SELECT pending.id FROM unnest($2::uuid[]) AS asked (id)
        CROSS JOIN LATERAL (SELECT id FROM pending_batch WHERE environment_id = $1::uuid AND id = asked.id FOR UPDATE SKIP LOCKED) AS pending
      )
      DELETE FROM pending_batch USING claimed WHERE environment_id = $1::uuid AND pending_batch.id = claimed.id
      RETURNING pending_batch.id`,
    values: [environmentId, batchIds],
  })
  return new Set(rows.map(({ id }) => id))
}

/** Batches of the environment that nobody has counted yet; not counted further than `most`. */
export async function countWaitingBatches(db: Queryable, environmentId: string, most: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'metering_count_waiting_batches',
    text: 'SELECT count(*)::int AS count FROM (SELECT FROM pending_batch WHERE environment_id = $1::uuid LIMIT $2) AS waiting',
    values: [environmentId, most],
  })
  return rows[0]!.count
}

export async function loadBatch(db: Queryable, environmentId: string, batchId: string): Promise<StoredEvents> {
  const { rows } = await db.query<{
    customer_id: string
    customer_ref: string
    resource_id: string | null
    resource_ref: string | null
    event_name: string
    dimensions: Dimensions
    occurred_at: Date
  }>({
    text: `
      SELECT event.customer_id, customer.ref_id AS customer_ref, event.resource_id, resource.ref_id AS resource_ref, event.event_name, event.dimensions, event.occurred_at
      FROM raw_event AS event
      JOIN customer ON customer.environment_id = event.environment_id AND customer.id = event.customer_id
      LEFT JOIN customer_resource AS resource ON resource.environment_id = event.environment_id AND resource.id = event.resource_id
      WHERE event.environment_id = $1::uuid AND event.batch_id = $2::uuid
      ORDER BY event.position`,
    values: [environmentId, batchId],
  })
  return packStored(
    0,
    rows.map((row) => ({
      customerId: row.customer_id,
      resourceId: row.resource_id,
      holder: { customerId: row.customer_ref, resourceId: row.resource_ref },
      eventName: row.event_name,
      occurredAt: row.occurred_at.getTime(),
      dimensions: row.dimensions,
    })),
  )
}

/** How long a batch is left alone after a sweep gave it a job: doubled each time, so that one that can't be counted now costs little and holds up nobody. */
const firstPauseSeconds = 5
const longestPauseSeconds = 300

interface WaitingBatch {
  environmentId: string
  batchId: string
  storedAt: EpochMs
}

/**
 * Batches that have waited for so long that their job must be lost: of each environment those first that were asked for longest ago, and of all environments
 * its first before the second of any. Each is taken by one sweep at a time.
 */
export async function takeWaitingBatches(
  db: Queryable,
  olderThanSeconds: number,
  most: { ofEnvironment: number; inAll: number },
): Promise<WaitingBatch[]> {
  const waits = `created_at < clock_timestamp() - make_interval(secs => $1::int)
          AND (swept_at IS NULL OR swept_at < clock_timestamp() - make_interval(secs => least($2 * 2 ^ least(sweeps - 1, 16), $3::float8)))`
  const pauses = [olderThanSeconds, firstPauseSeconds, longestPauseSeconds]
  const { rows } = await db.query<{ environment_id: string; ids: string[] }>({
    text: `
      SELECT environment_id, array_agg(id) AS ids FROM (
        SELECT environment_id, id FROM (
          SELECT environment_id, id, coalesce(swept_at, created_at) AS since,
            row_number() OVER (PARTITION BY environment_id ORDER BY coalesce(swept_at, created_at)) AS place
          FROM pending_batch WHERE ${waits}
        ) AS placed
        WHERE place <= $4::int ORDER BY place, since LIMIT $5::int
      ) AS waiting GROUP BY environment_id`,
    values: [...pauses, most.ofEnvironment, most.inAll],
  })
  const taken: WaitingBatch[] = []
  for (const { environment_id: environmentId, ids } of rows) {
    const { rows: own } = await db.query<{ id: string; created_at: Date }>({
      text: `
        WITH taken AS MATERIALIZED (
          SELECT id FROM pending_batch WHERE environment_id = $4::uuid AND id = ANY($5::uuid[]) AND ${waits} FOR UPDATE SKIP LOCKED
        )
        UPDATE pending_batch SET swept_at = clock_timestamp(), sweeps = sweeps + 1 FROM taken
        WHERE pending_batch.environment_id = $4::uuid AND pending_batch.id = taken.id
        RETURNING pending_batch.id, pending_batch.created_at`,
      values: [...pauses, environmentId, ids],
    })
    taken.push(...own.map(({ id, created_at }) => ({ environmentId, batchId: id, storedAt: created_at.getTime() })))
  }
  return taken
}
