import type pg from 'pg'
import type { Problem } from '../kernel/problem.js'
import { Histogram, latencyBuckets, type Registry } from '../platform/metrics.js'
import { Binding, type Bindings, type Place, placeKey } from './bindings.js'
import { computeUsage } from './compute-usage.js'
import { CounterBatch, OutdatedSeries, type Route } from './counter-batch.js'
import { lockCustomers } from './counter-repository.js'
import { claimBatches, loadBatch, loadMeters } from './event-repository.js'
import { Gatherer } from './gatherer.js'
import type { AggregationJob, StoredEvent } from './jobs.js'
import { type FeatureMeter, matches } from './meter.js'
import { inPoolTransaction } from './transaction.js'

/** As with reports: bindings that are outdated that often in a row are somebody else's mistake. */
const maxAttempts = 8
/** Batches that are counted together. Customers that are in several of them are locked, written and told of once. */
const maxBatches = 16

/** Some bindings are missing or outdated: load these places and begin again. */
class NeedsBindings extends Error {
  override readonly name = 'NeedsBindings'
  constructor(readonly places: Place[]) {
    super('bindings are outdated')
  }
}

type LoadedBindings = ReadonlyMap<string, Binding | Problem>

/** Events of one customer, or of one of its resources. */
interface PlaceEvents {
  place: Place
  key: string
  customerId: string
  events: StoredEvent[]
}

/**
 * Counts batches of raw events through the meters of their environment. May run twice for a batch, also at once: the batch's row is deleted in the
 * transaction that counts it, and without the row there is nothing to do.
 *
 * All customers of the batch are locked before the meters are read, also those that no meter wants yet. So a counter that is computed from stored
 * events and a batch that still waits never miss or double an event, whatever meters appear meanwhile.
 */
export class EventAggregation {
  readonly #pool: pg.Pool
  readonly #bindings: Bindings
  readonly #changed: (environmentId: string) => void
  readonly #seconds: Histogram
  readonly #lag: Histogram
  readonly #gatherer: Gatherer<AggregationJob>

