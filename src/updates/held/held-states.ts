import { LRUCache } from 'lru-cache'
import type { HeldChange } from '../../changes/model/change.js'
import { type ExpectedAnnouncement, StateBus } from '../../changes/state-bus.js'
import { type EntitlementState, mayBeKept } from '../../entitlement/rules/state.js'
import { type CheckAnswer, type CheckQuestion, decideCheck, type EntitlementService } from '../../entitlement/service.js'
import type { Clock, EpochMs } from '../../kernel/clock.js'
import { Counter, Gauge } from '../../platform/metrics.js'
import type { Life } from '../../platform/process.js'
import type { QueueConnection } from '../../platform/queue.js'
import { beyondSignal } from '../../platform/within-signal.js'
import { freshUntil } from './fresh-until.js'
import { withUsages } from './merge-state.js'
import type { SharedStates } from './shared-states.js'

interface HeldState {
  state: EntitlementState
  /** From then on time alone may have changed it. */
  freshUntil: EpochMs
}

/** A read that is under way. Outdated: what it answers was true for those who asked by then, and is not kept. */
interface Load {
  answer: Promise<EntitlementState>
  isOutdated: boolean
}

/** Of one customer, by resource (`''`: the customer itself, which no resource is called). */
type OfCustomer<T> = Map<string, T>

/** An entitlement as objects, and once more as the texts that doors make of it. */
const bytesPerEntitlement = 3_000
const bytesPerState = 500

/**
 * Entitlement states in the memory of a process that answers reads: always what PostgreSQL has, without asking it. The argument is in `README.md`.
 */
export class HeldStates {
  readonly #source: EntitlementService
  readonly #shared: SharedStates
  readonly #clock: Clock
  readonly #bus: StateBus
  readonly #customers: LRUCache<string, OfCustomer<HeldState>>
  readonly #loads = new Map<string, OfCustomer<Load>>()
  /** The refIds of the features of an environment, to tell an unknown feature from one that is not held. */
  readonly #features = new Map<string, Promise<ReadonlySet<string>>>()
  readonly #reads: Counter

