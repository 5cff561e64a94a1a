import type pg from 'pg'
import { customerNotFound } from '../customer/problems.js'
import type { EpochMs } from '../kernel/clock.js'
import { newId } from '../kernel/id.js'
import { invalidInput, Problem } from '../kernel/problem.js'
import { Binding, type Bindings } from './bindings.js'
import { type ComputedRange, computeUsage } from './compute-usage.js'
import { findCountersOf } from './correction-repository.js'
import { CounterBatch } from './counter-batch.js'
import { type Connection, lockCustomers, startOfRange } from './counter-repository.js'
import { writeCounters } from './counter-write-repository.js'
import { loadMeters } from './event-repository.js'
import type { FeatureMeter } from './meter.js'
import { featureNotFound, recomputationNotFound } from './problems.js'
import {
  advanceRecomputation,
  claimRecomputation,
  findRecomputation,
  findRecomputed,
  insertRecomputation,
  nextCustomers,
  type Recomputation,
  tellCustomers,
} from './recomputation-repository.js'
import { onBuckets, rollUpEvents } from './rollup.js'
import { inPoolTransaction } from './transaction.js'

/** Of one transaction: their customers are locked while the events of their periods are read. */
const customersPerStep = 20

/** What is counted anew. */
export interface RecomputationRequest {
  /** The caller's identifiers. */
  featureId: string
  /** Null: all customers that have usage of the feature. */
  customerId: string | null
  /** Usage periods that touch [from, to) are counted anew; null: without bound. */
  from: EpochMs | null
  to: EpochMs | null
}

/**
 * Counts a feature's usage anew from raw events, with its meter as it is now: after a change of filters that shall not wait for the next period, or to
 * prove that counting and recounting agree. The work is done by a worker in steps that commit with how far it is, so it can be stopped at any time.
 */
export class Recomputations {
  constructor(private readonly pool: Connection) {}

  /** Notes what is to be done. The worker's sweep finds it. */
  async request(environmentId: string, { featureId, customerId, from, to }: RecomputationRequest): Promise<Recomputation> {
    if (from !== null && to !== null && from >= to) throw invalidInput('startDate must be before endDate', { path: 'startDate' })
    const found = await findRecomputed(this.pool, environmentId, { featureId, customerId })
    if (found.featureId === null) throw featureNotFound(featureId)
    if (customerId !== null && found.customerId === null) throw customerNotFound(customerId)
    if (found.meterVersion === null)
      throw new Problem(
        'FAILED_PRECONDITION',
        'METERING_NOT_AVAILABLE_FOR_FEATURE_TYPE',
        `Feature "${featureId}" has no meter on raw events.`,
      )
    const id = newId()
    const { featureId: feature, customerId: customer, meterVersion } = found
    await insertRecomputation(this.pool, environmentId, { id, featureId: feature, customerId: customer, from, to, meterVersion })
    return this.progress(environmentId, id)
  }

  /** Fails with NOT_FOUND. */
  async progress(environmentId: string, id: string): Promise<Recomputation> {
    const found = /^[0-9a-f-]{36}$/i.test(id) ? await findRecomputation(this.pool, environmentId, id) : null
    if (!found) throw recomputationNotFound(id)
    return found
  }
}

/** Works off recomputations. Any number may run: a step is claimed, done and noted in one transaction. */
export class RecomputationWorker {
  readonly #pool: pg.Pool
  readonly #bindings: Bindings
  readonly #changed: (environmentId: string) => void

  constructor(parts: { pool: pg.Pool; bindings: Bindings; changed: (environmentId: string) => void }) {
    this.#pool = parts.pool
    this.#bindings = parts.bindings
    this.#changed = parts.changed
  }

  /** Works until nothing waits or `signal` aborts. Answers the number of customers that were counted anew. */
  async run(signal?: AbortSignal): Promise<number> {
    let sum = 0
    while (!signal?.aborted) {
      const done = await this.#step()
      if (done === null) break
      sum += done
    }
    return sum
  }

