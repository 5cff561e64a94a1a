import type { EntitlementState } from '../../entitlement/rules/state.js'
import type { EpochMs } from '../../kernel/clock.js'
import type { Holding } from './rights.js'

/**
 * What the sidecar remembers.
 *
 * entry    the state of one customer, or of one of its resources, and how it came here
 * epoch    a stretch of time in which the real-time connection vouched for every entry read within it (see `freshness.ts`)
 * suspect  something may have changed that no message told: refreshed at the next use, answered meanwhile
 */

/** Whose state it is. */
export interface Owner {
  customerId: string
  /** Null: the customer itself. */
  resourceId: string | null
}

export interface CachedState extends Omit<EntitlementState, 'environmentId' | 'entitlements' | 'next'>, Holding {
  /** 0 when the answer tells no version (it has no entitlements). Likewise accessVersion. */
  version: EpochMs
  /** The earliest instant from which another entitlement may hold; null: none is known. */
  validUntil: EpochMs | null
  /** Features that are held with a usage that is not known; absent: there are none. */
  unknownFeatureIds?: ReadonlySet<string>
  /** What is held from `validFrom` on, unless something happens before. Null or absent: not known. */
  next?: { validFrom: EpochMs; state: CachedState } | null
}

export interface CacheEntry {
  readonly state: CachedState
  /** When the read of this entry began, or the message with it arrived. */
  readonly fetchedAt: EpochMs
  /** Epoch in which the read began; 0 when none vouched. */
  readonly epoch: number
  /** From here on the entry is a miss, unless its state tells what comes next: the earliest `validUntil`, or the end of remembering that a customer is unknown. */
  readonly expiresAt: EpochMs
  /** The earliest end of a usage period: from here on a usage is 0 and the entry is refreshed. */
  readonly usagePeriodEnd: EpochMs
  /** Until when it was right for certain, when it is suspect; null: it is not. */
  suspectSince: EpochMs | null
  /** No refresh in the background before this: set when one is begun, so that a failing or lagging API is not asked at every check. */
  refreshNotBefore: EpochMs
  /** For the cache: what it counted to when the entry was used last. */
  usedIn: number
}
