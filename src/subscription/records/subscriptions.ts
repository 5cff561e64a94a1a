import { recordAudit } from '../../audit/record/record.js'
import type { CatalogService } from '../../catalog/service.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { insertRows, oncePerGroup, toRow, updateRows } from '../../platform/transaction-group.js'
import { nextDue, type Renewal } from '../rules/advance.js'
import { auditedSubscription } from '../rules/audited.js'
import type { Step } from '../rules/events.js'
import { isFinal, type OwnEntitlement, type Subscription } from '../rules/subscription.js'
import { recordSteps } from './events.js'
import { type LoadedVersions, loadScheduledVersions, saveScheduled, toScheduledChange } from './scheduled.js'

const related = {
  customer: { select: { timezone: true } },
  resource: true,
  subscriptionAddons: { orderBy: { id: 'asc' } },
  subscriptionQuantities: { include: { feature: { select: { refId: true } } } },
  subscriptionEntitlements: true,
  // Of those that wait for the same instant the older goes first, whoever reads them.
  scheduledUpdates: { where: { status: 'Scheduled' }, orderBy: { id: 'asc' } },
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
  const { environmentId } = where
  const versionIds = rows.flatMap((row) => [row.planVersionId, ...row.subscriptionAddons.map(({ addonVersionId }) => addonVersionId)])
  const versions = await catalog.versions(db, environmentId, versionIds)
  const products = new Map<string, Subscription['product']>()
  for (const productId of new Set(rows.map((row) => row.productId)))
    products.set(productId, (await catalog.productRules(db, environmentId, productId))!)
  const loaded: Subscription[] = []
  for (const row of rows) {
    const scheduledVersions = await loadScheduledVersions(db, catalog, row, versions)
    loaded.push(fromRow(row, products.get(row.productId)!, versions, scheduledVersions))
  }
  return loaded
}

/** Our ids of a subscription and of its customer, which is to be locked before anything else is read. Null: unknown. */
export function findOwner(db: Db, environmentId: string, refId: string): Promise<{ id: string; customerId: string } | null> {
  return db.subscription.findUnique({ where: { environmentId_refId: { environmentId, refId } }, select: { id: true, customerId: true } })
}

/** What the caller calls subscriptions, by our id. */
export async function findRefIds(db: Db, environmentId: string, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.subscription.findMany({ where: { environmentId, id: { in: [...ids] } }, select: { id: true, refId: true } })
  return new Map(rows.map(({ id, refId }) => [id, refId]))
}

