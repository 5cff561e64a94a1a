import type pg from 'pg'
import { lockCustomers } from '../../changes/counting.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { invalidInput } from '../../kernel/problem.js'
import { inPoolTransaction } from '../../platform/transaction.js'
import { loadMeters } from '../counting/meter-repository.js'
import { readEvents } from '../counting/raw-event-repository.js'
import { rollUpEvents } from '../counting/rollup.js'
import { measure } from '../model/aggregate.js'
import { bucketMs, bucketOf, ownPart } from '../model/bucket.js'
import { BucketGroups, type GroupLine, GroupLines, groupValues } from '../model/groups.js'
import type { HistoryPlan } from '../model/history.js'
import { sortLines } from '../model/history-paging.js'
import { type FeatureMeter, versionAt } from '../model/meter.js'
import { findKeptSince } from '../retention/kept-since.js'
import {
  type BucketRange,
  findCountedVersions,
  findGrouping,
  findOutdated,
  keepGroups,
  markReady,
  type OutdatedBucket,
  readGroupBuckets,
  readMeasurements,
} from './grouping-repository.js'
import type { Measured } from './history-repository.js'
import { type HistoryScope } from './history-repository.js'

/** More than that is a dimension such as a request id, and no chart. */
const maxGroups = 1_000
/** Of one transaction: what it has made stays, also when the asker does not wait for the rest. About a second's work. */
const bucketsPerStep = 200
const eventsPerStep = 50_000

interface GroupedQuestion {
  scope: HistoryScope
  measured: Measured
  plan: HistoryPlan
  /** Where usage is counted from; null: from ever. */
  from: EpochMs | null
  groupBy: string[]
}

/** What is grouped: a customer's feature in a range of buckets, by the dimensions. */
interface Asked extends BucketRange {
  dimensions: string[]
  /** Null: usage that is reported. */
  meter: FeatureMeter | null
}

/**
 * One line for each combination of values that the dimensions have, in the order of the values. Reads what quarters of an hour had of each group, which
 * is made from the events (or measurements) when it is asked for first, and again only where something was counted since. So it costs as much as there
 * are quarters of an hour with usage; each event is read once for its dimensions. Of reported usage a SET replaces what all groups had.
 */
export async function readGroups(
  pool: pg.Pool,
  environmentId: string,
  { scope, measured, plan, from, groupBy }: GroupedQuestion,
): Promise<GroupLine[]> {
  const meter = (await loadMeters(pool, environmentId)).find(({ featureId }) => featureId === scope.featureId) ?? null
  const dimensions = [...groupBy].sort()
  const asked: Asked = { ...scope, from: from === null ? null : bucketOf(from), to: plan.end, dimensions, meter }
  const grouping = await findGrouping(pool, environmentId, asked)
  if (!grouping.isReady) await makeReady(pool, environmentId, grouping.id, asked)
  await refresh(pool, environmentId, grouping.id, asked)

  const cuts = plan.slices.map(({ start }) => bucketOf(start))
  const lines = new GroupLines(plan, cuts, measured.feature!.aggregation ?? 'SUM')
  await readGroupBuckets(pool, environmentId, grouping.id, asked, (bucket) => {
    lines.add(bucket)
    if (lines.size > maxGroups) throw tooManyGroups()
  })
  const order = groupBy.map((key) => dimensions.indexOf(key))
  const asAsked = lines.lines(dimensions).map(({ tags, points }) => ({ tags: order.map((index) => tags[index]!), points }))
  return sortLines(asAsked)
}

/** A UNIQUE meter leaves rows in usage_rollup from when it was grouped first; those of the time before are made here, under the customer's lock. */
async function makeReady(pool: pg.Pool, environmentId: string, groupingId: string, { customerId, featureId }: Asked): Promise<void> {
  await inPoolTransaction(pool, async (db) => {
    // Who counts reads the meters under this lock: from here on it knows that there is a grouping.
    await lockCustomers(db, environmentId, [customerId])
    const meter = (await loadMeters(db, environmentId)).find((known) => known.featureId === featureId)
    if (meter?.versions.some(({ aggregation }) => aggregation === 'UNIQUE')) {
      const range = { customerId, featureId, from: await findKeptSince(db, environmentId), to: null, meterVersion: null }
      await rollUpEvents(db, environmentId, [range], new Map([[featureId, meter]]))
    }
    await markReady(db, environmentId, groupingId)
  })
}

