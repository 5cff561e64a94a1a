import type { EpochMs } from '../kernel/clock.js'
import * as decimal from '../kernel/decimal.js'
import { newId } from '../kernel/id.js'
import { measure, memberHash, type Share, Tally } from './aggregate.js'
import { type Binding, type BindingDecision, periodAt, type TrackedPeriod, type TrackedSeries } from './bindings.js'
import type { ComputedRange, ComputedUsage } from './compute-usage.js'
import {
  type Connection,
  dropCounters,
  findCounters,
  findDatedAhead,
  findSeries,
  findWithResources,
  insertSeries,
  type LockedCustomer,
  type StoredSeries,
  startOfRange,
} from './counter-repository.js'
import { type CounterValue, type CounterWrite, type UsageMessage, writeCounters } from './counter-write-repository.js'
import { type Aggregation, type FeatureMeter, type MeteredEvent, type MeterVersion, versionAt } from './meter.js'
import { addToRollups, bucketOf, type RollupChange } from './rollup-repository.js'
import { seriesKey } from './series.js'

/** Where usage of a feature belongs: to the customer's series, and to the resource's when its own subscription is what entitles it. */
export interface Route {
  customer: Binding
  /** Null: the usage is the customer's own. */
  resource: Binding | null
  feature: { id: string; refId: string }
}

/** What is done to one counter, collected over a batch. */
interface CounterChange {
  tracked: TrackedSeries
  period: TrackedPeriod
  version: EpochMs
  /** read: nothing yet · add, set: `value` · tally: events · compute: add up what is stored */
  how: 'read' | 'add' | 'set' | 'tally' | 'compute'
  value: decimal.Decimal
  /** Of 'tally'; a UNIQUE one has the time of each member's first event. */
  tally: Tally | null
  firstAt: Map<Share, EpochMs> | null
}

/** Late usage reaches a few periods back, and hourly ones would pile up. */
const maxPeriodsKept = 8

/** Adds up what is stored in the ranges, in their order. */
export type ComputeUsage = (ranges: ComputedRange[]) => Promise<ComputedUsage[]>

/**
 * The counters of one transaction: first `prepare` with everything that will be touched, then the changes in their order, then, with all
 * measurements stored, `write`, and `committed` after the commit. The customers are locked throughout, so what is read here stays true.
 *
 * A counter that is there is complete and is added to. One that is missing (a new period, a series that has just begun to win) is computed from
 * what is stored, and so is one whose measurements are not in the order of their arrival.
 */
export class CounterBatch {
  readonly #changes = new Map<TrackedPeriod, CounterChange>()
  readonly #tracked = new Map<BindingDecision, Map<string, TrackedSeries | null>>()
  readonly #messages = new Map<string, { change: CounterChange; route: Route; resourceRefId: string | null }>()
  readonly #datedAhead = new Map<TrackedSeries, EpochMs>()
  readonly #rollups = new Map<Route, Map<EpochMs, Tally>>()
  readonly #told = new Set<Route>()
  readonly #series = new Map<Route, TrackedSeries[]>()
  #withResources: ReadonlySet<string> = new Set()
  #computed: ReadonlyMap<CounterChange, ComputedUsage> = new Map()

  constructor(
    private readonly db: Connection,
    private readonly environmentId: string,
    private readonly locked: ReadonlyMap<string, LockedCustomer>,
  ) {}

  /** The version that this transaction gives the customer's state; also the time of usage that came without one. */
  versionOf(route: Route): EpochMs {
    return this.locked.get(route.customer.customerId)!.version
  }

