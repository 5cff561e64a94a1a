import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { advanceCustomers, type LockedCustomer } from '../../changes/counting.js'
import type { Clock } from '../../kernel/clock.js'
import type { Problem } from '../../kernel/problem.js'
import { heapBytes } from '../../kernel/weight.js'
import { Gatherer } from '../../platform/gatherer.js'
import { Histogram, latencyBuckets, type Registry } from '../../platform/metrics.js'
import { NotBegun } from '../../platform/queue/consume.js'
import { inPoolTransaction } from '../../platform/transaction.js'
import { Binding, type Bindings } from '../counting/bindings.js'
import { computeUsage } from '../counting/compute-usage.js'
import { CounterBatch, OutdatedSeries, type Route } from '../counting/counter-batch.js'
import { KnownMembers } from '../counting/known-members.js'
import { loadMeters } from '../counting/meter-repository.js'
import { type Holder, holderKey } from '../model/holder.js'
import type { FeatureMeter } from '../model/meter.js'
import type { AggregationJob } from '../wire/jobs.js'
import { type StoredEvents, storedCustomers } from '../wire/stored-events.js'
import { claimBatches, loadBatch } from './batch-repository.js'
import { type HolderEvents, measureEvents } from './measured-events.js'

/** As with reports: bindings that are outdated that often in a row are somebody else's mistake. */
const maxAttempts = 8
/** Batches that are counted together. Customers that are in several of them are locked, written and told of once. */
const maxBatches = 128
/** Reports about the customers of a lot wait for its end, and give up after four seconds. Shorter lots cost more by the event. */
const longLotMs = 1_500
/** Memory of the events of batches that wait here for those before them of their environment: those of others are read from the database when they are counted. */
const maxWaitingBytes = 64 * 2 ** 20

/**
 * How the queue's jobs are to be consumed: those of an environment are gathered, and count as one. The doors refuse an environment's events before so many of
 * its batches wait.
 */
export const batchOwners = { of: ({ environmentId }: AggregationJob) => environmentId, mostJobs: 4_096 }

/** What the batch was planned with is not so (any more): load these holders, and begin again. */
class Outdated extends Error {
  override readonly name = 'Outdated'
  constructor(readonly holders: Holder[]) {
    super('bindings or meters are outdated')
  }
}

type LoadedBindings = ReadonlyMap<string, Binding | Problem>

/**
 * Counts batches of raw events through the meters of their environment. May run twice for a batch, also at once: the batch's row is deleted in the
 * transaction that counts it, and without the row there is nothing to do.
 *
 * All customers of the batch are locked before the meters are read, also those that no meter wants yet. So a counter that is computed from stored
 * events and a batch that still waits never miss or double an event, whatever meters appear meanwhile.
 */
export class EventAggregation {
  readonly #pool: pg.Pool
  readonly #clock: Clock
  readonly #bindings: Bindings
  readonly #changed: (environmentId: string) => void
  readonly #seconds: Histogram
  readonly #lag: Histogram
  readonly #gatherer: Gatherer<AggregationJob>
  readonly #maxWaitingBytes: number
  #jobs = 0
  #waitingBytes = 0
  /** As they were when a batch of the environment was counted last; looked at again under the locks. */
  readonly #meters = new LRUCache<string, FeatureMeter[]>({ max: 1_000 })
  readonly #members = new KnownMembers()

