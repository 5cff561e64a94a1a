/** Raw SQL of reports: what a batch needs to know before it is decided, and the measurements and keys it stores. */
import type { EpochMs } from '../../../kernel/clock.js'
import * as decimal from '../../../kernel/decimal.js'
import { type Queryable, toTime } from '../../../platform/sql.js'
import type { Dimensions } from '../../model/report.js'
import type { UnitTransformation } from '../../model/unit-transformation.js'

export interface ReportedFeature {
  id: string
  refId: string
  meterType: 'None' | 'Fluctuating' | 'Incremental'
  /** It has a meter on raw events. */
  isMeteredByEvents: boolean
  unitTransformation: UnitTransformation | null
}

export interface KnownKey {
  /** Hex. */
  bodyHash: string | null
  measurementId: string
}

/** Of whom and of what. */
export interface StoredMeasurement {
  customerId: string
  resourceId: string | null
  featureId: string
}

export interface KnownFacts {
  /** By refId. */
  features: Map<string, ReportedFeature>
  /** Idempotency keys that were used before, by hash in hex. */
  keys: Map<string, KnownKey>
  /** Measurements that are stored already, by id. */
  stored: Map<string, StoredMeasurement>
  /** Of the catalog that the features were read from. */
  catalogVersion: number
}

/** Outside of any transaction: what it does not see in time, the unique keys do. */
export async function lookUpFacts(
  db: Queryable,
  environmentId: string,
  asked: { featureRefIds: string[]; keyHashes: Buffer[]; measurementIds: string[] },
): Promise<KnownFacts> {
  const { rows } = await db.query<{
    features:
      | {
          id: string
          ref: string
          meter: ReportedFeature['meterType']
          events: boolean
          divide: string | null
          round: 'UP' | 'DOWN' | null
        }[]
      | null
    keys: { hash: string; body: string | null; id: string }[] | null
    stored: { id: string; customer: string; resource: string | null; feature: string }[] | null
    catalog_version: string
  }>({
    name: 'metering_look_up_facts',
    text: `
      SELECT (
        SELECT json_agg(json_build_object('id', feature.id, 'ref', feature.ref_id, 'meter', feature.meter_type, 'events', meter.feature_id IS NOT NULL,
          'divide', feature.unit_divide::text, 'round', feature.unit_rounding))
        FROM unnest($2::text[]) AS asked (ref_id)
        CROSS JOIN LATERAL (SELECT * FROM feature WHERE environment_id = $1::uuid AND ref_id = asked.ref_id LIMIT 1) AS feature
        LEFT JOIN LATERAL (SELECT feature_id FROM meter WHERE environment_id = $1::uuid AND feature_id = feature.id LIMIT 1) AS meter ON true
      ) AS features, (
        SELECT json_agg(json_build_object('hash', encode(key.hash, 'hex'), 'body', encode(key.body_hash, 'hex'), 'id', key.record_id))
        FROM unnest($3::bytea[]) AS asked (hash)
        CROSS JOIN LATERAL (SELECT * FROM ingestion_key WHERE environment_id = $1::uuid AND hash = asked.hash LIMIT 1) AS key
      ) AS keys, (
        SELECT json_agg(json_build_object('id', measurement.id, 'customer', customer_id, 'resource', resource_id, 'feature', feature_id))
        FROM unnest($4::uuid[]) AS asked (id)
        CROSS JOIN LATERAL (SELECT id, customer_id, resource_id, feature_id FROM usage_measurement WHERE environment_id = $1::uuid AND id = asked.id LIMIT 1) AS measurement
      ) AS stored, (SELECT catalog_version FROM environment WHERE id = $1::uuid) AS catalog_version`,
    values: [environmentId, asked.featureRefIds, asked.keyHashes, asked.measurementIds],
  })
  const { features, keys, stored, catalog_version } = rows[0]!
  return {
    features: new Map(
      (features ?? []).map((f) => [
        f.ref,
        {
          id: f.id,
          refId: f.ref,
          meterType: f.meter,
          isMeteredByEvents: f.events,
          unitTransformation: f.divide === null ? null : { divide: Number(f.divide), round: f.round ?? 'UP' },
        },
      ]),
    ),
    keys: new Map((keys ?? []).map(({ hash, body, id }) => [hash, { bodyHash: body, measurementId: id }])),
    stored: new Map((stored ?? []).map((m) => [m.id, { customerId: m.customer, resourceId: m.resource, featureId: m.feature }])),
    catalogVersion: Number(catalog_version),
  }
}

/** A measurement to be stored, in the order of counting. */
export interface NewMeasurement {
  id: string
  customerId: string
  resourceId: string | null
  featureId: string
  value: decimal.Decimal
  behavior: 'DELTA' | 'SET'
  occurredAt: EpochMs
  dimensions: Dimensions | null
  /** Null: without an idempotency key. */
  key: { hash: Buffer; bodyHash: Buffer } | null
}

/**
 * Stores measurements and claims their keys. Answers false when any of them was there already: then nothing may be counted, and the transaction is
 * to be rolled back. Keys are claimed in the order of their hashes, so that two batches never wait for each other.
 */
export async function storeMeasurements(db: Queryable, environmentId: string, measurements: NewMeasurement[]): Promise<boolean> {
  const keyed = measurements.filter((m) => m.key !== null).sort((a, b) => a.key!.hash.compare(b.key!.hash))
  const { rows } = await db.query<{ claimed: string; stored: string }>({
    name: 'metering_store_measurements',
    text: `
      WITH claimed AS (
        INSERT INTO ingestion_key (environment_id, hash, body_hash, record_id)
        SELECT $1::uuid, hash, body_hash, record_id
        FROM unnest($10::bytea[], $11::bytea[], $12::uuid[]) WITH ORDINALITY AS given (hash, body_hash, record_id, ord) ORDER BY ord
        ON CONFLICT DO NOTHING RETURNING 1
      ), stored AS (
        INSERT INTO usage_measurement (environment_id, id, customer_id, resource_id, feature_id, value, behavior, occurred_at, dimensions)
        SELECT $1::uuid, id, customer_id, resource_id, feature_id, value, behavior, occurred_at, dimensions
        FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::numeric[], $7::usage_update_behavior[], $8::timestamptz[], $9::jsonb[])
          WITH ORDINALITY AS given (id, customer_id, resource_id, feature_id, value, behavior, occurred_at, dimensions, ord) ORDER BY ord
        ON CONFLICT DO NOTHING RETURNING 1
      )
      SELECT (SELECT count(*) FROM claimed) AS claimed, (SELECT count(*) FROM stored) AS stored`,
    values: [
      environmentId,
      measurements.map((m) => m.id),
      measurements.map((m) => m.customerId),
      measurements.map((m) => m.resourceId),
      measurements.map((m) => m.featureId),
      measurements.map((m) => m.value),
      measurements.map((m) => m.behavior),
      measurements.map((m) => toTime(m.occurredAt)),
      measurements.map((m) => (m.dimensions === null ? null : JSON.stringify(m.dimensions))),
      keyed.map((m) => m.key!.hash),
      keyed.map((m) => m.key!.bodyHash),
      keyed.map((m) => m.id),
    ],
  })
  return Number(rows[0]!.claimed) === keyed.length && Number(rows[0]!.stored) === measurements.length
}
