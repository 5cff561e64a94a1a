/** Raw SQL of raw events: stored with their identities in one statement, counted batch by batch. */
import type { EpochMs } from '../../kernel/clock.js'
import type { FeatureMeter, MeteredEvent, MeterVersion } from '../model/meter.js'
import type { Dimensions, EventItem } from '../model/report.js'
import type { StoredEvents, StoredPlace } from '../wire/jobs.js'
import { orNone } from '../wire/packed-events.js'
import { type Place, placeKey } from './bindings.js'
import { type Connection, plainArray, rangeColumns, toTime, type UsageRange } from './counter-repository.js'

export interface FoundPlace {
  customerId: string
  isArchived: boolean
  /** Null: the place has no resource, or the resource is unknown. */
  resourceId: string | null
}

/** The customers and resources of the places, by `placeKey`; unknown customers are absent. */
export async function findPlaces(db: Connection, environmentId: string, places: Place[]): Promise<Map<string, FoundPlace>> {
  const { rows } = await db.query<{ ord: number; customer_id: string; is_archived: boolean; resource_id: string | null }>({
    name: 'metering_find_places',
    text: `
      SELECT asked.ord::int AS ord, customer.id AS customer_id, customer.archived_at IS NOT NULL AS is_archived, resource.id AS resource_id
      FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS asked (customer_ref, resource_ref, ord)
      CROSS JOIN LATERAL (SELECT id, archived_at FROM customer WHERE environment_id = $1::uuid AND ref_id = asked.customer_ref LIMIT 1) AS customer
      LEFT JOIN LATERAL (
        SELECT id FROM customer_resource WHERE environment_id = $1::uuid AND customer_id = customer.id AND ref_id = asked.resource_ref LIMIT 1
      ) AS resource ON true`,
    values: [environmentId, places.map((p) => p.customerId), places.map((p) => p.resourceId)],
  })
  return new Map(
    rows.map(({ ord, customer_id, is_archived, resource_id }) => [
      placeKey(places[ord - 1]!),
      { customerId: customer_id, isArchived: is_archived, resourceId: resource_id },
    ]),
  )
}

export interface NewEvent {
  event: EventItem
  /** See `eventIdentity`; here as latin1 text, whose order is that of the bytes. */
  identity: string
  place: FoundPlace
}

/**
 * Stores the events whose identity is new, and that the batch waits to be counted, in one statement, so in one transaction. The events must be in the
 * order of their identities. Answers the time of those that came without one, and which are new (null: all). The time is null when nothing was stored,
 * because a customer is not live any more or it is `deadline` by the database's clock, which says `now`. `mayRepeat` is about speed: whether some are
 * expected to have been stored before.
 */
