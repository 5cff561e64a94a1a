import { Prisma } from '../../platform/postgres.js';
const byCustomer = (customerIds, rows) => customerIds.map((id) => rows.flatMap(({ customerId, ...row }) => (customerId === id ? [row] : [])));
export async function findTrials(db, environmentId, customerIds) {
    const rows = await db.$queryRaw(Prisma.sql `
    SELECT trial.customer_id AS "customerId", package.id AS "planId", package.ref_id AS "planRefId",
      product.id AS "productId", product.ref_id AS "productRefId"
    FROM trial
    JOIN product ON product.environment_id = trial.environment_id AND product.id = trial.product_id
    JOIN subscription ON subscription.environment_id = trial.environment_id AND subscription.id = trial.subscription_id
    JOIN package_version AS version ON version.environment_id = trial.environment_id AND version.id = subscription.plan_version_id
    JOIN package ON package.environment_id = trial.environment_id AND package.id = version.package_id
    WHERE trial.environment_id = ${environmentId}::uuid AND trial.customer_id = ANY (${customerIds}::uuid[])
    ORDER BY trial.started_at, product.ref_id`);
    return byCustomer(customerIds, rows);
}
/** By the same rule as `hasTrialedOrPaid`, for all products that are sold. */
export async function findEligibility(db, environmentId, customerIds) {
    const rows = await db.$queryRaw(Prisma.sql `
    SELECT customer.id AS "customerId", product.id AS "productId", product.ref_id AS "productRefId", NOT EXISTS (
      SELECT FROM subscription s
      LEFT JOIN trial t ON t.environment_id = s.environment_id AND t.customer_id = s.customer_id AND t.subscription_id = s.id
      WHERE s.environment_id = customer.environment_id AND s.customer_id = customer.id AND s.product_id = product.id
        AND ${isTrialUsed}
    ) AS eligible
    FROM customer JOIN product ON product.environment_id = customer.environment_id AND product.archived_at IS NULL
    WHERE customer.environment_id = ${environmentId}::uuid AND customer.id = ANY (${customerIds}::uuid[])
    ORDER BY product.created_at, product.ref_id`);
    return byCustomer(customerIds, rows);
}
/**
 * Of a subscription `s` with its trial `t`: it used up the customer's trial of the product. A trial that is yet to start counts; what ended before it
 * began, and what was never paid, does not.
 */
export const isTrialUsed = Prisma.sql `(s.effective_end_date IS NULL OR s.effective_end_date > s.start_date)
  AND s.status <> 'PAYMENT_PENDING' AND s.cancel_reason IS DISTINCT FROM 'PendingPaymentExpired'
  AND (t.subscription_id IS NOT NULL OR s.has_paid OR (s.pricing_type <> 'FREE' AND s.status <> 'NOT_STARTED'))`;
/** All that are not final as stored, and the newest `limit` of each customer. */
export async function latestSubscriptionIds(db, environmentId, customerIds, limit) {
    const rows = await db.$queryRaw(Prisma.sql `
    SELECT latest.id FROM unnest(${customerIds}::uuid[]) AS customer (id)
    CROSS JOIN LATERAL (
      SELECT s.id FROM subscription s
      WHERE s.environment_id = ${environmentId}::uuid AND s.customer_id = customer.id
      ORDER BY s.created_at DESC, s.id DESC LIMIT ${limit}
    ) AS latest
    UNION
    SELECT s.id FROM subscription s
    WHERE s.environment_id = ${environmentId}::uuid AND s.customer_id = ANY (${customerIds}::uuid[]) AND s.status NOT IN ('CANCELED', 'EXPIRED')`);
    return rows.map(({ id }) => id);
}
//# sourceMappingURL=trials.js.map