import type { ResetPeriod } from '../../metering/model/usage-period.js'
import { type Db, Prisma } from '../../platform/postgres.js'

/**
 * The usage periods of plans and add-ons, whatever version they are of, of all environments, and the billing periods in which events are sold. Null among
 * them: usage that is counted from events and never reset.
 */
export async function findUsagePeriods(db: Db): Promise<(ResetPeriod | null)[]> {
  const rows = await db.$queryRaw<{ reset_period: ResetPeriod | null }[]>(Prisma.sql`
    WITH RECURSIVE source AS (
      SELECT environment_id, id AS version_id, id AS source_id, base_plan_version_id FROM package_version
      UNION
      SELECT source.environment_id, source.version_id, base.id, base.base_plan_version_id
      FROM source JOIN package_version AS base ON base.environment_id = source.environment_id AND base.id = source.base_plan_version_id
    )
    SELECT entitlement.reset_period::text
    FROM package_entitlement AS entitlement LEFT JOIN meter USING (environment_id, feature_id)
    WHERE entitlement.reset_period IS NOT NULL OR meter.feature_id IS NOT NULL
    UNION
    -- An invoice charges for what was used in its whole period.
    SELECT CASE price.billing_period WHEN 'ANNUALLY' THEN 'YEAR' ELSE 'MONTH' END
    FROM price JOIN meter USING (environment_id, feature_id)
    WHERE price.billing_model = 'USAGE_BASED'
    UNION
    -- What is sold by the unit without an entitlement to it is entitled to all the same.
    SELECT NULL
    FROM price JOIN meter USING (environment_id, feature_id)
    WHERE price.billing_model = 'PER_UNIT' AND NOT EXISTS (
      SELECT FROM source JOIN package_entitlement AS entitlement
        ON entitlement.environment_id = source.environment_id AND entitlement.package_version_id = source.source_id
      WHERE source.environment_id = price.environment_id AND source.version_id = price.package_version_id
        AND entitlement.feature_id = price.feature_id)`)
  return rows.map(({ reset_period }) => reset_period)
}
