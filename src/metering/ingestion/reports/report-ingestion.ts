import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { type LockedCustomer, lockCustomers } from '../../../changes/counting.js'
import type { Clock } from '../../../kernel/clock.js'
import * as decimal from '../../../kernel/decimal.js'
import { Problem } from '../../../kernel/problem.js'
import type { Logger } from '../../../platform/logger.js'
import { inPoolTransaction } from '../../../platform/transaction.js'
import { type Binding, type Bindings } from '../../counting/bindings.js'
import { computeUsage } from '../../counting/compute-usage.js'
import { CounterBatch, OutdatedSeries } from '../../counting/counter-batch.js'
import { type CounterValue } from '../../counting/counter-repository.js'
import { metersOf } from '../../counting/current-usage.js'
import { findNearestFeatures } from '../../counting/feature-names.js'
import { type Holder, holderKey } from '../../model/holder.js'
import { maxUsage, outcomeUnknown, toPlainProblem, usageOutOfRange } from '../../model/problems.js'
import { measurementOfKey, type ReportedUsage, type ReportItem } from '../../model/report.js'
import { toAnsweredUnits } from '../../model/unit-transformation.js'
import type { Call, ReportAnswer } from '../../wire/call.js'
import type { MeteringMetrics } from '../batch/batch-metrics.js'
import { ingestOrHalve } from '../batch/halving.js'
import { findHoldersOfRepeats, readUsagesOfArchived } from './archived-repeats.js'
import { countFast, isOutdated } from './fast/count-reports.js'
import { planFast } from './fast/fast-plan.js'
import { isItemStored, judgeLate, keyHashes, LateFirst, lookUpStored, type PlannedCall } from './late-calls.js'
import { type ArchivedItem, type CallPlan, type PlannedItem, planCalls } from './report-plan.js'
import { type KnownFacts, lookUpFacts, type NewMeasurement, type ReportedFeature, storeMeasurements } from './report-repository.js'

/** Bindings change under a batch when somebody changes what its customers hold; that often in a row, something is wrong. */
const maxAttempts = 8

/** What the batch knew turned out to be outdated, under the lock that makes it true: nothing was written, and it knows better now. */
class Outdated extends Error {
  override readonly name = 'Outdated'
}

/** The door waits two seconds longer than the deadline; half a second is left for the commit and the reply. */
const commitGraceMs = 500

/** Features with a meter on raw events refuse reports, but for repeats. */
const noMeters = new Map<string, never>()

/** Features that were reported lately, as of one version of their environment's catalog. */
class KnownFeatures {
  readonly #known = new LRUCache<string, { catalogVersion: number; features: Map<string, ReportedFeature> }>({ max: 1_000 })

  of(environmentId: string) {
    return this.#known.get(environmentId)
  }

  remember(environmentId: string, { catalogVersion, features }: KnownFacts): void {
    const known = this.#known.get(environmentId)
    if (known?.catalogVersion !== catalogVersion) this.#known.set(environmentId, { catalogVersion, features: new Map(features) })
    else for (const [refId, feature] of features) known.features.set(refId, feature)
  }
}

/**
 * Counts reports: one transaction per batch, one lock per customer. May run twice for the same batch: measurement ids and idempotency keys are
 * claimed in the statement that stores, and what is stored already is only answered.
 */
export class ReportIngestion {
  readonly #pool: pg.Pool
  readonly #bindings: Bindings
  readonly #metrics: MeteringMetrics
  readonly #log: Logger
  readonly #clock: Clock
  readonly #features = new KnownFeatures()

  constructor(parts: { pool: pg.Pool; bindings: Bindings; metrics: MeteringMetrics; log: Logger; clock: Clock }) {
    this.#clock = parts.clock
    this.#pool = parts.pool
    this.#bindings = parts.bindings
    this.#metrics = parts.metrics
    this.#log = parts.log
  }

