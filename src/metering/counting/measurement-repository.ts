/** Raw SQL that reads measurements: what is stored of reports. */
import type { EpochMs } from '../../kernel/clock.js'
import { type Decimal, fromText } from '../../kernel/decimal.js'
import { endTime, type Queryable, startTime, toTime } from '../../platform/sql.js'
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
 * The stored measurements of each range, added up: per resource, the last SET by (time, sequence) and every DELTA after it. Costs as much as the
 * range has measurements.
 */
export async function sumMeasurements(db: Queryable, environmentId: string, ranges: UsageRange[]): Promise<Decimal[]> {
  const { rows } = await db.query<{ usage: string }>({
    name: 'metering_sum_measurements',
    text: `
      SELECT coalesce(total.usage, 0)::text AS usage
      FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::timestamptz[])
        WITH ORDINALITY AS asked (customer_id, resource_id, feature_id, from_time, to_time, ord)
      CROSS JOIN LATERAL (
        WITH counted AS MATERIALIZED (
          SELECT coalesce(resource_id, '00000000-0000-0000-0000-000000000000') AS part, value, behavior, occurred_at, sequence
          FROM usage_measurement
          WHERE environment_id = $1::uuid AND customer_id = asked.customer_id AND feature_id = asked.feature_id
            AND occurred_at >= asked.from_time AND occurred_at < asked.to_time
            AND (asked.resource_id IS NULL OR resource_id = asked.resource_id)
        ), last_set AS (
          SELECT DISTINCT ON (part) part, occurred_at, sequence FROM counted WHERE behavior = 'SET' ORDER BY part, occurred_at DESC, sequence DESC
        )
        SELECT sum(counted.value) AS usage
        FROM counted LEFT JOIN last_set ON last_set.part = counted.part
        WHERE last_set.part IS NULL OR (counted.occurred_at, counted.sequence) >= (last_set.occurred_at, last_set.sequence)
      ) AS total
      ORDER BY asked.ord`,
    values: [environmentId, ...rangeColumns(ranges)],
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
