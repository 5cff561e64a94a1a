/** Two states of one customer or resource made one, whatever order they arrive in. Pure. */
import type { Entitlement, EntitlementState } from '../../entitlement/rules/state.js'
import type { Usage } from '../../metering/model/usage.js'

/**
 * The entitlements of the newer state, each with the newer usage of the two. An entry replaced by an older one stays, so applying the same states
 * twice, or in another order, ends the same.
 */
export function mergeStates(stored: EntitlementState | null, incoming: EntitlementState): EntitlementState {
  if (!stored) return incoming
  const [newer, older] = stored.version > incoming.version ? [stored, incoming] : [incoming, stored]
  const usages = new Map(older.entitlements.flatMap(({ feature, usage }) => (usage ? [[feature.refId, usage] as const] : [])))
  return {
    ...newer,
    entitlements: newer.entitlements.map((entitlement) => withNewerUsage(entitlement, usages.get(entitlement.feature.refId))),
  }
}

/** The state with changed usages in it. Usage alone never moves the state's own version: what it grants was not looked at. */
export function withUsages(state: EntitlementState, usages: ReadonlyMap<string, Usage>): EntitlementState {
  return {
    ...state,
    entitlements: state.entitlements.map((entitlement) => withNewerUsage(entitlement, usages.get(entitlement.feature.refId))),
  }
}

/** Of equally new ones that of the newer state stays: the other may belong to a series that has been replaced. */
function withNewerUsage(entitlement: Entitlement, usage: Usage | undefined): Entitlement {
  return usage && entitlement.usage && usage.updatedAt > entitlement.usage.updatedAt ? { ...entitlement, usage } : entitlement
}
