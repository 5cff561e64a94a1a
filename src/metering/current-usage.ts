import type { Usage } from '../entitlement/state.js'
import type { EpochMs } from '../kernel/clock.js'
import * as decimal from '../kernel/decimal.js'
import { type Db, Prisma } from '../platform/postgres.js'
import { computeUsage } from './compute-usage.js'
import { type Connection, startOfRange } from './counter-repository.js'
import { loadMeters } from './event-repository.js'
import type { FeatureMeter } from './meter.js'
import { type SeriesPeriod, seriesKey, type UsageSeries } from './series.js'
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
  period_start: number | null
  period_end: number | null
}

/** A series whose usage is asked for, with its period that contains the instant in question. */
export interface AskedSeries {
  series: UsageSeries
  period: SeriesPeriod
}

/**
 * The usage of a customer's series in their periods that contain `at`, by `seriesKey`. A series without a counter (it has just begun to win, or
 * nothing was reported in the period yet) is computed from what is stored: two index look-ups when that is nothing. The period itself is left to the
 * caller, who knows the entitlement. Needs a transaction that reads one snapshot or holds the customer's lock.
 */
export async function readCurrentUsage(
  db: Db,
  environmentId: string,
  customerId: string,
  asked: AskedSeries[],
  at: EpochMs,
): Promise<Map<string, Usage>> {
  const usages = new Map<string, Usage>()
  if (asked.length === 0) return usages
  const missing = new Map(asked.map((one) => [seriesKey(one.series), one]))
  for (const row of await findCurrentCounters(db, environmentId, customerId, at)) {
    const key = seriesKey({
      customerId,
      resourceId: row.resource_id,
      featureId: row.feature_id,
      resetPeriod: row.reset_period,
      resetRule: row.reset_rule,
      anchor: row.anchor?.getTime() ?? null,
      timeZone: row.timezone,
    })
    const period = missing.get(key)?.period
    // One that ends at another time was cut since, and is not what the period is now.
    if (!period || period.start !== row.period_start || period.end !== row.period_end) continue
    missing.delete(key)
    usages.set(key, { currentUsage: decimal.fromText(row.usage), periodStart: null, periodEnd: null, updatedAt: Number(row.version) })
  }
  if (missing.size === 0) return usages
  const connection = asConnection(db)
  const ranges = [...missing.values()].map(({ series, period }) => ({
    ...series,
    from: startOfRange(series, period),
    to: period.end,
    periodStart: period.start,
    meterVersion: null,
  }))
  const computed = await computeUsage(connection, environmentId, ranges, await metersOf(connection, environmentId))
  for (const [index, key] of [...missing.keys()].entries()) {
    const currentUsage = computed[index]!.usage
    if (currentUsage !== decimal.zero) usages.set(key, { currentUsage, periodStart: null, periodEnd: null, updatedAt: at })
  }
  return usages
}

/**
 * The usage of a feature in a period of the caller's own, from what is stored: over the customer and all its resources, or of one resource. Usage that
 * is never reset is its level at the period's end. Costs as much as the period has of it.
 */
export async function readUsageOf(
  db: Db,
  {
    environmentId,
    period,
    ...scope
  }: { environmentId: string; customerId: string; resourceId: string | null; featureId: string; period: { start: EpochMs; end: EpochMs } },
): Promise<decimal.Decimal> {
  const id = scope.featureId
  const feature = await db.feature.findUnique({ where: { environmentId_id: { environmentId, id } }, select: { meterType: true } })
  const connection = asConnection(db)
  const from = feature?.meterType === 'Fluctuating' ? null : period.start
  const range = { ...scope, from, to: period.end, periodStart: from, meterVersion: null }
  const [computed] = await computeUsage(connection, environmentId, [range], await metersOf(connection, environmentId))
  return computed!.usage
}

async function metersOf(db: Connection, environmentId: string): Promise<Map<string, FeatureMeter>> {
  return new Map((await loadMeters(db, environmentId)).map((meter) => [meter.featureId, meter]))
}

function findCurrentCounters(db: Db, environmentId: string, customerId: string, at: EpochMs): Promise<CounterRow[]> {
  return db.$queryRaw<CounterRow[]>(Prisma.sql`
    SELECT s.resource_id, s.feature_id, s.reset_period::text, s.reset_rule::text, s.anchor, s.timezone, c.usage::text, c.version,
      CASE WHEN isfinite(c.period_start) THEN floor(extract(epoch FROM c.period_start) * 1000)::float8 END AS period_start,
      CASE WHEN isfinite(c.period_end) THEN floor(extract(epoch FROM c.period_end) * 1000)::float8 END AS period_end
    FROM usage_series s
    JOIN usage_counter c ON c.environment_id = s.environment_id AND c.series_id = s.id AND c.period_start <= ${new Date(at)} AND c.period_end > ${new Date(at)}
    WHERE s.environment_id = ${environmentId}::uuid AND s.customer_id = ${customerId}::uuid`)
}

/** The statements of counting, on the connection of a Prisma transaction. */
function asConnection(db: Db): Connection {
  const query = async ({ text, values = [] }: { text: string; values?: unknown[] }) => ({
    rows: await db.$queryRawUnsafe<unknown[]>(text, ...values),
  })
  return { query } as unknown as Connection
}
