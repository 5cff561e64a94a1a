import { customerColumns } from '../customer/records/list-columns.js';
import { promotionalEntitlementColumns } from '../entitlement/records/list-columns.js';
import { column } from '../platform/list/columns.js';
import { readPage } from '../platform/list/page.js';
import { Prisma } from '../platform/postgres.js';
import { subscriptionColumns } from '../subscription/records/list-columns.js';
const customerList = {
    from: Prisma.sql `customer`,
    id: column('uuid', 'customer.id'),
    defaultSort: { field: 'createdAt', direction: 'DESC' },
    columns: {
        ...customerColumns,
        subscriptions: {
            some: (condition) => Prisma.sql `EXISTS (
        SELECT FROM subscription
        WHERE subscription.environment_id = customer.environment_id AND subscription.customer_id = customer.id AND ${condition})`,
            columns: subscriptionColumns,
        },
        promotionalEntitlements: {
            some: (condition) => Prisma.sql `EXISTS (
        SELECT FROM promotional_entitlement
        WHERE promotional_entitlement.environment_id = customer.environment_id AND promotional_entitlement.customer_id = customer.id
          AND promotional_entitlement.revoked_at IS NULL AND ${condition})`,
            columns: promotionalEntitlementColumns,
        },
    },
};
/** Ids (ours) of customers. Archived ones are hidden, unless the filter asks about them (`deletedAt`). */
export function pageOfCustomers(db, environmentId, request) {
    const inEnvironment = Prisma.sql `customer.environment_id = ${environmentId}::uuid`;
    const scope = asksAboutArchived(request.filter) ? inEnvironment : Prisma.sql `${inEnvironment} AND customer.archived_at IS NULL`;
    return readPage(db, customerList, scope, request);
}
function asksAboutArchived(filter) {
    if (!filter)
        return false;
    const groups = [...(filter.and ?? []), ...(filter.or ?? [])];
    return (filter.deletedAt ?? null) !== null || groups.some(asksAboutArchived);
}
/** Ids (ours) of the latest customers that have each coupon, archived ones left out. */
export async function findCustomerIdsOfCoupons(db, environmentId, couponIds, limit) {
    return db.$queryRaw(Prisma.sql `
    SELECT wanted.id AS "couponId", held.id AS "customerId"
    FROM unnest(${[...couponIds]}::uuid[]) AS wanted (id)
    CROSS JOIN LATERAL (
      SELECT customer.id FROM customer
      WHERE customer.environment_id = ${environmentId}::uuid AND customer.coupon_id = wanted.id AND customer.archived_at IS NULL
      ORDER BY customer.created_at DESC, customer.id DESC LIMIT ${limit}) AS held`);
}
//# sourceMappingURL=customer-list.js.map