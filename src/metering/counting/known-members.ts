import { LRUCache } from 'lru-cache'
import type { Share } from '../model/aggregate.js'
import type { TrackedPeriod } from './bindings.js'

/** Of all counters together. */
const maxBytes = 80 * 1024 * 1024
/** Of a member beside its text, whose length is for who sends it to choose. */
const bytesOfMember = 72

interface Kept {
  members: Set<Share>
  bytes: number
}

/**
 * Members of UNIQUE counters that are committed, so that one that comes again costs nothing. It may have forgotten some; it must never know one that is
 * not there, so who deletes members of a counter that others may add to gives the customer a new access version: the periods that this is keyed by go
 * with the binding.
 */
export class KnownMembers {
  readonly #kept = new LRUCache<TrackedPeriod, Kept>({ maxSize: maxBytes })

  of(period: TrackedPeriod): ReadonlySet<Share> {
    return this.#kept.get(period)?.members ?? none
  }

  add(period: TrackedPeriod, members: Iterable<Share>): void {
    const { members: known, bytes: before } = this.#kept.get(period) ?? { members: new Set(), bytes: bytesOfMember }
    let bytes = before
    for (const member of members) {
      if (known.has(member)) continue
      known.add(member)
      bytes += bytesOfMember + member.length
    }
    // What is the same object would keep its size.
    this.#kept.set(period, { members: known, bytes }, { size: bytes })
  }

  forget(period: TrackedPeriod): void {
    this.#kept.delete(period)
  }

  get bytes(): number {
    return this.#kept.calculatedSize
  }
}

const none: ReadonlySet<Share> = new Set()
