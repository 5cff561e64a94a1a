/** Raw SQL of usage series. Who creates them, or reads them to count, holds the customers' locks. */
import { type Queryable, toTime } from '../../platform/sql.js'
import type { UsageSeries } from '../model/series.js'

interface SeriesRow {
  id: string
  customer_id: string
  resource_id: string | null
  feature_id: string
  reset_period: UsageSeries['resetPeriod']
  reset_rule: UsageSeries['resetRule']
  anchor: Date | null
  timezone: string | null
}

export interface StoredSeries extends UsageSeries {
  id: string
}

export interface SeriesScope {
  customerId: string
  /** Null: the customer's totals. */
  resourceId: string | null
  featureId: string
}

/** Every series there is in the scopes. */
export async function findSeries(db: Queryable, environmentId: string, scopes: SeriesScope[]): Promise<StoredSeries[]> {
  const { rows } = await db.query<SeriesRow>({
    name: 'metering_find_series',
    text: `
      SELECT series.id, series.customer_id, series.resource_id, series.feature_id, series.reset_period, series.reset_rule, series.anchor, series.timezone
      FROM unnest($2::uuid[], $3::uuid[], $4::uuid[]) AS scope (customer_id, resource_id, feature_id)
      CROSS JOIN LATERAL (
        SELECT * FROM usage_series
        WHERE environment_id = $1::uuid AND customer_id = scope.customer_id AND feature_id = scope.feature_id AND resource_id IS NOT DISTINCT FROM scope.resource_id
      ) AS series`,
    values: [environmentId, scopes.map((s) => s.customerId), scopes.map((s) => s.resourceId), scopes.map((s) => s.featureId)],
  })
  return rows.map((row) => ({
    id: row.id,
    customerId: row.customer_id,
    resourceId: row.resource_id,
    featureId: row.feature_id,
    resetPeriod: row.reset_period,
    resetRule: row.reset_rule,
    anchor: row.anchor?.getTime() ?? null,
    timeZone: row.timezone,
  }))
}

export async function insertSeries(db: Queryable, environmentId: string, series: StoredSeries[]): Promise<void> {
  await db.query({
    name: 'metering_insert_series',
    text: `
      INSERT INTO usage_series (environment_id, id, customer_id, resource_id, feature_id, reset_period, reset_rule, anchor, timezone)
      SELECT $1::uuid, * FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::reset_period[], $7::reset_rule[], $8::timestamptz[], $9::text[])`,
    values: [
      environmentId,
      series.map((s) => s.id),
      series.map((s) => s.customerId),
      series.map((s) => s.resourceId),
      series.map((s) => s.featureId),
      series.map((s) => s.resetPeriod),
      series.map((s) => s.resetRule),
      series.map((s) => toTime(s.anchor)),
      series.map((s) => s.timeZone),
    ],
  })
}
