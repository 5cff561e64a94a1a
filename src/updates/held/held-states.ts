import { LRUCache } from 'lru-cache'
import type { HeldChange } from '../../changes/model/change.js'
import { type ExpectedAnnouncement, StateBus } from '../../changes/state-bus.js'
import { type EntitlementState, mayBeKept } from '../../entitlement/rules/state.js'
import { type CheckAnswer, type CheckQuestion, decideCheck, type EntitlementService } from '../../entitlement/service.js'
import type { Clock } from '../../kernel/clock.js'
import { textBytes } from '../../kernel/weight.js'
import { beyondSignal } from '../../platform/context/within-signal.js'
import type { DatabaseEpoch } from '../../platform/epoch/database-epoch.js'
import { Counter, showKept } from '../../platform/metrics.js'
import type { Life } from '../../platform/process.js'
import type { QueueConnection } from '../../platform/queue.js'
import { type AskedFreshness, FreshReads } from './fresh-reads.js'
import type { SharedStates } from './shared-states.js'
import { StateMemory } from './state-memory.js'

/** A read that is under way. Outdated: what it answers was true for those who asked by then, and is not kept. */
interface Load {
  answer: Promise<EntitlementState>
  isOutdated: boolean
}

/** Of one customer, by resource (`''`: the customer itself, which no resource is called). */
type OfCustomer<T> = Map<string, T>

/** A set of refIds with its promise. */
const bytesPerFeature = 60
const maxFeatureBytes = 8 * 2 ** 20

interface FeatureIds {
  ids: Promise<ReadonlySet<string>>
  /** 1 until they are there. */
  bytes: number
}

/**
 * Entitlement states in the memory of a process that answers reads: always what PostgreSQL has, without asking it. The argument is in `README.md`.
 */
export class HeldStates {
  readonly #source: EntitlementService
  readonly #shared: SharedStates
  readonly #clock: Clock
  readonly #bus: StateBus
  readonly #memory: StateMemory
  readonly #loads = new Map<string, OfCustomer<Load>>()
  readonly #fresh = new FreshReads((...of) => this.#begin(...of))
  /** The refIds of the features of an environment, to tell an unknown feature from one that is not held. */
  readonly #features = new LRUCache<string, FeatureIds>({ maxSize: maxFeatureBytes, sizeCalculation: ({ bytes }) => bytes })
  readonly #reads: Counter
  /** Of the reads, those from memory that the counter has not heard of: they are so many that it is told when it is looked at. */
  #readFromMemory = 0

