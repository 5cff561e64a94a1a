import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import type { Usage } from '../../metering/model/usage.js'
import type { CachedState, CacheEntry } from './entry.js'
import { earliestPeriodEnd, numbersPerUsage, usageVersion } from './rights.js'

/** How states replace each other. Pure: answers new states, never changes one that is in the cache. */

/** An unknown customer is remembered this long, so that a bad identifier does not ask the API at every check. */
const unknownCustomerMs = 5_000

/** A state as a cache entry. `now`: when the read began, or when the message arrived. */
export function toEntry(state: CachedState, epoch: number, now: EpochMs): CacheEntry {
  const expiresAt = Math.min(
    isKnown(state) ? Number.POSITIVE_INFINITY : now + unknownCustomerMs,
    state.validUntil ?? Number.POSITIVE_INFINITY,
  )
  return {
    state,
    fetchedAt: now,
    epoch,
    expiresAt,
    usagePeriodEnd: earliestPeriodEnd(state),
    suspectSince: null,
    refreshNotBefore: 0,
    usedIn: 0,
  }
}

/** Whether the customer (and the resource, when one was asked for) exists. */
export function isKnown({ deniedReason }: CachedState): boolean {
  return deniedReason !== 'CustomerNotFound' && deniedReason !== 'CustomerResourceNotFound'
}

/** Whether everything that is held is known with its usage. */
export const isWhole = ({ state }: CacheEntry): boolean => state.unknownFeatureIds === undefined

/** Whether the rights of `incoming` are older. A state without a version can't be compared and counts as newer: it arrived later. */
export function isOlder(incoming: CachedState, cached: CachedState): boolean {
  return incoming.accessVersion !== 0 && incoming.accessVersion < cached.accessVersion
}

/**
 * The state to keep when `incoming` arrives while `cached` is held: the rights of the newer one, and per feature the newer usage.
 */
export function newerState(cached: CachedState, incoming: CachedState): CachedState {
  const [newer, other] = isOlder(incoming, cached) ? [cached, incoming] : [incoming, cached]
  let usages: number[] | undefined
  for (const [position, at] of newer.rights.usageAt.entries()) {
    if (at === -1) continue
    const otherAt = other.rights.usageAt[other.rights.positions.get(newer.rights.list[position]!.feature.refId) ?? -1] ?? -1
    if (otherAt === -1 || !(other.usages[otherAt + 3]! > newer.usages[at + 3]!)) continue
    usages ??= [...newer.usages]
    // The anchor stays: it is of the rights.
    for (let n = 0; n < numbersPerUsage - 1; n++) usages[at + n] = other.usages[otherAt + n]!
  }
  if (usages === undefined && newer.version >= other.version) return newer
  return { ...newer, version: Math.max(newer.version, other.version), usages: usages ?? newer.usages }
}

/** The state with a newer usage of one feature. The same object when it tells nothing new: older, or no such metered entitlement. */
export function stateWithUsage(state: CachedState, featureId: string, usage: Usage): CachedState {
  const known = usageVersion(state, featureId)
  if (known === null || usage.updatedAt < known) return state
  const at = state.rights.usageAt[state.rights.positions.get(featureId)!]!
  const usages = [...state.usages]
  usages[at] = decimal.toNumber(usage.currentUsage)
  usages[at + 1] = usage.periodStart ?? Number.NaN
  usages[at + 2] = usage.periodEnd ?? Number.NaN
  usages[at + 3] = usage.updatedAt
  return { ...state, version: Math.max(state.version, usage.updatedAt), usages }
}

/**
 * What the entry has become by `now` without any message: itself until it expires, then what its state says comes next, to be confirmed by the API.
 * Undefined: that is not known.
 */
export function entryAt(entry: CacheEntry, now: EpochMs): CacheEntry | undefined {
  if (now < entry.expiresAt) return entry
  const { state, epoch, fetchedAt } = entry
  if (!state.next || state.next.validFrom !== entry.expiresAt) return undefined
  const { validFrom } = state.next
  const next = { ...toEntry(withUsagesOf(state.next.state, state, validFrom), epoch, fetchedAt), suspectSince: validFrom }
  return now < next.expiresAt ? next : undefined
}

/** Usage that goes on in the same period is what was heard of it last. One that is dated by the beginning of the state begins with it. */
function withUsagesOf(next: CachedState, before: CachedState, validFrom: EpochMs): CachedState {
  const usages = [...next.usages]
  for (const [position, at] of next.rights.usageAt.entries()) {
    if (at === -1 || usages[at + 3] === validFrom) continue
    const beforeAt = before.rights.usageAt[before.rights.positions.get(next.rights.list[position]!.feature.refId) ?? -1] ?? -1
    if (beforeAt === -1 || !Object.is(before.usages[beforeAt + 1], usages[at + 1])) continue
    usages[at] = before.usages[beforeAt]!
    usages[at + 3] = before.usages[beforeAt + 3]!
  }
  const accessVersion = Math.max(next.accessVersion, before.accessVersion)
  // Not that of a usage that is dated ahead: what happens at that instant is newer.
  return { ...next, version: Math.max(accessVersion, before.version), accessVersion, usages }
}
