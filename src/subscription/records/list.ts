import { planColumns } from '../../catalog/records/list-columns.js'
import { customerColumns } from '../../customer/records/list-columns.js'
import { column } from '../../platform/list/columns.js'
import { type List, readPage } from '../../platform/list/page.js'
import type { ListRequest, Page } from '../../platform/list/request.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { listedSubscriptionColumns } from './list-columns.js'

/** Each of these is joined by its key, so a row stays one row. */
const itself = (condition: Prisma.Sql) => condition

const subscriptionList: List = {
  from: Prisma.sql`subscription
    JOIN customer ON customer.environment_id = subscription.environment_id AND customer.id = subscription.customer_id
    JOIN product ON product.environment_id = subscription.environment_id AND product.id = subscription.product_id
    JOIN package_version ON package_version.environment_id = subscription.environment_id AND package_version.id = subscription.plan_version_id
    JOIN package ON package.environment_id = package_version.environment_id AND package.id = package_version.package_id
    LEFT JOIN customer_resource
      ON customer_resource.environment_id = subscription.environment_id AND customer_resource.id = subscription.resource_id`,
  id: column('uuid', 'subscription.id'),
  defaultSort: { field: 'createdAt', direction: 'DESC' },
  columns: {
    ...listedSubscriptionColumns,
    customer: { some: itself, columns: customerColumns },
    plan: { some: itself, columns: planColumns },
    resource: {
      some: (condition) => Prisma.sql`(subscription.resource_id IS NOT NULL AND ${condition})`,
      columns: {
        createdAt: column('time', 'customer_resource.created_at'),
        environmentId: column('uuid', 'customer_resource.environment_id'),
        resourceId: column('text', 'customer_resource.ref_id'),
      },
    },
  },
}

/** Ids (ours) of subscriptions, whatever their status. */
export function pageOfSubscriptions(db: Db, environmentId: string, request: ListRequest): Promise<Page<string>> {
  return readPage(db, subscriptionList, Prisma.sql`subscription.environment_id = ${environmentId}::uuid`, request)
}

/** All that are not final as stored, and the newest `limit` of each customer. */
export async function latestSubscriptionIds(
  db: Db,
  environmentId: string,
  customerIds: readonly string[],
  limit: number,
): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT latest.id FROM unnest(${customerIds}::uuid[]) AS customer (id)
    CROSS JOIN LATERAL (
      SELECT s.id FROM subscription s
      WHERE s.environment_id = ${environmentId}::uuid AND s.customer_id = customer.id
      ORDER BY s.created_at DESC, s.id DESC LIMIT ${limit}
    ) AS latest
    UNION
    SELECT s.id FROM subscription s
    WHERE s.environment_id = ${environmentId}::uuid AND s.customer_id = ANY (${customerIds}::uuid[]) AND s.status NOT IN ('CANCELED', 'EXPIRED')`)
  return rows.map(({ id }) => id)
}
