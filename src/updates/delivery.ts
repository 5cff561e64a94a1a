import type { EntitlementService } from '../entitlement/service.js'
import type { EntitlementState, Usage } from '../entitlement/state.js'
import { newId } from '../kernel/id.js'
import { toAnsweredUnits } from '../metering/unit-transformation.js'
import { Counter, Histogram, latencyBuckets, type Registry } from '../platform/metrics.js'
import type { PrismaClient } from '../platform/postgres.js'
import type { ChangeMessage, UsageChange } from './change-message.js'
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
    this.#delivered = new Counter({ name: 'tollgate_changes_delivered_total', help: 'Changes delivered, by kind', labelNames: ['kind'], registers: [parts.metrics] })
    this.#lag = new Histogram({
      name: 'tollgate_change_delivery_lag_seconds',
      help: 'From the commit of a change to its delivery',
      buckets: latencyBuckets,
      registers: [parts.metrics],
    })
  }

  /** Delivers everything that waits for one environment. Nudges that come while it runs are folded into one more round. */
  async deliver(environmentId: string): Promise<void> {
    if (this.#running.has(environmentId)) {
      this.#running.set(environmentId, true)
      return
    }
    try {
      do {
        this.#running.set(environmentId, false)
        while ((await this.#deliverBatch(environmentId)) === batchSize);
      } while (this.#running.get(environmentId))
    } finally {
      this.#running.delete(environmentId)
    }
  }

  async #deliverBatch(environmentId: string): Promise<number> {
    const changes = await leaseChanges(this.#prisma, environmentId, batchSize, leaseSeconds)
    if (changes.length === 0) return 0
    const messages = (await Promise.all([...byCustomer(changes)].map((ofCustomer) => this.#messagesOf(environmentId, ofCustomer)))).flat()
    await this.#sinks.publish(messages)
    await this.#sinks.enqueue(messages)
    await deleteDelivered(this.#prisma, environmentId, changes.map(({ id }) => id))
    for (const { kind, createdAt } of changes) {
      this.#delivered.inc({ kind })
      this.#lag.observe(Math.max(0, Date.now() - createdAt.getTime()) / 1000)
    }
    return changes.length
  }

  async #messagesOf(environmentId: string, changes: PendingChange[]): Promise<ChangeMessage[]> {
    const [{ customerId, version }] = changes as [PendingChange, ...PendingChange[]]
    if (customerId === null) return changes.map((change) => message(environmentId, '', null, 'package', change.version))
    if (changes.some(({ kind }) => kind === 'purge')) return [message(environmentId, customerId, null, 'purge', version)]

    const isRebuild = changes.some(({ kind }) => kind === 'entitlements')
    const resources = await this.#resourcesOf(environmentId, customerId)
    if (isRebuild || resources.length > 0) {
      // A change of the customer reaches its resources too.
      const states = await Promise.all([null, ...resources].map((resourceId) => this.#rebuild(environmentId, customerId, resourceId)))
      if (isRebuild) return states.map((state) => entitlementsMessage(state))
      return states.flatMap((state) => usageMessages(state, changes))
    }
    return usageMessages(await this.#patched(environmentId, customerId, changes), changes)
  }

  async #rebuild(environmentId: string, customerId: string, resourceId: string | null): Promise<EntitlementState> {
    const built = await this.#entitlements.state(environmentId, customerId, resourceId)
    return (await this.#cache.update(built, (stored) => mergeStates(stored, built))) ?? built
  }

  /** The cached state with the changed usages in it; built anew when there is none, or when it is about other entitlements. */
  async #patched(environmentId: string, customerId: string, changes: PendingChange[]): Promise<EntitlementState> {
    const patched = await this.#cache.update({ environmentId, customerId, resourceId: null }, (stored) =>
      stored && stored.deniedReason === null ? withUsages(stored, latestUsages(stored, changes)) : null,
    )
    return patched ?? (await this.#rebuild(environmentId, customerId, null))
  }

  async #resourcesOf(environmentId: string, customerId: string): Promise<string[]> {
    const rows = await this.#prisma.customerResource.findMany({ where: { environmentId, customer: { environmentId, refId: customerId } }, select: { refId: true } })
    return rows.map(({ refId }) => refId)
  }
}

function byCustomer(changes: PendingChange[]): Iterable<PendingChange[]> {
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
    usages.set(featureId, { ...usage, currentUsage: toAnsweredUnits(usage.currentUsage, features.get(featureId)?.unitTransformation ?? null) })
  }
  return usages
}

function message(environmentId: string, customerId: string, resourceId: string | null, kind: ChangeMessage['kind'], version: number): ChangeMessage {
  return { v: 1, id: newId(), environmentId, customerId, ...(resourceId === null ? {} : { resourceId }), kind, version, timestamp: Date.now() }
}

function entitlementsMessage(state: EntitlementState): ChangeMessage {
  return { ...message(state.environmentId, state.customerId, state.resourceId, 'entitlements', state.version), state }
}

/** One message per feature whose usage changed and which the customer holds: usage without an entitlement is not told. */
function usageMessages(state: EntitlementState, changes: PendingChange[]): ChangeMessage[] {
  const featureIds = new Set(changes.flatMap(({ payload }) => (payload ? [(payload as UsageChange).featureId] : [])))
  return state.entitlements.flatMap((entitlement) => {
    if (!featureIds.has(entitlement.feature.refId) || !entitlement.usage) return []
    const usage: UsageChange = { featureId: entitlement.feature.refId, usage: entitlement.usage, entitlement }
    return [{ ...message(state.environmentId, state.customerId, state.resourceId, 'usage', entitlement.usage.updatedAt), usage }]
  })
}
