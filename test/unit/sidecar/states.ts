import * as decimal from '../../../src/kernel/decimal.js'
import type { CachedEntitlement, CachedState } from '../../../src/sidecar/cache/cache.js'

/** A metered entitlement; `version` is that of its usage. */
export function held(featureId: string, used: number, version: number, changes: Partial<CachedEntitlement> = {}): CachedEntitlement {
  const feature = {
    id: '',
    refId: featureId,
    displayName: '',
    description: null,
    featureType: 'NUMBER' as const,
    meterType: 'Incremental' as const,
    units: null,
    unitsPlural: null,
    unitTransformation: null,
  }
  return {
    feature,
    usageLimit: decimal.fromNumber(10),
    hasUnlimitedUsage: false,
    hasSoftLimit: false,
    enumValues: [],
    reset: null,
    usage: { currentUsage: decimal.fromNumber(used), periodStart: 0, periodEnd: null, updatedAt: version },
    usageRestartsAt: null,
    deniedReason: null,
    validUntil: null,
    resetPeriod: null,
    usagePeriodAnchor: null,
    encoded: 'encoded before',
    ...changes,
  }
}

export function state(accessVersion: number, entitlements: CachedEntitlement[], changes: Partial<CachedState> = {}): CachedState {
  const version = Math.max(accessVersion, ...entitlements.map(({ usage }) => usage?.updatedAt ?? 0))
  return { customerId: 'c', resourceId: null, version, accessVersion, deniedReason: null, entitlements, ...changes }
}
