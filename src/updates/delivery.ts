import type { EntitlementService } from '../entitlement/service.js'
import type { EntitlementState, Usage } from '../entitlement/state.js'
import { newId } from '../kernel/id.js'
import { toAnsweredUnits } from '../metering/unit-transformation.js'
import { Counter, Histogram, latencyBuckets, type Registry } from '../platform/metrics.js'
import type { PrismaClient } from '../platform/postgres.js'
import type { ChangeMessage, PublishedPackage, UsageChange } from './change-message.js'
import { mergeStates, withUsages } from './merge-state.js'
import { deleteDelivered, leaseChanges, type PendingChange } from './outbox-repository.js'
import type { StateCache } from './state-cache.js'

/** Where messages go: the push channel of the web processes, and the environment's queue when it has a persistent cache. */
export interface ChangeSinks {
  publish(messages: ChangeMessage[]): Promise<void>
  enqueue(messages: ChangeMessage[]): Promise<void>
}

const batchSize = 500
const leaseSeconds = 15
/** Customers whose states are built at once: less than the connections of a process, so that none waits for one in vain. */
const parallelCustomers = 4

/**
 * Turns committed changes into fresh states and messages. May run twice and in several processes: states are compared by version where they are
 * stored, and messages may arrive twice. All changes of a customer that wait make one state and one message; usage alone patches the state that
 * is there and does not rebuild it.
 */
export class ChangeDelivery {
  readonly #prisma: PrismaClient
  readonly #entitlements: EntitlementService
  readonly #cache: StateCache
  readonly #sinks: ChangeSinks
  readonly #delivered: Counter
  readonly #lag: Histogram
  /** Environments in delivery here; true: another nudge came meanwhile. */
  readonly #running = new Map<string, boolean>()

