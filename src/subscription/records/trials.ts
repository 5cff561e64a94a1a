import { type Db, Prisma } from '../../platform/postgres.js'
import type { Subscription } from '../rules/subscription.js'
import type { ProductEligibility, TrialedPlan } from '../rules/trial.js'

const byCustomer = <T>(customerIds: readonly string[], rows: readonly (T & { customerId: string })[]): T[][] =>
  customerIds.map((id) => rows.flatMap(({ customerId, ...row }) => (customerId === id ? [row as T] : [])))

export async function findTrials(db: Db, environmentId: string, customerIds: readonly string[]): Promise<TrialedPlan[][]> {
  const rows = await db.$queryRaw<(TrialedPlan & { customerId: string })[]>(Prisma.sql`
    SELECT trial.customer_id AS "customerId", package.id AS "planId", package.ref_id AS "planRefId",
      product.id AS "productId", product.ref_id AS "productRefId"
    FROM trial
    JOIN product ON product.environment_id = trial.environment_id AND product.id = trial.product_id
    JOIN subscription ON subscription.environment_id = trial.environment_id AND subscription.id = trial.subscription_id
    JOIN package_version AS version ON version.environment_id = trial.environment_id AND version.id = subscription.plan_version_id
    JOIN package ON package.environment_id = trial.environment_id AND package.id = version.package_id
    WHERE trial.environment_id = ${environmentId}::uuid AND trial.customer_id = ANY (${customerIds}::uuid[])
    ORDER BY trial.started_at, product.ref_id`)
  return byCustomer(customerIds, rows)
}

/** By the same rule as `hasTrialedOrPaid`, for all products that are sold. */
export async function findEligibility(db: Db, environmentId: string, customerIds: readonly string[]): Promise<ProductEligibility[][]> {
  const rows = await db.$queryRaw<(ProductEligibility & { customerId: string })[]>(Prisma.sql`
    SELECT customer.id AS "customerId", product.id AS "productId", product.ref_id AS "productRefId", NOT EXISTS (
      SELECT FROM subscription s
      LEFT JOIN trial t ON t.environment_id = s.environment_id AND t.customer_id = s.customer_id AND t.subscription_id = s.id
      WHERE s.environment_id = customer.environment_id AND s.customer_id = customer.id AND s.product_id = product.id
        AND ${isTrialUsed}
    ) AS eligible
    FROM customer JOIN product ON product.environment_id = customer.environment_id AND product.archived_at IS NULL
    WHERE customer.environment_id = ${environmentId}::uuid AND customer.id = ANY (${customerIds}::uuid[])
    ORDER BY product.created_at, product.ref_id`)
  return byCustomer(customerIds, rows)
}

/**
 * Of a subscription `s` with its trial `t`: it used up the customer's trial of the product. A trial that is yet to start counts; what ended before it
 * began, and what was never paid, does not. What has started counts also where that is not recorded yet.
 */
const isTrialUsed = Prisma.sql`(s.effective_end_date IS NULL OR s.effective_end_date > s.start_date)
  AND s.status <> 'PAYMENT_PENDING' AND NOT s.ended_unpaid
  AND (t.subscription_id IS NOT NULL OR s.has_paid OR (s.pricing_type <> 'FREE' AND (s.status <> 'NOT_STARTED'
    OR (NOT s.awaits_payment AND s.start_date <= to_timestamp(environment_clock(s.environment_id) / 1000.0)))))`

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
        AND ${isTrialUsed}
    ) AS is_used`)
  return rows[0]!.is_used
}