  /** One answer per call, all committed; see `ingestOrHalve`. */
  ingest(environmentId: string, calls: Call<ReportItem>[], isRepeat: boolean): Promise<ReportAnswer[]> {
    return ingestOrHalve(
      calls,
      isRepeat,
      (together) => this.#ingestTogether(environmentId, together, isRepeat),
      ({ items }, error) => {
        if (!(error instanceof Problem))
          this.#log.error({ err: error, environmentId, measurementId: items[0]?.id }, 'report could not be counted')
        this.#metrics.items.inc({ kind: 'report', result: 'refused' }, items.length)
      },
    )
  }

  /** Answers the calls that are stored, and of the others that it is not known what became of them. Counts nothing. */
  async findStored(environmentId: string, calls: Call<ReportItem>[]): Promise<ReportAnswer[]> {
    const facts = await lookUpStored(
      this.#pool,
      environmentId,
      calls.flatMap(({ items }) => items),
    )
    const areStored = calls.map(({ items }) => items.every((item) => isItemStored(facts, environmentId, item)))
    const answers = await this.ingest(
      environmentId,
      calls.filter((_, index) => areStored[index]),
      true,
    )
    const unknown = { problem: toPlainProblem(outcomeUnknown([])) }
    return areStored.map((isThere) => (isThere ? answers.shift()! : unknown))
  }