  constructor(parts: { prisma: PrismaClient; entitlements: EntitlementService; cache: StateCache; sinks: ChangeSinks; metrics: Registry }) {
    this.#prisma = parts.prisma
    this.#entitlements = parts.entitlements
    this.#cache = parts.cache
    this.#sinks = parts.sinks
    this.#delivered = new Counter({
      name: 'tollgate_changes_delivered_total',
      help: 'Changes delivered, by kind',
      labelNames: ['kind'],
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
   * Delivers everything that waits for one environment. Nudges that come while it runs are folded into one more round. A customer whose state cannot
   * be built does not hold up the others: its changes wait for the end of their lease.
   * @throws AggregateError when there were such customers
   */
  async deliver(environmentId: string): Promise<void> {
    if (this.#running.has(environmentId)) {
      this.#running.set(environmentId, true)
      return
    }
    const failures: unknown[] = []
    try {
      do {
        this.#running.set(environmentId, false)
        while ((await this.#deliverBatch(environmentId, failures)) === batchSize);
      } while (this.#running.get(environmentId))
    } finally {
      this.#running.delete(environmentId)
    }
    if (failures.length > 0)
      throw new AggregateError(failures, `the changes of ${failures.length} customers were not delivered: ${failures[0]}`)
  }

  /** Answers how many changes there were, delivered or not. */
  async #deliverBatch(environmentId: string, failures: unknown[]): Promise<number> {
    const changes = await leaseChanges(this.#prisma, environmentId, batchSize, leaseSeconds)
    if (changes.length === 0) return 0
    const delivered: PendingChange[] = []
    const messages: ChangeMessage[] = []
    const customers = byCustomer(changes)
    const deliverNext = async () => {
      // One iterator for all: each takes the next customer that nobody has.
      for (const ofCustomer of customers) {
        try {
          messages.push(...(await this.#messagesOf(environmentId, ofCustomer)))
          delivered.push(...ofCustomer)
        } catch (error) {
          failures.push(error)
        }
      }
    }
    await Promise.all(Array.from({ length: parallelCustomers }, deliverNext))
    await this.#sinks.publish(messages)
    await this.#sinks.enqueue(messages)
    await deleteDelivered(
      this.#prisma,
      environmentId,
      delivered.map(({ id }) => id),
    )
    for (const { kind, createdAt } of delivered) {
      this.#delivered.inc({ kind })
      this.#lag.observe(Math.max(0, Date.now() - createdAt.getTime()) / 1000)
    }
    return changes.length
  }

  /** Of all changes of one customer, or of the environment. */
  async #messagesOf(environmentId: string, changes: PendingChange[]): Promise<ChangeMessage[]> {
    const newest = changes.reduce((a, b) => (b.version > a.version ? b : a))
    const { customerId } = newest
    if (customerId === null) return changes.flatMap((change) => packageMessages(environmentId, change))
    if (newest.kind === 'purge') return [message(environmentId, customerId, null, 'purge', newest.version)]

    if (changes.every(({ kind }) => kind === 'usage')) {
      const patched = await this.#patched(environmentId, customerId, changes)
      if (patched) return usageMessages(patched, changes)
      return (await this.#rebuilt(environmentId, customerId)).flatMap((state) => usageMessages(state, changes))
    }
    return (await this.#rebuilt(environmentId, customerId)).map(entitlementsMessage)
  }

  /** The customer's state and those of its resources, which a change of the customer reaches too. */
  async #rebuilt(environmentId: string, customerId: string): Promise<EntitlementState[]> {
    const states = await this.#entitlements.states(environmentId, customerId)
    return Promise.all(states.map(async (built) => (await this.#cache.update(built, (stored) => mergeStates(stored, built))) ?? built))
  }

  /**
   * The cached state with the changed usages in it. Null when it has to be built anew: there is none, or not with these features (it may be older
   * than the change of access that gave them), or the customer has resources, whose states may share the usage.
   */
  async #patched(environmentId: string, customerId: string, changes: PendingChange[]): Promise<EntitlementState | null> {
    const resource = await this.#prisma.customerResource.findFirst({
      where: { environmentId, customer: { environmentId, refId: customerId } },
      select: { id: true },
    })
    if (resource) return null
    return this.#cache.update({ environmentId, customerId, resourceId: null }, (stored) => {
      if (!stored) return null
      const usages = latestUsages(stored, changes)
      const held = new Set(stored.entitlements.map(({ feature }) => feature.refId))
      return [...usages.keys()].every((featureId) => held.has(featureId)) ? withUsages(stored, usages) : null
    })
  }
}

function byCustomer(changes: PendingChange[]): IterableIterator<PendingChange[]> {
  const groups = new Map<string | null, PendingChange[]>()
  for (const change of changes) groups.set(change.customerId, [...(groups.get(change.customerId) ?? []), change])
  return groups.values()
}

/** The newest usage of each feature that changed, in the units that are answered. */
function latestUsages(state: EntitlementState, changes: PendingChange[]): Map<string, Usage> {
  const features = new Map(state.entitlements.map(({ feature }) => [feature.refId, feature]))
  const usages = new Map<string, Usage>()
  for (const { payload } of changes) {
    const { featureId, usage } = payload as UsageChange
    const known = usages.get(featureId)
    if (known && known.updatedAt > usage.updatedAt) continue
    usages.set(featureId, {
      ...usage,
      currentUsage: toAnsweredUnits(usage.currentUsage, features.get(featureId)?.unitTransformation ?? null),
    })
  }
  return usages
}

function message(
  environmentId: string,
  customerId: string,
  resourceId: string | null,
  kind: ChangeMessage['kind'],
  version: number,
): ChangeMessage {
  return {
    v: 1,
    id: newId(),
    environmentId,
    customerId,
    ...(resourceId === null ? {} : { resourceId }),
    kind,
    version,
    timestamp: Date.now(),
  }
}

function entitlementsMessage(state: EntitlementState): ChangeMessage {
  return { ...message(state.environmentId, state.customerId, state.resourceId, 'entitlements', state.version), state }
}

/** One message per version that was published; one without when something else of the catalog changed. */
function packageMessages(environmentId: string, { version, payload }: PendingChange): ChangeMessage[] {
  const about = () => message(environmentId, '', null, 'package', version)
  const packages = (payload as { packages?: PublishedPackage[] } | null)?.packages ?? []
  return packages.length === 0 ? [about()] : packages.map((published) => ({ ...about(), package: published }))
}

/** One message per feature whose usage changed and which the customer holds: usage without an entitlement is not told. */
function usageMessages(state: EntitlementState, changes: PendingChange[]): ChangeMessage[] {
  const featureIds = new Set(changes.flatMap(({ payload }) => (payload ? [(payload as UsageChange).featureId] : [])))
  return state.entitlements.flatMap((entitlement) => {
    if (!featureIds.has(entitlement.feature.refId) || !entitlement.usage) return []
    const { accessVersion } = state
    const usage: UsageChange = { featureId: entitlement.feature.refId, usage: entitlement.usage, entitlement, accessVersion }
    return [{ ...message(state.environmentId, state.customerId, state.resourceId, 'usage', entitlement.usage.updatedAt), usage }]
  })
}
