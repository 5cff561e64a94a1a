import { type Db, Prisma } from '../platform/postgres.js'
import type { Subscription } from './model.js'

/**
 * What was reported for a subscription's place since its usage began is from now on reported for another place: with it go the counters of the
 * subscription's own series. The customer's total does not change by it. Needs the customer's state row, as reports do.
 */
export async function moveUsage(db: Db, subscription: Subscription, toResourceId: string | null): Promise<void> {
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