  /** `changed` is called after the commit of new usage. */
  constructor(parts: { pool: pg.Pool; bindings: Bindings; metrics: Registry; changed: (environmentId: string) => void }) {
    this.#pool = parts.pool
    this.#bindings = parts.bindings
    this.#changed = parts.changed
    this.#gatherer = new Gatherer(maxBatches, (environmentId, jobs) => this.#aggregateTogether(environmentId, jobs))
    const registers = [parts.metrics]
    this.#seconds = new Histogram({
      name: 'tollgate_event_aggregation_seconds',
      help: 'Time to count batches of raw events that were gathered',
      buckets: latencyBuckets,
      registers,
    })
    this.#lag = new Histogram({
      name: 'tollgate_usage_lag_seconds',
      help: 'From the commit of raw events to the commit of the usage that they make',
      buckets: latencyBuckets,
      registers,
    })
  }

  /** Ends when the batch is counted, maybe together with others. */
  async aggregate(job: AggregationJob): Promise<void> {
    await this.#gatherer.add(job.environmentId, job)
    if (job.storedAt !== undefined) this.#lag.observe(Math.max(0, Date.now() - job.storedAt) / 1_000)
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
        if (!(error instanceof NeedsBindings) || attempt >= maxAttempts) throw error
        loaded = await this.#bindings.load(environmentId, error.places)
      }
    }
  }

  /** Whether any usage has changed. */
  async #attempt(environmentId: string, jobs: AggregationJob[], loaded: LoadedBindings): Promise<boolean> {
    const batch = await inPoolTransaction(this.#pool, async (db) => {
      const claimed = await claimBatches(
        db,
        environmentId,
        jobs.map(({ batchId }) => batchId),
      )
      const events: StoredEvent[] = []
      for (const { batchId, events: carried } of jobs) {
        // One batch may come in two jobs.
        if (claimed.delete(batchId)) for (const event of carried ?? (await loadBatch(db, environmentId, batchId))) events.push(event)
      }
      if (events.length === 0) return null
      const { customers } = await lockCustomers(db, environmentId, [...new Set(events.map(({ customerId }) => customerId))])
      const meters = await loadMeters(db, environmentId)
      const wanted = byPlace(events, meters)
      if (wanted.length === 0) return null

      const bindings = this.#bindingsOf(environmentId, wanted, loaded, customers)
      const counters = new CounterBatch(db, environmentId, customers)
      const counted = wanted.flatMap(({ place, events }) => {
        const routes = routesOf(place, meters, bindings)
        return events.flatMap((event) => routes.map(({ route, meter }) => ({ route, meter, event })))
      })
      await counters.prepare(counted.map(({ route, event }) => ({ route, at: event.occurredAt })))
      for (const { route, meter, event } of counted) counters.addEvent(route, meter, event, event.occurredAt)
      const byFeature = new Map(meters.map((meter) => [meter.featureId, meter]))
      await counters
        .write((ranges) => computeUsage(db, environmentId, ranges, byFeature))
        .catch((error) => this.#explain(environmentId, placesOf(wanted), error))
      return counters
    })
    batch?.committed()
    return batch !== null
  }

  /** By `placeKey`, of the places and of their customers. Fails with NeedsBindings unless all are true under the lock. */
  #bindingsOf(
    environmentId: string,
    wanted: PlaceEvents[],
    loaded: LoadedBindings,
    customers: Awaited<ReturnType<typeof lockCustomers>>['customers'],
  ): LoadedBindings {
    const places = placesOf(wanted)
    const bindings = new Map<string, Binding | Problem>()
    let isOutdated = false
    for (const [key, place] of places) {
      const binding = loaded.get(key) ?? this.#bindings.cached(environmentId, place)
      const isTrue =
        binding instanceof Binding ? customers.get(binding.customerId)?.accessVersion === binding.accessVersion : binding !== undefined
      if (isTrue) bindings.set(key, binding!)
      else {
        isOutdated = true
        this.#bindings.forget(environmentId, place)
      }
    }
    if (isOutdated) throw new NeedsBindings([...places.values()])
    return bindings
  }

  #explain(environmentId: string, places: ReadonlyMap<string, Place>, error: unknown): never {
    if (!(error instanceof OutdatedSeries)) throw error
    for (const place of places.values()) this.#bindings.forget(environmentId, place)
    throw new NeedsBindings([...places.values()])
  }
}

/** The events that some meter wants or wanted, by whose they are. */
function byPlace(events: StoredEvent[], meters: FeatureMeter[]): PlaceEvents[] {
  const groups = new Map<string, PlaceEvents>()
  for (const event of events) {
    if (!meters.some(({ versions }) => versions.some((version) => matches(version, event)))) continue
    const place = { customerId: event.customerRefId, resourceId: event.resourceRefId }
    const key = placeKey(place)
    const group = groups.get(key)
    if (group) group.events.push(event)
    else groups.set(key, { place, key, customerId: event.customerId, events: [event] })
  }
  return [...groups.values()]
}

/** The places and their customers, by `placeKey`. */
function placesOf(wanted: PlaceEvents[]): Map<string, Place> {
  const places = new Map<string, Place>()
  for (const { place, key } of wanted) {
    places.set(key, place)
    if (place.resourceId !== null) {
      const customer = { customerId: place.customerId, resourceId: null }
      places.set(placeKey(customer), customer)
    }
  }
  return places
}

/** One route per meter. None for a customer that was archived after the event was stored: the event is kept and counts for nobody. */
function routesOf(place: Place, meters: FeatureMeter[], bindings: LoadedBindings): { route: Route; meter: FeatureMeter }[] {
  const customer = bindings.get(placeKey({ ...place, resourceId: null }))
  const resource = place.resourceId === null ? null : bindings.get(placeKey(place))
  if (!(customer instanceof Binding)) return []
  return meters.map((meter) => ({
    meter,
    route: {
      customer,
      resource: resource instanceof Binding ? resource : null,
      feature: { id: meter.featureId, refId: meter.featureRefId },
    },
  }))
}
