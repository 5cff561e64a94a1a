import * as decimal from '../../kernel/decimal.js';
import { Prisma } from '../../platform/postgres.js';
import { insertRows, oncePerGroup, toRow, updateRows } from '../../platform/transaction-group.js';
import { nextDue } from '../rules/advance.js';
import { loadScheduledVersions, saveScheduled, toScheduledChange } from './scheduled.js';
import { isTrialUsed } from './trials.js';
const related = {
    customer: { select: { timezone: true } },
    resource: true,
    subscriptionAddons: { orderBy: { id: 'asc' } },
    subscriptionQuantities: { include: { feature: { select: { refId: true } } } },
    subscriptionEntitlements: true,
    // Of those that wait for the same instant the older goes first, whoever reads them.
    scheduledUpdates: { where: { status: 'Scheduled' }, orderBy: { id: 'asc' } },
};
/** Oldest first, each with its plan and add-on versions and its product's rules. */
export async function loadSubscriptions(db, catalog, where) {
    const rows = await db.subscription.findMany({ where, include: related, orderBy: [{ startDate: 'asc' }, { id: 'asc' }] });
    if (rows.length === 0)
        return [];
    const { environmentId } = where;
    const versionIds = rows.flatMap((row) => [row.planVersionId, ...row.subscriptionAddons.map(({ addonVersionId }) => addonVersionId)]);
    const versions = await catalog.versions(db, environmentId, versionIds);
    const products = new Map();
    for (const productId of new Set(rows.map((row) => row.productId)))
        products.set(productId, (await catalog.productRules(db, environmentId, productId)));
    const loaded = [];
    for (const row of rows) {
        const scheduledVersions = await loadScheduledVersions(db, catalog, row, versions);
        loaded.push(fromRow(row, products.get(row.productId), versions, scheduledVersions));
    }
    return loaded;
}
/** Our ids of a subscription and of its customer, which is to be locked before anything else is read. Null: unknown. */
export function findOwner(db, environmentId, refId) {
    return db.subscription.findUnique({ where: { environmentId_refId: { environmentId, refId } }, select: { id: true, customerId: true } });
}
/** Those of the versions (our ids) of plans and add-ons that a subscription was ever made to. */
export async function findSubscribedVersions(db, environmentId, versionIds) {
    const rows = await db.$queryRaw(Prisma.sql `
    SELECT asked.id FROM unnest(${[...versionIds]}::uuid[]) AS asked (id)
    WHERE EXISTS (SELECT FROM subscription s WHERE s.environment_id = ${environmentId}::uuid AND s.plan_version_id = asked.id)
      OR EXISTS (SELECT FROM subscription_addon held WHERE held.environment_id = ${environmentId}::uuid AND held.addon_version_id = asked.id)`);
    return new Set(rows.map(({ id }) => id));
}
/** Those of the customers (our ids) that are not final as stored. */
export function loadOpenSubscriptions(db, catalog, environmentId, customerIds) {
    const customerId = typeof customerIds === 'string' ? customerIds : { in: customerIds };
    return loadSubscriptions(db, catalog, { environmentId, customerId, status: { notIn: ['CANCELED', 'EXPIRED'] } });
}
function fromRow(row, product, versions, scheduledVersions) {
    const content = {
        plan: versions.get(row.planVersionId),
        addons: row.subscriptionAddons.map(({ id, addonVersionId, quantity }) => ({ id, version: versions.get(addonVersionId), quantity })),
        quantities: row.subscriptionQuantities.map(({ featureId, feature, quantity }) => ({
            featureId,
            featureRefId: feature.refId,
            quantity: decimal.fromText(quantity.toFixed()),
        })),
    };
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
        ownEntitlements: row.subscriptionEntitlements.map((own) => ({
            id: own.id,
            featureId: own.featureId,
            usageLimit: own.usageLimit === null ? null : decimal.fromText(own.usageLimit.toFixed()),
            hasUnlimitedUsage: own.hasUnlimitedUsage,
            hasSoftLimit: own.hasSoftLimit,
            enumValues: own.enumValues,
            resetPeriod: own.resetPeriod,
            resetRule: own.resetRule,
        })),
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
        currentPeriod: row.currentPeriodStart && row.currentPeriodEnd
            ? { start: row.currentPeriodStart.getTime(), end: row.currentPeriodEnd.getTime() }
            : null,
        usageAnchor: row.usageAnchor.getTime(),
        scheduled: row.scheduledUpdates.map((scheduled) => toScheduledChange(scheduled, { ...content, billingPeriod: row.billingPeriod }, scheduledVersions)),
        entitlementsRevokedAt: row.entitlementsRevokedAt?.getTime() ?? null,
        awaitsPayment: row.awaitsPayment,
        paymentCollection: row.paymentCollection,
        additionalMetaData: row.additionalMetaData,
        billingId: row.billingId,
        crmId: row.crmId,
        salesforceId: row.salesforceId,
        createdAt: row.createdAt.getTime(),
    };
}
const date = (at) => (at === null ? null : new Date(at));
/** What a subscription's life may change. */
function columns(subscription) {
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
        updatedAt: new Date(),
    };
}
const addSubscription = oncePerGroup(async (db, all) => {
    const rows = all.map((subscription) => toRow({
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
    }));
    await insertRows(db, 'subscription', rows);
    return rows;
});
const changeSubscription = oncePerGroup(async (db, all) => {
    const rows = all.map((subscription) => toRow({ environmentId: subscription.environmentId, id: subscription.id, ...columns(subscription) }));
    await updateRows(db, 'subscription', rows);
    return rows;
});
export async function insertSubscription(db, subscription) {
    await addSubscription(db, subscription);
    await insertAddons(db, subscription);
    await insertQuantities(db, subscription);
    await insertOwnEntitlements(db, subscription);
    await saveScheduled(db, { before: [], after: subscription, executed: [] });
}
async function insertAddons(db, { environmentId, id: subscriptionId, addons }) {
    if (addons.length === 0)
        return;
    await db.subscriptionAddon.createMany({
        data: addons.map(({ id, version, quantity }) => ({ environmentId, id, subscriptionId, addonVersionId: version.id, quantity })),
    });
}
async function insertQuantities(db, { environmentId, id: subscriptionId, quantities }) {
    if (quantities.length === 0)
        return;
    await db.subscriptionQuantity.createMany({
        data: quantities.map(({ featureId, quantity }) => ({ environmentId, subscriptionId, featureId, quantity })),
    });
}
async function insertOwnEntitlements(db, { environmentId, id: subscriptionId, ownEntitlements }) {
    if (ownEntitlements.length === 0)
        return;
    await db.subscriptionEntitlement.createMany({
        data: ownEntitlements.map((own) => ({ ...own, environmentId, subscriptionId })),
    });
}
/** From what was stored to what is now. `executed` are the ids of scheduled changes that are done; others that are gone were taken back. */
export async function saveSubscription(db, before, after, executed = []) {
    const { environmentId, id } = after;
    const ofSubscription = { environmentId, subscriptionId: id };
    await changeSubscription(db, after);
    // Of several steps recorded at once the first may have been its start.
    const wasPaid = before.pricingType !== 'FREE' && before.status !== 'PAYMENT_PENDING' && after.status !== 'NOT_STARTED';
    if (wasPaid && after.pricingType === 'FREE')
        await db.subscription.update({ where: { environmentId_id: { environmentId, id } }, data: { hasPaid: true } });
    // Lists are replaced by other lists where they change, never changed themselves.
    if (after.addons !== before.addons) {
        await db.subscriptionAddon.deleteMany({ where: ofSubscription });
        await insertAddons(db, after);
    }
    if (after.quantities !== before.quantities) {
        await db.subscriptionQuantity.deleteMany({ where: ofSubscription });
        await insertQuantities(db, after);
    }
    if (after.ownEntitlements !== before.ownEntitlements) {
        await db.subscriptionEntitlement.deleteMany({ where: ofSubscription });
        await insertOwnEntitlements(db, after);
    }
    if (after.scheduled !== before.scheduled)
        await saveScheduled(db, { before: before.scheduled, after, executed });
}
/**
 * Remembers when the source of an import last changed the subscription. False: an import that is newer was here already, so this one is to change
 * nothing.
 */
