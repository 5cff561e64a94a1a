import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { lockCustomers } from '../../changes/counting.js'
import { invalidInput, Problem } from '../../kernel/problem.js'
import { inPoolTransaction } from '../../platform/transaction.js'
import { Binding, Bindings } from '../counting/bindings.js'
import { type ComputedRange, computeUsage } from '../counting/compute-usage.js'
import { CounterBatch, type Route } from '../counting/counter-batch.js'
import { dropCounters } from '../counting/counter-repository.js'
import type { LoadHeldSeries } from '../counting/held-series.js'
import { findHolders, findRefIds } from '../counting/holder-repository.js'
import { loadMeters } from '../counting/meter-repository.js'
import { rollUpEvents } from '../counting/rollup.js'
import { rollUpMeasurements } from '../counting/rollup-repository.js'
import { findSeries } from '../counting/series-repository.js'
import { bucketMs, bucketOf } from '../model/bucket.js'
import { type Holder, holderKey } from '../model/holder.js'
import { measurementNotFound, stillBeingCounted, usageEventNotFound } from '../model/problems.js'
import { checkEvent, type Dimensions, eventIdentity, reportIdentity, type UsageEvent } from '../model/report.js'
import { checkUsageValue } from '../model/usage-value.js'
import { changeEvent, changeMeasurement, findEvent, findMeasurement } from './correction-repository.js'

/** How often an event is looked at again that is being counted at this moment, and when the customer's holdings change under a correction. */
const maxAttempts = 20
const pauseMs = 100

/** What names an event: the identity that it was reported with. */
export type EventName = Omit<UsageEvent, 'dimensions'>

/** What names a measurement: its id, or the idempotency key that it was reported with. */
export type MeasurementName = { id: string } | { idempotencyKey: string }

class TryAgain extends Error {
  override readonly name = 'TryAgain'
}

/**
 * Takes back, or replaces, what was reported: by its key, with every number that followed from it, also a largest, a smallest and a number of distinct
 * members. The usage periods concerned are computed anew from what is stored, under the customer's lock. Safe to repeat.
 */
export class Corrections {
  readonly #pool: pg.Pool
  readonly #bindings: Bindings
  readonly #changed: (environmentId: string) => void

  constructor(parts: {
    pool: pg.Pool
    loadHeld: LoadHeldSeries
    changed: (environmentId: string) => void
  }) {
    this.#pool = parts.pool
    this.#bindings = new Bindings(parts.loadHeld)
    this.#changed = parts.changed
  }

  /** The database has another history. */
  forgetAll(): void {
    this.#bindings.forgetAll()
  }

