/** Raw SQL of raw events: stored with their identities in one statement, counted batch by batch. */
import type { EpochMs } from '../kernel/clock.js'
import { type Place, placeKey } from './bindings.js'
import { type Connection, rangeColumns, toTime, type UsageRange } from './counter-repository.js'
import type { StoredEvent } from './jobs.js'
import type { FeatureMeter, MeteredEvent, MeterVersion } from './meter.js'
import type { EventItem } from './report.js'

export interface FoundPlace {
  customerId: string
  isArchived: boolean
  /** Null: the place has no resource, or the resource is unknown. */
  resourceId: string | null
}

/** The customers and resources of the places, by `placeKey`; unknown customers are absent. `now` is the database's time. */
export async function findPlaces(
  db: Connection,
  environmentId: string,
  places: Place[],
): Promise<{ places: Map<string, FoundPlace>; now: EpochMs }> {
  const { rows } = await db.query<{
    ord: number | null
    customer_id: string
    is_archived: boolean
    resource_id: string | null
    now: string
  }>({
    name: 'metering_find_places',
    text: `
      SELECT found.*, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now
      FROM (SELECT) AS always LEFT JOIN (
        SELECT asked.ord::int AS ord, customer.id AS customer_id, customer.archived_at IS NOT NULL AS is_archived, resource.id AS resource_id
        FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS asked (customer_ref, resource_ref, ord)
        CROSS JOIN LATERAL (SELECT id, archived_at FROM customer WHERE environment_id = $1::uuid AND ref_id = asked.customer_ref LIMIT 1) AS customer
        LEFT JOIN LATERAL (
          SELECT id FROM customer_resource WHERE environment_id = $1::uuid AND customer_id = customer.id AND ref_id = asked.resource_ref LIMIT 1
        ) AS resource ON true
      ) AS found ON true`,
    values: [environmentId, places.map((p) => p.customerId), places.map((p) => p.resourceId)],
  })
  const found = new Map<string, FoundPlace>()
  for (const row of rows) {
    if (row.ord !== null)
      found.set(placeKey(places[row.ord - 1]!), { customerId: row.customer_id, isArchived: row.is_archived, resourceId: row.resource_id })
  }
  return { places: found, now: Number(rows[0]!.now) }
}

export interface NewEvent {
  event: EventItem
  hash: Buffer
  customerId: string
  resourceId: string | null
}

/**
 * Stores the events whose identity is new, and that the batch waits to be counted. One statement, so one transaction. Answers the new ones by
 * index, with the time they got.
 */
export async function storeEvents(
  db: Connection,
  environmentId: string,
  batchId: string,
  events: NewEvent[],
): Promise<Map<number, EpochMs>> {
  const { rows } = await db.query<{ position: number; occurred_at: Date }>({
    name: 'metering_store_events',
    text: `
      WITH given AS MATERIALIZED (
        SELECT *
        FROM unnest($3::bytea[], $4::uuid[], $5::uuid[], $6::text[], $7::jsonb[], $8::timestamptz[])
          WITH ORDINALITY AS given (hash, customer_id, resource_id, event_name, dimensions, occurred_at, ord)
      ), claimed AS (
        INSERT INTO ingestion_key (environment_id, hash, record_id, position)
        SELECT $1::uuid, hash, $2::uuid, ord::int - 1 FROM given ORDER BY hash
        ON CONFLICT DO NOTHING RETURNING hash
      ), stored AS (
        INSERT INTO raw_event (environment_id, batch_id, position, occurred_at, customer_id, resource_id, event_name, dimensions)
        SELECT $1::uuid, $2::uuid, given.ord::int - 1, coalesce(given.occurred_at, (SELECT to_timestamp(environment_clock($1::uuid) / 1000.0))), given.customer_id, given.resource_id, given.event_name, given.dimensions
        FROM claimed JOIN given USING (hash)
        RETURNING position, occurred_at
      ), waiting AS (
        INSERT INTO pending_batch (environment_id, id) SELECT $1::uuid, $2::uuid WHERE EXISTS (SELECT FROM stored)
      )
      SELECT position, occurred_at FROM stored`,
    values: [
      environmentId,
      batchId,
      events.map((e) => e.hash),
      events.map((e) => e.customerId),
      events.map((e) => e.resourceId),
      events.map((e) => e.event.eventName),
      events.map((e) => JSON.stringify(e.event.dimensions)),
      events.map((e) => toTime(e.event.timestamp)),
    ],
  })
  return new Map(rows.map(({ position, occurred_at }) => [position, occurred_at.getTime()]))
}