export async function claimSourceUpdate(db, { environmentId, id }, updatedAt) {
    const sourceUpdatedAt = new Date(updatedAt);
    const { count } = await db.subscription.updateMany({
        where: { environmentId, id, OR: [{ sourceUpdatedAt: null }, { sourceUpdatedAt: { lte: sourceUpdatedAt } }] },
        data: { sourceUpdatedAt },
    });
    return count === 1;
}
/** Claims each renewed period by its key, so that none is renewed twice whatever the code does. @throws on a second claim */
export async function insertRenewals(db, environmentId, renewals) {
    if (renewals.length > 0)
        await addRenewals(db, { environmentId, renewals });
}
const addRenewals = oncePerGroup(async (db, all) => {
    const rows = all.flatMap(({ environmentId, renewals }) => renewals.map(({ subscriptionId, start, end }) => toRow({ environmentId, subscriptionId, periodStart: new Date(start), periodEnd: new Date(end) })));
    await insertRows(db, 'subscription_renewal', rows);
    return all;
});
/** Remembers that the customer has its trial of the product with this subscription, and not with one that ended before it began. */
export async function recordTrial(db, subscription) {
    const { environmentId, customerId, product, id: subscriptionId } = subscription;
    const trial = { subscriptionId, startedAt: new Date(subscription.startDate) };
    await db.trial.upsert({
        where: { environmentId_customerId_productId: { environmentId, customerId, productId: product.id } },
        create: { environmentId, customerId, productId: product.id, ...trial },
        update: trial,
    });
}
/**
 * Whether the customer ever trialed the product (a trial that is yet to start counts), or ever paid for it, with any resource. What ended before
 * it began, and what was never paid, does not count.
 */
export async function hasTrialedOrPaid(db, environmentId, customerId, productId) {
    const rows = await db.$queryRaw(Prisma.sql `
    SELECT EXISTS (
      SELECT FROM subscription s
      LEFT JOIN trial t ON t.environment_id = s.environment_id AND t.customer_id = s.customer_id AND t.subscription_id = s.id
      WHERE s.environment_id = ${environmentId}::uuid AND s.customer_id = ${customerId}::uuid AND s.product_id = ${productId}::uuid
        AND ${isTrialUsed}
    ) AS is_used`);
    return rows[0].is_used;
}
//# sourceMappingURL=subscriptions.js.map