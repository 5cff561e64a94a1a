import { LRUCache } from 'lru-cache';
import { freshUntil } from '../held/fresh-until.js';
/** As objects. */
const bytesPerEntitlement = 1_500;
const bytesPerState = 500;
const maxBytes = 32 * 1024 * 1024;
/**
 * States of customers without resources, as a process that delivers has them, to put changed usage into. What they grant is right or they are not
 * answered; their usage is as new as the changes that this process has seen, and of these the newest counts.
 */
export class KnownStates {
    #cache;
    #states = new LRUCache({
        maxSize: maxBytes,
        sizeCalculation: ({ entitlements, next }) => bytesPerState + (entitlements.length + (next?.entitlements.length ?? 0)) * bytesPerEntitlement,
    });
    /** `cache` is asked for what this process does not know. */
    constructor(cache) {
        this.#cache = cache;
    }
    remember(state) {
        if (state.catalogVersion !== undefined)
            this.#states.set(keyOf(state.environmentId, state.customerId), state);
    }
    /**
     * By customer, those that grant what the customers have now (`access`). Customers with resources are left out, as are states that time may have
     * changed.
     */
    async find(environmentId, access) {
        const now = Date.now();
        const found = new Map();
        const isCurrent = (state, { accessVersion, catalogVersion }) => state?.accessVersion === accessVersion && state.catalogVersion === catalogVersion && now < freshUntil(state);
        const missing = [];
        for (const [customerId, of] of access) {
            if (of.hasResources || of.catalogVersion === undefined)
                continue;
            const known = this.#states.get(keyOf(environmentId, customerId));
            if (isCurrent(known, of))
                found.set(customerId, known);
            else
                missing.push(customerId);
        }
        const stored = await this.#cache.readAll(missing.map((customerId) => ({ environmentId, customerId, resourceId: null })));
        for (const [index, customerId] of missing.entries())
            if (isCurrent(stored[index], access.get(customerId)))
                found.set(customerId, stored[index]);
        return found;
    }
}
/** Environments are UUIDs, so their length keeps them apart from what follows. */
const keyOf = (environmentId, customerId) => environmentId + customerId;
//# sourceMappingURL=known-states.js.map