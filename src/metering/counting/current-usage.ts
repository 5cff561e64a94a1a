import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import type { Db } from '../../platform/postgres.js'
import { asQueryable, type Queryable } from '../../platform/sql.js'
import type { FeatureMeter } from '../model/meter.js'
import { type SeriesPeriod, seriesKey, startOfRange, type UsageSeries } from '../model/series.js'
import type { Usage } from '../model/usage.js'
import type { ResetPeriod, ResetRule } from '../model/usage-period.js'
import { computeUsage } from './compute-usage.js'
import { loadMeters } from './meter-repository.js'

interface CounterRow {
  customer_id: string
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

/** A series whose usage is asked for, with its period that contains `at`. */
export interface AskedSeries {
  series: UsageSeries
  period: SeriesPeriod
  /** The same for all series of a customer. */
  at: EpochMs
}

/**
 * The usage of series in their periods that contain `at`, by `seriesKey`. A series without a counter (it has just begun to win, or nothing was
 * reported in the period yet) is computed from what is stored: two index look-ups when that is nothing. The period itself is left to the caller, who
 * knows the entitlement. `computed` is told of each that was computed from something: it should get a counter, so that the next reading finds one. Needs
 * a transaction that reads one snapshot or holds the customers' locks.
 */
export function readCurrentUsage(
  db: Db,
  environmentId: string,
  asked: readonly AskedSeries[],
  computed?: (series: UsageSeries) => void,
): Promise<Map<string, Usage>> {
  return asked.length === 0 ? Promise.resolve(new Map()) : readUsages(asQueryable(db), environmentId, asked, computed)
}

/** The same on a connection of counting. */
export async function readUsages(
  connection: Queryable,
  environmentId: string,
  asked: readonly AskedSeries[],
  computed?: (series: UsageSeries) => void,
): Promise<Map<string, Usage>> {
  const usages = new Map<string, Usage>()
  if (asked.length === 0) return usages
  const missing = new Map(asked.map((one) => [seriesKey(one.series), one]))
  const customers = new Map(asked.map(({ series, at }) => [series.customerId, at]))
  for (const row of await findCurrentCounters(connection, environmentId, customers)) {
    const key = seriesKey({
      customerId: row.customer_id,
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
  const ranges = [...missing.values()].map(({ series, period }) => ({
    ...series,
    from: startOfRange(series, period),
    to: period.end,
    periodStart: period.start,
    meterVersion: null,
  }))
  const results = await computeUsage(connection, environmentId, ranges, await metersOf(connection, environmentId))
  for (const [index, [key, { series, at }]] of [...missing].entries()) {
    const { usage: currentUsage, eventsRead } = results[index]!
    if (eventsRead > 0 || currentUsage !== decimal.zero) computed?.(series)
    if (currentUsage !== decimal.zero) usages.set(key, { currentUsage, periodStart: null, periodEnd: null, updatedAt: at })
  }
  return usages
}

/**
 * The usage of a feature in a period of the caller's own, from all that is stored, events that wait to be counted too: what was acknowledged is in it. Over the customer and all its resources, or of one resource. Usage that
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
  const connection = asQueryable(db)
  const from = feature?.meterType === 'Fluctuating' ? null : period.start
  const range = { ...scope, from, to: period.end, periodStart: from, meterVersion: null }
  const [computed] = await computeUsage(connection, environmentId, [range], await metersOf(connection, environmentId), {
    evenWaiting: true,
  })
  return computed!.usage
}

export async function metersOf(db: Queryable, environmentId: string): Promise<Map<string, FeatureMeter>> {
  return new Map((await loadMeters(db, environmentId)).map((meter) => [meter.featureId, meter]))
}

/** `customers`: by our id, the instant. */
async function findCurrentCounters(
  connection: Queryable,
  environmentId: string,
  customers: ReadonlyMap<string, EpochMs>,
): Promise<CounterRow[]> {
  const { rows } = await connection.query<CounterRow>({
    text: `
      SELECT s.customer_id, s.resource_id, s.feature_id, s.reset_period::text, s.reset_rule::text, s.anchor, s.timezone, c.usage::text, c.version,
        CASE WHEN isfinite(c.period_start) THEN floor(extract(epoch FROM c.period_start) * 1000)::float8 END AS period_start,
        CASE WHEN isfinite(c.period_end) THEN floor(extract(epoch FROM c.period_end) * 1000)::float8 END AS period_end
      FROM unnest($2::uuid[], $3::timestamptz[]) AS asked (customer_id, at)
      JOIN usage_series s ON s.environment_id = $1::uuid AND s.customer_id = asked.customer_id
      JOIN usage_counter c ON c.environment_id = s.environment_id AND c.series_id = s.id AND c.period_start <= asked.at AND c.period_end > asked.at`,
    values: [environmentId, [...customers.keys()], [...customers.values()].map((at) => new Date(at).toISOString())],
  })
  return rows
}
