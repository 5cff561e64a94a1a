import type pg from 'pg'
import { type PendingChange } from '../../changes/model/change.js'
import { deleteDelivered, environmentsWithUndelivered, type LeasedChanges, leaseChanges, postponeRows } from '../../changes/outbox.js'
import type { EntitlementState } from '../../entitlement/rules/state.js'
import type { EntitlementService } from '../../entitlement/service.js'
import { FairPlaces } from '../../environment/fair-places.js'
import type { Clock } from '../../kernel/clock.js'
import { newId } from '../../kernel/id.js'
import type { DatabaseEpoch } from '../../platform/epoch/database-epoch.js'
import type { Logger } from '../../platform/logger.js'
import { Counter, Histogram, latencyBuckets, type Registry } from '../../platform/metrics.js'
import { NotBegun } from '../../platform/queue/consume.js'
import { mergeStates } from '../held/merge-state.js'
import type { StateCache } from '../held/state-cache.js'
import type { ChangeMessage } from '../wire/change-message.js'
import { entitlementsMessage, packageMessages, purgeMessage, usageMessages, withChangedUsages } from './change-messages.js'
import { KnownStates } from './known-states.js'

/** Where messages go: the push channel of the web processes, and the environment's queue when it has a persistent cache. */
export interface ChangeSinks {
  publish(messages: ChangeMessage[]): Promise<void>
  /**
   * In the order of the calls. Waits for the platform's Redis and for no other queue: what is answered does that, and says whether the environment has a queue that
   * has all of them. What it did not take gives way to a reload by then.
   */
  enqueue(messages: ChangeMessage[]): Promise<() => Promise<boolean>>
}

/** What a busy environment reports between two nudges. More at once spares little, and the first of them would wait for the last. */
const batchSize = 1_000
const leaseSeconds = 15
/** Customers whose states are read in one snapshot: many share its statements, and none makes it long. */
const customersPerRead = 50

/** All changes of one customer that wait. */
interface ChangedCustomer {
  customerId: string
  changes: PendingChange[]
  /** Nothing but usage changed. */
  isUsage: boolean
}

/** What is left to do for a batch that is published, outside of its place. */
interface PublishedBatch {
  /** About how many changes there were, delivered or not. */
  size: number
  /** Waits until its messages are in the environment's queue or given up, and deletes its changes. */
  end(): Promise<void>
}

/** Takes the customers whose changes could not be delivered. */
type Fail = (customers: readonly ChangedCustomer[], error: unknown) => void

/**
 * Turns committed changes into fresh states and messages. May run twice and in several processes: states are compared by version where they are
 * stored, and messages may arrive twice. All changes of a customer that wait make one state and one message; usage alone is put into the state that
 * is known and does not rebuild it.
 */
export class ChangeDelivery {
  readonly #pool: pg.Pool
  readonly #clock: Clock
  readonly #log: Logger
  readonly #entitlements: EntitlementService
  readonly #cache: StateCache
  readonly #known: KnownStates
  readonly #sinks: ChangeSinks
  readonly #delivered: Counter
  readonly #unreadable: Counter
  readonly #lag: Histogram
  /** Environments in delivery here; true: another nudge came meanwhile. */
  readonly #running = new Map<string, boolean>()
  readonly #places: FairPlaces
  /** Deliveries that sweeps have begun. */
  readonly #swept = new Set<Promise<void>>()