  /** Finds or creates the series of the routes and the periods that contain `at` and now. `hasSet`: of some, usage will be set. */
  async prepare(needs: { route: Route; at: EpochMs | null }[], { hasSet = false }: { hasSet?: boolean } = {}): Promise<void> {
    await this.#track(needs.map(({ route }) => route))
    // Only here: from now on a period must stay the one object that its change is found by.
    for (const { route } of needs)
      for (const { periods } of this.#seriesOf(route)) periods.length = Math.min(periods.length, maxPeriodsKept)
    const unknown = new Map<TrackedPeriod, TrackedSeries>()
    for (const { route, at } of needs) {
      const now = this.versionOf(route)
      for (const tracked of this.#seriesOf(route)) {
        for (const period of [periodAt(tracked, now), periodAt(tracked, at ?? now)]) if (!period.isComplete) unknown.set(period, tracked)
      }
    }
    if (unknown.size > 0) {
      const periods = [...unknown.keys()]
      const found = await findCounters(
        this.db,
        this.environmentId,
        periods.map((period) => ({ seriesId: unknown.get(period)!.id, start: period.start, end: period.end })),
      )
      for (const [index, period] of periods.entries()) {
        period.isComplete = found.has(index)
        period.meterVersion = found.get(index) ?? null
      }
    }
    if (hasSet) this.#withResources = await findWithResources(this.db, this.environmentId, [...this.locked.keys()])
  }

  /**
   * Adds an event, which may come in any order; the events of one place and feature come with one route. Each counter measures it with the meter that it began with.
   */
  addEvent(route: Route, meter: FeatureMeter, event: MeteredEvent, at: EpochMs): void {
    let measured: MeterVersion | undefined
    let share: Share | null = null
    for (const tracked of this.#seriesOf(route)) {
      if (tracked.series.anchor !== null && at < tracked.series.anchor) continue
      const period = periodAt(tracked, at)
      const version = versionOf(meter, period)
      if (version !== measured) share = measure(version, event)
      measured = version
      if (share === null) continue
      const change = this.#changeOf(route, tracked, period)
      // A counter of the time before the feature had a meter is not one that events can be added to.
      if (!period.isComplete || period.meterVersion === null) change.how = 'compute'
      if (change.how === 'compute') continue
      change.how = 'tally'
      change.tally ??= new Tally(version.aggregation)
      change.tally.add(share)
      if (version.aggregation !== 'UNIQUE') continue
      change.firstAt ??= new Map()
      const first = change.firstAt.get(share)
      if (first === undefined || at < first) change.firstAt.set(share, at)
    }
    const version = measured ?? versionAt(meter, at)
    if (!measured) share = measure(version, event)
    if (share === null) return
    if (measured) this.#tell(route)
    if (version.aggregation !== 'UNIQUE') this.#rollUp(route, version.aggregation, share, at)
  }

  /** History does not ask who was entitled, so what is before the anchor of a series is in it too. */
  #rollUp(route: Route, aggregation: Aggregation, share: Share, at: EpochMs): void {
    const buckets = this.#rollups.get(route) ?? new Map<EpochMs, Tally>()
    if (buckets.size === 0) this.#rollups.set(route, buckets)
    const bucket = bucketOf(at)
    const tally = buckets.get(bucket) ?? new Tally(aggregation)
    if (tally.events === 0) buckets.set(bucket, tally)
    tally.add(share)
  }

  /** Has the counters computed anew that contain `at`, of both the customer and the resource: something stored has been taken back. */
  recompute(route: Route, at: EpochMs): void {
    for (const tracked of this.#seriesOf(route)) {
      if (tracked.series.anchor !== null && at < tracked.series.anchor) continue
      this.#changeOf(route, tracked, periodAt(tracked, at)).how = 'compute'
    }
    this.#tell(route)
  }

  /** Adds or sets reported usage. `timestamp` null: now, after everything before it. */
  addReport(
    route: Route,
    { behavior, value, timestamp }: { behavior: 'DELTA' | 'SET'; value: decimal.Decimal; timestamp: EpochMs | null },
  ): void {
    const now = this.versionOf(route)
    const at = timestamp ?? now
    for (const tracked of this.#seriesOf(route)) {
      if (at > now) this.#datedAhead.set(tracked, Math.max(at, this.#datedAhead.get(tracked) ?? 0))
      if (tracked.series.anchor !== null && at < tracked.series.anchor) continue
      const change = this.#changeOf(route, tracked, periodAt(tracked, at))
      // The customer's total is made of the parts of its resources, and a SET replaces one part.
      const isPart = behavior === 'SET' && tracked.series.resourceId === null && this.#withResources.has(route.customer.customerId)
      if (timestamp !== null || isPart || !change.period.isComplete || tracked.datedAheadUntil >= now) change.how = 'compute'
      if (change.how === 'compute') continue
      if (behavior === 'SET') Object.assign(change, { how: 'set', value })
      else Object.assign(change, { how: change.how === 'set' ? 'set' : 'add', value: decimal.add(change.value, value) })
    }
    this.#tell(route)
  }

  /** The change (so far, none) of the current counter that answers for the route. */
  current(route: Route): { change: CounterChange; tracked: TrackedSeries; period: TrackedPeriod } {
    const tracked = this.#answering(route)
    const change = this.#changeOf(route, tracked, periodAt(tracked, this.versionOf(route)))
    if (!change.period.isComplete) change.how = 'compute'
    return { change, tracked, period: change.period }
  }

