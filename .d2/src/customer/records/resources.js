import { newId } from '../../kernel/id.js';
/** Null: the customer has no resource of that name. */
export function findResource(db, environmentId, customerId, refId) {
    return db.customerResource.findUnique({ where: { environmentId_customerId_refId: { environmentId, customerId, refId } } });
}
/** Finds the customer's resource, or makes it. */
export async function ensureResource(db, environmentId, customerId, refId) {
    const found = await db.customerResource.findUnique({ where: { environmentId_customerId_refId: { environmentId, customerId, refId } } });
    return found ?? (await db.customerResource.create({ data: { environmentId, id: newId(), customerId, refId } }));
}
//# sourceMappingURL=resources.js.map