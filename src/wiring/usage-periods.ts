import { findUsagePeriods as ofCatalog } from '../catalog/records/usage-periods.js'
import { findUsagePeriods as ofPromotions } from '../entitlement/records/usage-periods.js'
import type { ResetPeriod } from '../metering/model/usage-period.js'
import type { PrismaClient } from '../platform/postgres.js'
import { findUsagePeriods as ofSubscriptions } from '../subscription/records/usage-periods.js'

/** Every usage period that anything which is sold or given asks for: raw events are kept for the longest of them. */
export async function findUsagePeriods(prisma: PrismaClient): Promise<(ResetPeriod | null)[]> {
  return (await Promise.all([ofCatalog(prisma), ofSubscriptions(prisma), ofPromotions(prisma)])).flat()
}
