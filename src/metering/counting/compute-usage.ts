import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { type Queryable } from '../../platform/sql.js'
import { measure, memberHash, Tally } from '../model/aggregate.js'
import { splitByBuckets, type TimeRange } from '../model/bucket.js'
import { type FeatureMeter, type MeterVersion, versionAt } from '../model/meter.js'
import { aheadMs } from '../model/windows.js'
import { sumMeasurements, type UsageRange } from './measurement-repository.js'
import { readEvents, type WhichEvents } from './raw-event-repository.js'
import { sumRollups } from './rollup-repository.js'

/** What is stored in a range, added up from zero. */
export interface ComputedUsage {
  /** Null: usage that is reported. */
  meter: MeterVersion | null
  /** COUNT, SUM, AVG: the sum; MAX, MIN: the largest, the smallest; UNIQUE: 0, the members tell. */
  value: decimal.Decimal
  events: number
  /** Raw events that were read for it, whether the meter wants them or not, and those that were rolled up before. */
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

export interface ComputeOptions {
  /** Also from events that are stored and not counted yet. */
  evenWaiting?: boolean
  /** From each event, whatever is rolled up of it. */
  anew?: boolean
}

/**
 * The usage of the ranges from stored measurements and counted events. Whole
 * quarters of an hour are read as they are rolled up, where they are of the same version of the meter, and always but for UNIQUE; the first and the last one
 * of a range by what is stored. What was reported before the feature had a meter counts for COUNT and SUM; it says nothing about a largest, a smallest, a
 * mean or a number of members. Needs rollups that are up to date with what is stored.
 */
export async function computeUsage(
  db: Queryable,
  environmentId: string,
  ranges: ComputedRange[],
  meters: ReadonlyMap<string, FeatureMeter>,
  { evenWaiting = false, anew = false }: ComputeOptions = {},
): Promise<ComputedUsage[]> {
  const reported = ranges.map((range) => ({ ...range, isReported: !meters.has(range.featureId) }))
  const sums = await sumMeasurements(db, environmentId, reported)
  const counts = ranges.flatMap((range, index) => {
    const meter = meters.get(range.featureId)
    return meter ? [countOf(range, index, meter)] : []
  })
  const ofRange = new Map(counts.map((count) => [count.index, count]))
  if (!anew) await addRolledUp(db, environmentId, counts)
  const parts: Readonly<Record<WhichEvents, EventRange[]>> = { counted: [], waiting: [], stored: [] }
  for (const { index, isRolledUp, split } of counts) {
    const { from, to } = ranges[index]!
    const read = (which: WhichEvents, part: TimeRange) => parts[which].push({ ...ranges[index]!, ...part, index })
    for (const part of isRolledUp ? split.rest : [{ from, to }]) read(evenWaiting ? 'stored' : 'counted', part)
    if (isRolledUp && evenWaiting) read('waiting', split.whole!)
  }
  for (const which of ['counted', 'waiting', 'stored'] as const) {
    const read = parts[which]
    if (read.length === 0) continue
    await readEvents(db, environmentId, which, read, (page) => {
      for (const event of page) {
        const counted = ofRange.get(read[event.range]!.index)!
        const { version, tally, firstAt } = counted
        counted.eventsRead += 1
        const share = measure(version, event)
        if (share === null) continue
        tally.add(share)
        if (version.aggregation === 'UNIQUE') firstAt.set(share, Math.min(event.occurredAt, firstAt.get(share) ?? event.occurredAt))
      }
    })
  }
  return ranges.map((_, index) => {
    const counted = ofRange.get(index)
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

/** A part of a range (by its index) of which events are read. */
interface EventRange extends UsageRange {
  index: number
}

/** How a range is counted. */
interface Count {
  index: number
  range: ComputedRange
  version: MeterVersion
  tally: Tally
  /** UNIQUE: the members, each with the time of its first event. */
  firstAt: Map<string, EpochMs>
  eventsRead: number
  split: ReturnType<typeof splitByBuckets>
  /** Its whole buckets are in the tally. */
  isRolledUp: boolean
}

function countOf(range: ComputedRange, index: number, meter: FeatureMeter): Count {
  const version = meter.versions.find((known) => known.version === range.meterVersion) ?? versionAt(meter, range.periodStart)
  // Events that came before there was a meter are in no bucket, nor are those that were dated ahead then.
  const split = splitByBuckets(range, meter.versions[0]!.validFrom + aheadMs)
  return { index, range, version, tally: new Tally(version.aggregation), firstAt: new Map(), eventsRead: 0, split, isRolledUp: false }
}

/** Adds whole buckets to the tallies of those that can be counted by them. */
async function addRolledUp(db: Queryable, environmentId: string, counts: Count[]): Promise<void> {
  const asked = counts.filter(({ split, version }) => split.whole !== null && version.aggregation !== 'UNIQUE')
  if (asked.length === 0) return
  const rolledUp = await sumRollups(
    db,
    environmentId,
    asked.map(({ range, split, version }) => ({
      ...range,
      ...split.whole!,
      meterVersion: version.version,
      aggregation: version.aggregation,
    })),
  )
  for (const [index, count] of asked.entries()) {
    const tallied = rolledUp[index]
    if (!tallied) continue
    count.isRolledUp = true
    count.tally.addTallied(tallied)
    count.eventsRead += tallied.events
  }
}

function usageOf({ aggregation, events, members }: Tally, value: decimal.Decimal): decimal.Decimal {
  if (aggregation === 'UNIQUE') return decimal.fromNumber(members.size)
  return aggregation === 'AVG' && events > 0 ? decimal.divide(value, decimal.fromNumber(events)) : value
}