  /** Null dimensions remove the event. Fails with NOT_FOUND when there is no such event. */
  async changeEvent(environmentId: string, name: EventName, dimensions: Dimensions | null): Promise<void> {
    const checked = checkEvent({ ...name, dimensions: dimensions ?? {} }, null)
    const hash = eventIdentity(environmentId, checked)
    await this.#repeat(async () => {
      const event = await findEvent(this.#pool, environmentId, hash)
      if (!event) throw usageEventNotFound(name.idempotencyKey)
      // Whoever counts it may have read it already.
      if (event.isWaiting) throw new TryAgain()
      await this.#correct(environmentId, event, event.occurredAt, async (db, meters) => {
        if (!(await changeEvent(db, environmentId, { ...event, name: name.idempotencyKey }, dimensions))) throw new TryAgain()
        return meters.map(({ featureId, featureRefId }) => ({ id: featureId, refId: featureRefId }))
      })
    })
  }

  /** A null value removes the measurement. Fails with NOT_FOUND when there is no such measurement. */
  async changeMeasurement(environmentId: string, name: MeasurementName, value: number | null): Promise<void> {
    const checked = value === null ? null : checkUsageValue(value)
    if ('id' in name && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(name.id))
      throw invalidInput('id must be the id of a measurement')
    const by = 'id' in name ? { id: name.id } : { hash: reportIdentity(environmentId, name.idempotencyKey) }
    await this.#repeat(async () => {
      const measurement = await findMeasurement(this.#pool, environmentId, by)
      if (!measurement) throw measurementNotFound()
      await this.#correct(environmentId, measurement, measurement.occurredAt, async (db) => {
        if (!(await changeMeasurement(db, environmentId, measurement, checked))) throw new TryAgain()
        return [{ id: measurement.featureId, refId: measurement.featureRefId }]
      })
    })
  }

  /** Changes what is stored and computes the features' periods that contain `at`. */
  async #correct(
    environmentId: string,
    of: { customerId: string; resourceId: string | null },
    at: number,
    change: (db: pg.PoolClient, meters: Awaited<ReturnType<typeof loadMeters>>) => Promise<Route['feature'][]>,
  ): Promise<void> {
    const holder = await findRefIds(this.#pool, environmentId, of)
    const bindings = await this.#bindingsOf(environmentId, holder)
    const batch = await inPoolTransaction(this.#pool, async (db) => {
      const { customers } = await lockCustomers(db, environmentId, [of.customerId])
      const routed = bindings && routeOf(holder, bindings)
      if (routed && customers.get(of.customerId)?.accessVersion !== routed.customer.accessVersion) throw new TryAgain()
      const meters = await loadMeters(db, environmentId)
      const features = await change(db, meters)
      const byFeature = new Map(meters.map((meter) => [meter.featureId, meter]))
      const bucket = bucketOf(at)
      await rollUpMeasurements(
        db,
        environmentId,
        features.filter(({ id }) => !byFeature.has(id)).map(({ id }) => ({ ...of, featureId: id, bucket })),
      )
      await rollUpEvents(
        db,
        environmentId,
        features
          .filter(({ id }) => byFeature.has(id))
          .map(({ id }) => ({ ...of, featureId: id, from: bucket, to: bucket + bucketMs, meterVersion: null })),
        byFeature,
      )
      // Nobody's usage: the customer is archived. When it comes back, its counters are computed from what is stored then.
      if (!routed) {
        const [found] = (await findHolders(db, environmentId, [holder])).values()
        if (!found?.isArchived) throw new TryAgain()
        const scopes = features.flatMap(({ id: featureId }) =>
          [null, of.resourceId].map((resourceId) => ({ ...of, resourceId, featureId })),
        )
        const series = await findSeries(db, environmentId, scopes)
        await dropCounters(
          db,
          environmentId,
          series.map(({ id }) => id),
        )
        return null
      }
      const counters = new CounterBatch(db, environmentId, customers)
      const routes = features.map((feature) => ({ ...routed, feature }))
      await counters.prepare(routes.map((route) => ({ route, at })))
      for (const route of routes) counters.recompute(route, at)
      await counters.write((ranges: ComputedRange[]) => computeUsage(db, environmentId, ranges, byFeature))
      return counters
    }).catch((error: unknown) => {
      for (const asked of holdersOf(holder)) this.#bindings.forget(environmentId, asked)
      throw error
    })
    batch?.committed()
    this.#changed(environmentId)
  }

  /** Null: the customer is archived. */
  async #bindingsOf(environmentId: string, holder: Holder): Promise<ReadonlyMap<string, Binding> | null> {
    const loaded = await this.#bindings.load(environmentId, holdersOf(holder))
    const bindings = [...loaded].flatMap(([key, binding]): [string, Binding][] => (binding instanceof Binding ? [[key, binding]] : []))
    return bindings.length === loaded.size ? new Map(bindings) : null
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof TryAgain)) throw Problem.from(error)
        if (attempt >= maxAttempts) throw stillBeingCounted()
        await sleep(pauseMs)
      }
    }
  }
}

function holdersOf(holder: Holder): Holder[] {
  return holder.resourceId === null ? [holder] : [{ ...holder, resourceId: null }, holder]
}

function routeOf(holder: Holder, bindings: ReadonlyMap<string, Binding>): Omit<Route, 'feature'> {
  return {
    customer: bindings.get(holderKey({ ...holder, resourceId: null }))!,
    resource: holder.resourceId === null ? null : bindings.get(holderKey(holder))!,
  }
}
