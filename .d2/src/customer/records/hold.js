import { lockCustomerState } from '../../changes/access.js';
import { customerArchived, customerNotFound } from '../model/problems.js';
import { findCustomer } from './customers.js';
/**
 * Finds the customer and takes its state row, so that what the answer says stays true until the transaction ends.
 * @throws Problem CUSTOMER_NOT_FOUND; ENTITY_IS_ARCHIVED unless `evenArchived`
 */
export async function holdCustomer(db, environmentId, refId, { evenArchived = false } = {}) {
    const found = await findCustomer(db, environmentId, { refId });
    if (!found)
        throw customerNotFound(refId);
    const now = await lockCustomerState(db, environmentId, found.id);
    if (now === null)
        throw new Error(`customer ${found.id} has no state row`);
    // Read again: it may have been changed, or archived, while we waited.
    const customer = (await findCustomer(db, environmentId, { id: found.id }));
    if (customer.archivedAt !== null && !evenArchived)
        throw customerArchived(refId);
    return { ...customer, now };
}
//# sourceMappingURL=hold.js.map