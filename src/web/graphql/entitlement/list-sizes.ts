import type { EntitlementState } from '../../../entitlement/rules/state.js'

/** Whether the length of a list (`Type.field`) is a state's to say. */
export const isOfState = (list: string): boolean => list === nextList || heldLists.has(list)

const nextList = 'NextEntitlements.entitlements'
const heldLists: ReadonlySet<string> = new Set([
  'Query.cachedEntitlements',
  'EntitlementsState.entitlements',
  'EntitlementsState.entitlementsV2',
])

/** How long the lists of an answer about the state are, by type and field; undefined: that is not the state's to say. */
export function stateListSizes({ entitlements, next }: EntitlementState): (typeName: string, fieldName: string) => number | undefined {
  return (typeName, fieldName) => {
    const list = `${typeName}.${fieldName}`
    if (list === nextList) return next?.entitlements.length ?? 0
    return heldLists.has(list) ? entitlements.length : undefined
  }
}
