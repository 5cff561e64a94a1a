/** Raw SQL that asks who customers and their resources are. */
import type { Queryable } from '../../platform/sql.js'
import { type Holder, holderKey } from '../model/holder.js'

export interface FoundHolder {
  customerId: string
  isArchived: boolean
  /** Null: the holder has no resource, or the resource is unknown. */
  resourceId: string | null
}

/** The customers and resources of the holders, by `holderKey`; unknown customers are absent. */
export async function findHolders(db: Queryable, environmentId: string, holders: Holder[]): Promise<Map<string, FoundHolder>> {
  const { rows } = await db.query<{ ord: number; customer_id: string; is_archived: boolean; resource_id: string | null }>({
    name: 'metering_find_holders',
    text: `
      SELECT asked.ord::int AS ord, customer.id AS customer_id, customer.archived_at IS NOT NULL AS is_archived, resource.id AS resource_id
      FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS asked (customer_ref, resource_ref, ord)
      CROSS JOIN LATERAL (SELECT id, archived_at FROM customer WHERE environment_id = $1::uuid AND ref_id = asked.customer_ref LIMIT 1) AS customer
      LEFT JOIN LATERAL (
        SELECT id FROM customer_resource WHERE environment_id = $1::uuid AND customer_id = customer.id AND ref_id = asked.resource_ref LIMIT 1
      ) AS resource ON true`,
    values: [environmentId, holders.map((p) => p.customerId), holders.map((p) => p.resourceId)],
  })
  return new Map(
    rows.map(({ ord, customer_id, is_archived, resource_id }) => [
      holderKey(holders[ord - 1]!),
      { customerId: customer_id, isArchived: is_archived, resourceId: resource_id },
    ]),
  )
}

/** The caller's identifiers of a customer and of its resource. */
export async function findRefIds(
  db: Queryable,
  environmentId: string,
  { customerId, resourceId }: { customerId: string; resourceId: string | null },
): Promise<{ customerId: string; resourceId: string | null }> {
  const { rows } = await db.query<{ customer: string; resource: string | null }>({
    text: `
      SELECT customer.ref_id AS customer, resource.ref_id AS resource
      FROM customer LEFT JOIN customer_resource AS resource
        ON resource.environment_id = customer.environment_id AND resource.customer_id = customer.id AND resource.id = $3::uuid
      WHERE customer.environment_id = $1::uuid AND customer.id = $2::uuid`,
    values: [environmentId, customerId, resourceId],
  })
  return { customerId: rows[0]!.customer, resourceId: rows[0]!.resource }
}

/** Those of the customers that have resources. */
export async function findWithResources(db: Queryable, environmentId: string, customerIds: string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ customer_id: string }>({
    name: 'metering_find_with_resources',
    text: `
      SELECT asked.customer_id
      FROM unnest($2::uuid[]) AS asked (customer_id)
      CROSS JOIN LATERAL (SELECT FROM customer_resource WHERE environment_id = $1::uuid AND customer_id = asked.customer_id LIMIT 1) AS resource`,
    values: [environmentId, customerIds],
  })
  return new Set(rows.map(({ customer_id }) => customer_id))
}
