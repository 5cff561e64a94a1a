/**
 * Raw SQL of rollups: usage by the quarter of an hour, which the hours of every time zone are made of. Kept in the transaction that counts, so history
 * never reads what it is made from.
 *
 * part   the usage of one resource, or (nil) the customer's own; a SET replaces the usage of one part
 */
import type { EpochMs } from '../../kernel/clock.js'
import { type Decimal, fromText } from '../../kernel/decimal.js'
import { endTime, plainArray, type Queryable, startTime, toTime } from '../../platform/sql.js'
import { ownPart } from '../model/bucket.js'
import type { Aggregation } from '../model/meter.js'
import { rangeColumns, type UsageRange } from './measurement-repository.js'

export interface RollupBucket {
  customerId: string
  featureId: string
  /** Null: the customer's own. */
  resourceId: string | null
  bucket: EpochMs
}

export interface RollupChange extends RollupBucket {
  /** UNIQUE only where there are groupings: its members tell when they came, and the value is 0. */
  aggregation: Aggregation
  value: Decimal
  events: number
  /** Version of the meter; null: of several. */
  meterVersion: number | null
}

/** What the buckets of each range have of a version of the meter; null where they have something else too. Ranges are on bucket boundaries. */
export async function sumRollups(
  db: Queryable,
  environmentId: string,
  ranges: (UsageRange & { meterVersion: number; aggregation: Aggregation })[],
): Promise<({ value: Decimal; events: number } | null)[]> {
  const { rows } = await db.query<{ usage: string; events: string; is_other: boolean }>({
    name: 'metering_sum_rollups',
    text: `
      SELECT coalesce(total.usage, 0)::text AS usage, coalesce(total.events, 0) AS events, coalesce(total.is_other, false) AS is_other
      FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::timestamptz[], $7::int[], $8::text[])
        WITH ORDINALITY AS asked (customer_id, resource_id, feature_id, from_time, to_time, meter_version, aggregation, ord)
      CROSS JOIN LATERAL (
        SELECT CASE asked.aggregation WHEN 'MAX' THEN max(usage) WHEN 'MIN' THEN min(usage) ELSE sum(usage) END AS usage, sum(events) AS events,
          bool_or(events = 0 OR meter_version IS DISTINCT FROM asked.meter_version) AS is_other
        FROM usage_rollup
        WHERE environment_id = $1::uuid AND customer_id = asked.customer_id AND feature_id = asked.feature_id
          AND bucket_start >= asked.from_time AND bucket_start < asked.to_time AND (asked.resource_id IS NULL OR part_id = asked.resource_id)
      ) AS total
      ORDER BY asked.ord`,
    values: [environmentId, ...rangeColumns(ranges), ranges.map((r) => r.meterVersion), ranges.map((r) => r.aggregation)],
  })
  return rows.map(({ usage, events, is_other }) => (is_other ? null : { value: fromText(usage), events: Number(events) }))
}

/** Adds events to what is rolled up. */
export async function addToRollups(db: Queryable, environmentId: string, changes: RollupChange[]): Promise<void> {
  const isSum = changes.every(({ aggregation }) => aggregation !== 'MAX' && aggregation !== 'MIN')
  await writeRollups(db, environmentId, changes, isSum ? 'sum' : 'any')
}

/** Has [from, to), on bucket boundaries, say what the changes say, and nothing else. */
export async function replaceRollups(
  db: Queryable,
  environmentId: string,
  ranges: { customerId: string; featureId: string; from: EpochMs | null; to: EpochMs | null }[],
  changes: RollupChange[],
): Promise<void> {
  await db.query({
    name: 'metering_drop_rollups',
    text: `
      DELETE FROM usage_rollup USING unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::timestamptz[]) AS given (customer_id, feature_id, from_time, to_time)
      WHERE environment_id = $1::uuid AND usage_rollup.customer_id = given.customer_id AND usage_rollup.feature_id = given.feature_id
        AND bucket_start >= given.from_time AND bucket_start < given.to_time`,
    values: [
      environmentId,
      ranges.map((r) => r.customerId),
      ranges.map((r) => r.featureId),
      ranges.map((r) => startTime(r.from)),
      ranges.map((r) => endTime(r.to)),
    ],
  })
  if (changes.length > 0) await writeRollups(db, environmentId, changes, 'replace')
}

/**
 * The usage of a row (`rollup`) with that of another (`excluded`) of the same time and part. `aggregation`: SQL of the aggregation of the meter. What no
 * event has counted is no largest and no smallest.
 */
