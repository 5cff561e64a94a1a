import { LRUCache } from 'lru-cache'
import type { Share } from '../model/aggregate.js'
import type { TrackedPeriod } from './bindings.js'

/** Of all counters together: about 80 bytes each. */
const maxMembers = 1_000_000

/**
 * Members of UNIQUE counters that are committed, so that one that comes again costs nothing. It may have forgotten some; it must never know one that is
 * not there, so who deletes members of a counter that others may add to gives the customer a new access version: the periods that this is keyed by go
 * with the binding.
 */
export class KnownMembers {
  readonly #sets = new LRUCache<TrackedPeriod, Set<Share>>({ maxSize: maxMembers, maxEntrySize: maxMembers })

  of(period: TrackedPeriod): ReadonlySet<Share> {
    return this.#sets.get(period) ?? none
  }

  add(period: TrackedPeriod, members: Iterable<Share>): void {
    const set = this.#sets.get(period) ?? new Set()
    for (const member of members) set.add(member)
    this.#sets.set(period, set, { size: set.size + 1 })
  }

  forget(period: TrackedPeriod): void {
    this.#sets.delete(period)
  }
}

const none: ReadonlySet<Share> = new Set()
