import type { CatalogService } from '../catalog/service.js'
import type { EpochMs } from '../kernel/clock.js'
import * as decimal from '../kernel/decimal.js'
import { type Db, Prisma } from '../platform/postgres.js'
import type { Subscription } from '../subscription/model.js'
import type { HeldPromotional, Holdings } from './holdings.js'
import type { EntitledFeature } from './state.js'

/** Where holdings are read from besides this domain's own tables. */
export interface HoldingsSources {
  catalog: CatalogService
  /** The customer's (our id) subscriptions that are not final as stored, oldest first. */
  openSubscriptions(db: Db, environmentId: string, customerId: string): Promise<Subscription[]>
}

/**
 * Everything that decides what a customer or one of its resources may use. The version is read first: run it in a REPEATABLE READ transaction, or
 * under the customer's state row, so that version and facts belong together.
 */
export async function loadHoldings(
  db: Db,
  { catalog, openSubscriptions }: HoldingsSources,
  environmentId: string,
  customerRefId: string,
  resourceRefId: string | null,
): Promise<Holdings> {
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
  const subscriptions = await openSubscriptions(db, environmentId, customer.id)
  const promotional = await db.promotionalEntitlement.findMany({
    where: { environmentId, customerId: customer.id, revokedAt: null },
    orderBy: [{ startDate: 'asc' }, { id: 'asc' }],
  })
  const isNamedAlone = promotional.length > 0 || subscriptions.some(({ ownEntitlements }) => ownEntitlements.length > 0)
  const features = isNamedAlone ? await featuresById(db, catalog, environmentId) : new Map<string, EntitledFeature>()
  const plans = subscriptions.flatMap(({ plan, product }) => (product.downgradePlan ? [plan, product.downgradePlan] : [plan]))
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
    basePlans: await catalog.versions(
      db,
      environmentId,
      plans.flatMap(({ basePlanVersionId }) => basePlanVersionId ?? []),
    ),
  }
}

/** The customer's resources, by the caller's identifier. */
export async function loadResources(db: Db, environmentId: string, customerId: string): Promise<{ id: string; refId: string }[]> {
  return db.customerResource.findMany({
    where: { environmentId, customerId },
    select: { id: true, refId: true },
    orderBy: { refId: 'asc' },
  })
}

/** What a state is made of, as of now. */
export interface StateVersions {
  /** Of the customer's state. */
  state: EpochMs
  catalog: number
}

/** Null: the customer is unknown. */
export async function loadVersions(db: Db, environmentId: string, customerRefId: string): Promise<StateVersions | null> {
  const [row] = await db.$queryRaw<{ state: bigint | null; catalog: bigint }[]>(Prisma.sql`
    SELECT state.version AS state, environment.catalog_version AS catalog
    FROM customer
    JOIN environment ON environment.id = customer.environment_id
    LEFT JOIN customer_state AS state ON state.environment_id = customer.environment_id AND state.customer_id = customer.id
    WHERE customer.environment_id = ${environmentId}::uuid AND customer.ref_id = ${customerRefId}`)
  return row ? { state: Number(row.state ?? 0), catalog: Number(row.catalog) } : null
}

export async function loadCatalogVersion(db: Db, environmentId: string): Promise<number> {
  const [row] = await db.$queryRaw<{ version: bigint }[]>(Prisma.sql`
    SELECT catalog_version AS version FROM environment WHERE id = ${environmentId}::uuid`)
  return Number(row?.version ?? 0)
}

async function featuresById(db: Db, catalog: CatalogService, environmentId: string): Promise<Map<string, EntitledFeature>> {
  const features = await catalog.features(db, environmentId)
  return new Map([...features.values()].map(({ isArchived, ...feature }) => [feature.id, feature]))
}
