import { type Db, Prisma } from '../../platform/postgres.js'
import type { Subscription } from '../rules/subscription.js'

/**
 * What was reported for a subscription's place since its usage began is from now on reported for another place: with it go what history has made of
 * it, and the counters of the subscription's own series. The customer's total does not change by it. Needs the customer's state row, as reports do.
 *
 * `isShared`: another subscription of the place stays there. An event is counted for all that its place holds, so events stay too then.
 */
export async function moveUsage(
  db: Db,
  subscription: Subscription,
  toResourceId: string | null,
  { isShared }: { isShared: boolean },
): Promise<void> {
  const { environmentId, customerId, resource, plan, addons, ownEntitlements, usageAnchor } = subscription
  const featureIds = [
    ...plan.entitlements.map(({ featureId }) => featureId),
    ...addons.flatMap(({ version }) => version.entitlements.map(({ featureId }) => featureId)),
    ...ownEntitlements.map(({ featureId }) => featureId),
  ]
  const from = resource?.id ?? null
  await db.$executeRaw(Prisma.sql`
    UPDATE usage_measurement SET resource_id = ${toResourceId}::uuid
    WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid AND feature_id = ANY(${featureIds}::uuid[])
      AND resource_id IS NOT DISTINCT FROM ${from}::uuid AND occurred_at >= ${new Date(usageAnchor)}`)
  if (!isShared)
    await db.$executeRaw(Prisma.sql`
      UPDATE raw_event SET resource_id = ${toResourceId}::uuid
      WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid
        AND resource_id IS NOT DISTINCT FROM ${from}::uuid AND occurred_at >= ${new Date(usageAnchor)}`)
  await moveRollups(db, { environmentId, customerId, featureIds, from, to: toResourceId, since: usageAnchor })
  // The series of the customer itself is its total over all places, so it stays; a series of the new place that is there already is right.
  if (from === null || toResourceId === null) return
  await db.$executeRaw(Prisma.sql`
    UPDATE usage_series AS series SET resource_id = ${toResourceId}::uuid
    WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid AND resource_id = ${from}::uuid
      AND feature_id = ANY(${featureIds}::uuid[]) AND (anchor = ${new Date(usageAnchor)} OR anchor IS NULL)
      AND NOT EXISTS (
        SELECT FROM usage_series other
        WHERE other.environment_id = series.environment_id AND other.customer_id = series.customer_id AND other.resource_id = ${toResourceId}::uuid
          AND other.feature_id = series.feature_id AND other.reset_period IS NOT DISTINCT FROM series.reset_period
          AND other.reset_rule IS NOT DISTINCT FROM series.reset_rule AND other.anchor IS NOT DISTINCT FROM series.anchor
          AND other.timezone IS NOT DISTINCT FROM series.timezone)`)
}

/** The customer's own part of what is rolled up. */
const ownPart = '00000000-0000-0000-0000-000000000000'

/** By the quarter of an hour, as they are rolled up. Where the other place has usage of the same time, the two become one. */
async function moveRollups(
  db: Db,
  moved: { environmentId: string; customerId: string; featureIds: string[]; from: string | null; to: string | null; since: number },
): Promise<void> {
  const { environmentId, customerId, featureIds, from, to, since } = moved
  await db.$executeRaw(Prisma.sql`
    WITH moved AS (
      DELETE FROM usage_rollup
      WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid AND feature_id = ANY(${featureIds}::uuid[])
        AND part_id = ${from ?? ownPart}::uuid AND bucket_start >= date_bin('15 minutes', ${new Date(since)}::timestamptz, 'epoch')
      RETURNING feature_id, bucket_start, usage, events, is_level
    )
    INSERT INTO usage_rollup AS rollup (environment_id, customer_id, feature_id, part_id, bucket_start, usage, events, is_level)
    SELECT ${environmentId}::uuid, ${customerId}::uuid, feature_id, ${to ?? ownPart}::uuid, bucket_start, usage, events, is_level FROM moved
    ON CONFLICT (environment_id, customer_id, feature_id, part_id, bucket_start) DO UPDATE SET
      usage = CASE (SELECT aggregation::text FROM meter WHERE meter.environment_id = rollup.environment_id AND meter.feature_id = rollup.feature_id)
        WHEN 'MAX' THEN greatest(rollup.usage, excluded.usage)
        WHEN 'MIN' THEN least(rollup.usage, excluded.usage)
        ELSE rollup.usage + excluded.usage END,
      events = rollup.events + excluded.events, is_level = rollup.is_level OR excluded.is_level`)
}
