import type { CatalogService } from '../catalog/service.js'
import * as decimal from '../kernel/decimal.js'
import { newId } from '../kernel/id.js'
import { type Db, Prisma } from '../platform/postgres.js'
import { nextDue } from './lifecycle.js'
import type { OwnEntitlement, Subscription } from './model.js'

const related = {
  resource: true,
  subscriptionAddons: { orderBy: { id: 'asc' } },
  subscriptionQuantities: { include: { feature: { select: { refId: true } } } },
  subscriptionEntitlements: true,
} satisfies Prisma.SubscriptionInclude

type Row = Prisma.SubscriptionGetPayload<{ include: typeof related }>

/** Oldest first, each with its plan and add-on versions and its product's rules. */
export async function loadSubscriptions(
  db: Db,
  catalog: CatalogService,
  where: Prisma.SubscriptionWhereInput & { environmentId: string },
): Promise<Subscription[]> {
  const rows = await db.subscription.findMany({ where, include: related, orderBy: [{ startDate: 'asc' }, { id: 'asc' }] })
  if (rows.length === 0) return []
  const versionIds = rows.flatMap((row) => [row.planVersionId, ...row.subscriptionAddons.map(({ addonVersionId }) => addonVersionId)])
  const versions = await catalog.versions(db, where.environmentId, versionIds)
  const products = new Map<string, Subscription['product']>()
  for (const productId of new Set(rows.map((row) => row.productId)))
    products.set(productId, (await catalog.productRules(db, where.environmentId, productId))!)
  return rows.map((row) => fromRow(row, products.get(row.productId)!, versions))
}

/** Those of a customer (our id) that are not final as stored. */
export function loadOpenSubscriptions(db: Db, catalog: CatalogService, environmentId: string, customerId: string): Promise<Subscription[]> {
  return loadSubscriptions(db, catalog, { environmentId, customerId, status: { notIn: ['CANCELED', 'EXPIRED'] } })
}

function fromRow(row: Row, product: Subscription['product'], versions: Awaited<ReturnType<CatalogService['versions']>>): Subscription {
  return {
    id: row.id,
    refId: row.refId,
    environmentId: row.environmentId,
    customerId: row.customerId,
    resource: row.resource ? { id: row.resource.id, refId: row.resource.refId } : null,
    product,
    plan: versions.get(row.planVersionId)!,
    addons: row.subscriptionAddons.map(({ id, addonVersionId, quantity }) => ({ id, version: versions.get(addonVersionId)!, quantity })),
    quantities: row.subscriptionQuantities.map(({ featureId, feature, quantity }) => ({
      featureId,
      featureRefId: feature.refId,
      quantity: decimal.fromText(quantity.toFixed()),
    })),
    ownEntitlements: row.subscriptionEntitlements.map(
      (own): OwnEntitlement => ({
        id: own.id,
        featureId: own.featureId,
        usageLimit: own.usageLimit === null ? null : decimal.fromText(own.usageLimit.toFixed()),
        hasUnlimitedUsage: own.hasUnlimitedUsage,
        hasSoftLimit: own.hasSoftLimit,
        enumValues: own.enumValues,
        resetPeriod: own.resetPeriod,
        resetRule: own.resetRule,
      }),
    ),
    status: row.status,
    pricingType: row.pricingType,
    billingPeriod: row.billingPeriod,
    billingCountryCode: row.billingCountryCode,
    startDate: row.startDate.getTime(),
    endDate: row.endDate?.getTime() ?? null,
    trialEndDate: row.trialEndDate?.getTime() ?? null,
    trialEndBehavior: row.trialEndBehavior,
    cancellationDate: row.cancellationDate?.getTime() ?? null,
    effectiveEndDate: row.effectiveEndDate?.getTime() ?? null,
    cancelReason: row.cancelReason,
    billingAnchor: row.billingAnchor.getTime(),
    usageAnchor: row.usageAnchor.getTime(),
    entitlementsRevokedAt: row.entitlementsRevokedAt?.getTime() ?? null,
    paymentCollection: row.paymentCollection,
    additionalMetaData: row.additionalMetaData as Subscription['additionalMetaData'],
    createdAt: row.createdAt.getTime(),
  }
}

const date = (at: number | null): Date | null => (at === null ? null : new Date(at))

/** The columns that a subscription's life changes. */
function lifeColumns(subscription: Subscription) {
  const due = nextDue(subscription)
  return {
    status: subscription.status,
    trialEndDate: date(subscription.trialEndDate),
    cancellationDate: date(subscription.cancellationDate),
    effectiveEndDate: date(subscription.effectiveEndDate),
    cancelReason: subscription.cancelReason,
    billingAnchor: new Date(subscription.billingAnchor),
    usageAnchor: new Date(subscription.usageAnchor),
    entitlementsRevokedAt: date(subscription.entitlementsRevokedAt),
    paymentCollection: subscription.paymentCollection,
    dueAt: date(due?.at ?? null),
  }
}

