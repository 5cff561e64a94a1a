import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { HeldChange } from '../../changes/model/change.js'
import type { EntitlementState } from '../../entitlement/rules/state.js'
import type { EpochMs } from '../../kernel/clock.js'
import { textBytes } from '../../kernel/weight.js'
import { freshUntil } from './fresh-until.js'
import { withUsages } from './merge-state.js'
import { StateWeights } from './state-weight.js'

export interface HeldState {
  readonly state: EntitlementState
  /** From then on time alone may have changed it. */
  readonly freshUntil: EpochMs
}

interface WeighedState extends HeldState {
  /** Of the state alone. */
  readonly bytes: number
  /** Of what doors keep of it. */
  keptBytes: number
}

/** What is remembered of a customer or resource that there is not: not its name, which anybody may make up and as long as they like. */
type UnknownState = Omit<EntitlementState, 'environmentId' | 'customerId' | 'resourceId'>

/** Of one customer. Made anew with each change, as the cache weighs an object once. */
interface OfCustomer {
  /** By resource; `''`: the customer itself, which no resource is called. */
  readonly states: Map<string, WeighedState>
  /** By hash of the resource. */
  readonly unknown: Map<string, UnknownState>
}

/** Of a map with what the cache itself has for an entry, and of a state's place in it. */
const customerBytes = 420
const placeBytes = 130
/** An unknown customer with its hash, and an unknown resource. */
const unknownBytes = 500
const unknownResourceBytes = 370
const maxUnknownCustomers = 10_000
const maxUnknownResources = 20
/** Of what all states may take, at most this may be of one customer: one with ten thousand resources leaves room to others. */
const shareOfCustomer = 1 / 8
/** Of one state, for what doors keep of it. */
const maxKeptBytes = 512 * 1024

/**
 * States by customer and resource, within so many bytes: who was not asked for goes first. Unknown customers lie apart, so that made-up names drive out
 * nobody; unknown resources lie with their customer, as what makes one known is a change of that.
 */
export class StateMemory {
  readonly #maxCustomerBytes: number
  readonly #customers: LRUCache<string, OfCustomer>
  /** By environment and hash of the customer. */
  readonly #unknown = new LRUCache<string, UnknownState>({ max: maxUnknownCustomers })
  readonly #weights = new StateWeights()

  constructor(maxBytes: number) {
    this.#maxCustomerBytes = maxBytes * shareOfCustomer
    this.#customers = new LRUCache({ maxSize: maxBytes, sizeCalculation: weighCustomer })
  }

  get bytes(): number {
    return this.#customers.calculatedSize
  }

  get unknownBytes(): number {
    return this.#unknown.size * unknownBytes
  }

  find(environmentId: string, customerId: string, resourceId: string | null): HeldState | undefined {
    const ofCustomer = this.#customers.get(keyOf(environmentId, customerId))
    const held = ofCustomer?.states.get(resourceId ?? '')
    if (held) return held
    const unknown = ofCustomer
      ? ofCustomer.unknown.get(shortHash(resourceId ?? ''))
      : this.#unknown.get(unknownKeyOf(environmentId, customerId))
    if (!unknown) return undefined
    const state = { environmentId, customerId, resourceId, ...unknown }
    return { state, freshUntil: freshUntil(state) }
  }

  hold(state: EntitlementState): void {
    const { environmentId, customerId, resourceId, ...rest } = state
    if (state.deniedReason === 'CustomerNotFound') {
      // A resource that was known before its customer was purged is gone with it.
      this.#customers.delete(keyOf(environmentId, customerId))
      this.#unknown.set(unknownKeyOf(environmentId, customerId), rest)
      return
    }
    const key = keyOf(environmentId, customerId)
    const { states, unknown } = this.#customers.peek(key) ?? { states: new Map(), unknown: new Map() }
    if (state.deniedReason === 'CustomerResourceNotFound') {
      unknown.set(shortHash(resourceId ?? ''), rest)
      for (const [oldest] of unknown) if (unknown.size > maxUnknownResources) unknown.delete(oldest)
    } else states.set(resourceId ?? '', { state, freshUntil: freshUntil(state), bytes: this.#weights.of(state), keptBytes: 0 })
    this.#put(key, { states, unknown })
  }

  /** Room for what a door keeps of a held state, and loses with it. False: it is not held any more, or so much of it is not to be kept. */
  grow(state: EntitlementState, bytes: number): boolean {
    const key = keyOf(state.environmentId, state.customerId)
    const ofCustomer = this.#customers.peek(key)
    const held = ofCustomer?.states.get(state.resourceId ?? '')
    if (!ofCustomer || held?.state !== state || held.keptBytes + bytes > maxKeptBytes) return false
    held.keptBytes += bytes
    this.#put(key, { ...ofCustomer })
    return this.#customers.peek(key)?.states.get(state.resourceId ?? '') === held
  }

  /** Of one customer of the environment, or of all. */
  change(environmentId: string, { customerId, version, usage }: HeldChange): void {
    if (customerId === null) this.#forgetEnvironment(environmentId)
    else this.#changeCustomer(environmentId, customerId, { version, usage })
  }

  #changeCustomer(environmentId: string, customerId: string, { version, usage }: Omit<HeldChange, 'customerId'>): void {
    this.#unknown.delete(unknownKeyOf(environmentId, customerId))
    const key = keyOf(environmentId, customerId)
    const ofCustomer = this.#customers.peek(key)
    if (!ofCustomer) return
    const { states } = ofCustomer
    // The usage of a resource is part of the customer's, and may be that of others: only a single state can be patched.
    const [[resource, held] = [null, null]] = states
    if (usage && held && states.size === 1 && resource === (usage.resourceId ?? '')) {
      const state = withUsages(held.state, new Map([[usage.featureId, usage.usage]]))
      // Another usage takes as much memory.
      const patched = { state, freshUntil: freshUntil(state), bytes: held.bytes, keptBytes: 0 }
      this.#put(key, { states: new Map([[resource!, patched]]), unknown: new Map() })
    } else if (version === null || [...states.values()].some(({ state }) => state.version < version)) this.#customers.delete(key)
    else this.#put(key, { states, unknown: new Map() })
  }

  clear(): void {
    this.#customers.clear()
    this.#unknown.clear()
  }

  /** What is over the customer's share goes, the oldest first. */
  #put(key: string, ofCustomer: OfCustomer): void {
    let bytes = weighCustomer(ofCustomer, key)
    for (const [resource, held] of ofCustomer.states) {
      if (bytes <= this.#maxCustomerBytes) break
      bytes -= placeBytes + held.bytes + held.keptBytes
      ofCustomer.states.delete(resource)
    }
    this.#customers.set(key, ofCustomer)
  }

  #forgetEnvironment(environmentId: string): void {
    for (const cache of [this.#customers, this.#unknown])
      for (const key of [...cache.keys()]) if (key.startsWith(environmentId)) cache.delete(key)
  }
}

function weighCustomer({ states, unknown }: OfCustomer, key: string): number {
  let bytes = customerBytes + textBytes(key) + unknown.size * unknownResourceBytes
  for (const held of states.values()) bytes += placeBytes + held.bytes + held.keptBytes
  return bytes
}

/** Environments are UUIDs, so their length keeps them apart from what follows. */
const keyOf = (environmentId: string, customerId: string): string => environmentId + customerId

const unknownKeyOf = (environmentId: string, customerId: string): string => environmentId + shortHash(customerId)

/** Nobody can make up an id with the hash of another's. */
const shortHash = (id: string): string => hash('sha256', id, 'base64url').slice(0, 22)
