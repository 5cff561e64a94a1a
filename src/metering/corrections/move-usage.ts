import type { EpochMs } from '../../kernel/clock.js'
import { invalidInput } from '../../kernel/problem.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { asQueryable } from '../../platform/sql.js'
import { dropCounters } from '../counting/counter-repository.js'
import { loadMeters } from '../counting/meter-repository.js'
import { mergedMeterVersion, mergedUsage, rollUpMeasurements } from '../counting/rollup-repository.js'
import { findSeries } from '../counting/series-repository.js'
import { bucketOf, ownPart } from '../model/bucket.js'

/** Usage of a customer that goes from one of its parts to another: a resource (our id), or the customer itself (null). */
export interface MovedUsage {
  environmentId: string
  customerId: string
  featureIds: string[]
  from: string | null
  to: string | null
  /** What happened before stays. */
  since: EpochMs
  /** An event is counted for all that its part holds: where the part goes on holding something else, its events stay with it. */
  areEventsShared: boolean
}

/** Measurements and events that are moved at once: reports of the customer wait for it meanwhile, some seconds. */
export const mostMoved = 200_000

/**
 * What was reported for one part of a customer is from now on reported for another: with it go what history has made of it, and the counters of the
 * series that begin at `since` and are of events. All counters that say something else now are dropped: those of the parts, and the customer's total where
 * something was set, because a SET counts for its part alone. Needs the customer's state row, as reports do, and a new access version. Fails with BAD_USER_INPUT
 * where there is more than `mostMoved`.
 */
export async function moveUsage(db: Db, moved: MovedUsage): Promise<void> {
  const { environmentId, customerId, from, to, since, areEventsShared } = moved
  const metered = new Set((await loadMeters(asQueryable(db), environmentId)).map(({ featureId }) => featureId))
  // Where events go along, they are counted there for every feature that has a meter, whether the subscription holds it or not.
  const featureIds = areEventsShared ? moved.featureIds : [...new Set([...moved.featureIds, ...metered])]
  if (await isTooMuch(db, { ...moved, featureIds })) throw tooMuchToMove()
  await db.$executeRaw(Prisma.sql`
    UPDATE usage_measurement SET resource_id = ${to}::uuid
    WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid AND feature_id = ANY(${featureIds}::uuid[])
      AND resource_id IS NOT DISTINCT FROM ${from}::uuid AND occurred_at >= ${new Date(since)}`)
  const hadEvents = !areEventsShared && (await moveEvents(db, moved))
  await moveRollups(db, { ...moved, featureIds }, metered)
  const withSets = await db.$queryRaw<{ feature_id: string }[]>(Prisma.sql`
    SELECT DISTINCT feature_id FROM usage_measurement
    WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid AND feature_id = ANY(${featureIds}::uuid[])
      AND resource_id IS NOT DISTINCT FROM ${to}::uuid AND behavior = 'SET' AND occurred_at >= ${new Date(since)}`)
  const areSet = new Set(withSets.map(({ feature_id }) => feature_id))
  const holders = [...new Set([null, from, to])]
  const series = await findSeries(
    asQueryable(db),
    environmentId,
    featureIds.flatMap((featureId) => holders.map((resourceId) => ({ customerId, resourceId, featureId }))),
  )
  const outdated = series.filter(({ resourceId, featureId, anchor }) => {
    if (resourceId === null) return areSet.has(featureId)
    const isMovedWhole = resourceId === from && to !== null && anchor === since && metered.has(featureId) && !hadEvents
    return !isMovedWhole
  })
  const ids = outdated.map(({ id }) => id)
  if (ids.length > 0) await dropCounters(asQueryable(db), environmentId, ids)
  if (from === null || to === null) return
  await db.$executeRaw(Prisma.sql`
    UPDATE usage_series AS series SET resource_id = ${to}::uuid
    WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid AND resource_id = ${from}::uuid
      AND feature_id = ANY(${featureIds}::uuid[]) AND anchor = ${new Date(since)}
      AND NOT EXISTS (
        SELECT FROM usage_series other
        WHERE other.environment_id = series.environment_id AND other.customer_id = series.customer_id AND other.resource_id = ${to}::uuid
          AND other.feature_id = series.feature_id AND other.reset_period IS NOT DISTINCT FROM series.reset_period
          AND other.reset_rule IS NOT DISTINCT FROM series.reset_rule AND other.anchor IS NOT DISTINCT FROM series.anchor
          AND other.timezone IS NOT DISTINCT FROM series.timezone)`)
}

