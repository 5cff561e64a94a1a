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

/** One key per customer and per resource. Identifiers have no control characters; who asks with one finds an entry that is not of that owner (`isOf`). */
export const entryKey = (customerId: string, resourceId: string | null): string =>
  resourceId === null ? customerId : `${customerId}\0${resourceId}`

/** Whether what is kept under the key of an owner is of that owner. */
export const isOf = ({ state }: CacheEntry, resourceId: string | null): boolean => state.resourceId === resourceId
