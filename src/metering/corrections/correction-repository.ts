/** Raw SQL of what is taken back or counted anew. */
import type pg from 'pg'
import { recordAudit } from '../../audit/record/record.js'
import type { EpochMs } from '../../kernel/clock.js'
import { type Decimal, fromText } from '../../kernel/decimal.js'
import { type Queryable, toTime } from '../../platform/sql.js'
import { type CounterPeriod } from '../counting/counter-repository.js'
import { type SeriesScope } from '../counting/series-repository.js'
import type { Dimensions } from '../model/report.js'

export interface KeptEvent {
  batchId: string
  position: number
  customerId: string
  resourceId: string | null
  eventName: string
  dimensions: Dimensions
  occurredAt: EpochMs
  /** It was stored and is not counted yet. */
  isWaiting: boolean
}

/** The event with this identity; null: there is none, or it was removed. */
export async function findEvent(db: Queryable, environmentId: string, hash: Buffer): Promise<KeptEvent | null> {
  const { rows } = await db.query<{
    batch_id: string
    position: number
    customer_id: string
    resource_id: string | null
    event_name: string
    dimensions: Dimensions
    occurred_at: Date
    is_waiting: boolean
  }>({
    text: `
      SELECT event.batch_id, event.position, event.customer_id, event.resource_id, event.event_name, event.dimensions, event.occurred_at,
        EXISTS (SELECT FROM pending_batch WHERE environment_id = $1::uuid AND id = event.batch_id) AS is_waiting
      FROM ingestion_key AS key
      JOIN raw_event AS event ON event.environment_id = key.environment_id AND event.batch_id = key.record_id AND event.position = key.position
      WHERE key.environment_id = $1::uuid AND key.hash = $2::bytea`,
    values: [environmentId, hash],
  })
  const row = rows[0]
  if (!row) return null
  return {
    batchId: row.batch_id,
    position: row.position,
    customerId: row.customer_id,
    resourceId: row.resource_id,
    eventName: row.event_name,
    dimensions: row.dimensions,
    occurredAt: row.occurred_at.getTime(),
    isWaiting: row.is_waiting,
  }
}

/**
 * Null dimensions: the event goes. Its identity stays, so that a repeat of it is still recognised. `name`: the key that it was reported with. False: nothing
 * was done, because it is not there any more, or is another resource's now.
 */
export async function changeEvent(
  db: pg.PoolClient,
  environmentId: string,
  event: KeptEvent & { name: string },
  dimensions: Dimensions | null,
): Promise<boolean> {
  const key = [environmentId, event.batchId, event.position, toTime(event.occurredAt)]
  const where = 'environment_id = $1::uuid AND batch_id = $2::uuid AND position = $3::int AND occurred_at = $4::timestamptz'
  const { rows } = await db.query<{ dimensions: Dimensions }>({
    text: `SELECT dimensions FROM raw_event WHERE ${where} AND resource_id IS NOT DISTINCT FROM $5::uuid FOR UPDATE`,
    values: [...key, event.resourceId],
  })
  if (!rows[0]) return false
  if (dimensions === null) await db.query({ text: `DELETE FROM raw_event WHERE ${where}`, values: key })
  else await db.query({ text: `UPDATE raw_event SET dimensions = $5::jsonb WHERE ${where}`, values: [...key, JSON.stringify(dimensions)] })
  const { eventName, customerId, occurredAt } = event
  const fields = { eventName, customer: { id: customerId }, timestamp: toTime(occurredAt) }
  recordAudit(db, {
    environmentId,
    kind: 'USAGE_EVENT',
    id: event.name,
    before: { ...fields, dimensions: rows[0].dimensions },
    after: dimensions && { ...fields, dimensions },
  })
  return true
}

export interface KeptMeasurement {
  id: string
  customerId: string
  resourceId: string | null
  featureId: string
  featureRefId: string
  occurredAt: EpochMs
}