/** Takes batches to count them; answers those that nobody has counted or is counting. They come back with a rollback. */
export async function claimBatches(db: Connection, environmentId: string, batchIds: string[]): Promise<Set<string>> {
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

export async function loadBatch(db: Connection, environmentId: string, batchId: string): Promise<StoredEvent[]> {
  const { rows } = await db.query<{
    customer_id: string
    customer_ref: string
    resource_id: string | null
    resource_ref: string | null
    event_name: string
    dimensions: StoredEvent['dimensions']
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
  return rows.map((row) => ({
    customerId: row.customer_id,
    customerRefId: row.customer_ref,
    resourceId: row.resource_id,
    resourceRefId: row.resource_ref,
    eventName: row.event_name,
    dimensions: row.dimensions,
    occurredAt: row.occurred_at.getTime(),
  }))
}

/** The meters in force, with all that they were. */
export async function loadMeters(db: Connection, environmentId: string): Promise<FeatureMeter[]> {
  const { rows } = await db.query<{ feature_id: string; ref_id: string; versions: (Omit<MeterVersion, 'validFrom'> & { from: string })[] }>(
    {
      name: 'metering_load_meters',
      text: `
      SELECT meter.feature_id, feature.ref_id, history.versions
      FROM meter JOIN feature ON feature.environment_id = meter.environment_id AND feature.id = meter.feature_id
      CROSS JOIN LATERAL (
        SELECT json_agg(json_build_object('version', version, 'aggregation', aggregation, 'field', field, 'filters', filters,
          'from', floor(extract(epoch FROM valid_from) * 1000)) ORDER BY version) AS versions
        FROM meter_version WHERE environment_id = $1::uuid AND feature_id = meter.feature_id
      ) AS history
      WHERE meter.environment_id = $1::uuid`,
      values: [environmentId],
    },
  )
  return rows.map(({ feature_id, ref_id, versions }) => ({
    featureId: feature_id,
    featureRefId: ref_id,
    versions: versions.map(({ from, ...version }) => ({ ...version, validFrom: Number(from) })),
  }))
}

/** Rows held in memory at once while a range is read. */
const pageSize = 5_000

/**
 * Reads the raw events of the ranges page by page, batches that still wait to be counted left out: they will be added when they are. Costs as much
 * as the customers have events in the ranges. Needs a transaction.
 */
export async function readEvents(
  db: Connection,
  environmentId: string,
  ranges: UsageRange[],
  visit: (page: (MeteredEvent & { range: number; resourceId: string | null; occurredAt: EpochMs })[]) => Promise<void> | void,
): Promise<void> {
  await db.query({
    text: `
      DECLARE metering_events NO SCROLL CURSOR FOR
      SELECT asked.ord::int - 1 AS range, event.event_name, event.dimensions, event.resource_id, event.occurred_at
      FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::timestamptz[])
        WITH ORDINALITY AS asked (customer_id, resource_id, feature_id, from_time, to_time, ord)
      CROSS JOIN LATERAL (
        SELECT event_name, dimensions, resource_id, occurred_at FROM raw_event
        WHERE environment_id = $1::uuid AND customer_id = asked.customer_id AND occurred_at >= asked.from_time AND occurred_at < asked.to_time
          AND (asked.resource_id IS NULL OR resource_id = asked.resource_id)
          AND NOT EXISTS (SELECT FROM pending_batch WHERE environment_id = $1::uuid AND id = raw_event.batch_id)
      ) AS event`,
    values: [environmentId, ...rangeColumns(ranges)],
  })
  for (;;) {
    const { rows } = await db.query<{
      range: number
      event_name: string
      dimensions: MeteredEvent['dimensions']
      resource_id: string | null
      occurred_at: Date
    }>({ text: `FETCH ${pageSize} FROM metering_events` })
    await visit(
      rows.map(({ range, event_name, dimensions, resource_id, occurred_at }) => ({
        range,
        eventName: event_name,
        dimensions,
        resourceId: resource_id,
        occurredAt: occurred_at.getTime(),
      })),
    )
    if (rows.length < pageSize) break
  }
  await db.query({ text: 'CLOSE metering_events' })
}

/** Batches that have waited for so long that their job must be lost, the oldest first. */
export async function findWaitingBatches(
  db: Connection,
  olderThanSeconds: number,
  limit: number,
): Promise<{ environmentId: string; batchId: string }[]> {
  const { rows } = await db.query<{ environment_id: string; id: string }>({
    text: `
      SELECT environment_id, id FROM pending_batch
      WHERE created_at < clock_timestamp() - make_interval(secs => $1::int) ORDER BY created_at LIMIT $2::int`,
    values: [olderThanSeconds, limit],
  })
  return rows.map(({ environment_id, id }) => ({ environmentId: environment_id, batchId: id }))
}
