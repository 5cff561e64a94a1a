import { LRUCache } from 'lru-cache'
import type { CacheEntry } from '../states/entry.js'
import type { Rights } from '../states/rights.js'
import { type EntitlementCache, entryKey } from './cache.js'

/** The cache in this process's memory. */
export class MemoryCache implements EntitlementCache {
  readonly #entries: LRUCache<string, CacheEntry>
  /** Customer to the keys of its resources' entries, for customers that have any here. */
  readonly #resourceKeys = new Map<string, Set<string>>()
  /** How many entries share a list: each pays its part of it. */
  readonly #sharers = new Map<Rights, number>()

  /** How often something was put in. */
  #puts = 0

  constructor(maxBytes: number) {
    this.#entries = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: (entry, key) => sizeOf(entry, key, this.#sharers.get(entry.state.rights) ?? 1),
      dispose: (entry, key, reason) => {
        this.#unshare(entry.state.rights)
        if (reason !== 'set') this.#forgetResourceKey(entry, key)
      },
    })
  }

  get(key: string): CacheEntry | undefined {
    const entry = this.#entries.peek(key)
    // Used since anything was put in last: it is among the last that go. To move it to their end costs as much as all else of a look-up.
    if (entry !== undefined && entry.usedIn !== this.#puts) {
      entry.usedIn = this.#puts
      this.#entries.get(key)
    }
    return entry
  }

  set(key: string, entry: CacheEntry): void {
    const { customerId, resourceId, rights } = entry.state
    if (resourceId !== null) {
      const keys = this.#resourceKeys.get(customerId)
      if (keys) keys.add(key)
      else this.#resourceKeys.set(customerId, new Set([key]))
    }
    // A number that V8 keeps without a box, however long this runs.
    this.#puts = (this.#puts + 1) & 0x3fffffff
    entry.usedIn = this.#puts
    this.#sharers.set(rights, (this.#sharers.get(rights) ?? 0) + 1)
    this.#entries.set(key, entry)
    // An entry larger than the whole cache is not kept, and then nothing disposes of it.
    if (!this.#entries.has(key)) {
      this.#unshare(rights)
      this.#forgetResourceKey(entry, key)
    }
  }

  entriesOf(customerId: string): CacheEntry[] {
    const keys = [entryKey(customerId, null), ...(this.#resourceKeys.get(customerId) ?? [])]
    return keys.flatMap((key) => this.#entries.peek(key) ?? [])
  }

  get entryCount(): number {
    return this.#entries.size
  }

  get sizeBytes(): number {
    return this.#entries.calculatedSize
  }

  #unshare(rights: Rights): void {
    const left = (this.#sharers.get(rights) ?? 1) - 1
    if (left > 0) this.#sharers.set(rights, left)
    else this.#sharers.delete(rights)
  }

  #forgetResourceKey({ state: { customerId, resourceId } }: CacheEntry, key: string): void {
    if (resourceId === null) return
    const keys = this.#resourceKeys.get(customerId)
    keys?.delete(key)
    if (keys?.size === 0) this.#resourceKeys.delete(customerId)
  }
}

/** Bytes of an entry with its key, with what V8 and the LRU list add. */
const entryBytes = 560
const bytesPerNumber = 8

function sizeOf({ state }: CacheEntry, key: string, sharers: number): number {
  // Right of what comes next are those of plans that others hold now.
  const nextBytes = state.next ? entryBytes + bytesPerNumber * state.next.state.usages.length : 0
  return Math.ceil(entryBytes + 2 * key.length + bytesPerNumber * state.usages.length + state.rights.bytes / sharers + nextBytes)
}
