import type { Feature } from '../../catalog/model/feature.js'
import type { Entitlement, EntitlementState } from '../../entitlement/rules/state.js'
import { heapBytes } from '../../kernel/weight.js'

/** Memory that states take. Those that were built of one catalog share its features: the first that has one pays for it. */
export class StateWeights {
  readonly #weighed = new WeakSet<Feature>()

  of({ entitlements, next, ...rest }: EntitlementState): number {
    const ofNext = next ? heapBytes({ ...next, entitlements: null }) + this.#list(next.entitlements) : 0
    return heapBytes(rest) + 2 * pointerBytes + this.#list(entitlements) + ofNext
  }

  #list(entitlements: readonly Entitlement[]): number {
    return entitlements.reduce((bytes, entitlement) => bytes + pointerBytes + this.#one(entitlement), listBytes)
  }

  #one({ feature, ...rest }: Entitlement): number {
    const isShared = this.#weighed.has(feature)
    if (!isShared) this.#weighed.add(feature)
    return heapBytes(rest) + pointerBytes + (isShared ? 0 : heapBytes(feature))
  }
}

const pointerBytes = 8
const listBytes = 48
