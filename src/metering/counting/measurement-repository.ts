/** Raw SQL that reads measurements: what is stored of reports. */
import type { EpochMs } from '../../kernel/clock.js'
import { type Decimal, fromText } from '../../kernel/decimal.js'
import { endTime, type Queryable, startTime, toTime } from '../../platform/sql.js'
import { ownPart, splitByBuckets } from '../model/bucket.js'
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

/**
 * The stored measurements of each range, added up: per resource, the last SET by (time, sequence) and every DELTA after it. Where nothing but reports
 * is rolled up (`isReported`), whole buckets are read as such, so it costs as much as the range has buckets and its first and last one measurements.
 */
export async function sumMeasurements(
  db: Queryable,
  environmentId: string,
  ranges: (UsageRange & { isReported: boolean })[],
): Promise<Decimal[]> {
  const wholes = ranges.map((range) => (range.isReported ? splitByBuckets(range, null).whole : null))
  const { rows } = await db.query<{ usage: string }>({
    name: 'metering_sum_measurements',
    text: `
      SELECT coalesce(total.usage, 0)::text AS usage
      FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[])
        WITH ORDINALITY AS asked (customer_id, resource_id, feature_id, from_time, to_time, first_bucket, end_of_buckets, ord)
      CROSS JOIN LATERAL (
        WITH counted AS MATERIALIZED (
          SELECT coalesce(resource_id, '${ownPart}') AS part, value, behavior = 'SET' AS is_level, occurred_at, sequence
          FROM usage_measurement
          WHERE environment_id = $1::uuid AND customer_id = asked.customer_id AND feature_id = asked.feature_id
            AND occurred_at >= asked.from_time AND occurred_at < least(asked.first_bucket, asked.to_time)
            AND (asked.resource_id IS NULL OR resource_id = asked.resource_id)
          UNION ALL
          SELECT part_id, usage, is_level, bucket_start, 0
          FROM usage_rollup
          WHERE environment_id = $1::uuid AND customer_id = asked.customer_id AND feature_id = asked.feature_id
            AND bucket_start >= asked.first_bucket AND bucket_start < asked.end_of_buckets
            AND (asked.resource_id IS NULL OR part_id = asked.resource_id)
          UNION ALL
          SELECT coalesce(resource_id, '${ownPart}'), value, behavior = 'SET', occurred_at, sequence
          FROM usage_measurement
          WHERE environment_id = $1::uuid AND customer_id = asked.customer_id AND feature_id = asked.feature_id
            AND occurred_at >= asked.end_of_buckets AND occurred_at < asked.to_time
            AND (asked.resource_id IS NULL OR resource_id = asked.resource_id)
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