  /** `changed` is called after the commit of new usage. `maxWaitingBytes`: absent: 64 MB. */
  constructor(parts: {
    pool: pg.Pool
    /** The database's. */
    clock: Clock
    bindings: Bindings
    metrics: Registry
    changed: (environmentId: string) => void
    maxWaitingBytes?: number
  }) {
    this.#maxWaitingBytes = parts.maxWaitingBytes ?? maxWaitingBytes
    this.#pool = parts.pool
    this.#clock = parts.clock
    this.#bindings = parts.bindings
    this.#changed = parts.changed
    this.#gatherer = new Gatherer(maxBatches, (environmentId, jobs) => this.#aggregateTogether(environmentId, jobs), longLotMs)
    const registers = [parts.metrics]
    this.#seconds = new Histogram({
      name: 'tollgate_event_aggregation_seconds',
      help: 'Time to count batches of raw events that were gathered',
      buckets: latencyBuckets,
      registers,
    })
    this.#lag = new Histogram({
      name: 'tollgate_usage_lag_seconds',
      help: 'From the report of raw events to the commit of the usage that they make',
      buckets: latencyBuckets,
      registers,
    })
  }

  /** Ends when the batch is counted, maybe together with others. May let go of the events of the job. */
  async aggregate(job: AggregationJob): Promise<void> {
    // As many as are counted together have room in any case; to weigh them costs a walk.
    const bytes = this.#jobs < maxBatches || !job.stored ? 0 : heapBytes(job.stored)
    const hasRoom = this.#waitingBytes + bytes <= this.#maxWaitingBytes
    if (!hasRoom) job.stored = null
    this.#jobs += 1
    if (hasRoom) this.#waitingBytes += bytes
    try {
      await this.#gatherer.add(job.environmentId, job)
    } finally {
      this.#jobs -= 1
      if (hasRoom) this.#waitingBytes -= bytes
    }
    if (job.reportedAt !== undefined) this.#lag.observe(Math.max(0, this.#clock.now() - job.reportedAt) / 1_000)
  }

  /** What is being counted is counted to its end; the jobs of the rest are left to other workers. */
  stop(): void {
    this.#gatherer.stop(new NotBegun())
  }

  async #aggregateTogether(environmentId: string, jobs: AggregationJob[]): Promise<void> {
    const stopTimer = this.#seconds.startTimer()
    let loaded: LoadedBindings = new Map()
    for (let attempt = 1; ; attempt++) {
      try {
        const hasChanged = await this.#attempt(environmentId, jobs, loaded)
        if (hasChanged) this.#changed(environmentId)
        stopTimer()
        return
      } catch (error) {
        if (!(error instanceof Outdated) || attempt >= maxAttempts) throw error
        loaded = await this.#bindings.load(environmentId, error.holders)
      }
    }
  }

  /** Whether any usage has changed. */
  async #attempt(environmentId: string, jobs: AggregationJob[], loaded: LoadedBindings): Promise<boolean> {
    const meters = this.#meters.get(environmentId) ?? []
    const batch = await inPoolTransaction(this.#pool, async (db) => {
      const batches = await claim(db, environmentId, jobs)
      const customerIds = new Set(batches.flatMap(storedCustomers))
      if (customerIds.size === 0) return null
      const wanted = measureEvents(batches, meters)
      const changed = new Set(wanted.map(({ customerId }) => customerId))
      const customers = await advanceCustomers(
        db,
        environmentId,
        [...customerIds].sort().map((id) => ({ id, isChanged: changed.has(id) })),
      )
      await this.#checkMeters(db, environmentId, meters)
      if (wanted.length === 0) return null

      const bindings = this.#bindingsOf(environmentId, wanted, loaded, customers)
      const counters = new CounterBatch(db, environmentId, customers, this.#members)
      const counted = wanted.flatMap((events) => routesOf(events, bindings))
      await counters.prepareTimes(counted.map(({ route, events }) => ({ route, times: events.map(({ at }) => at) })))
      for (const { route, meter, version, events } of counted) counters.addEvents(route, meter, version, events)
      const byFeature = new Map(meters.map((meter) => [meter.featureId, meter]))
      await counters
        .write((ranges) => computeUsage(db, environmentId, ranges, byFeature))
        .catch((error) => this.#explain(environmentId, holdersOf(wanted), error))
      return counters
    })
    batch?.committed()
    return batch !== null
  }

  /** Under the locks, so that nobody computes a counter with a meter that these events were not measured with. */
  async #checkMeters(db: pg.PoolClient, environmentId: string, known: FeatureMeter[]): Promise<void> {
    const meters = await loadMeters(db, environmentId)
    if (JSON.stringify(meters) === JSON.stringify(known)) return
    this.#meters.set(environmentId, meters)
    throw new Outdated([])
  }

  /** By `holderKey`, of the holders and of their customers. Fails with Outdated unless all are true under the lock. */
  #bindingsOf(
    environmentId: string,
    wanted: HolderEvents[],
    loaded: LoadedBindings,
    customers: ReadonlyMap<string, LockedCustomer>,
  ): LoadedBindings {
    const holders = holdersOf(wanted)
    const bindings = new Map<string, Binding | Problem>()
    let isOutdated = false
    for (const [key, holder] of holders) {
      const binding = loaded.get(key) ?? this.#bindings.cached(environmentId, holder)
      const isTrue =
        binding instanceof Binding ? customers.get(binding.customerId)?.accessVersion === binding.accessVersion : binding !== undefined
      if (isTrue) bindings.set(key, binding!)
      else {
        isOutdated = true
        this.#bindings.forget(environmentId, holder)
      }
    }
    if (isOutdated) throw new Outdated([...holders.values()])
    return bindings
  }

  #explain(environmentId: string, holders: ReadonlyMap<string, Holder>, error: unknown): never {
    if (!(error instanceof OutdatedSeries)) throw error
    for (const holder of holders.values()) this.#bindings.forget(environmentId, holder)
    throw new Outdated([...holders.values()])
  }
}

/** The batches that nobody has counted. One batch may come in two jobs. */
async function claim(db: pg.PoolClient, environmentId: string, jobs: AggregationJob[]): Promise<StoredEvents[]> {
  const claimed = await claimBatches(
    db,
    environmentId,
    jobs.map(({ batchId }) => batchId),
  )
  const batches: StoredEvents[] = []
  for (const { batchId, stored } of jobs) if (claimed.delete(batchId)) batches.push(stored ?? (await loadBatch(db, environmentId, batchId)))
  return batches
}

/** The holders and their customers, by `holderKey`. */
function holdersOf(wanted: HolderEvents[]): Map<string, Holder> {
  const holders = new Map<string, Holder>()
  for (const { holder, key } of wanted) {
    holders.set(key, holder)
    if (holder.resourceId !== null) {
      const customer = { customerId: holder.customerId, resourceId: null }
      holders.set(holderKey(customer), customer)
    }
  }
  return holders
}

/** One route per meter that wants something. None for a customer that was archived after the event was stored: the event is kept and counts for nobody. */
function routesOf({ holder, key, measured }: HolderEvents, bindings: LoadedBindings) {
  const customer = bindings.get(holderKey({ ...holder, resourceId: null }))
  const resource = holder.resourceId === null ? null : bindings.get(key)
  if (!(customer instanceof Binding)) return []
  const routes = new Map<FeatureMeter, Route>()
  return [...measured].map(([version, { meter, events }]) => {
    const feature = { id: meter.featureId, refId: meter.featureRefId }
    const route = routes.get(meter) ?? { customer, resource: resource instanceof Binding ? resource : null, feature }
    routes.set(meter, route)
    return { route, meter, version, events }
  })
}
