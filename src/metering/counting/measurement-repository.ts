/** Raw SQL that reads measurements: what is stored of reports. */
import type { EpochMs } from '../../kernel/clock.js'
import { type Decimal, fromText } from '../../kernel/decimal.js'
import { endTime, type Queryable, startTime, toTime } from '../../platform/sql.js'
import { ownPart, splitByBuckets, type TimeRange } from '../model/bucket.js'
import type { SeriesScope } from './series-repository.js'

/** What a counter adds up: [from, to) of a feature, over the customer and all its resources or of one resource. Null: without bound. */
export interface UsageRange extends SeriesScope {
  from: EpochMs | null
  to: EpochMs | null
}

export function rangeColumns(ranges: UsageRange[]): unknown[] {
  return [
    ranges.map((r) => r.customerId),
    ranges.map((r) => r.resourceId),
    ranges.map((r) => r.featureId),
    ranges.map((r) => startTime(r.from)),
    ranges.map((r) => endTime(r.to)),
  ]
}

/** [from, to) of one part of a customer's feature. Null: without bound. */
export interface PartRange {
  customerId: string
  featureId: string
  /** Null: the customer's own part. */
  resourceId: string | null
  from: EpochMs | null
  to: EpochMs | null
}

/** The time of the last SET in each range; null: there is none. Costs the same whatever else was reported. */
export async function findLastSets(db: Queryable, environmentId: string, ranges: readonly PartRange[]): Promise<(EpochMs | null)[]> {
  const { rows } = await db.query<{ ord: number; occurred_at: Date }>({
    name: 'metering_find_last_sets',
    text: `
      SELECT asked.ord::int AS ord, last.occurred_at
      FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::timestamptz[])
        WITH ORDINALITY AS asked (customer_id, part_id, feature_id, from_time, to_time, ord)
      CROSS JOIN LATERAL (
        SELECT occurred_at FROM usage_measurement
        WHERE environment_id = $1::uuid AND customer_id = asked.customer_id AND feature_id = asked.feature_id
          AND coalesce(resource_id, '${ownPart}') = asked.part_id AND behavior = 'SET'
          AND occurred_at >= asked.from_time AND occurred_at < asked.to_time
        ORDER BY occurred_at DESC LIMIT 1
      ) AS last`,
    values: [environmentId, ...rangeColumns(ranges.map(ofPart))],
  })
  const found = new Map(rows.map(({ ord, occurred_at }) => [ord - 1, occurred_at.getTime()]))
  return ranges.map((_, index) => found.get(index) ?? null)
}

const ofPart = (range: PartRange): UsageRange => ({ ...range, resourceId: range.resourceId ?? ownPart })

/**
 * The stored measurements of each range, added up: per resource, the last SET by (time, sequence) and every DELTA after it. Where nothing but reports
 * is rolled up (`isReported`), whole buckets are read as such, so it costs as much as the range has buckets and its first and last one measurements.
 */
export function sumMeasurements(
  db: Queryable,
  environmentId: string,
  ranges: (UsageRange & { isReported: boolean })[],
): Promise<Decimal[]> {
  const wholes = ranges.map((range) => (range.isReported ? splitByBuckets(range, null).whole : null))
  return sum(db, environmentId, 'metering_sum_measurements', {
    ranges,
    wholes,
    isIn: (part) => `(asked.part_id IS NULL OR ${part} = asked.part_id)`,
  })
}

/** The same of one part each, of features that are reported. Buckets of other parts are not looked at. */
export function sumParts(db: Queryable, environmentId: string, parts: readonly PartRange[]): Promise<Decimal[]> {
  const wholes = parts.map((range) => splitByBuckets(range, null).whole)
  return sum(db, environmentId, 'metering_sum_parts', { ranges: parts.map(ofPart), wholes, isIn: (part) => `${part} = asked.part_id` })
}

