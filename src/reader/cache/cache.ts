import type { CacheEntry } from '../states/entry.js'

/** Keeps entries within a bound of bytes; the least recently used go first. */
export interface EntitlementCache {
  get(key: string): CacheEntry | undefined
  set(key: string, entry: CacheEntry): void
  /** The entries of a customer: its own and those of its resources. Does not count as use. */
  entriesOf(customerId: string): CacheEntry[]
  readonly entryCount: number
  /** Estimated. */
  readonly sizeBytes: number
}

/** One key per (customer, resource or none). The length keeps `a/b` + none apart from `a` + `b`, whatever characters identifiers have. */
export function entryKey(customerId: string, resourceId: string | null): string {
  return resourceId === null ? `${customerId.length}:${customerId}` : `${customerId.length}:${customerId}/${resourceId}`
}
