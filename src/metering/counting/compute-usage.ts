import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { type Queryable } from '../../platform/sql.js'
import { measure, memberHash, Tally } from '../model/aggregate.js'
import { type FeatureMeter, type MeterVersion, versionAt } from '../model/meter.js'
import { sumMeasurements, type UsageRange } from './measurement-repository.js'
import { readEvents } from './raw-event-repository.js'

/** What is stored in a range, added up from zero. */
export interface ComputedUsage {
  /** Null: usage that is reported. */
  meter: MeterVersion | null
  /** COUNT, SUM, AVG: the sum; MAX, MIN: the largest, the smallest; UNIQUE: 0, the members tell. */
  value: decimal.Decimal
  events: number
  /** Raw events that were read for it, whether the meter wants them or not. */
  eventsRead: number
  /** What the counter says then. */
  usage: decimal.Decimal
  /** UNIQUE: the members, each with the time of its first event. */
  members: { hash: Buffer; firstAt: EpochMs }[]
}

/** A range to compute, of a usage period that begins at `periodStart`. */
export interface ComputedRange extends UsageRange {
  periodStart: EpochMs | null
  /** Version of the meter that counts it; null: the one that was in force when the period began. */
  meterVersion: number | null
}

/**
 * The usage of the ranges from stored measurements and counted events; `evenWaiting`: also from events that are stored and not counted yet. Costs as much as the ranges have of them. What was reported before the
 * feature had a meter counts for COUNT and SUM; it says nothing about a largest, a smallest, a mean or a number of members.
 */
export async function computeUsage(
  db: Queryable,
  environmentId: string,
  ranges: ComputedRange[],
  meters: ReadonlyMap<string, FeatureMeter>,
  options: { evenWaiting?: boolean } = {},
): Promise<ComputedUsage[]> {
  const sums = await sumMeasurements(db, environmentId, ranges)
  const tallies = ranges.map((range) => {
    const meter = meters.get(range.featureId)
    const version = meter && (meter.versions.find((known) => known.version === range.meterVersion) ?? versionAt(meter, range.periodStart))
    return version ? { version, tally: new Tally(version.aggregation), firstAt: new Map<string, EpochMs>(), eventsRead: 0 } : null
  })
  const metered = ranges.flatMap((range, index) => (tallies[index] ? [{ range, index }] : []))
  if (metered.length > 0) {
    const read = metered.map(({ range }) => range)
    const count = (page: Parameters<Parameters<typeof readEvents>[3]>[0]) => {
      for (const event of page) {
        const counted = tallies[metered[event.range]!.index]!
        const { version, tally, firstAt } = counted
        counted.eventsRead += 1
        const share = measure(version, event)
        if (share === null) continue
        tally.add(share)
        if (version.aggregation === 'UNIQUE') firstAt.set(share, Math.min(event.occurredAt, firstAt.get(share) ?? event.occurredAt))
      }
    }
    await readEvents(db, environmentId, read, count, options)
  }
  return tallies.map((counted, index) => {
    const sum = sums[index]!
    if (!counted) return { meter: null, value: sum, events: 0, eventsRead: 0, usage: sum, members: [] }
    const { version, tally, firstAt, eventsRead } = counted
    const isAdditive = version.aggregation === 'COUNT' || version.aggregation === 'SUM'
    const value = isAdditive ? decimal.add(sum, tally.value) : tally.value
    return {
      meter: version,
      value,
      events: tally.events,
      eventsRead,
      usage: usageOf(tally, value),
      members: [...firstAt].map(([member, at]) => ({ hash: memberHash(member), firstAt: at })),
    }
  })
}

function usageOf({ aggregation, events, members }: Tally, value: decimal.Decimal): decimal.Decimal {
  if (aggregation === 'UNIQUE') return decimal.fromNumber(members.size)
  return aggregation === 'AVG' && events > 0 ? decimal.divide(value, decimal.fromNumber(events)) : value
}