  /** Writes everything; answers the usage of each change. Fails when a counter has vanished: then what was known of its series is outdated. */
  async write(compute: ComputeUsage): Promise<Map<CounterChange, CounterValue>> {
    if (this.#rollups.size > 0) await addToRollups(this.db, this.environmentId, this.#rollupChanges())
    const changes = [...this.#changes.values()]
    if (changes.length === 0) return new Map()
    const toCompute = changes.filter(({ how }) => how === 'compute')
    const results = toCompute.length === 0 ? [] : await compute(toCompute.map(rangeOf))
    const computed = new Map(toCompute.map((change, index) => [change, results[index]!]))
    this.#computed = computed
    const changedCustomers = new Set(changes.filter(({ how }) => how !== 'read').map(({ tracked }) => tracked.series.customerId))
    const datedAhead = new Set([...this.#datedAhead.keys()].map(({ series }) => series.customerId))
    const values = await writeCounters(this.db, this.environmentId, {
      counters: changes.map((change) => toWrite(change, computed.get(change))),
      members: changes.flatMap((change, counter) => membersOf(change, computed.get(change)).map((member) => ({ ...member, counter }))),
      messages: this.#outbox(changes),
      // Other workers must learn that order matters for a while: a new access version makes them look again.
      versions: [...changedCustomers].map((customerId) => ({
        customerId,
        version: this.locked.get(customerId)!.version,
        isAccess: datedAhead.has(customerId),
      })),
    })
    return new Map(
      changes.map((change, index) => {
        const value = values.get(index)
        if (!value) throw new OutdatedSeries(change.tracked.series.customerId)
        return [change, value]
      }),
    )
  }

  #rollupChanges(): RollupChange[] {
    return [...this.#rollups].flatMap(([{ customer, resource, feature }, buckets]) => {
      const place = { customerId: customer.customerId, featureId: feature.id, resourceId: resource?.resourceId ?? null }
      return [...buckets].map(([bucket, { aggregation, value, events }]) => ({ ...place, bucket, aggregation, value, events }))
    })
  }

  /** Remembers for the next batch what is true now that it is committed. */
  committed(): void {
    for (const [decision, ofDecision] of this.#tracked)
      for (const [featureId, tracked] of ofDecision) decision.tracked.set(featureId, tracked)
    for (const { period } of this.#changes.values()) period.isComplete = true
    for (const [{ period }, { meter }] of this.#computed) period.meterVersion = meter?.version ?? null
  }

  #changeOf(route: Route, tracked: TrackedSeries, period: TrackedPeriod): CounterChange {
    const existing = this.#changes.get(period)
    if (existing) return existing
    const change: CounterChange = {
      tracked,
      period,
      version: this.versionOf(route),
      how: 'read',
      value: decimal.zero,
      tally: null,
      firstAt: new Map(),
    }
    this.#changes.set(period, change)
    return change
  }

  /** Announces the current usage of the customer and of the resource, once however often it changes in the batch. */
  #tell(route: Route): void {
    if (this.#told.has(route)) return
    this.#told.add(route)
    for (const place of route.resource ? [null, route.resource] : [null]) {
      const { change, tracked } = this.current({ ...route, resource: place })
      const key = `${route.customer.customerId}|${place?.resourceId}|${route.feature.id}`
      if (tracked.winner) this.#messages.set(key, { change, route, resourceRefId: place?.holdings.resourceRefId ?? null })
    }
  }

  #outbox(changes: CounterChange[]): UsageMessage[] {
    const indexes = new Map(changes.map((change, index) => [change, index]))
    return [...this.#messages.values()].flatMap(({ change, route, resourceRefId }) =>
      change.how === 'read'
        ? []
        : [
            {
              id: newId(),
              counter: indexes.get(change)!,
              customerRefId: route.customer.holdings.customerRefId,
              resourceRefId,
              featureRefId: route.feature.refId,
            },
          ],
    )
  }

  /** The series that usage of the route counts in. */
  #seriesOf(route: Route): TrackedSeries[] {
    const known = this.#series.get(route)
    if (known) return known
    const own = route.resource && this.#find(route, route.resource)
    const total = this.#find(route, route.customer)!
    const series = own ? [total, own] : [total]
    this.#series.set(route, series)
    return series
  }

  /** The series that the route's usage is read from. */
  #answering(route: Route): TrackedSeries {
    return (route.resource && this.#find(route, route.resource)) ?? this.#find(route, route.customer)!
  }

  #find(route: Route, binding: Binding): TrackedSeries | null {
    const decision = binding.decisionAt(this.versionOf(route))
    return decision.tracked.get(route.feature.id) ?? this.#tracked.get(decision)?.get(route.feature.id) ?? null
  }

  /** Looks up the series that are new to this process, creates those that are new, and retires those that have stopped winning. */
  async #track(routes: Route[]): Promise<void> {
    const wanted = new Map<string, { binding: Binding; decision: BindingDecision; featureId: string; at: EpochMs }>()
    for (const route of routes) {
      for (const binding of route.resource ? [route.customer, route.resource] : [route.customer]) {
        const at = this.versionOf(route)
        const decision = binding.decisionAt(at)
        const featureId = route.feature.id
        if (!decision.tracked.has(featureId))
          wanted.set(`${binding.customerId}|${binding.resourceId}|${featureId}`, { binding, decision, featureId, at })
      }
    }
    if (wanted.size === 0) return
    const asked = [...wanted.values()].map((want) => ({
      ...want,
      customerId: want.binding.customerId,
      resourceId: want.binding.resourceId,
    }))
    const stored = await findSeries(this.db, this.environmentId, asked)
    const datedAhead = await findDatedAhead(this.db, this.environmentId, asked)
    const byKey = new Map(stored.map((series) => [seriesKey(series), series]))
    const created: StoredSeries[] = []
    for (const [index, { binding, decision, featureId }] of asked.entries()) {
      const found = binding.seriesOf(decision, featureId)
      let tracked: TrackedSeries | null = null
      if (found) {
        const key = seriesKey(found.series)
        let id = byKey.get(key)?.id
        if (id === undefined) {
          id = newId()
          created.push({ ...found.series, id })
        }
        byKey.delete(key)
        tracked = { id, ...found, periods: [], datedAheadUntil: datedAhead.get(index) ?? 0 }
      }
      const ofDecision = this.#tracked.get(decision) ?? new Map<string, TrackedSeries | null>()
      this.#tracked.set(decision, ofDecision.set(featureId, tracked))
    }
    if (created.length > 0) await insertSeries(this.db, this.environmentId, created)
    if (byKey.size > 0)
      await dropCounters(
        this.db,
        this.environmentId,
        [...byKey.values()].map(({ id }) => id),
      )
  }
}