  async #ingestTogether(environmentId: string, calls: Call<ReportItem>[], isRepeat: boolean): Promise<ReportAnswer[]> {
    let mayBeStored = isRepeat
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(environmentId, calls, mayBeStored)
      } catch (error) {
        if (!(error instanceof Outdated) || attempt >= maxAttempts) throw error
        mayBeStored = true
      }
    }
  }

  async #attempt(environmentId: string, calls: Call<ReportItem>[], mayBeStored: boolean): Promise<ReportAnswer[]> {
    const answers = mayBeStored ? null : await this.#attemptFast(environmentId, calls)
    if (answers) return answers
    const items = calls.flatMap((call) => call.items)
    const bindings = await this.#bindings.load(environmentId, items.flatMap(holdersOf))
    const featureRefIds = [...new Set(items.map(({ featureId }) => featureId))]
    const facts = await lookUpFacts(this.#pool, environmentId, {
      featureRefIds,
      keyHashes: keyHashes(environmentId, items),
      measurementIds: items.flatMap(({ id, idempotencyKey }) => (mayBeStored || measurementOfKey(idempotencyKey) !== null ? [id] : [])),
    })
    this.#features.remember(environmentId, facts)
    const unknown = featureRefIds.filter((refId) => !facts.features.has(refId))
    const nearest = await findNearestFeatures(this.#pool, environmentId, unknown)
    const found = await findHoldersOfRepeats(this.#pool, environmentId, { items, facts, bindings })
    const plans = planCalls(environmentId, calls, facts, { bindings, found, nearest })
    const planned = plans.flatMap((plan, index) => ('items' in plan ? [{ index, items: plan.items }] : []))
    let counted = new Map<number, ReportAnswer>()
    try {
      if (planned.length > 0) counted = await this.#count(environmentId, calls, planned)
    } catch (error) {
      if (!(error instanceof LateFirst)) throw error
      return this.#attemptWithout(environmentId, calls, error.calls)
    }
    return plans.map((plan, index) => counted.get(index) ?? this.#refuse(plan, calls[index]!))
  }

  async #attemptWithout(
    environmentId: string,
    calls: Call<ReportItem>[],
    late: ReadonlyMap<number, ReportAnswer>,
  ): Promise<ReportAnswer[]> {
    const others = calls.filter((_, index) => !late.has(index))
    const answers = await this.#attempt(environmentId, others, true)
    for (const index of late.keys()) this.#metrics.items.inc({ kind: 'report', result: 'expired' }, calls[index]!.items.length)
    return calls.map((_, index) => late.get(index) ?? answers.shift()!)
  }

  /** The short way. Null: the batch has to go the long way; nothing was written. */
  async #attemptFast(environmentId: string, calls: Call<ReportItem>[]): Promise<ReportAnswer[] | null> {
    const known = this.#features.of(environmentId)
    if (!known) return null
    const bindings = new Map<string, Binding>()
    for (const { items } of calls) {
      for (const holder of items.flatMap(holdersOf)) {
        const binding = this.#bindings.cached(environmentId, holder)
        if (!binding) return null
        bindings.set(holderKey(holder), binding)
      }
    }
    const plans = planCalls(environmentId, calls, { ...known, keys: new Map(), stored: new Map() }, { bindings })
    const planned: PlannedItem[] = []
    for (const plan of plans) {
      if ('problem' in plan) return null
      planned.push(...plan.items.filter(isRouted))
    }
    const plan = planFast(planned, this.#clock.now())
    if (!plan) return null
    const stopTimer = this.#metrics.commitSeconds.startTimer({ kind: 'report' })
    const deadline = Math.min(...calls.map((call) => call.deadline))
    const values = await countFast(this.#pool, environmentId, plan, { catalogVersion: known.catalogVersion, deadline }).catch(
      (error: unknown) => {
        if (isOutdated(error)) return null
        throw error
      },
    )
    if (!values) return null
    stopTimer()
    this.#metrics.items.inc({ kind: 'report', result: 'accepted' }, planned.length)
    this.#metrics.batchSize.observe({ kind: 'report' }, planned.length)
    const usages = plan.items.map(({ planned: item, counter }) => toReportedUsage(item, plan.counters[counter]!, values[counter]!))
    let next = 0
    return calls.map(({ items }) => {
      next += items.length
      return { usages: usages.slice(next - items.length, next) }
    })
  }

  async #count(environmentId: string, calls: Call<ReportItem>[], planned: PlannedCall[]): Promise<Map<number, ReportAnswer>> {
    const stopTimer = this.#metrics.commitSeconds.startTimer({ kind: 'report' })
    const { batch, answers } = await inPoolTransaction(this.#pool, async (db) => {
      const customerIds = [...new Set(planned.flatMap(({ items }) => items.map(customerOf)))]
      const { customers, now } = await lockCustomers(db, environmentId, customerIds)
      const lockedAt = performance.now()
      this.#checkBindings(environmentId, planned, customers)
      const isRepeated = ({ items }: PlannedCall) => items.every(({ isRepeat }) => isRepeat)
      const inTime = planned.filter((call) => isRepeated(call) || now < calls[call.index]!.deadline)
      const late = planned.filter((call) => !inTime.includes(call))
      const answers = await judgeLate(db, environmentId, { calls, late })
      if (!answers) throw new Outdated()
      const counted = inTime.flatMap(({ items }) => items)
      const routed = counted.filter(isRouted)
      const fresh = routed.filter(({ isRepeat }) => !isRepeat)

      const batch = new CounterBatch(db, environmentId, customers)
      await batch.prepare(
        routed.map(({ route, item, isRepeat }) => ({ route, at: isRepeat ? null : item.timestamp })),
        { hasSet: fresh.some(({ item }) => item.behavior === 'SET') },
      )
      await batch.addReports(fresh.map(({ route, item }) => ({ ...item, route })))
      const isStored =
        fresh.length === 0 ||
        (await storeMeasurements(
          db,
          environmentId,
          fresh.map((item) => toMeasurement(item, batch)),
        ))
      if (!isStored) throw new Outdated()
      const currents = new Map(routed.map(({ route }) => [route, batch.current(route)]))
      const values = await batch
        .write(async (ranges) => {
          const isMetered = routed.some(({ feature }) => feature.isMeteredByEvents)
          return computeUsage(db, environmentId, ranges, isMetered ? await metersOf(db, environmentId) : noMeters)
        })
        .catch((error) => this.#explain(environmentId, planned, error))
      for (const [{ how, tracked }, { usage }] of values) {
        if (how === 'read' || Math.abs(Number(usage)) <= maxUsage) continue
        const beyond = fresh.find(({ feature }) => feature.id === tracked.series.featureId)
        if (beyond) throw usageOutOfRange(beyond.feature.refId)
      }
      const archived = counted.filter((planned) => !isRouted(planned))
      const ofArchived = await readUsagesOfArchived(db, environmentId, archived, customers)
      // Past its deadline the door may have given up; what is not committed by then must not be.
      const latest = now + (performance.now() - lockedAt) - commitGraceMs
      if (inTime.some((call) => !isRepeated(call) && latest >= calls[call.index]!.deadline)) throw new Outdated()

      for (const { index, items } of inTime)
        answers.set(index, {
          usages: items.map((item) => {
            if (!isRouted(item)) return ofArchived.get(item)!
            const current = currents.get(item.route)!
            const usage = toReportedUsage(item, current, values.get(current.change)!)
            return batch.hasChangedAccess(item.route.customer.customerId) ? { ...usage, isAccessChanged: true } : usage
          }),
        })
      return { batch, answers }
    })
    batch.committed()
    stopTimer()
    this.#observe(planned, answers)
    return answers
  }

  /** Under the lock nothing changes what a customer holds any more; so a binding of this access version is true. */
  #checkBindings(environmentId: string, planned: PlannedCall[], customers: ReadonlyMap<string, LockedCustomer>): void {
    let isOutdated = false
    for (const { items } of planned) {
      for (const { route } of items.filter(isRouted)) {
        for (const binding of route.resource ? [route.customer, route.resource] : [route.customer]) {
          if (customers.get(binding.customerId)?.accessVersion === binding.accessVersion) continue
          isOutdated = true
          this.#bindings.forget(environmentId, binding.holder)
        }
      }
    }
    if (isOutdated) throw new Outdated()
  }

  #explain(environmentId: string, planned: PlannedCall[], error: unknown): never {
    if (!(error instanceof OutdatedSeries)) throw error
    for (const { items } of planned)
      for (const { item } of items) for (const holder of holdersOf(item)) this.#bindings.forget(environmentId, holder)
    throw new Outdated()
  }

  #refuse(plan: CallPlan, call: Call<ReportItem>): ReportAnswer {
    if (!('problem' in plan)) throw new Error('a planned call has no answer')
    this.#metrics.items.inc({ kind: 'report', result: 'refused' }, call.items.length)
    return { problem: toPlainProblem(plan.problem) }
  }

  #observe(planned: PlannedCall[], answers: ReadonlyMap<number, ReportAnswer>): void {
    const sums = { accepted: 0, duplicate: 0, expired: 0 }
    for (const { index, items } of planned) {
      for (const { isRepeat } of items) sums['problem' in answers.get(index)! ? 'expired' : isRepeat ? 'duplicate' : 'accepted'] += 1
    }
    for (const [result, count] of Object.entries(sums)) if (count > 0) this.#metrics.items.inc({ kind: 'report', result }, count)
    this.#metrics.batchSize.observe(
      { kind: 'report' },
      planned.reduce((sum, { items }) => sum + items.length, 0),
    )
  }
}

