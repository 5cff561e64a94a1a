import { SubscriptionRecords } from '../records/frame.js';
import { claimSourceUpdate } from '../records/subscriptions.js';
/** Subscriptions that exist elsewhere. */
export class SubscriptionImporter {
    #records;
    #provisions;
    constructor({ provisions, ...parts }) {
        this.#records = new SubscriptionRecords(parts);
        this.#provisions = provisions;
    }
    /**
     * Takes it over in the caller's transaction; repeated with its `subscriptionRefId`, it answers what is there. The
     * caller tells `changed` after the commit; wake-ups are left to the sweep.
     */
    async importIn(db, environmentId, { updatedAt, ...input }) {
        const customer = await this.#records.hold(db, environmentId, { refId: input.customerRefId });
        if (typeof updatedAt !== 'number')
            return this.#provisions.provisionIn(db, customer, input);
        const named = input.subscriptionRefId ? await this.#records.byRefId(db, environmentId, input.subscriptionRefId) : null;
        const known = named?.customerId === customer.id ? named : null;
        if (known && !(await claimSourceUpdate(db, known, updatedAt)))
            return known;
        const imported = await this.#provisions.provisionIn(db, customer, input);
        if (!known)
            await claimSourceUpdate(db, imported, updatedAt);
        return imported;
    }
}
//# sourceMappingURL=import.js.map