/** A counter was gone that was known to be there. Forget the customer's bindings and try again. */
export class OutdatedSeries extends Error {
  override readonly name = 'OutdatedSeries'
  constructor(readonly customerId: string) {
    super(`the usage counters of customer ${customerId} are not what they were`)
  }
}

function rangeOf({ tracked: { series }, period }: CounterChange): ComputedRange {
  const { customerId, resourceId, featureId } = series
  const { start: periodStart, end: to, meterVersion } = period
  return { customerId, resourceId, featureId, from: startOfRange(series, period), to, periodStart, meterVersion }
}

/** What counts the events of a period: the version that its counter began with. */
function versionOf(meter: FeatureMeter, { meterVersion, start }: TrackedPeriod): MeterVersion {
  const { versions } = meter
  const latest = versions[versions.length - 1]!
  if (latest.version === meterVersion) return latest
  return versions.find(({ version }) => version === meterVersion) ?? versionAt(meter, start)
}

const tallied = { COUNT: 'add', SUM: 'add', MAX: 'max', MIN: 'min', AVG: 'avg', UNIQUE: 'unique' } as const

function toWrite({ tracked, period, how, value, version, tally }: CounterChange, computed: ComputedUsage | undefined): CounterWrite {
  const counter = { seriesId: tracked.id, start: period.start, end: period.end, version }
  if (computed) return { ...counter, how: 'replace', value: computed.value, events: computed.events, meter: computed.meter }
  if (tally) return { ...counter, how: tallied[tally.aggregation], value: tally.value, events: tally.events, meter: null }
  return { ...counter, how: how === 'set' ? 'replace' : how === 'add' ? 'add' : 'read', value, events: 0, meter: null }
}

function membersOf({ tally, firstAt }: CounterChange, computed: ComputedUsage | undefined): { hash: Buffer; firstAt: EpochMs }[] {
  if (computed) return computed.members
  return firstAt && tally ? [...firstAt].map(([member, at]) => ({ hash: memberHash(member), firstAt: at })) : []
}
