import { LRUCache } from 'lru-cache';
/** Of all counters together: about 80 bytes each. */
const maxMembers = 1_000_000;
/**
 * Members of UNIQUE counters that are committed, so that one that comes again costs nothing. It may have forgotten some; it must never know one that is
 * not there, so who deletes members of a counter that others may add to gives the customer a new access version: the periods that this is keyed by go
 * with the binding.
 */
export class KnownMembers {
    #sets = new LRUCache({ maxSize: maxMembers, maxEntrySize: maxMembers });
    of(period) {
        return this.#sets.get(period) ?? none;
    }
    add(period, members) {
        const set = this.#sets.get(period) ?? new Set();
        for (const member of members)
            set.add(member);
        this.#sets.set(period, set, { size: set.size + 1 });
    }
    forget(period) {
        this.#sets.delete(period);
    }
}
const none = new Set();
//# sourceMappingURL=known-members.js.map