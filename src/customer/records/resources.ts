import { newId } from '../../kernel/id.js'
import type { Db } from '../../platform/postgres.js'

/** Null: the customer has no resource of that name. */
export function findResource(
  db: Db,
  environmentId: string,
  customerId: string,
  refId: string,
): Promise<{ id: string; refId: string } | null> {
  return db.customerResource.findUnique({ where: { environmentId_customerId_refId: { environmentId, customerId, refId } } })
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
