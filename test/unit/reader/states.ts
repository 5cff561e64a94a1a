import * as decimal from '../../../src/kernel/decimal.js'
import type { CachedState } from '../../../src/reader/states/entry.js'
import { type HeldUsage, heldAt, packUsages, RightsPool, type ToldRight } from '../../../src/reader/states/rights.js'

let pool = new RightsPool()

/** What is made once of a right is kept with it: afterwards no right has it from before. */
export function forgetRights(): void {
  pool = new RightsPool()
}

export interface Held extends ToldRight {
  usage: HeldUsage
}

/** A metered entitlement; `version` is that of its usage. */
export function held(featureId: string, used: number, version: number, changes: Partial<Held> = {}): Held {
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
    deniedReason: null,
    resetPeriod: null,
    usage: { currentUsage: decimal.fromNumber(used), periodStart: 0, periodEnd: null, updatedAt: version, anchor: null },
    ...changes,
  }
}

export function state(accessVersion: number, entitlements: Held[], changes: Partial<CachedState> = {}): CachedState {
  const version = Math.max(accessVersion, ...entitlements.map(({ usage }) => usage.updatedAt))
  const rights = pool.list(entitlements.map(({ usage: _, ...right }) => right))
  // The numbers of a state are of those with a meter.
  const isMetered = ({ feature }: Held) => feature.featureType === 'NUMBER' && feature.meterType !== 'None'
  const usages = packUsages(entitlements.filter(isMetered).map(({ usage }) => usage))
  return { customerId: 'c', resourceId: null, version, accessVersion, deniedReason: null, rights, usages, validUntil: null, ...changes }
}

/** Feature to current usage. */
export const usagesOf = (state: CachedState) =>
  Object.fromEntries(state.rights.list.map(({ feature }, position) => [feature.refId, Number(heldAt(state, position).usage?.currentUsage)]))