export async function insertSubscription(db: Db, subscription: Subscription): Promise<void> {
  const { environmentId, id: subscriptionId } = subscription
  await db.subscription.create({
    data: {
      ...lifeColumns(subscription),
      environmentId,
      id: subscriptionId,
      refId: subscription.refId,
      customerId: subscription.customerId,
      resourceId: subscription.resource?.id ?? null,
      productId: subscription.product.id,
      planVersionId: subscription.plan.id,
      pricingType: subscription.pricingType,
      billingPeriod: subscription.billingPeriod,
      billingCountryCode: subscription.billingCountryCode,
      createdAt: new Date(subscription.createdAt),
      startDate: new Date(subscription.startDate),
      endDate: date(subscription.endDate),
      trialEndBehavior: subscription.trialEndBehavior,
      additionalMetaData:
        subscription.additionalMetaData === null ? Prisma.DbNull : (subscription.additionalMetaData as Prisma.InputJsonObject),
    },
  })
  await insertContent(db, subscription)
}

async function insertContent(db: Db, { environmentId, id: subscriptionId, addons, quantities }: Subscription): Promise<void> {
  if (addons.length > 0) {
    await db.subscriptionAddon.createMany({
      data: addons.map(({ id, version, quantity }) => ({ environmentId, id, subscriptionId, addonVersionId: version.id, quantity })),
    })
  }
  if (quantities.length > 0) {
    await db.subscriptionQuantity.createMany({
      data: quantities.map(({ featureId, quantity }) => ({ environmentId, subscriptionId, featureId, quantity })),
    })
  }
}

/** Add-ons and quantities become those of `subscription`. */
export async function replaceContent(db: Db, subscription: Subscription): Promise<void> {
  const ofSubscription = { environmentId: subscription.environmentId, subscriptionId: subscription.id }
  await db.subscriptionAddon.deleteMany({ where: ofSubscription })
  await db.subscriptionQuantity.deleteMany({ where: ofSubscription })
  await insertContent(db, subscription)
}

export async function saveLife(db: Db, subscription: Subscription): Promise<void> {
  await db.subscription.update({
    where: { environmentId_id: { environmentId: subscription.environmentId, id: subscription.id } },
    data: lifeColumns(subscription),
  })
}

/** Remembers that the customer has its trial of the product with this subscription, and not with one that ended before it began. */
export async function recordTrial(db: Db, subscription: Subscription): Promise<void> {
  const { environmentId, customerId, product, id: subscriptionId } = subscription
  const trial = { subscriptionId, startedAt: new Date(subscription.startDate) }
  await db.trial.upsert({
    where: { environmentId_customerId_productId: { environmentId, customerId, productId: product.id } },
    create: { environmentId, customerId, productId: product.id, ...trial },
    update: trial,
  })
}

/**
 * Whether the customer ever trialed the product (a trial that is yet to start counts), or ever paid for it, with any resource. What ended before
 * it began, and what was never paid, does not count.
 */
export async function hasTrialedOrPaid(db: Db, environmentId: string, customerId: string, productId: string): Promise<boolean> {
  const rows = await db.$queryRaw<{ is_used: boolean }[]>(Prisma.sql`
    SELECT EXISTS (
      SELECT FROM subscription s
      LEFT JOIN trial t ON t.environment_id = s.environment_id AND t.customer_id = s.customer_id AND t.subscription_id = s.id
      WHERE s.environment_id = ${environmentId}::uuid AND s.customer_id = ${customerId}::uuid AND s.product_id = ${productId}::uuid
        AND (s.effective_end_date IS NULL OR s.effective_end_date > s.start_date)
        AND s.status <> 'PAYMENT_PENDING' AND s.cancel_reason IS DISTINCT FROM 'PendingPaymentExpired'
        AND (t.subscription_id IS NOT NULL OR (s.pricing_type <> 'FREE' AND s.status <> 'NOT_STARTED'))
    ) AS is_used`)
  return rows[0]!.is_used
}

/** Finds the customer's resource, or makes it. */
export async function ensureResource(
  db: Db,
  environmentId: string,
  customerId: string,
  refId: string,
): Promise<{ id: string; refId: string }> {
  const found = await db.customerResource.findUnique({ where: { environmentId_customerId_refId: { environmentId, customerId, refId } } })
  return found ?? (await db.customerResource.create({ data: { environmentId, id: newId(), customerId, refId } }))
}
