import type { Usage } from '../entitlement/state.js'
import type { EpochMs } from '../kernel/clock.js'
import type { CachedEntitlement, CachedState, CacheEntry } from './cache/cache.js'

/** How states replace each other. Pure: answers new states, never changes one that is in the cache. */

/** An unknown customer is remembered this long, so that a bad identifier does not ask the API at every check. */
const unknownCustomerMs = 5_000

/** A state as a cache entry. `now`: when the read began, or when the message arrived. */
export function toEntry(state: CachedState, epoch: number, now: EpochMs): CacheEntry {
  let expiresAt = isKnown(state) ? Number.POSITIVE_INFINITY : now + unknownCustomerMs
  let usagePeriodEnd = Number.POSITIVE_INFINITY
  for (const { feature, validUntil, usage } of state.entitlements) {
    if (validUntil !== null) expiresAt = Math.min(expiresAt, validUntil)
    if (feature.meterType === 'Incremental' && usage?.periodEnd != null) usagePeriodEnd = Math.min(usagePeriodEnd, usage.periodEnd)
  }
  return { state, fetchedAt: now, epoch, expiresAt, usagePeriodEnd, isSuspect: false, refreshNotBefore: 0 }
}

/** Whether the customer (and the resource, when one was asked for) exists. */
export function isKnown({ deniedReason }: CachedState): boolean {
  return deniedReason !== 'CustomerNotFound' && deniedReason !== 'CustomerResourceNotFound'
}

/** Whether the rights of `incoming` are older. A state without a version can't be compared and counts as newer: it arrived later. */
export function isOlder(incoming: CachedState, cached: CachedState): boolean {
  return incoming.accessVersion !== 0 && incoming.accessVersion < cached.accessVersion
}

/**
 * The state to keep when `incoming` arrives while `cached` is held: the rights of the newer one, and per feature the newer usage.
 */
export function newerState(cached: CachedState, incoming: CachedState): CachedState {
  const [rights, other] = isOlder(incoming, cached) ? [cached, incoming] : [incoming, cached]
  if (other.entitlements.length === 0) return rights
  const others = new Map(other.entitlements.map((entitlement) => [entitlement.feature.refId, entitlement]))
  const entitlements = rights.entitlements.map((entitlement) => {
    const usage = others.get(entitlement.feature.refId)?.usage
    return usage && entitlement.usage && usage.updatedAt > entitlement.usage.updatedAt ? withUsage(entitlement, usage) : entitlement
  })
  return { ...rights, version: Math.max(rights.version, other.version), entitlements }
}

/** The state with a newer usage of one feature. The same object when it tells nothing new: older, or no such metered entitlement. */
export function stateWithUsage(state: CachedState, featureId: string, usage: Usage): CachedState {
  const position = state.entitlements.findIndex(({ feature }) => feature.refId === featureId)
  const entitlement = state.entitlements[position]
  if (!entitlement?.usage || usage.updatedAt < entitlement.usage.updatedAt) return state
  return {
    ...state,
    version: Math.max(state.version, usage.updatedAt),
    entitlements: state.entitlements.with(position, withUsage(entitlement, usage)),
  }
}

const withUsage = (entitlement: CachedEntitlement, usage: Usage): CachedEntitlement => ({ ...entitlement, usage, encoded: undefined })
