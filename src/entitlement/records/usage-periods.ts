import type { ResetPeriod } from '../../metering/model/usage-period.js'
import { type Db, Prisma } from '../../platform/postgres.js'

/** The usage periods of promotional entitlements of all environments. Null among them: usage that is counted from events and never reset. */
export async function findUsagePeriods(db: Db): Promise<(ResetPeriod | null)[]> {
  const rows = await db.$queryRaw<{ reset_period: ResetPeriod | null }[]>(Prisma.sql`
    SELECT DISTINCT entitlement.reset_period::text
    FROM promotional_entitlement AS entitlement LEFT JOIN meter USING (environment_id, feature_id)
    WHERE entitlement.reset_period IS NOT NULL OR meter.feature_id IS NOT NULL`)
  return rows.map(({ reset_period }) => reset_period)
}