export async function storeEvents(
  db: Connection,
  environmentId: string,
  { batchId, deadline, mayRepeat, events }: { batchId: string; deadline: EpochMs; mayRepeat: boolean; events: NewEvent[] },
): Promise<{ now: EpochMs; time: EpochMs | null; isNew: boolean[] | null }> {
  const names = [...new Set(events.map(({ event }) => event.eventName))]
  const { rows } = await db.query<{ now: string; time: string | null; is_new: boolean[] | null }>({
    name: 'metering_store_events',
    text: `
      SELECT o_now AS now, o_time AS time, o_is_new AS is_new
      FROM store_events($1::uuid, $2::uuid, $3::bigint, $4::boolean,
        $5::uuid[], $6::bytea, $7::uuid[], $8::uuid[], $9::text[], $10::int[], $11::timestamptz[], $12::jsonb)`,
    values: [
      environmentId,
      batchId,
      deadline,
      mayRepeat,
      plainArray([...new Set(events.map(({ place }) => place.customerId))]),
      Buffer.from(events.map(({ identity }) => identity).join(''), 'latin1'),
      plainArray(events.map(({ place }) => place.customerId)),
      events.some(({ place }) => place.resourceId !== null) ? plainArray(events.map(({ place }) => place.resourceId)) : null,
      names,
      plainArray(events.map(({ event }) => names.indexOf(event.eventName))),
      events.some(({ event }) => event.timestamp !== null) ? plainArray(events.map(({ event }) => toTime(event.timestamp))) : null,
      JSON.stringify(events.map(({ event }) => event.dimensions)),
    ],
  })
  const { now, time, is_new } = rows[0]!
  return { now: Number(now), time: time === null ? null : Number(time), isNew: is_new }
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

export async function loadBatch(db: Connection, environmentId: string, batchId: string): Promise<StoredEvents> {
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
  return toStoredEvents(
    0,
    rows.map((row) => ({
      place: toStoredPlace(row.customer_id, row.customer_ref, row.resource_id, row.resource_ref),
      name: row.event_name,
      occurredAt: row.occurred_at.getTime(),
      dimensions: row.dimensions,
    })),
  )
}

/** `time`: of the events whose `occurredAt` is null. */
export function toStoredEvents(
  time: EpochMs,
  given: { place: StoredPlace; name: string; occurredAt: EpochMs | null; dimensions: Dimensions }[],
): StoredEvents {
  const places = new Map<string, number>()
  const stored: StoredPlace[] = []
  const names = new Map<string, number>()
  const named: number[] = []
  const placed = given.map(({ place, name }) => {
    const [customerId, , resourceId] = place
    const key = resourceId ?? customerId
    let index = places.get(key)
    if (index === undefined) {
      index = stored.push(place) - 1
      places.set(key, index)
    }
    const nameIndex = names.get(name) ?? names.size
    names.set(name, nameIndex)
    named.push(nameIndex)
    return index
  })
  return {
    places: stored,
    names: [...names.keys()],
    time,
    placed,
    named: names.size > 1 ? named : null,
    times: orNone(given.map(({ occurredAt }) => occurredAt)),
    dimensions: given.map(({ dimensions }) => dimensions),
  }
}

export function toStoredPlace(
  customerId: string,
  customerRefId: string,
  resourceId: string | null,
  resourceRefId: string | null,
): StoredPlace {
  return resourceId === null || resourceRefId === null
    ? [customerId, customerRefId]
    : [customerId, customerRefId, resourceId, resourceRefId]
}

/** The meters in force, with all that they were. */
export async function loadMeters(db: Connection, environmentId: string): Promise<FeatureMeter[]> {
  type Versions = (Omit<MeterVersion, 'validFrom'> & { from: string })[]
  const { rows } = await db.query<{ feature_id: string; ref_id: string; is_grouped: boolean; versions: Versions }>({
    name: 'metering_load_meters',
    text: `
      SELECT meter.feature_id, feature.ref_id, history.versions,
        EXISTS (SELECT FROM usage_grouping WHERE environment_id = $1::uuid AND feature_id = meter.feature_id) AS is_grouped
      FROM meter JOIN feature ON feature.environment_id = meter.environment_id AND feature.id = meter.feature_id
      CROSS JOIN LATERAL (
        SELECT json_agg(json_build_object('version', version, 'aggregation', aggregation, 'field', field, 'filters', filters,
          'from', floor(extract(epoch FROM valid_from) * 1000)) ORDER BY version) AS versions
        FROM meter_version WHERE environment_id = $1::uuid AND feature_id = meter.feature_id
      ) AS history
      WHERE meter.environment_id = $1::uuid`,
    values: [environmentId],
  })
  return rows.map(({ feature_id, ref_id, is_grouped, versions }) => ({
    featureId: feature_id,
    featureRefId: ref_id,
    isGrouped: is_grouped,
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
): Promise<{ environmentId: string; batchId: string; storedAt: EpochMs }[]> {
  const { rows } = await db.query<{ environment_id: string; id: string; created_at: Date }>({
    text: `
      SELECT environment_id, id, created_at FROM pending_batch
      WHERE created_at < clock_timestamp() - make_interval(secs => $1::int) ORDER BY created_at LIMIT $2::int`,
    values: [olderThanSeconds, limit],
  })
  return rows.map(({ environment_id, id, created_at }) => ({ environmentId: environment_id, batchId: id, storedAt: created_at.getTime() }))
}