/** Makes the groups of the buckets in which something was counted since they were made. */
async function refresh(pool: pg.Pool, environmentId: string, groupingId: string, asked: Asked): Promise<void> {
  const keptSince = asked.meter ? await findKeptSince(pool, environmentId) : null
  // Events that have been dropped are known as they were when they were asked for.
  const from = keptSince === null ? asked.from : Math.max(keptSince, asked.from ?? keptSince)
  for (;;) {
    const isLast = await inPoolTransaction(pool, async (db) => {
      // First the rows, then what they are made from: what is counted in between makes them outdated again, and is not missed.
      const outdated = await findOutdated(db, environmentId, groupingId, { ...asked, from }, bucketsPerStep)
      const step = firstOf(outdated)
      if (step.length > 0) await makeGroups(db, environmentId, groupingId, asked, step)
      return step.length === outdated.length && outdated.length < bucketsPerStep
    })
    if (isLast) return
  }
}

/** As many as one step takes; at least one. */
function firstOf(outdated: OutdatedBucket[]): OutdatedBucket[] {
  let events = 0
  const end = outdated.findIndex((bucket) => {
    events += bucket.events
    return events > eventsPerStep
  })
  return end === -1 ? outdated : outdated.slice(0, Math.max(1, end))
}

async function makeGroups(
  db: pg.PoolClient,
  environmentId: string,
  groupingId: string,
  asked: Asked,
  outdated: OutdatedBucket[],
): Promise<void> {
  const { meter, dimensions } = asked
  const groups = outdated.map(() => new BucketGroups('SUM'))
  if (meter) await groupEvents(db, environmentId, { ...asked, meter }, outdated, groups)
  else
    await readMeasurements(db, environmentId, asked, outdated, ({ bucket, dimensions: given, value, isSet }) => {
      const values = groupValues(given, dimensions)
      const share = decimal.fromText(value)
      if (isSet) groups[bucket]!.set(values, share)
      else groups[bucket]!.add(values, share)
      if (groups[bucket]!.size > maxGroups) throw tooManyGroups()
    })
  const kept = outdated.map((bucket, index) => ({ ...bucket, isLevel: groups[index]!.isLevel, groups: groups[index]!.toShares() }))
  await keepGroups(db, environmentId, groupingId, kept)
}

async function groupEvents(
  db: pg.PoolClient,
  environmentId: string,
  asked: Asked & { meter: FeatureMeter },
  outdated: OutdatedBucket[],
  groups: BucketGroups[],
): Promise<void> {
  const { customerId, featureId, meter, dimensions } = asked
  const counted = await findCountedVersions(db, environmentId, asked)
  const versions = new Map(meter.versions.map((version) => [version.version, version]))
  const versionOf = (bucket: EpochMs) =>
    versions.get(counted.find(({ start, end }) => start < bucket + bucketMs && bucket < end)?.version ?? 0) ?? versionAt(meter, bucket)
  const indexes = new Map(outdated.map(({ part, bucket }, index) => [`${part}|${bucket}`, index]))
  const buckets = [...new Set(outdated.map(({ bucket }) => bucket))]
  for (const [index, { bucket }] of outdated.entries()) groups[index] = new BucketGroups(versionOf(bucket).aggregation)
  const ranges = buckets.map((bucket) => ({ customerId, featureId, resourceId: null, from: bucket, to: bucket + bucketMs }))
  await readEvents(db, environmentId, 'counted', ranges, (page) => {
    for (const event of page) {
      const bucket = buckets[event.range]!
      // The other parts of the quarter of an hour are not asked for, or not outdated.
      const index = indexes.get(`${event.resourceId ?? ownPart}|${bucket}`)
      const share = index === undefined ? null : measure(versionOf(bucket), event)
      if (share === null) continue
      groups[index!]!.add(groupValues(event.dimensions, dimensions), share)
      if (groups[index!]!.size > maxGroups) throw tooManyGroups()
    }
  })
}

function tooManyGroups() {
  return invalidInput(`groupBy has more than ${maxGroups} combinations of values: leave out the dimension that has so many`, {
    path: 'groupBy',
    limit: maxGroups,
  })
}