async function sum(
  db: Queryable,
  environmentId: string,
  name: string,
  { ranges, wholes, isIn }: { ranges: UsageRange[]; wholes: (TimeRange | null)[]; isIn: (part: string) => string },
): Promise<Decimal[]> {
  const measured = `coalesce(resource_id, '${ownPart}')`
  const { rows } = await db.query<{ usage: string }>({
    name,
    text: `
      SELECT coalesce(total.usage, 0)::text AS usage
      FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[])
        WITH ORDINALITY AS asked (customer_id, part_id, feature_id, from_time, to_time, first_bucket, end_of_buckets, ord)
      CROSS JOIN LATERAL (
        WITH counted AS MATERIALIZED (
          SELECT ${measured} AS part, value, behavior = 'SET' AS is_level, occurred_at, sequence
          FROM usage_measurement
          WHERE environment_id = $1::uuid AND customer_id = asked.customer_id AND feature_id = asked.feature_id
            AND occurred_at >= asked.from_time AND occurred_at < least(asked.first_bucket, asked.to_time) AND ${isIn(measured)}
          UNION ALL
          SELECT part_id, usage, is_level, bucket_start, 0
          FROM usage_rollup
          WHERE environment_id = $1::uuid AND customer_id = asked.customer_id AND feature_id = asked.feature_id
            AND bucket_start >= asked.first_bucket AND bucket_start < asked.end_of_buckets AND ${isIn('usage_rollup.part_id')}
          UNION ALL
          SELECT ${measured}, value, behavior = 'SET', occurred_at, sequence
          FROM usage_measurement
          WHERE environment_id = $1::uuid AND customer_id = asked.customer_id AND feature_id = asked.feature_id
            AND occurred_at >= asked.end_of_buckets AND occurred_at < asked.to_time AND ${isIn(measured)}
        ), last_level AS (
          SELECT DISTINCT ON (part) part, occurred_at, sequence FROM counted WHERE is_level ORDER BY part, occurred_at DESC, sequence DESC
        )
        SELECT sum(counted.value) AS usage
        FROM counted LEFT JOIN last_level ON last_level.part = counted.part
        WHERE last_level.part IS NULL OR (counted.occurred_at, counted.sequence) >= (last_level.occurred_at, last_level.sequence)
      ) AS total
      ORDER BY asked.ord`,
    values: [
      environmentId,
      ...rangeColumns(ranges),
      // Without buckets they begin after everything.
      wholes.map((whole) => (whole ? startTime(whole.from) : endTime(null))),
      wholes.map((whole) => endTime(whole?.to ?? null)),
    ],
  })
  return rows.map(({ usage }) => fromText(usage))
}

/** For each (customer, feature), the latest time of a measurement that is dated after `at`; absent where there is none. */
export async function findDatedAhead(
  db: Queryable,
  environmentId: string,
  asked: { customerId: string; featureId: string; at: EpochMs }[],
): Promise<Map<number, EpochMs>> {
  const { rows } = await db.query<{ ord: number; latest: Date }>({
    name: 'metering_find_dated_ahead',
    text: `
      SELECT asked.ord::int AS ord, ahead.occurred_at AS latest
      FROM unnest($2::uuid[], $3::uuid[], $4::timestamptz[]) WITH ORDINALITY AS asked (customer_id, feature_id, at, ord)
      CROSS JOIN LATERAL (
        SELECT occurred_at FROM usage_measurement
        WHERE environment_id = $1::uuid AND customer_id = asked.customer_id AND feature_id = asked.feature_id AND occurred_at > asked.at
        ORDER BY occurred_at DESC, sequence DESC LIMIT 1
      ) AS ahead`,
    values: [environmentId, asked.map((a) => a.customerId), asked.map((a) => a.featureId), asked.map((a) => toTime(a.at))],
  })
  return new Map(rows.map(({ ord, latest }) => [ord - 1, latest.getTime()]))
}
