import type { Usage } from '../entitlement/state.js'
import type { EpochMs } from '../kernel/clock.js'
import * as decimal from '../kernel/decimal.js'
import { type Db, Prisma } from '../platform/postgres.js'
import { seriesKey } from './series.js'
import type { ResetPeriod, ResetRule } from './usage-period.js'

interface CounterRow {
  resource_id: string | null
  feature_id: string
  reset_period: ResetPeriod | null
  reset_rule: ResetRule | null
  anchor: Date | null
  timezone: string | null
  usage: string
  version: bigint
}

/**
 * The usage of all series of a customer in the periods that contain `at`, by `seriesKey`; a series without an entry has none. The period itself
 * is left to the caller, who knows the entitlement. One statement, whatever was reported before.
 */
export async function readCurrentUsage(db: Db, environmentId: string, customerId: string, at: EpochMs): Promise<Map<string, Usage>> {
  const rows = await db.$queryRaw<CounterRow[]>(Prisma.sql`
    SELECT s.resource_id, s.feature_id, s.reset_period::text, s.reset_rule::text, s.anchor, s.timezone, c.usage::text, c.version
    FROM usage_series s
    JOIN usage_counter c ON c.environment_id = s.environment_id AND c.series_id = s.id AND c.period_start <= ${new Date(at)} AND c.period_end > ${new Date(at)}
    WHERE s.environment_id = ${environmentId}::uuid AND s.customer_id = ${customerId}::uuid`)
  return new Map(
    rows.map((row) => {
      const key = seriesKey({
        customerId,
        resourceId: row.resource_id,
        featureId: row.feature_id,
        resetPeriod: row.reset_period,
        resetRule: row.reset_rule,
        anchor: row.anchor?.getTime() ?? null,
        timeZone: row.timezone,
      })
      return [key, { currentUsage: decimal.fromText(row.usage), periodStart: null, periodEnd: null, updatedAt: Number(row.version) }]
    }),
  )
}