  constructor(parts: {
    life: Life
    queues: QueueConnection
    source: EntitlementService
    shared: SharedStates
    clock: Clock
    /** Most that is held, estimated. */
    maxBytes: number
  }) {
    this.#source = parts.source
    this.#shared = parts.shared
    this.#clock = parts.clock
    this.#customers = new LRUCache({ maxSize: parts.maxBytes, sizeCalculation: bytesOf })
    this.#bus = new StateBus({
      life: parts.life,
      queues: parts.queues,
      listener: { apply: (...heard) => this.#apply(...heard), forgetAll: () => this.#forgetAll() },
    })
    const registers = [parts.life.metrics]
    this.#reads = new Counter({
      name: 'tollgate_state_reads_total',
      help: 'Entitlement states that were asked for, by where they came from: memory, another reader, Redis, PostgreSQL',
      labelNames: ['source'],
      registers,
    })
    const customers = this.#customers
    new Gauge({
      name: 'tollgate_held_states_bytes',
      help: 'Memory that held entitlement states take, estimated',
      registers,
      collect() {
        this.set(customers.calculatedSize)
      },
    })
  }

  /** What a customer or one of its resources holds, true at some instant after the call. The answer is shared: it must not be changed. */
  state(environmentId: string, customerRefId: string, resourceRefId: string | null): Promise<EntitlementState> {
    const held = this.held(environmentId, customerRefId, resourceRefId)
    return held ? Promise.resolve(held) : this.#load(environmentId, customerRefId, resourceRefId)
  }

  /** The same when it is at hand, else null. */
  held(environmentId: string, customerRefId: string, resourceRefId: string | null): EntitlementState | null {
    const held = this.#customers.get(keyOf(environmentId, customerRefId))?.get(resourceRefId ?? '')
    if (!held || held.freshUntil <= this.#clock.now() || !this.#bus.isTrusted(environmentId)) return null
    this.#reads.inc(fromMemory)
    return held.state
  }

  /** The decision, with the version of the last change that was more than usage. A denial is an answer. */
  async check(environmentId: string, question: CheckQuestion): Promise<CheckAnswer> {
    const { customerRefId, resourceRefId } = question
    // Not awaited when it is at hand: this is the hottest path of the process.
    const state = this.held(environmentId, customerRefId, resourceRefId) ?? (await this.#load(environmentId, customerRefId, resourceRefId))
    return decideCheck(state, question, this.#clock.now(), async (refId) => (await this.#featureIds(environmentId)).has(refId))
  }

  /** Answers when no process answers reads from before the changes any more. Never fails. */
  announce(environmentId: string, changes: HeldChange[]): Promise<void> {
    return this.#bus.announce(environmentId, changes)
  }

  /** For what a worker announces in the name of this process. */
  expectAnnouncement(): ExpectedAnnouncement {
    return this.#bus.expect()
  }

  #load(environmentId: string, customerRefId: string, resourceRefId: string | null): Promise<EntitlementState> {
    const read = () => this.#read(environmentId, customerRefId, resourceRefId)
    // Without word of changes a read that began earlier may answer from before a change that this caller knows of.
    if (!this.#bus.isTrusted(environmentId)) return read()
    const key = keyOf(environmentId, customerRefId)
    const ofCustomer: OfCustomer<Load> = this.#loads.get(key) ?? new Map()
    const resource = resourceRefId ?? ''
    const underWay = ofCustomer.get(resource)
    if (underWay) {
      this.#reads.inc({ source: 'another reader' })
      return underWay.answer
    }
    const load: Load = { isOutdated: false, answer: beyondSignal(read) }
    this.#loads.set(key, ofCustomer.set(resource, load))
    const finish = (state: EntitlementState | null) => {
      if (load.isOutdated) return
      ofCustomer.delete(resource)
      if (ofCustomer.size === 0) this.#loads.delete(key)
      if (state && mayBeKept(state)) this.#hold(key, resource, state)
    }
    load.answer.then(finish, () => finish(null))
    return load.answer
  }

  /** From Redis when that is what PostgreSQL has, else from the records. */
  async #read(environmentId: string, customerRefId: string, resourceRefId: string | null): Promise<EntitlementState> {
    const of = { environmentId, customerId: customerRefId, resourceId: resourceRefId }
    const shared = await this.#shared.read(of, this.#clock.now())
    this.#reads.inc({ source: shared ? 'Redis' : 'PostgreSQL' })
    if (shared) return shared
    const state = await this.#source.state(environmentId, customerRefId, resourceRefId)
    this.#shared.offer(state)
    return state
  }

  #hold(key: string, resource: string, state: EntitlementState): void {
    const ofCustomer = this.#customers.peek(key) ?? new Map()
    ofCustomer.set(resource, { state, freshUntil: freshUntil(state) })
    this.#customers.set(key, ofCustomer)
  }

  #apply(environmentId: string, changes: readonly HeldChange[]): void {
    for (const change of changes) {
      if (change.customerId === null) this.#forgetEnvironment(environmentId)
      else this.#change(keyOf(environmentId, change.customerId), change)
    }
  }

  #change(key: string, { version, usage }: HeldChange): void {
    this.#outdateLoads(key)
    const ofCustomer = this.#customers.peek(key)
    if (!ofCustomer) return
    // The usage of a resource is part of the customer's, and may be that of others: only a single state can be patched.
    const [[resource, held] = [null, null]] = ofCustomer
    if (usage && held && ofCustomer.size === 1 && resource === (usage.resourceId ?? '')) {
      const patched = withUsages(held.state, new Map([[usage.featureId, usage.usage]]))
      this.#hold(key, resource, patched)
    } else if (version === null || [...ofCustomer.values()].some(({ state }) => state.version < version)) this.#customers.delete(key)
  }

  #outdateLoads(key: string): void {
    for (const load of this.#loads.get(key)?.values() ?? []) load.isOutdated = true
    this.#loads.delete(key)
  }

  #forgetEnvironment(environmentId: string): void {
    this.#features.delete(environmentId)
    const isOfEnvironment = (key: string) => key.startsWith(environmentId)
    for (const key of [...this.#loads.keys()].filter(isOfEnvironment)) this.#outdateLoads(key)
    for (const key of [...this.#customers.keys()].filter(isOfEnvironment)) this.#customers.delete(key)
  }

  #forgetAll(): void {
    this.#features.clear()
    for (const key of [...this.#loads.keys()]) this.#outdateLoads(key)
    this.#customers.clear()
  }

  #featureIds(environmentId: string): Promise<ReadonlySet<string>> {
    if (!this.#bus.isTrusted(environmentId)) return this.#source.featureRefIds(environmentId)
    const known = this.#features.get(environmentId)
    if (known) return known
    const asked = beyondSignal(() => this.#source.featureRefIds(environmentId))
    this.#features.set(environmentId, asked)
    asked.catch(() => {
      if (this.#features.get(environmentId) === asked) this.#features.delete(environmentId)
    })
    return asked
  }
}

const fromMemory = { source: 'memory' }

/** Environments are UUIDs, so their length keeps them apart from what follows. */
const keyOf = (environmentId: string, customerRefId: string): string => environmentId + customerRefId

function bytesOf(ofCustomer: OfCustomer<HeldState>): number {
  let bytes = 0
  for (const { state } of ofCustomer.values()) {
    const entitlements = state.entitlements.length + (state.next?.entitlements.length ?? 0)
    bytes += bytesPerState + entitlements * bytesPerEntitlement
  }
  return bytes
}
