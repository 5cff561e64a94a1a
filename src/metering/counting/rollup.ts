import type { EpochMs } from '../../kernel/clock.js'
import type { Queryable } from '../../platform/sql.js'
import { measure, Tally } from '../model/aggregate.js'
import { bucketMs, bucketOf } from '../model/bucket.js'
import { type FeatureMeter, versionAt } from '../model/meter.js'
import { readEvents } from './raw-event-repository.js'
import { addMeasurementsToRollups, type RollupBucket, replaceRollups } from './rollup-repository.js'

/** A range of buckets of one customer's feature, its resources included. */
export interface RollupRange {
  customerId: string
  featureId: string
  /** On bucket boundaries; null: without bound. */
  from: EpochMs | null
  to: EpochMs | null
  /** Version of the meter; null: the one that was in force. */
  meterVersion: number | null
}

/** The range with the buckets that it cuts. */
export function onBuckets({ from, to }: { from: EpochMs | null; to: EpochMs | null }): { from: EpochMs | null; to: EpochMs | null } {
  return { from: from === null ? null : bucketOf(from), to: to === null ? null : Math.ceil(to / bucketMs) * bucketMs }
}

/** Rolls up the counted events of the ranges anew. Costs as much as the customers have events in them. Needs the customers' locks. */
export async function rollUpEvents(
  db: Queryable,
  environmentId: string,
  ranges: RollupRange[],
  meters: ReadonlyMap<string, FeatureMeter>,
): Promise<void> {
  if (ranges.length === 0) return
  const rollups = new Map<string, RollupBucket & { tally: Tally; meterVersion: number }>()
  const read = ranges.map((range) => ({ ...range, resourceId: null }))
  await readEvents(db, environmentId, 'counted', read, (page) => {
    for (const event of page) {
      const { customerId, featureId, meterVersion } = ranges[event.range]!
      const meter = meters.get(featureId)!
      const bucket = bucketOf(event.occurredAt)
      const version = meter.versions.find((known) => known.version === meterVersion) ?? versionAt(meter, bucket)
      const share = version.aggregation === 'UNIQUE' && !meter.isGrouped ? null : measure(version, event)
      if (share === null) continue
      const key = `${customerId}|${featureId}|${event.resourceId}|${bucket}`
      let rollup = rollups.get(key)
      if (!rollup) {
        rollup = {
          customerId,
          featureId,
          resourceId: event.resourceId,
          bucket,
          tally: new Tally(version.aggregation),
          meterVersion: version.version,
        }
        rollups.set(key, rollup)
      }
      rollup.tally.add(share)
    }
  })
  const changes = [...rollups.values()].map(({ tally: { aggregation, value, events }, ...bucket }) => ({
    ...bucket,
    aggregation,
    value,
    events,
  }))
  await replaceRollups(db, environmentId, ranges, changes)
  // As counters do: what was reported before there was a meter counts on where values add up.
  const additive = ranges.filter(({ featureId, meterVersion }) => {
    const { versions } = meters.get(featureId)!
    const { aggregation } = versions.find(({ version }) => version === meterVersion) ?? versions.at(-1)!
    return aggregation === 'COUNT' || aggregation === 'SUM'
  })
  if (additive.length > 0) await addMeasurementsToRollups(db, environmentId, additive)
}