  /** Null: there is nothing to do, or others do it. */
  async #step(): Promise<number | null> {
    const result = await inPoolTransaction(this.#pool, async (db) => {
      const work = await claimRecomputation(db)
      if (!work) return null
      const { environmentId } = work
      const customers = await nextCustomers(db, work, customersPerStep)
      if (customers.length > 0) await this.#recompute(db, work, customers)
      await advanceRecomputation(db, work, customers.map(({ id }) => id).sort(), customers.length < customersPerStep)
      return { environmentId, count: customers.length, customers }
    })
    if (!result) return null
    this.#changed(result.environmentId)
    return result.count
  }

  async #recompute(
    db: pg.PoolClient,
    { environmentId, featureId, meterVersion, from, to }: NonNullable<Awaited<ReturnType<typeof claimRecomputation>>>,
    customers: { id: string; refId: string }[],
  ): Promise<void> {
    const ids = customers.map(({ id }) => id)
    const { customers: locked } = await lockCustomers(db, environmentId, ids)
    const meters = await loadMeters(db, environmentId)
    const meter = meters.find((known) => known.featureId === featureId)
    if (!meter) return
    const byFeature = new Map([[featureId, meter]])
    const counters = (await findCountersOf(db, environmentId, { featureId, customerIds: ids, from, to })).filter(({ customerId }) =>
      locked.has(customerId),
    )
    const ranges = counters.map((counter): ComputedRange => {
      const { customerId, resourceId, anchor, start, end } = counter
      const range = startOfRange({ anchor }, { start, end })
      return { customerId, resourceId, featureId, from: range, to: end, periodStart: start, meterVersion }
    })
    const computed = await computeUsage(db, environmentId, ranges, byFeature)
    await writeCounters(db, environmentId, {
      counters: counters.map((counter, index) => ({
        ...counter,
        how: 'replace',
        value: computed[index]!.value,
        events: computed[index]!.events,
        version: locked.get(counter.customerId)!.version,
        meter: computed[index]!.meter,
      })),
      members: computed.flatMap(({ members }, counter) => members.map((member) => ({ ...member, counter }))),
      messages: [],
      // A change of access: workers remember the version of the meter with the binding.
      versions: [...locked].map(([customerId, { version }]) => ({ customerId, version, isAccess: true })),
    })
    const totals = ranges.filter(({ resourceId }) => resourceId === null).map((range) => ({ ...range, ...onBuckets(range) }))
    await rollUpEvents(db, environmentId, totals, byFeature)
    await this.#countCurrent(db, environmentId, { customers, locked, meter, meterVersion, from, to })
    const told = customers.filter(({ id }) => locked.has(id)).map(({ id, refId }) => ({ refId, version: locked.get(id)!.version }))
    await tellCustomers(db, environmentId, told)
  }

  /** The period that runs now gets its counter, so that it is counted with the new version although nothing came yet. */
  async #countCurrent(
    db: pg.PoolClient,
    environmentId: string,
    { customers, locked, meter, meterVersion, from, to }: CurrentPeriods,
  ): Promise<void> {
    const bindings = await this.#bindings.load(
      environmentId,
      customers.map(({ refId }) => ({ customerId: refId, resourceId: null })),
    )
    const batch = new CounterBatch(db, environmentId, locked)
    const routes = [...bindings.values()].flatMap((customer) =>
      // One that has changed since is counted with its next event.
      customer instanceof Binding && locked.get(customer.customerId)?.accessVersion === customer.accessVersion
        ? [{ customer, resource: null, feature: { id: meter.featureId, refId: meter.featureRefId } }]
        : [],
    )
    await batch.prepare(routes.map((route) => ({ route, at: null })))
    for (const route of routes) {
      const { period } = batch.current(route)
      if ((from === null || period.end === null || period.end > from) && (to === null || period.start === null || period.start < to))
        batch.recompute(route, locked.get(route.customer.customerId)!.version)
    }
    await batch.write((ranges) =>
      computeUsage(
        db,
        environmentId,
        ranges.map((range) => ({ ...range, meterVersion })),
        new Map([[meter.featureId, meter]]),
      ),
    )
    for (const { refId } of customers) this.#bindings.forget(environmentId, { customerId: refId, resourceId: null })
  }
}

interface CurrentPeriods {
  customers: { id: string; refId: string }[]
  locked: Awaited<ReturnType<typeof lockCustomers>>['customers']
  meter: FeatureMeter
  meterVersion: number
  from: EpochMs | null
  to: EpochMs | null
}
