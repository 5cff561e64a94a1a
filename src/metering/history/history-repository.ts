/** Raw SQL that history is read with. */
import type { EpochMs } from '../../kernel/clock.js'
import { type Queryable, startTime, toTime } from '../../platform/sql.js'
import type { Aggregation } from '../model/meter.js'
import type { UnitTransformation } from '../model/unit-transformation.js'

/** Whose usage of what is read; null where there is no such thing. Ids are ours. */
export interface Measured {
  customerId: string | null
  timeZone: string
  resourceId: string | null
  feature: {
    id: string
    meterType: 'None' | 'Fluctuating' | 'Incremental'
    /** Null: usage is reported. */
    aggregation: Aggregation | null
    unitTransformation: UnitTransformation | null
  } | null
}

export async function findMeasured(
  db: Queryable,
  environmentId: string,
  asked: { customerId: string; resourceId: string | null; featureId: string },
): Promise<Measured> {
  const { rows } = await db.query<{
    customer: string | null
    timezone: string | null
    resource: string | null
    feature: string | null
    meter_type: 'None' | 'Fluctuating' | 'Incremental'
    aggregation: Aggregation | null
    divide: string | null
    round: 'UP' | 'DOWN' | null
  }>({
    text: `
      SELECT customer.id AS customer, customer.timezone, resource.id AS resource, feature.id AS feature, feature.meter_type, meter.aggregation,
        feature.unit_divide::text AS divide, feature.unit_rounding AS round
      FROM (SELECT) AS always
      LEFT JOIN customer ON customer.environment_id = $1::uuid AND customer.ref_id = $2
      LEFT JOIN customer_resource AS resource ON resource.environment_id = $1::uuid AND resource.customer_id = customer.id AND resource.ref_id = $3
      LEFT JOIN feature ON feature.environment_id = $1::uuid AND feature.ref_id = $4
      LEFT JOIN meter ON meter.environment_id = $1::uuid AND meter.feature_id = feature.id`,
    values: [environmentId, asked.customerId, asked.resourceId, asked.featureId],
  })
  const row = rows[0]!
  return {
    customerId: row.customer,
    timeZone: row.timezone ?? 'UTC',
    resourceId: row.resource,
    feature:
      row.feature === null
        ? null
        : {
            id: row.feature,
            meterType: row.meter_type,
            aggregation: row.aggregation,
            unitTransformation: row.divide === null ? null : { divide: Number(row.divide), round: row.round ?? 'UP' },
          },
  }
}

export interface HistoryScope {
  customerId: string
  featureId: string
  /** Null: the customer with all its resources. */
  resourceId: string | null
}

/** Usage of a part at the end of the slice between two cuts, since the last reset before it. */
export interface PartUsage {
  part: string
  /** Index of the cut that the slice begins at. */
  cut: number
  /** Index of the reset that the slice belongs to; -1: before the first. */
  period: number
  usage: string
  events: number
}

/**
 * Usage in [first cut or reset, last cut), per part and slice in which there was some. Cuts and resets are sorted. Costs as much as there are quarters of
 * an hour with usage, whatever was reported in them.
 */
export async function readRollups(
  db: Queryable,
  environmentId: string,
  { customerId, featureId, resourceId }: HistoryScope,
  { from, cuts, resets, aggregation }: { from: EpochMs | null; cuts: EpochMs[]; resets: EpochMs[]; aggregation: Aggregation },
): Promise<PartUsage[]> {
  const running = aggregation === 'MAX' ? 'max(usage)' : aggregation === 'MIN' ? 'min(usage)' : 'sum(usage)'
  const { rows } = await db.query<{ part: string; cut: number; period: number; usage: string; events: string }>({
    text: `
      WITH sliced AS (
        SELECT part_id, bucket_start, usage, events,
          width_bucket(bucket_start, $6::timestamptz[]) AS cut, width_bucket(bucket_start, $7::timestamptz[]) AS period,
          count(*) FILTER (WHERE is_level) OVER (PARTITION BY part_id ORDER BY bucket_start) AS level
        FROM usage_rollup
        WHERE environment_id = $1::uuid AND customer_id = $2::uuid AND feature_id = $3::uuid AND ($4::uuid IS NULL OR part_id = $4::uuid)
          AND bucket_start >= $5::timestamptz AND bucket_start < $8::timestamptz
      ), running AS (
        SELECT part_id, bucket_start, cut, period,
          ${running} OVER since AS usage, sum(events) OVER since AS events
        FROM sliced WINDOW since AS (PARTITION BY part_id, period, level ORDER BY bucket_start)
      )
      SELECT DISTINCT ON (part_id, cut, period) part_id AS part, cut - 1 AS cut, period - 1 AS period, usage::text, events
      FROM running ORDER BY part_id, cut, period, bucket_start DESC`,
    values: [environmentId, customerId, featureId, resourceId, startTime(from), cuts.map(toTime), resets.map(toTime), toTime(cuts.at(-1)!)],
  })
  return rows.map(({ part, cut, period, usage, events }) => ({ part, cut, period, usage, events: Number(events) }))
}

/** New members of a UNIQUE meter, per slice. A member counts where its period first counted it. */
export async function readNewMembers(
  db: Queryable,
  environmentId: string,
  { customerId, featureId, resourceId }: HistoryScope,
  { from, cuts, resets }: { from: EpochMs | null; cuts: EpochMs[]; resets: EpochMs[] },
): Promise<{ cut: number; period: number; members: number }[]> {
  const { rows } = await db.query<{ cut: number; period: number; members: string }>({
    text: `
      SELECT width_bucket(first_at, $6::timestamptz[]) - 1 AS cut, width_bucket(first_at, $7::timestamptz[]) - 1 AS period, count(DISTINCT member) AS members
      FROM usage_series AS series
      JOIN usage_member AS member ON member.environment_id = $1::uuid AND member.series_id = series.id
      WHERE series.environment_id = $1::uuid AND series.customer_id = $2::uuid AND series.feature_id = $3::uuid
        AND series.resource_id IS NOT DISTINCT FROM $4::uuid AND first_at >= $5::timestamptz AND first_at < $8::timestamptz
      GROUP BY 1, 2`,
    values: [environmentId, customerId, featureId, resourceId, startTime(from), cuts.map(toTime), resets.map(toTime), toTime(cuts.at(-1)!)],
  })
  return rows.map(({ cut, period, members }) => ({ cut, period, members: Number(members) }))
}
