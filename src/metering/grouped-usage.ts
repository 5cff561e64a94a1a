import type { EpochMs } from '../kernel/clock.js'
import * as decimal from '../kernel/decimal.js'
import { measure, type Share, Tally } from './aggregate.js'
import { type Connection, endTime, startTime } from './counter-repository.js'
import { loadMeters } from './event-repository.js'
import type { HistoryPlan, HistoryPoint } from './history.js'
import type { Measured } from './history-repository.js'
import type { DimensionValue, MeterVersion } from './meter.js'
import type { HistoryScope } from './rollup-repository.js'

/** More than that is a dimension such as a request id, and no chart. */
const maxGroups = 1_000
const pageSize = 5_000

interface GroupedQuestion {
  scope: HistoryScope
  measured: Measured
  plan: HistoryPlan
  groupBy: string[]
}

interface Row {
  occurredAt: EpochMs
  eventName: string
  dimensions: Record<string, DimensionValue | null>
  value: decimal.Decimal
  isSet: boolean
}

/** Usage of one group in the period that is counted at the moment. */
interface Group {
  tags: { key: string; value: string }[]
  tally: Tally
  points: Map<number, decimal.Decimal>
}

/**
 * One line for each combination of values that the dimensions have. Reads what is stored, in the order of time: costs as much as there are events or
 * measurements in the range. Of reported usage a SET replaces what all groups had.
 */
export async function readGroups(
  db: Connection,
  environmentId: string,
  { scope, measured, plan, groupBy }: GroupedQuestion,
): Promise<{ tags: { key: string; value: string }[]; points: HistoryPoint[] }[]> {
  const meter = (await loadMeters(db, environmentId)).find(({ featureId }) => featureId === scope.featureId)?.versions.at(-1)
  const aggregation = measured.feature!.aggregation ?? 'SUM'
  const groups = new Map<string, Group>()
  let slice = -1
  let period = plan.slices[0]!.period
  const close = () => {
    for (const group of groups.values()) group.points.set(slice, usageOf(group.tally))
  }
  const reset = () => {
    for (const group of groups.values()) group.tally = new Tally(aggregation)
  }
  await readStored(db, environmentId, scope, meter ?? null, { from: plan.from, to: plan.end }, (row) => {
    while (slice + 1 < plan.slices.length && plan.slices[slice + 1]!.start <= row.occurredAt) {
      close()
      slice += 1
      if (plan.slices[slice]!.period !== period) reset()
      period = plan.slices[slice]!.period
    }
    const share: Share | null = meter ? measure(meter, row) : row.value
    if (share === null) return
    const tags = groupBy.map((key) => ({ key, value: String(row.dimensions[key] ?? '') }))
    const name = JSON.stringify(tags)
    let group = groups.get(name)
    if (!group) {
      if (groups.size >= maxGroups) return
      group = { tags, tally: new Tally(aggregation), points: new Map() }
      groups.set(name, group)
    }
    if (row.isSet) reset()
    group.tally.add(share)
  })
  close()
  return [...groups.values()].map(({ tags, points }) => ({ tags, points: lineOf(plan, points) }))
}

/** A slice without usage of the group has what the one before had, unless usage has started again. */
function lineOf({ slices }: HistoryPlan, points: ReadonlyMap<number, decimal.Decimal>): HistoryPoint[] {
  let held = points.get(-1) ?? decimal.zero
  let period = slices[0]!.period
  return slices.map(({ start, isReset, period: current }, index) => {
    if (current !== period) held = decimal.zero
    period = current
    held = points.get(index) ?? held
    return { at: start, value: held, isReset }
  })
}

function usageOf(tally: Tally): decimal.Decimal {
  if (tally.aggregation === 'UNIQUE') return decimal.fromNumber(tally.members.size)
  return tally.aggregation === 'AVG' && tally.events > 0 ? decimal.divide(tally.value, decimal.fromNumber(tally.events)) : tally.value
}

async function readStored(
  db: Connection,
  environmentId: string,
  { customerId, featureId, resourceId }: HistoryScope,
  meter: MeterVersion | null,
  { from, to }: { from: EpochMs | null; to: EpochMs },
  visit: (row: Row) => void,
): Promise<void> {
  // Page by page from the last place: a cursor would need a transaction for as long as the reading takes.
  const scope = 'environment_id = $1::uuid AND customer_id = $2::uuid AND ($3::uuid IS NULL OR resource_id = $3::uuid)'
  const range = 'occurred_at >= $4::timestamptz AND occurred_at < $5::timestamptz'
  const common = [environmentId, customerId, resourceId, startTime(from), endTime(to)]
  const text = meter
    ? `SELECT occurred_at, event_name, dimensions, '0' AS value, false AS is_set, batch_id::text AS place, position::bigint AS position
       FROM raw_event WHERE ${scope} AND ${range}
         AND NOT EXISTS (SELECT FROM pending_batch WHERE environment_id = $1::uuid AND id = raw_event.batch_id)
         AND ($6::timestamptz IS NULL OR (occurred_at, batch_id::text, position::bigint) > ($6::timestamptz, $7::text, $8::bigint))
       ORDER BY occurred_at, batch_id::text, position LIMIT ${pageSize}`
    : `SELECT occurred_at, '' AS event_name, coalesce(dimensions, '{}') AS dimensions, value::text, behavior = 'SET' AS is_set, '' AS place, sequence AS position
       FROM usage_measurement WHERE ${scope} AND feature_id = $9::uuid AND ${range}
         AND ($6::timestamptz IS NULL OR (occurred_at, '', sequence) > ($6::timestamptz, $7::text, $8::bigint))
       ORDER BY occurred_at, sequence LIMIT ${pageSize}`
  let last: { occurred_at: Date; place: string; position: string } | undefined
  for (;;) {
    const after = [last?.occurred_at.toISOString() ?? null, last?.place ?? null, last?.position ?? null]
    const { rows } = await db.query<{
      occurred_at: Date
      event_name: string
      dimensions: Row['dimensions']
      value: string
      is_set: boolean
      place: string
      position: string
    }>({ text, values: meter ? [...common, ...after] : [...common, ...after, featureId] })
    for (const row of rows)
      visit({
        occurredAt: row.occurred_at.getTime(),
        eventName: row.event_name,
        dimensions: row.dimensions,
        value: decimal.fromText(row.value),
        isSet: row.is_set,
      })
    if (rows.length < pageSize) return
    last = rows.at(-1)
  }
}
