import type pg from 'pg'
import * as decimal from '../kernel/decimal.js'
import type { Problem } from '../kernel/problem.js'
import { Histogram, latencyBuckets, type Registry } from '../platform/metrics.js'
import { measure } from './aggregate.js'
import { Binding, type Bindings, type Place, placeKey } from './bindings.js'
import { CounterBatch, OutdatedSeries, type Route } from './counter-batch.js'
import { lockCustomers, sumMeasurements, type UsageRange } from './counter-repository.js'
import { claimBatch, type FeatureMeter, loadBatch, loadMeters, readEvents } from './event-repository.js'
import type { AggregationJob, StoredEvent } from './jobs.js'
import { inPoolTransaction } from './transaction.js'

/** As with reports: bindings that are outdated that often in a row are somebody else's mistake. */
const maxAttempts = 8

/** Some bindings are missing or outdated: load these places and begin again. */
class NeedsBindings extends Error {
  override readonly name = 'NeedsBindings'
  constructor(readonly places: Place[]) {
    super('bindings are outdated')
  }
}

type LoadedBindings = ReadonlyMap<string, Binding | Problem>

interface Increment {
  event: StoredEvent
  meter: FeatureMeter
  value: decimal.Decimal
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
  readonly #lag: Histogram

  /** `changed` is called after the commit of new usage. */
  constructor(parts: { pool: pg.Pool; bindings: Bindings; metrics: Registry; changed: (environmentId: string) => void }) {
    this.#pool = parts.pool
    this.#bindings = parts.bindings
    this.#changed = parts.changed
    this.#lag = new Histogram({
      name: 'tollgate_event_aggregation_seconds',
      help: 'Time to count a batch of raw events',
      buckets: latencyBuckets,
      registers: [parts.metrics],
    })
  }

  async aggregate({ environmentId, batchId, events }: AggregationJob): Promise<void> {
    const stopTimer = this.#lag.startTimer()
    let loaded: LoadedBindings = new Map()
    for (let attempt = 1; ; attempt++) {
      try {
        const hasChanged = await this.#attempt(environmentId, batchId, events, loaded)
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
  async #attempt(environmentId: string, batchId: string, carried: StoredEvent[] | null, loaded: LoadedBindings): Promise<boolean> {
    const batch = await inPoolTransaction(this.#pool, async (db) => {
      if (!(await claimBatch(db, environmentId, batchId))) return null
      const events = carried ?? (await loadBatch(db, environmentId, batchId))
      const { customers } = await lockCustomers(db, environmentId, [...new Set(events.map(({ customerId }) => customerId))])
      const meters = await loadMeters(db, environmentId)
      const increments = incrementsOf(events, meters)
      if (increments.length === 0) return null

      const places = placesOf(increments)
      const bindings = new Map(
        places.map((place) => [placeKey(place), loaded.get(placeKey(place)) ?? this.#bindings.cached(environmentId, place)]),
      )
      const outdated = places.filter((place) => {
        const binding = bindings.get(placeKey(place))
        return binding instanceof Binding
          ? customers.get(binding.customerId)?.accessVersion !== binding.accessVersion
          : binding === undefined
      })
      for (const place of outdated) this.#bindings.forget(environmentId, place)
      if (outdated.length > 0) throw new NeedsBindings(places)

      const routed = increments.flatMap((increment) => {
        const route = routeOf(increment, bindings)
        return route ? [{ ...increment, route }] : []
      })
      const counters = new CounterBatch(db, environmentId, customers)
      await counters.prepare(routed.map(({ route, event }) => ({ route, at: event.occurredAt })))
      for (const { route, event, value } of routed) counters.addEvent(route, event.occurredAt, value)
      await counters
        .write((ranges) => this.#compute(db, environmentId, ranges, meters))
        .catch((error) => this.#explain(environmentId, places, error))
      return counters
    })
    batch?.committed()
    return batch !== null
  }

  /** What is stored in the ranges: measurements from before the feature had a meter, and the events that its meter wants. */
  async #compute(db: pg.PoolClient, environmentId: string, ranges: UsageRange[], meters: FeatureMeter[]): Promise<decimal.Decimal[]> {
    const byFeature = new Map(meters.map((meter) => [meter.featureId, meter]))
    const usages = await sumMeasurements(db, environmentId, ranges)
    await readEvents(db, environmentId, ranges, (range, event) => {
      const meter = byFeature.get(ranges[range]!.featureId)
      const value = meter ? measure(meter, event) : null
      if (value !== null) usages[range] = decimal.add(usages[range]!, value)
    })
    return usages
  }

  #explain(environmentId: string, places: Place[], error: unknown): never {
    if (!(error instanceof OutdatedSeries)) throw error
    for (const place of places) this.#bindings.forget(environmentId, place)
    throw new NeedsBindings(places)
  }
}

function incrementsOf(events: StoredEvent[], meters: FeatureMeter[]): Increment[] {
  return events.flatMap((event) =>
    meters.flatMap((meter) => {
      const value = measure(meter, event)
      return value === null ? [] : [{ event, meter, value }]
    }),
  )
}

function placesOf(increments: Increment[]): Place[] {
  const places = new Map<string, Place>()
  for (const { event } of increments) {
    for (const resourceId of event.resourceRefId === null ? [null] : [null, event.resourceRefId]) {
      const place = { customerId: event.customerRefId, resourceId }
      places.set(placeKey(place), place)
    }
  }
  return [...places.values()]
}

/** Null for a customer that was archived after the event was stored: the event is kept and counts for nobody. */
function routeOf({ event, meter }: Increment, bindings: ReadonlyMap<string, Binding | Problem | undefined>): Route | null {
  const customer = bindings.get(placeKey({ customerId: event.customerRefId, resourceId: null }))
  const resource =
    event.resourceRefId === null ? null : bindings.get(placeKey({ customerId: event.customerRefId, resourceId: event.resourceRefId }))
  if (!(customer instanceof Binding)) return null
  return { customer, resource: resource instanceof Binding ? resource : null, feature: { id: meter.featureId, refId: meter.featureRefId } }
}