const isRouted = (planned: PlannedItem | ArchivedItem): planned is PlannedItem => planned.route !== null

const customerOf = (planned: PlannedItem | ArchivedItem): string =>
  isRouted(planned) ? planned.route.customer.customerId : planned.customerId

function holdersOf(item: Holder): Holder[] {
  const customer = { customerId: item.customerId, resourceId: null }
  return item.resourceId === null ? [customer] : [customer, { customerId: item.customerId, resourceId: item.resourceId }]
}

function toMeasurement({ item, route, feature, key }: PlannedItem, batch: CounterBatch): NewMeasurement {
  return {
    id: item.id,
    customerId: route.customer.customerId,
    resourceId: route.resource?.resourceId ?? null,
    featureId: feature.id,
    value: item.value,
    behavior: item.behavior,
    occurredAt: item.timestamp ?? batch.versionOf(route),
    dimensions: item.dimensions,
    key,
  }
}

function toReportedUsage(
  { item, feature, measurementId }: PlannedItem,
  { tracked, period }: Pick<ReturnType<CounterBatch['current']>, 'tracked' | 'period'>,
  { usage, version }: CounterValue,
): ReportedUsage {
  return {
    id: measurementId,
    customerId: item.customerId,
    resourceId: item.resourceId,
    featureId: item.featureId,
    currentUsage: toAnsweredUnits(decimal.max(usage, decimal.zero), feature.unitTransformation),
    periodStart: tracked.entitled ? period.start : null,
    periodEnd: tracked.entitled ? period.end : null,
    timestamp: version,
  }
}
