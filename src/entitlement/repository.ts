import type { CatalogService } from '../catalog/service.js'
import type { PackageVersion } from '../catalog/model.js'
import * as decimal from '../kernel/decimal.js'
import type { Db } from '../platform/postgres.js'
import { loadSubscriptions } from '../subscription/repository.js'
import type { HeldPromotional, Holdings } from './holdings.js'

/**
 * Everything that decides what a customer or one of its resources may use. The version is read first: run it in a REPEATABLE READ transaction, or
 * under the customer's state row, so that version and facts belong together.
 */
export async function loadHoldings(db: Db, catalog: CatalogService, environmentId: string, customerRefId: string, resourceRefId: string | null): Promise<Holdings> {
  const customer = await db.customer.findUnique({
    where: { environmentId_refId: { environmentId, refId: customerRefId } },
    select: { id: true, timezone: true, archivedAt: true, state: true },
  })
  const empty: Holdings = {
    environmentId,
    customerRefId,
    resourceRefId,
    customer: null,
    resource: null,
    version: 0,
    accessVersion: 0,
    subscriptions: [],
    promotional: [],
    features: new Map(),
    basePlans: new Map(),
  }
  if (!customer) return empty
  const resource =
    resourceRefId === null
      ? null
      : await db.customerResource.findUnique({
          where: { environmentId_customerId_refId: { environmentId, customerId: customer.id, refId: resourceRefId } },
          select: { id: true },
        })
  const subscriptions = await loadSubscriptions(db, catalog, { environmentId, customerId: customer.id, status: { notIn: ['CANCELED', 'EXPIRED'] } })
  const promotional = await db.promotionalEntitlement.findMany({ where: { environmentId, customerId: customer.id, revokedAt: null } })
  const features = await catalog.featuresById(db, environmentId, [
    ...promotional.map(({ featureId }) => featureId),
    ...subscriptions.flatMap(({ ownEntitlements }) => ownEntitlements.map(({ featureId }) => featureId)),
  ])
  return {
    ...empty,
    customer: { id: customer.id, timeZone: customer.timezone ?? 'UTC', isArchived: customer.archivedAt !== null },
    resource,
    version: Number(customer.state?.version ?? 0),
    accessVersion: Number(customer.state?.accessVersion ?? 0),
    subscriptions,
    promotional: promotional.flatMap((row): HeldPromotional[] => {
      const feature = features.get(row.featureId)
      if (!feature) return []
      return [
        {
          id: row.id,
          feature,
          usageLimit: row.usageLimit === null ? null : decimal.fromText(row.usageLimit.toFixed()),
          hasUnlimitedUsage: row.hasUnlimitedUsage,
          hasSoftLimit: row.hasSoftLimit,
          enumValues: row.enumValues,
          resetPeriod: row.resetPeriod,
          resetRule: row.resetRule,
          startDate: row.startDate.getTime(),
          endDate: row.endDate?.getTime() ?? null,
        },
      ]
    }),
    features,
    basePlans: await loadBasePlans(db, catalog, environmentId, subscriptions.flatMap(({ plan, product }) => (product.downgradePlan ? [plan, product.downgradePlan] : [plan]))),
  }
}

/** The versions that the plans inherit from, all the way up. */
async function loadBasePlans(db: Db, catalog: CatalogService, environmentId: string, plans: PackageVersion[]): Promise<Map<string, PackageVersion>> {
  const found = new Map<string, PackageVersion>()
  const idsOf = (versions: Iterable<PackageVersion>) => [...versions].flatMap(({ basePlanVersionId }) => (basePlanVersionId && !found.has(basePlanVersionId) ? [basePlanVersionId] : []))
  for (let missing = idsOf(plans); missing.length > 0; ) {
    const loaded = await catalog.versions(db, environmentId, missing)
    for (const [id, version] of loaded) found.set(id, version)
    missing = idsOf(loaded.values())
  }
  return found
}