const tooMuchToMove = () =>
  invalidInput(
    `More than ${mostMoved.toLocaleString('en')} reports and events would go along, which a transfer cannot do at once. Nothing was changed. Cancel the subscription, and provision one where it is wanted: it begins without usage.`,
  )

/** Looks no further than it has to. */
async function isTooMuch(db: Db, { environmentId, customerId, featureIds, from, since, areEventsShared }: MovedUsage): Promise<boolean> {
  const ofPart = Prisma.sql`
    environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid AND resource_id IS NOT DISTINCT FROM ${from}::uuid
    AND occurred_at >= ${new Date(since)}`
  const [found] = await db.$queryRaw<{ is_too_much: boolean }[]>(Prisma.sql`
    SELECT count(*) > ${mostMoved} AS is_too_much FROM (
      SELECT FROM usage_measurement WHERE ${ofPart} AND feature_id = ANY(${featureIds}::uuid[])
      UNION ALL
      SELECT FROM raw_event WHERE ${ofPart} AND NOT ${areEventsShared}::boolean
      LIMIT ${mostMoved + 1}
    ) AS moved`)
  return found!.is_too_much
}

/** Answers whether the other part had events of the time already. Those that wait to be counted stay: who counts them has read already whose they are. */
async function moveEvents(db: Db, { environmentId, customerId, from, to, since }: MovedUsage): Promise<boolean> {
  const [found] = await db.$queryRaw<{ had_events: boolean }[]>(Prisma.sql`
    SELECT EXISTS (
      SELECT FROM raw_event WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid
        AND resource_id IS NOT DISTINCT FROM ${to}::uuid AND occurred_at >= ${new Date(since)}
    ) AS had_events`)
  await db.$executeRaw(Prisma.sql`
    UPDATE raw_event SET resource_id = ${to}::uuid
    WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid
      AND resource_id IS NOT DISTINCT FROM ${from}::uuid AND occurred_at >= ${new Date(since)}
      AND NOT EXISTS (SELECT FROM pending_batch WHERE environment_id = ${environmentId}::uuid AND id = raw_event.batch_id)`)
  return found!.had_events
}

const aggregationOfMeter =
  'SELECT aggregation::text FROM meter WHERE meter.environment_id = rollup.environment_id AND meter.feature_id = rollup.feature_id'

/**
 * By the quarter of an hour, as they are rolled up. Where the other part has usage of the same time, the two become one; what was set in one of them, and
 * the bucket that `since` cuts, is rolled up anew.
 */
async function moveRollups(
  db: Db,
  { environmentId, customerId, featureIds, from, to, since }: MovedUsage,
  metered: ReadonlySet<string>,
): Promise<void> {
  const moved = await db.$queryRaw<{ feature_id: string; bucket_start: Date; is_level: boolean }[]>(Prisma.sql`
    WITH moved AS (
      DELETE FROM usage_rollup
      WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid AND feature_id = ANY(${featureIds}::uuid[])
        AND part_id = ${from ?? ownPart}::uuid AND bucket_start >= date_bin('15 minutes', ${new Date(since)}::timestamptz, 'epoch')
      RETURNING feature_id, bucket_start, usage, events, is_level, meter_version
    )
    INSERT INTO usage_rollup AS rollup (environment_id, customer_id, feature_id, part_id, bucket_start, usage, events, is_level, meter_version)
    SELECT ${environmentId}::uuid, ${customerId}::uuid, feature_id, ${to ?? ownPart}::uuid, bucket_start, usage, events, is_level, meter_version FROM moved
    ON CONFLICT (environment_id, customer_id, feature_id, part_id, bucket_start) DO UPDATE SET
      usage = ${Prisma.raw(mergedUsage(aggregationOfMeter))},
      events = rollup.events + excluded.events, is_level = rollup.is_level OR excluded.is_level,
      meter_version = ${Prisma.raw(mergedMeterVersion)}
    RETURNING feature_id, bucket_start, is_level`)
  const cut = bucketOf(since)
  const parts = moved.flatMap(({ feature_id: featureId, bucket_start, is_level }) => {
    const bucket = bucket_start.getTime()
    if (metered.has(featureId) || (bucket !== cut && !is_level)) return []
    return (bucket === cut ? [from, to] : [to]).map((resourceId) => ({ customerId, featureId, resourceId, bucket }))
  })
  if (parts.length > 0) await rollUpMeasurements(asQueryable(db), environmentId, parts)
}