export const mergedUsage = (aggregation: string): string => `CASE (${aggregation})
  WHEN 'MAX' THEN CASE WHEN rollup.events = 0 THEN excluded.usage WHEN excluded.events = 0 THEN rollup.usage ELSE greatest(rollup.usage, excluded.usage) END
  WHEN 'MIN' THEN CASE WHEN rollup.events = 0 THEN excluded.usage WHEN excluded.events = 0 THEN rollup.usage ELSE least(rollup.usage, excluded.usage) END
  ELSE rollup.usage + excluded.usage END`

/** How usage is added to what is there; `measured` names the features, unless nothing is but sums. */
const added = {
  sum: 'rollup.usage + excluded.usage',
  any: mergedUsage(
    'SELECT aggregation FROM unnest($9::uuid[], $10::text[]) AS measured (feature_id, aggregation) WHERE measured.feature_id = rollup.feature_id',
  ),
  replace: 'excluded.usage',
}

/** The version that a row's events were counted with once others are added; null: with several. */
export const mergedMeterVersion =
  'CASE WHEN rollup.events = 0 OR rollup.meter_version = excluded.meter_version THEN excluded.meter_version WHEN excluded.events = 0 THEN rollup.meter_version END'

async function writeRollups(db: Queryable, environmentId: string, changes: RollupChange[], how: keyof typeof added): Promise<void> {
  await db.query({
    name: `metering_rollups_${how}`,
    text: `
      INSERT INTO usage_rollup AS rollup (environment_id, customer_id, feature_id, part_id, bucket_start, usage, events, meter_version)
      SELECT $1::uuid, customer_id, feature_id, part_id, bucket_start, value, events, meter_version
      FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::numeric[], $7::bigint[], $8::int[])
        AS given (customer_id, feature_id, part_id, bucket_start, value, events, meter_version)
      ON CONFLICT (environment_id, customer_id, feature_id, part_id, bucket_start) DO UPDATE SET
        usage = ${added[how]},
        events = ${how === 'replace' ? 'excluded.events' : 'rollup.events + excluded.events'},
        meter_version = ${how === 'replace' ? 'excluded.meter_version' : mergedMeterVersion}`,
    values: [
      environmentId,
      plainArray(changes.map((c) => c.customerId)),
      plainArray(changes.map((c) => c.featureId)),
      plainArray(changes.map((c) => c.resourceId ?? ownPart)),
      plainArray(changes.map((c) => toTime(c.bucket))),
      plainArray(changes.map((c) => c.value)),
      plainArray(changes.map((c) => c.events)),
      plainArray(changes.map((c) => c.meterVersion)),
      ...(how === 'any' ? aggregationColumns(changes) : []),
    ],
  })
}

function aggregationColumns(changes: RollupChange[]): [string[], string[]] {
  const aggregations = new Map(changes.map(({ featureId, aggregation }) => [featureId, aggregation]))
  return [[...aggregations.keys()], [...aggregations.values()]]
}

/** What reports bring to a bucket: `value` is added to what it has, or it is set to it. */
export interface ReportedRollup extends RollupBucket {
  isSet: boolean
  value: Decimal
}

/** Adds reports to what is rolled up, or sets it. Buckets are distinct. */
export async function writeReportedRollups(db: Queryable, environmentId: string, buckets: ReportedRollup[]): Promise<void> {
  await db.query({
    name: 'metering_write_reported_rollups',
    text: `
      INSERT INTO usage_rollup AS rollup (environment_id, customer_id, feature_id, part_id, bucket_start, usage, events, is_level)
      SELECT $1::uuid, customer_id, feature_id, part_id, bucket_start, value, 0, is_set
      FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::numeric[], $7::boolean[])
        AS given (customer_id, feature_id, part_id, bucket_start, value, is_set)
      ON CONFLICT (environment_id, customer_id, feature_id, part_id, bucket_start) DO UPDATE SET
        usage = CASE WHEN excluded.is_level THEN excluded.usage ELSE rollup.usage + excluded.usage END,
        is_level = rollup.is_level OR excluded.is_level`,
    values: [
      environmentId,
      plainArray(buckets.map((b) => b.customerId)),
      plainArray(buckets.map((b) => b.featureId)),
      plainArray(buckets.map((b) => b.resourceId ?? ownPart)),
      plainArray(buckets.map((b) => toTime(b.bucket))),
      plainArray(buckets.map((b) => b.value)),
      plainArray(buckets.map((b) => b.isSet)),
    ],
  })
}