  constructor(parts: {
    pool: pg.Pool
    epoch: DatabaseEpoch
    /** The database's. */
    clock: Clock
    entitlements: EntitlementService
    cache: StateCache
    sinks: ChangeSinks
    metrics: Registry
    log: Logger
    /** Environments whose batches are delivered at the same time; absent: 4. */
    concurrency?: number
  }) {
    this.#places = new FairPlaces({ inAll: parts.concurrency ?? 4, ofOwner: 1 })
    this.#pool = parts.pool
    this.#log = parts.log
    this.#clock = parts.clock
    this.#entitlements = parts.entitlements
    this.#cache = parts.cache
    this.#known = new KnownStates(parts.cache, parts.clock)
    parts.epoch.onChange(() => this.#known.forgetAll())
    this.#sinks = parts.sinks
    this.#delivered = new Counter({
      name: 'tollgate_changes_delivered_total',
      help: 'Changes delivered, by kind',
      labelNames: ['kind'],
      registers: [parts.metrics],
    })
    this.#unreadable = new Counter({
      name: 'tollgate_changes_unreadable_total',
      help: 'Attempts at changes that this release cannot read: they wait for one that can, and are among the dead letters',
      registers: [parts.metrics],
    })
    this.#lag = new Histogram({
      name: 'tollgate_change_delivery_lag_seconds',
      help: 'From the commit of a change to its delivery',
      buckets: latencyBuckets,
      registers: [parts.metrics],
    })
  }

  /**
   * Delivers everything that waits for one environment, a batch at a time: after each, environments that wait have their turn. It has its next one when its queue has
   * answered, and no place until then. Nudges that come while it runs are folded into one more batch. A customer whose state cannot be built does not hold up
   * the others: its changes wait, longer each time. When `signal` aborts it ends after the batch that it is at, and what is left is found by the sweep.
   * @throws NotBegun when `signal` aborted before its first turn, AggregateError when there were such customers
   */
  async deliver(environmentId: string, signal?: AbortSignal): Promise<void> {
    if (this.#running.has(environmentId)) {
      this.#running.set(environmentId, true)
      return
    }
    const failures: unknown[] = []
    let isBegun = false
    const turn = async (): Promise<PublishedBatch | null> => {
      this.#running.set(environmentId, false)
      if (signal?.aborted) return null
      isBegun = true
      return this.#publishBatch(environmentId, failures)
    }
    try {
      this.#running.set(environmentId, false)
      for (let isMore = true; isMore && !signal?.aborted; ) {
        const batch = await this.#places.run(environmentId, turn)
        await batch?.end()
        isMore = (batch !== null && batch.size >= batchSize) || this.#running.get(environmentId) === true
      }
    } finally {
      this.#running.delete(environmentId)
    }
    if (!isBegun) throw new NotBegun()
    if (failures.length > 0)
      throw new AggregateError(failures, `the changes of ${failures.length} customers were not delivered: ${failures[0]}`)
  }

  /** Begins to deliver what a lost nudge or a killed worker left behind. Waits for none of it: one that is slow would keep the next sweep from the others. */
  async sweep(signal: AbortSignal): Promise<void> {
    for (const environmentId of await environmentsWithUndelivered(this.#pool)) {
      const delivery = this.deliver(environmentId, signal)
        .catch((error: unknown) => {
          if (!(error instanceof NotBegun)) this.#log.warn({ err: error, environmentId }, 'delivery failed')
        })
        .finally(() => this.#swept.delete(delivery))
      this.#swept.add(delivery)
    }
  }

  /** Ends when what sweeps have begun has ended. */
  async sweptAll(): Promise<void> {
    await Promise.all(this.#swept)
  }

  async #publishBatch(environmentId: string, failures: unknown[]): Promise<PublishedBatch> {
    const leased = await leaseChanges(this.#pool, environmentId, { limit: batchSize, seconds: leaseSeconds })
    const { rowIds, changes, unreadable } = leased
    await this.#postponeUnreadable(environmentId, unreadable)
    if (rowIds.length === 0) return { size: unreadable.length, end: async () => undefined }
    const undelivered = new Set<string>()
    const fail: Fail = (customers, error) => {
      for (const { customerId } of customers) undelivered.add(customerId)
      failures.push(error)
    }
    const answers: (() => Promise<boolean>)[] = []
    for await (const messages of this.#messagesOf(environmentId, changes, fail)) {
      await this.#sinks.publish(messages)
      // A cache forgets the resources with their customer, and looks at all its keys to do so.
      answers.push(await this.#sinks.enqueue(messages.filter(({ kind, resourceId }) => kind !== 'purge' || resourceId === undefined)))
    }
    return {
      size: Math.max(changes.length, rowIds.length + unreadable.length),
      end: async () => {
        for (const answer of answers) await answer()
        await this.#finish(environmentId, leased, undelivered)
      },
    }
  }

  /** They hold up nobody: others have the room of the next batch. */
  async #postponeUnreadable(environmentId: string, unreadable: LeasedChanges['unreadable']): Promise<void> {
    await postponeRows(this.#pool, environmentId, unreadable, leaseSeconds)
    for (const { id, unreadable: reason } of unreadable) {
      this.#unreadable.inc()
      this.#log.error({ environmentId, messageId: id, reason }, 'change cannot be read, it is left for a release that can')
    }
  }

  /** In lots: what needs no state to be built does not wait for those that do. */
  async *#messagesOf(environmentId: string, changes: PendingChange[], fail: Fail): AsyncGenerator<ChangeMessage[]> {
    let messages: ChangeMessage[] = []
    const used: ChangedCustomer[] = []
    const changed: ChangedCustomer[] = []
    for (const [customerId, ofCustomer] of byCustomer(changes)) {
      const isUsage = ofCustomer.every(({ kind }) => kind === 'usage')
      if (customerId === null) messages.push(...ofCustomer.flatMap((change) => packageMessages(environmentId, change)))
      else (isUsage ? used : changed).push({ customerId, changes: ofCustomer, isUsage })
    }
    const tell = (customer: ChangedCustomer, make: () => ChangeMessage[]) => {
      try {
        messages.push(...make())
      } catch (error) {
        fail([customer], error)
      }
    }

    const known = await this.#knownStates(environmentId, used)
    for (const customer of used) {
      const state = known.get(customer.customerId)
      if (!state) changed.push(customer)
      else
        tell(customer, () => {
          const patched = withChangedUsages(state, customer.changes)
          this.#known.rememberPatched(patched)
          return usageMessages(patched, customer.changes)
        })
    }
    if (messages.length > 0) yield messages
    for (let start = 0; start < changed.length; start += customersPerRead) {
      messages = []
      const together = changed.slice(start, start + customersPerRead)
      const rebuilt = await this.#rebuilt(environmentId, together, fail)
      for (const customer of together) {
        const states = rebuilt.get(customer.customerId) ?? []
        tell(customer, () =>
          states.flatMap((state) => {
            // As the state of now says it, whatever the change was: a customer that is back must not be forgotten by a message that comes late.
            if (state.deniedReason === 'CustomerIsArchived') return [purgeMessage(state)]
            // Who listens to usage alone must hear of it, also when more has changed.
            const usages = usageMessages(state, customer.changes)
            return customer.isUsage ? usages : [entitlementsMessage(state), ...usages]
          }),
        )
      }
      if (messages.length > 0) yield messages
    }
  }

  /**
   * By customer: those that need not be built anew. Of the others none is known, or it grants something else by now, or the customer has resources
   * that may share the usage.
   */
  async #knownStates(environmentId: string, customers: readonly ChangedCustomer[]): Promise<Map<string, EntitlementState>> {
    if (customers.length === 0) return new Map()
    const access = await this.#entitlements.access(
      environmentId,
      customers.map(({ customerId }) => customerId),
    )
    return this.#known.find(environmentId, access)
  }

  /** By customer: its state and those of its resources, which a change of the customer reaches too. */
  async #rebuilt(environmentId: string, customers: readonly ChangedCustomer[], fail: Fail): Promise<Map<string, EntitlementState[]>> {
    const built = await this.#built(environmentId, customers, fail)
    const stored = await this.#cache.updateAll(built, mergeStates)
    const states = new Map<string, EntitlementState[]>()
    for (const [index, state] of stored.entries()) {
      const { customerId, resourceId } = built[index]!
      const ofCustomer = states.get(customerId) ?? []
      states.set(customerId, ofCustomer)
      ofCustomer.push(state!)
      if (resourceId === null) this.#known.remember(state!)
    }
    return states
  }

  /** Those that cannot be built are found by halving. */
  async #built(environmentId: string, customers: readonly ChangedCustomer[], fail: Fail): Promise<EntitlementState[]> {
    try {
      return await this.#entitlements.states(
        environmentId,
        customers.map(({ customerId }) => customerId),
      )
    } catch (error) {
      if (customers.length === 1) {
        fail(customers, error)
        return []
      }
      const half = customers.length >> 1
      const first = await this.#built(environmentId, customers.slice(0, half), fail)
      return [...first, ...(await this.#built(environmentId, customers.slice(half), fail))]
    }
  }

  /** What was not delivered waits, longer each time: in its row, or, where it shared one with others, in a new one. */
  async #finish(environmentId: string, { rowIds, changes }: LeasedChanges, undelivered: ReadonlySet<string>): Promise<void> {
    const isUndelivered = ({ customerId }: PendingChange) => customerId !== null && undelivered.has(customerId)
    const delivered = changes.filter((change) => !isUndelivered(change))
    const left = changes.filter(isUndelivered)
    const shared = new Set(delivered.map(({ id }) => id))
    const kept = new Set(left.filter(({ id }) => !shared.has(id)).map(({ id }) => id))
    const moved = left.filter(({ id }) => shared.has(id))
    const done = rowIds.filter((id) => !kept.has(id))
    await deleteDelivered(this.#pool, environmentId, done, { undelivered: moved, newIds: moved.map(newId), seconds: leaseSeconds })
    await postponeRows(
      this.#pool,
      environmentId,
      [...kept].map((id) => ({ id, unreadable: null })),
      leaseSeconds,
    )
    const now = this.#clock.now()
    for (const { kind, createdAt } of delivered) {
      this.#delivered.inc({ kind })
      this.#lag.observe(Math.max(0, now - createdAt) / 1000)
    }
  }
}

function byCustomer(changes: readonly PendingChange[]): Map<string | null, PendingChange[]> {
  const groups = new Map<string | null, PendingChange[]>()
  for (const change of changes) {
    const group = groups.get(change.customerId)
    if (group) group.push(change)
    else groups.set(change.customerId, [change])
  }
  return groups
}