/** Those of the versions (our ids) of plans and add-ons that a subscription was ever made to. */
export async function findSubscribedVersions(db: Db, environmentId: string, versionIds: readonly string[]): Promise<Set<string>> {
  const rows = await db.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT asked.id FROM unnest(${[...versionIds]}::uuid[]) AS asked (id)
    WHERE EXISTS (SELECT FROM subscription s WHERE s.environment_id = ${environmentId}::uuid AND s.plan_version_id = asked.id)
      OR EXISTS (SELECT FROM subscription_addon held WHERE held.environment_id = ${environmentId}::uuid AND held.addon_version_id = asked.id)`)
  return new Set(rows.map(({ id }) => id))
}

/** Those of the customers (our ids) that are not final as stored. */
export function loadOpenSubscriptions(
  db: Db,
  catalog: CatalogService,
  environmentId: string,
  customerIds: string | string[],
): Promise<Subscription[]> {
  const customerId = typeof customerIds === 'string' ? customerIds : { in: customerIds }
  return loadSubscriptions(db, catalog, { environmentId, customerId, status: { notIn: ['CANCELED', 'EXPIRED'] } })
}

function fromRow(row: Row, product: Subscription['product'], versions: LoadedVersions, scheduledVersions: LoadedVersions): Subscription {
  const content = {
    plan: versions.get(row.planVersionId)!,
    addons: row.subscriptionAddons.map(({ id, addonVersionId, quantity }) => ({ id, version: versions.get(addonVersionId)!, quantity })),
    quantities: row.subscriptionQuantities.map(({ featureId, feature, quantity }) => ({
      featureId,
      featureRefId: feature.refId,
      quantity: decimal.fromText(quantity.toFixed()),
    })),
  }
  return {
    ...content,
    id: row.id,
    refId: row.refId,
    environmentId: row.environmentId,
    customerId: row.customerId,
    payingCustomerId: row.payingCustomerId,
    timeZone: row.customer.timezone ?? 'UTC',
    resource: row.resource ? { id: row.resource.id, refId: row.resource.refId } : null,
    product,
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
    budget: row.budgetLimit === null ? null : { limit: decimal.fromText(row.budgetLimit.toFixed()), hasSoftLimit: row.budgetHasSoftLimit },
    currentPeriod:
      row.currentPeriodStart && row.currentPeriodEnd
        ? { start: row.currentPeriodStart.getTime(), end: row.currentPeriodEnd.getTime() }
        : null,
    usageAnchor: row.usageAnchor.getTime(),
    scheduled: row.scheduledUpdates.map((scheduled) =>
      toScheduledChange(scheduled, { ...content, billingPeriod: row.billingPeriod }, scheduledVersions),
    ),
    entitlementsRevokedAt: row.entitlementsRevokedAt?.getTime() ?? null,
    awaitsPayment: row.awaitsPayment,
    paymentCollection: row.paymentCollection,
    additionalMetaData: row.additionalMetaData as Subscription['additionalMetaData'],
    billingId: row.billingId,
    crmId: row.crmId,
    salesforceId: row.salesforceId,
    createdAt: row.createdAt.getTime(),
  }
}

const date = (at: number | null): Date | null => (at === null ? null : new Date(at))

/** What a subscription's life may change. */
function columns(subscription: Subscription) {
  return {
    status: subscription.status,
    payingCustomerId: subscription.payingCustomerId,
    resourceId: subscription.resource?.id ?? null,
    planVersionId: subscription.plan.id,
    pricingType: subscription.pricingType,
    billingPeriod: subscription.billingPeriod,
    endDate: date(subscription.endDate),
    trialEndDate: date(subscription.trialEndDate),
    cancellationDate: date(subscription.cancellationDate),
    effectiveEndDate: date(subscription.effectiveEndDate),
    cancelReason: subscription.cancelReason,
    billingAnchor: new Date(subscription.billingAnchor),
    budgetLimit: subscription.budget?.limit ?? null,
    budgetHasSoftLimit: subscription.budget?.hasSoftLimit ?? false,
    currentPeriodStart: date(subscription.currentPeriod?.start ?? null),
    currentPeriodEnd: date(subscription.currentPeriod?.end ?? null),
    usageAnchor: new Date(subscription.usageAnchor),
    entitlementsRevokedAt: date(subscription.entitlementsRevokedAt),
    paymentCollection: subscription.paymentCollection,
    additionalMetaData: subscription.additionalMetaData,
    salesforceId: subscription.salesforceId,
    dueAt: date(nextDue(subscription)?.at ?? null),
  }
}

const addSubscription = oncePerGroup(async (db, all: Subscription[]) => {
  const rows = all.map((subscription) =>
    toRow({
      ...columns(subscription),
      environmentId: subscription.environmentId,
      id: subscription.id,
      refId: subscription.refId,
      customerId: subscription.customerId,
      productId: subscription.product.id,
      billingCountryCode: subscription.billingCountryCode,
      billingId: subscription.billingId,
      crmId: subscription.crmId,
      createdAt: new Date(subscription.createdAt),
      startDate: new Date(subscription.startDate),
      trialEndBehavior: subscription.trialEndBehavior,
      awaitsPayment: subscription.awaitsPayment,
    }),
  )
  await insertRows(db, 'subscription', rows)
  return rows
})

const changeSubscription = oncePerGroup(async (db, all: Subscription[]) => {
  const rows = all.map((subscription) =>
    toRow({ environmentId: subscription.environmentId, id: subscription.id, ...columns(subscription) }),
  )
  await updateRows(db, 'subscription', rows, 'updated_at = clock_timestamp()')
  return rows
})

export async function insertSubscription(db: Db, subscription: Subscription): Promise<void> {
  recordAudit(db, auditedSubscription(null, subscription))
  await addSubscription(db, subscription)
  await insertAddons(db, subscription)
  await insertQuantities(db, subscription)
  await insertOwnEntitlements(db, subscription)
  await saveScheduled(db, { before: [], after: subscription, executed: [] })
  await recordSteps(db, [{ before: null, after: subscription }])
}

async function insertAddons(db: Db, { environmentId, id: subscriptionId, addons }: Subscription): Promise<void> {
  if (addons.length === 0) return
  await db.subscriptionAddon.createMany({
    data: addons.map(({ id, version, quantity }) => ({ environmentId, id, subscriptionId, addonVersionId: version.id, quantity })),
  })
}

async function insertQuantities(db: Db, { environmentId, id: subscriptionId, quantities }: Subscription): Promise<void> {
  if (quantities.length === 0) return
  await db.subscriptionQuantity.createMany({
    data: quantities.map(({ featureId, quantity }) => ({ environmentId, subscriptionId, featureId, quantity })),
  })
}

async function insertOwnEntitlements(db: Db, { environmentId, id: subscriptionId, ownEntitlements }: Subscription): Promise<void> {
  if (ownEntitlements.length === 0) return
  await db.subscriptionEntitlement.createMany({
    data: ownEntitlements.map((own) => ({ ...own, environmentId, subscriptionId })),
  })
}

/**
 * From what was stored to what is now. `executed` are the ids of scheduled changes that are done; others that are gone were taken back. `steps`: what happened on
 * the way, one after the other, when it was more than one thing.
 */
export async function saveSubscription(
  db: Db,
  before: Subscription,
  after: Subscription,
  { executed = [], steps = [{ before, after }] }: { executed?: readonly string[]; steps?: readonly Step[] } = {},
): Promise<void> {
  const { environmentId, id } = after
  const ofSubscription = { environmentId, subscriptionId: id }
  await changeSubscription(db, after)
  recordAudit(db, auditedSubscription(before, after))
  // Of several steps recorded at once the first may have been its start.
  const wasPaid = before.pricingType !== 'FREE' && before.status !== 'PAYMENT_PENDING' && after.status !== 'NOT_STARTED'
  if (wasPaid && after.pricingType === 'FREE')
    await db.subscription.update({ where: { environmentId_id: { environmentId, id } }, data: { hasPaid: true } })
  const waitedForPayment = before.status === 'PAYMENT_PENDING' || (before.status === 'NOT_STARTED' && before.awaitsPayment)
  if (waitedForPayment && isFinal(after.status))
    await db.subscription.update({ where: { environmentId_id: { environmentId, id } }, data: { endedUnpaid: true } })
  // Lists are replaced by other lists where they change, never changed themselves.
  if (after.addons !== before.addons) {
    await db.subscriptionAddon.deleteMany({ where: ofSubscription })
    await insertAddons(db, after)
  }
  if (after.quantities !== before.quantities) {
    await db.subscriptionQuantity.deleteMany({ where: ofSubscription })
    await insertQuantities(db, after)
  }
  if (after.ownEntitlements !== before.ownEntitlements) {
    await db.subscriptionEntitlement.deleteMany({ where: ofSubscription })
    await insertOwnEntitlements(db, after)
  }
  if (after.scheduled !== before.scheduled) await saveScheduled(db, { before: before.scheduled, after, executed })
  await recordSteps(db, steps)
}

/**
 * Remembers when the source of an import last changed the subscription. False: an import that is newer was here already, so this one is to change
 * nothing.
 */
export async function claimSourceUpdate(
  db: Db,
  { environmentId, id }: Pick<Subscription, 'environmentId' | 'id'>,
  updatedAt: EpochMs,
): Promise<boolean> {
  const sourceUpdatedAt = new Date(updatedAt)
  const { count } = await db.subscription.updateMany({
    where: { environmentId, id, OR: [{ sourceUpdatedAt: null }, { sourceUpdatedAt: { lte: sourceUpdatedAt } }] },
    data: { sourceUpdatedAt },
  })
  return count === 1
}

/** Claims each renewed period by its key, so that none is renewed twice whatever the code does. @throws on a second claim */
export async function insertRenewals(db: Db, environmentId: string, renewals: readonly Renewal[]): Promise<void> {
  if (renewals.length > 0) await addRenewals(db, { environmentId, renewals })
}

const addRenewals = oncePerGroup(async (db, all: { environmentId: string; renewals: readonly Renewal[] }[]) => {
  const rows = all.flatMap(({ environmentId, renewals }) =>
    renewals.map(({ subscriptionId, start, end }) =>
      toRow({ environmentId, subscriptionId, periodStart: new Date(start), periodEnd: new Date(end) }),
    ),
  )
  await insertRows(db, 'subscription_renewal', rows)
  return all
})
