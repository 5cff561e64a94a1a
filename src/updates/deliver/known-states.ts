import { LRUCache } from 'lru-cache'
import { type EntitlementState, mayBeKept } from '../../entitlement/rules/state.js'
import type { CustomerAccess } from '../../entitlement/service.js'
import type { Clock } from '../../kernel/clock.js'
import { freshUntil } from '../held/fresh-until.js'
import type { StateCache } from '../held/state-cache.js'
import { StateWeights } from '../held/state-weight.js'

const maxBytes = 32 * 1024 * 1024
/** Of a place in the cache, with its key. */
const entryBytes = 250

/**
 * States of customers without resources, as a process that delivers has them, to put changed usage into. What they grant is right or they are not
 * answered; their usage is as new as the changes that this process has seen, and of these the newest counts.
 */
export class KnownStates {
  readonly #cache: StateCache
  readonly #clock: Clock
  readonly #weights = new StateWeights()
  readonly #states = new LRUCache<string, EntitlementState>({
    maxSize: maxBytes,
    sizeCalculation: (state) => entryBytes + this.#weights.of(state),
  })

  /** `cache` is asked for what this process does not know. `clock`: the database's. */
  constructor(cache: StateCache, clock: Clock) {
    this.#cache = cache
    this.#clock = clock
  }

  forgetAll(): void {
    this.#states.clear()
  }

  remember(state: EntitlementState): void {
    if (mayBeKept(state)) this.#states.set(keyOf(state.environmentId, state.customerId), state)
  }

  /** One that was found, with another usage in it: it takes as much memory. */
  rememberPatched(state: EntitlementState): void {
    const key = keyOf(state.environmentId, state.customerId)
    const size = this.#states.info(key)?.size
    if (size === undefined) this.remember(state)
    else this.#states.set(key, state, { size })
  }

  /**
   * By customer, those that grant what the customers have now (`access`). Customers with resources are left out, as are states that time may have
   * changed.
   */
  async find(environmentId: string, access: ReadonlyMap<string, CustomerAccess>): Promise<Map<string, EntitlementState>> {
    const now = this.#clock.now()
    const found = new Map<string, EntitlementState>()
    const isCurrent = (state: EntitlementState | null | undefined, { accessVersion, basis }: CustomerAccess) =>
      state?.accessVersion === accessVersion && state.basis?.catalogVersion === basis.catalogVersion && now < freshUntil(state)
    const missing: string[] = []
    for (const [customerId, of] of access) {
      if (of.hasResources || !mayBeKept(of)) continue
      const known = this.#states.get(keyOf(environmentId, customerId))
      if (isCurrent(known, of)) found.set(customerId, known!)
      else missing.push(customerId)
    }
    const stored = await this.#cache.readAll(missing.map((customerId) => ({ environmentId, customerId, resourceId: null })))
    for (const [index, customerId] of missing.entries())
      if (isCurrent(stored[index], access.get(customerId)!)) found.set(customerId, stored[index]!)
    return found
  }
}

/** Environments are UUIDs, so their length keeps them apart from what follows. */
const keyOf = (environmentId: string, customerId: string): string => environmentId + customerId