  constructor(parts: {
    life: Life
    queues: QueueConnection
    databaseEpoch: Pick<DatabaseEpoch, 'onChange'>
    source: EntitlementService
    shared: SharedStates
    clock: Clock
    /** Most that is held, estimated. */
    maxBytes: number
  }) {
    this.#source = parts.source
    this.#shared = parts.shared
    this.#clock = parts.clock
    this.#memory = new StateMemory(parts.maxBytes)
    this.#bus = new StateBus({
      life: parts.life,
      queues: parts.queues,
      listener: { apply: (...heard) => this.#apply(...heard), forgetAll: () => this.#forgetAll() },
    })
    parts.databaseEpoch.onChange(() => this.#forgetAll())
    const registers = [parts.life.metrics]
    const takeReadFromMemory = () => {
      const reads = this.#readFromMemory
      this.#readFromMemory = 0
      return reads
    }
    this.#reads = new Counter({
      name: 'tollgate_state_reads_total',
      help: 'Entitlement states that were asked for, by where they came from: memory, another reader, Redis, PostgreSQL',
      labelNames: ['source'],
      registers,
      collect() {
        this.inc({ source: 'memory' }, takeReadFromMemory())
      },
    })
    showKept(parts.life.metrics, 'held states', () => this.#memory.bytes)
    showKept(parts.life.metrics, 'unknown customers', () => this.#memory.unknownBytes)
    showKept(parts.life.metrics, 'feature ids', () => this.#features.calculatedSize)
  }

  /**
   * What a customer or one of its resources holds, true at some instant after the call as far as changes have been announced; without `freshness` that is enough.
   * The answer is shared: it must not be changed.
   */
  state(environmentId: string, customerRefId: string, resourceRefId: string | null, freshness?: AskedFreshness): Promise<EntitlementState> {
    const held = this.held(environmentId, customerRefId, resourceRefId, freshness?.maxAgeMs)
    return held ? Promise.resolve(held) : this.#load(environmentId, customerRefId, resourceRefId, freshness)
  }

  /** The same when it is at hand, and was proved to be right less than `maxAgeMs` ago; else null. */
  held(
    environmentId: string,
    customerRefId: string,
    resourceRefId: string | null,
    maxAgeMs = Number.POSITIVE_INFINITY,
  ): EntitlementState | null {
    const held = this.#memory.find(environmentId, customerRefId, resourceRefId)
    if (!held || held.freshUntil <= this.#clock.now() || !this.#bus.isTrusted(environmentId, maxAgeMs)) return null
    this.#readFromMemory += 1
    return held.state
  }

  /** Room for what a door keeps of a held state. False: it is not to be kept. */
  grow(state: EntitlementState, bytes: number): boolean {
    return this.#memory.grow(state, bytes)
  }

  /** The decision, with the version of the last change that was more than usage. A denial is an answer. */
  async check(environmentId: string, question: CheckQuestion, freshness?: AskedFreshness): Promise<CheckAnswer> {
    const { customerRefId, resourceRefId } = question
    // Not awaited when it is at hand: this is the hottest path of the process.
    const held = this.held(environmentId, customerRefId, resourceRefId, freshness?.maxAgeMs)
    const state = held ?? (await this.#load(environmentId, customerRefId, resourceRefId, freshness))
    const isAnew = freshness !== undefined && held === null
    const featureIds = () => (isAnew ? this.#source.featureRefIds(environmentId) : this.#featureIds(environmentId))
    return decideCheck(state, question, this.#clock.now(), async (refId) => (await featureIds()).has(refId))
  }

  /** Answers when no process answers reads from before the changes any more. Never fails. */
  announce(environmentId: string, changes: HeldChange[]): Promise<void> {
    return this.#bus.announce(environmentId, changes)
  }

  /** For what a worker announces in the name of this process. */
  expectAnnouncement(): ExpectedAnnouncement {
    return this.#bus.expect()
  }

  #load(environmentId: string, customerRefId: string, resourceRefId: string | null, freshness?: AskedFreshness): Promise<EntitlementState> {
    if (freshness) return this.#fresh.state(environmentId, customerRefId, resourceRefId, freshness.beforeRead)
    const underWay = this.#loads.get(keyOf(environmentId, customerRefId))?.get(resourceRefId ?? '')
    if (!underWay || !this.#bus.isTrusted(environmentId)) return this.#begin(environmentId, customerRefId, resourceRefId)
    this.#reads.inc({ source: 'another reader' })
    return underWay.answer
  }

  /** A read of its own. Who asks while it is under way shares it, and what it answers is held, when no change is heard of meanwhile. */
  #begin(environmentId: string, customerRefId: string, resourceRefId: string | null, spared?: () => void): Promise<EntitlementState> {
    const read = () => this.#read(environmentId, customerRefId, resourceRefId, spared)
    // Without word of changes a read that began earlier may answer from before a change that this caller knows of.
    if (!this.#bus.isTrusted(environmentId)) return read()
    const key = keyOf(environmentId, customerRefId)
    const ofCustomer: OfCustomer<Load> = this.#loads.get(key) ?? new Map()
    const resource = resourceRefId ?? ''
    const overtaken = ofCustomer.get(resource)
    if (overtaken) overtaken.isOutdated = true
    const load: Load = { isOutdated: false, answer: beyondSignal(read) }
    this.#loads.set(key, ofCustomer.set(resource, load))
    const finish = (state: EntitlementState | null) => {
      if (load.isOutdated) return
      ofCustomer.delete(resource)
      if (ofCustomer.size === 0) this.#loads.delete(key)
      if (state && mayBeKept(state)) this.#memory.hold(state)
    }
    load.answer.then(finish, () => finish(null))
    return load.answer
  }

  /** From Redis when that is what PostgreSQL has, else from the records. */
  async #read(environmentId: string, customerRefId: string, resourceRefId: string | null, spared?: () => void): Promise<EntitlementState> {
    const of = { environmentId, customerId: customerRefId, resourceId: resourceRefId }
    const shared = await this.#shared.read(of, this.#clock.now())
    this.#reads.inc({ source: shared ? 'Redis' : 'PostgreSQL' })
    if (shared) {
      spared?.()
      return shared
    }
    const state = await this.#source.state(environmentId, customerRefId, resourceRefId)
    this.#shared.offer(state)
    return state
  }

  #apply(environmentId: string, changes: readonly HeldChange[]): void {
    for (const change of changes) {
      if (change.customerId === null) this.#forgetEnvironment(environmentId)
      else this.#outdateLoads(keyOf(environmentId, change.customerId))
      this.#memory.change(environmentId, change)
    }
  }

  #outdateLoads(key: string): void {
    for (const load of this.#loads.get(key)?.values() ?? []) load.isOutdated = true
    this.#loads.delete(key)
  }

  #forgetEnvironment(environmentId: string): void {
    this.#features.delete(environmentId)
    const isOfEnvironment = (key: string) => key.startsWith(environmentId)
    for (const key of [...this.#loads.keys()].filter(isOfEnvironment)) this.#outdateLoads(key)
  }

  #forgetAll(): void {
    this.#features.clear()
    for (const key of [...this.#loads.keys()]) this.#outdateLoads(key)
    this.#memory.clear()
  }

  #featureIds(environmentId: string): Promise<ReadonlySet<string>> {
    if (!this.#bus.isTrusted(environmentId)) return this.#source.featureRefIds(environmentId)
    const known = this.#features.get(environmentId)
    if (known) return known.ids
    const ids = beyondSignal(() => this.#source.featureRefIds(environmentId))
    const asked = { ids, bytes: 1 }
    this.#features.set(environmentId, asked)
    const isAsked = () => this.#features.peek(environmentId) === asked
    ids.then(
      (found) => isAsked() && this.#features.set(environmentId, { ids, bytes: weighIds(found) }),
      () => isAsked() && this.#features.delete(environmentId),
    )
    return ids
  }
}

function weighIds(ids: ReadonlySet<string>): number {
  let bytes = 500
  for (const id of ids) bytes += bytesPerFeature + textBytes(id)
  return bytes
}

/** Environments are UUIDs, so their length keeps them apart from what follows. */
const keyOf = (environmentId: string, customerRefId: string): string => environmentId + customerRefId