/** Rolls up the measurements of the buckets anew: their last SET, if there is one, and what follows it. Costs as much as the buckets have. */
export async function rollUpMeasurements(db: Queryable, environmentId: string, buckets: RollupBucket[]): Promise<void> {
  await db.query({
    name: 'metering_roll_up_measurements',
    text: `
      WITH asked AS MATERIALIZED (
        SELECT DISTINCT * FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[]) AS asked (customer_id, feature_id, part_id, bucket_start)
      ), rolled AS MATERIALIZED (
        SELECT asked.*, total.usage, total.is_level
        FROM asked CROSS JOIN LATERAL (
          WITH counted AS MATERIALIZED (
            SELECT value, behavior, occurred_at, sequence FROM usage_measurement
            WHERE environment_id = $1::uuid AND customer_id = asked.customer_id AND feature_id = asked.feature_id
              AND occurred_at >= asked.bucket_start AND occurred_at < asked.bucket_start + interval '15 minutes'
              AND coalesce(resource_id, '${ownPart}') = asked.part_id
          ), last_set AS (
            SELECT occurred_at, sequence FROM counted WHERE behavior = 'SET' ORDER BY occurred_at DESC, sequence DESC LIMIT 1
          )
          SELECT coalesce(sum(value), 0) AS usage, EXISTS (SELECT FROM last_set) AS is_level FROM counted
          WHERE NOT EXISTS (SELECT FROM last_set) OR (occurred_at, sequence) >= (SELECT occurred_at, sequence FROM last_set)
        ) AS total
      )
      INSERT INTO usage_rollup (environment_id, customer_id, feature_id, part_id, bucket_start, usage, events, is_level)
      SELECT $1::uuid, customer_id, feature_id, part_id, bucket_start, usage, 0, is_level FROM rolled
      ON CONFLICT (environment_id, customer_id, feature_id, part_id, bucket_start)
        DO UPDATE SET usage = excluded.usage, is_level = excluded.is_level`,
    values: [
      environmentId,
      buckets.map((b) => b.customerId),
      buckets.map((b) => b.featureId),
      buckets.map((b) => b.resourceId ?? ownPart),
      buckets.map((b) => toTime(b.bucket)),
    ],
  })
}

/** Adds what was reported in the ranges to what is rolled up of their events: a feature may have got its meter later. */
export async function addMeasurementsToRollups(
  db: Queryable,
  environmentId: string,
  ranges: { customerId: string; featureId: string; from: EpochMs | null; to: EpochMs | null }[],
): Promise<void> {
  await db.query({
    name: 'metering_add_measurements_to_rollups',
    text: `
      WITH counted AS MATERIALIZED (
        SELECT measurement.customer_id, measurement.feature_id, coalesce(resource_id, '${ownPart}') AS part_id,
          date_bin('15 minutes', occurred_at, 'epoch') AS bucket_start, value, behavior, occurred_at, sequence
        FROM unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::timestamptz[]) AS given (customer_id, feature_id, from_time, to_time)
        JOIN usage_measurement AS measurement ON measurement.environment_id = $1::uuid AND measurement.customer_id = given.customer_id
          AND measurement.feature_id = given.feature_id AND occurred_at >= given.from_time AND occurred_at < given.to_time
      ), last_set AS (
        SELECT DISTINCT ON (customer_id, feature_id, part_id, bucket_start) customer_id, feature_id, part_id, bucket_start, occurred_at, sequence
        FROM counted WHERE behavior = 'SET' ORDER BY customer_id, feature_id, part_id, bucket_start, occurred_at DESC, sequence DESC
      )
      INSERT INTO usage_rollup AS rollup (environment_id, customer_id, feature_id, part_id, bucket_start, usage, events, is_level)
      SELECT $1::uuid, customer_id, feature_id, part_id, bucket_start, sum(value), 0, bool_or(last_set.sequence IS NOT NULL)
      FROM counted LEFT JOIN last_set USING (customer_id, feature_id, part_id, bucket_start)
      WHERE last_set.sequence IS NULL OR (counted.occurred_at, counted.sequence) >= (last_set.occurred_at, last_set.sequence)
      GROUP BY customer_id, feature_id, part_id, bucket_start
      ON CONFLICT (environment_id, customer_id, feature_id, part_id, bucket_start)
        DO UPDATE SET usage = rollup.usage + excluded.usage, is_level = excluded.is_level`,
    values: [
      environmentId,
      ranges.map((r) => r.customerId),
      ranges.map((r) => r.featureId),
      ranges.map((r) => startTime(r.from)),
      ranges.map((r) => endTime(r.to)),
    ],
  })
}