/** The measurement with this id or, by `hash`, with this idempotency key; null: there is none, or it was removed. */
export async function findMeasurement(
  db: Queryable,
  environmentId: string,
  by: { id: string } | { hash: Buffer },
): Promise<KeptMeasurement | null> {
  const { rows } = await db.query<{
    id: string
    customer_id: string
    resource_id: string | null
    feature_id: string
    feature_ref: string
    occurred_at: Date
  }>({
    text: `
      SELECT measurement.id, measurement.customer_id, measurement.resource_id, measurement.feature_id, feature.ref_id AS feature_ref, measurement.occurred_at
      FROM usage_measurement AS measurement
      JOIN feature ON feature.environment_id = measurement.environment_id AND feature.id = measurement.feature_id
      WHERE measurement.environment_id = $1::uuid
        AND measurement.id = coalesce($2::uuid, (SELECT record_id FROM ingestion_key WHERE environment_id = $1::uuid AND hash = $3::bytea))`,
    values: [environmentId, 'id' in by ? by.id : null, 'hash' in by ? by.hash : null],
  })
  const row = rows[0]
  if (!row) return null
  return {
    id: row.id,
    customerId: row.customer_id,
    resourceId: row.resource_id,
    featureId: row.feature_id,
    featureRefId: row.feature_ref,
    occurredAt: row.occurred_at.getTime(),
  }
}

/** Null value: the measurement goes. Its key stays, so that a repeat of it is still recognised. False: as with an event. */
export async function changeMeasurement(
  db: pg.PoolClient,
  environmentId: string,
  { id, customerId, resourceId, featureRefId, occurredAt }: KeptMeasurement,
  value: Decimal | null,
): Promise<boolean> {
  const where = 'environment_id = $1::uuid AND id = $2::uuid'
  const { rows } = await db.query<{ value: string }>({
    text: `SELECT value::text FROM usage_measurement WHERE ${where} AND resource_id IS NOT DISTINCT FROM $3::uuid FOR UPDATE`,
    values: [environmentId, id, resourceId],
  })
  if (!rows[0]) return false
  if (value === null) await db.query({ text: `DELETE FROM usage_measurement WHERE ${where}`, values: [environmentId, id] })
  else await db.query({ text: `UPDATE usage_measurement SET value = $3::numeric WHERE ${where}`, values: [environmentId, id, value] })
  const fields = { customer: { id: customerId }, featureId: featureRefId, timestamp: toTime(occurredAt) }
  recordAudit(db, {
    environmentId,
    kind: 'USAGE_MEASUREMENT',
    id,
    before: { ...fields, value: fromText(rows[0].value) },
    after: value && { ...fields, value },
  })
  return true
}

/** A counter with what it counts. */
export interface KeptCounter extends CounterPeriod, SeriesScope {
  anchor: EpochMs | null
  /** Of the customer's state when it was written last. */
  version: EpochMs
}

/** All counters of a feature of the customers whose periods touch [from, to), whether their series win now or not. */
export async function findCountersOf(
  db: Queryable,
  environmentId: string,
  { featureId, customerIds, from, to }: { featureId: string; customerIds: string[]; from: EpochMs | null; to: EpochMs | null },
): Promise<KeptCounter[]> {
  const { rows } = await db.query<{
    series_id: string
    customer_id: string
    resource_id: string | null
    anchor: Date | null
    period_start: string | null
    period_end: string | null
    version: string
  }>({
    text: `
      SELECT series.id AS series_id, series.customer_id, series.resource_id, series.anchor, counter.version,
        CASE WHEN isfinite(counter.period_start) THEN floor(extract(epoch FROM counter.period_start) * 1000) END AS period_start,
        CASE WHEN isfinite(counter.period_end) THEN floor(extract(epoch FROM counter.period_end) * 1000) END AS period_end
      FROM unnest($3::uuid[]) AS asked (customer_id)
      CROSS JOIN LATERAL (
        SELECT * FROM usage_series WHERE environment_id = $1::uuid AND customer_id = asked.customer_id AND feature_id = $2::uuid
      ) AS series
      JOIN usage_counter AS counter ON counter.environment_id = $1::uuid AND counter.series_id = series.id
      WHERE counter.period_end > coalesce($4::timestamptz, '-infinity') AND counter.period_start < coalesce($5::timestamptz, 'infinity')`,
    values: [environmentId, featureId, customerIds, toTime(from), toTime(to)],
  })
  return rows.map((row) => ({
    seriesId: row.series_id,
    customerId: row.customer_id,
    resourceId: row.resource_id,
    featureId,
    anchor: row.anchor?.getTime() ?? null,
    start: row.period_start === null ? null : Number(row.period_start),
    end: row.period_end === null ? null : Number(row.period_end),
    version: Number(row.version),
  }))
}
