import { type CountedChanges, type LockedCustomer, recordCounted } from '../../changes/counting.js'
import type { ToldUsage } from '../../changes/model/change.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { type Queryable } from '../../platform/sql.js'
import { type Share, Tally } from '../model/aggregate.js'
import { bucketMs, bucketOf } from '../model/bucket.js'
import { type Aggregation, type FeatureMeter, type MeterVersion, versionAt } from '../model/meter.js'
import { startOfRange } from '../model/series.js'
import type { TimedReport } from '../model/settle.js'
import { periodAt, type TrackedPeriod, type TrackedSeries } from './bindings.js'
import { findCrossedBudgets } from './budget-check.js'
import type { ComputedRange, ComputedUsage } from './compute-usage.js'
import { type CounterChange, membersOf, rangeOf, toWrite, versionOf } from './counter-change.js'
import { type CounterValue, findCounters, writeCounters } from './counter-repository.js'
import { EventRollups } from './event-rollups.js'
import { findWithResources } from './holder-repository.js'
import { KnownMembers } from './known-members.js'
import { addToStretch, type Stretch, settleStretches } from './reported-stretches.js'
import { addToRollups, type ReportedRollup, writeReportedRollups } from './rollup-repository.js'
import { type Route, SeriesTracker } from './series-tracker.js'

export type { Route } from './series-tracker.js'

/** What one version of a meter makes of an event that it wants. */
export interface MeasuredEvent {
  at: EpochMs
  share: Share
}

/** What was reported. `timestamp` null: now, after everything before it. */
export interface RoutedReport extends Pick<TimedReport, 'behavior' | 'value'> {
  route: Route
  timestamp: EpochMs | null
}

/** Of a counter (of what is done to it) or, null, of a bucket. */
interface CountedStretch extends Stretch {
  change: CounterChange | null
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
 * what is stored.
 */
export class CounterBatch {
  readonly #tracker: SeriesTracker
  readonly #changes = new Map<TrackedPeriod, CounterChange>()
  readonly #messages = new Map<string, { change: CounterChange; route: Route; resourceRefId: string | null }>()
  readonly #datedAhead = new Map<TrackedSeries, EpochMs>()
  readonly #rollups = new EventRollups()
  readonly #reported: ReportedRollup[] = []
  readonly #told = new Set<Route>()
  /** Customers (our ids) of whom a budget was used up, or is not any more. */
  #crossed: ReadonlySet<string> = new Set()
  #withResources: ReadonlySet<string> = new Set()
  #computed: ReadonlyMap<CounterChange, ComputedUsage> = new Map()

  /** `members`: those that this process knows; without them all are looked up. */
  constructor(
    private readonly db: Queryable,
    private readonly environmentId: string,
    private readonly locked: ReadonlyMap<string, LockedCustomer>,
    private readonly members: KnownMembers = new KnownMembers(),
  ) {
    this.#tracker = new SeriesTracker(db, environmentId, locked)
  }

  versionOf(route: Route): EpochMs {
    return this.#tracker.versionOf(route)
  }

  /** Finds or creates the series of the routes and the periods that contain `at` and now. `hasSet`: of some, usage will be set. */
  async prepare(needs: { route: Route; at: EpochMs | null }[], { hasSet = false }: { hasSet?: boolean } = {}): Promise<void> {
    await this.prepareTimes(needs.map(({ route, at }) => ({ route, times: at === null ? [] : [at] })))
    if (hasSet) this.#withResources = await findWithResources(this.db, this.environmentId, [...this.locked.keys()])
  }

  /** The same for routes that many times belong to. */
  async prepareTimes(needs: readonly { route: Route; times: Iterable<EpochMs> }[]): Promise<void> {
    await this.#tracker.track(needs.map(({ route }) => route))
    // Only here: from now on a period must stay the one object that its change is found by.
    for (const { route } of needs)
      for (const { periods } of this.#tracker.seriesOf(route)) if (periods.length > maxPeriodsKept) periods.length = maxPeriodsKept
    const unknown = new Map<TrackedPeriod, TrackedSeries>()
    for (const { route, times } of needs) {
      for (const tracked of this.#tracker.seriesOf(route)) {
        const current = periodAt(tracked, this.versionOf(route))
        if (!current.isComplete) unknown.set(current, tracked)
        for (const at of times) {
          const period = periodAt(tracked, at)
          if (!period.isComplete) unknown.set(period, tracked)
        }
      }
    }
    if (unknown.size === 0) return
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

  /**
   * Adds events of one holder and feature, which may come in any order: what a version of the meter makes of them. It is the events' version in the
   * counters that began with it; the others are told of the same events under theirs.
   */
  addEvents(route: Route, meter: FeatureMeter, version: MeterVersion, events: readonly MeasuredEvent[]): void {
    const isOnly = meter.versions.length === 1
    let hasChanged = false
    for (const tracked of this.#tracker.seriesOf(route)) {
      const { anchor } = tracked.series
      for (const event of events) {
        if (anchor !== null && event.at < anchor) continue
        const period = periodAt(tracked, event.at)
        if (!isOnly && versionOf(meter, period) !== version) continue
        if (this.#addEvent(route, tracked, period, version.aggregation, event)) hasChanged = true
      }
    }
    if (hasChanged) this.#tell(route)
    if (version.aggregation === 'UNIQUE' && !meter.isGrouped) return
    for (const { at, share } of events)
      if (isOnly || this.#rolledUpBy(route, meter, at) === version) this.#rollups.add(route, version, share, at)
  }

  /** Whether it may change the counter. */
  #addEvent(route: Route, tracked: TrackedSeries, period: TrackedPeriod, aggregation: Aggregation, { at, share }: MeasuredEvent): boolean {
    // A counter of the time before the feature had a meter is not one that events can be added to.
    const isAddedTo = period.isComplete && period.meterVersion !== null
    if (isAddedTo && aggregation === 'UNIQUE' && this.members.of(period).has(share)) return false
    const change = this.#changeOf(route, tracked, period)
    if (!isAddedTo) change.how = 'compute'
    if (change.how === 'compute') return true
    if (aggregation === 'UNIQUE') {
      change.how = 'members'
      change.firstAt ??= new Map()
      const first = change.firstAt.get(share)
      if (first === undefined || at < first) change.firstAt.set(share, at)
    } else {
      change.how = 'tally'
      change.tally ??= new Tally(aggregation)
      change.tally.add(share)
    }
    return true
  }

  /** The version that history counts the event with: that of the counter, also where nothing is counted because it is before the anchor. */
  #rolledUpBy(route: Route, meter: FeatureMeter, at: EpochMs): MeterVersion {
    const counting = this.#tracker.seriesOf(route).findLast(({ series }) => series.anchor === null || at >= series.anchor)
    return counting ? versionOf(meter, periodAt(counting, at)) : versionAt(meter, at)
  }

  /** Has the counters computed anew that contain `at`, of both the customer and the resource: something stored has been taken back. */
  recompute(route: Route, at: EpochMs): void {
    for (const tracked of this.#tracker.seriesOf(route)) {
      if (tracked.series.anchor !== null && at < tracked.series.anchor) continue
      this.#changeOf(route, tracked, periodAt(tracked, at)).how = 'compute'
    }
    this.#tell(route)
  }

  /** Adds or sets reported usage, in the order of arrival. None of it may be stored yet. */
  async addReports(reports: readonly RoutedReport[]): Promise<void> {
    const stretches = new Map<string, CountedStretch>()
    for (const { route, behavior, value, timestamp } of reports) {
      const now = this.versionOf(route)
      const at = timestamp ?? now
      const { customerId } = route.customer
      const part = { customerId, featureId: route.feature.id, resourceId: route.resource?.resourceId ?? null }
      const series = this.#tracker.seriesOf(route)
      const mayBeLate = timestamp !== null || series.some(({ datedAheadUntil }) => datedAheadUntil >= now)
      const reported = { ...part, mayBeLate, reports: [{ at, behavior, value }] }
      const from = bucketOf(at)
      const bucket = { from, to: from + bucketMs, isShared: false, change: null }
      addToStretch(stretches, `${customerId}|${part.featureId}|${part.resourceId}|${from}`, { ...reported, ...bucket })
      for (const tracked of series) {
        if (at > now) this.#datedAhead.set(tracked, Math.max(at, this.#datedAhead.get(tracked) ?? 0))
        if (tracked.series.anchor !== null && at < tracked.series.anchor) continue
        const change = this.#changeOf(route, tracked, periodAt(tracked, at))
        const { period } = change
        if (!period.isComplete) change.how = 'compute'
        if (change.how === 'compute') continue
        // The customer's total is made of the parts of its resources, and a SET replaces one part.
        const isShared = tracked.series.resourceId === null && this.#withResources.has(customerId)
        const counter = { from: startOfRange(tracked.series, period), to: period.end, isShared, change }
        addToStretch(stretches, `${tracked.id}|${period.start}|${part.resourceId}`, { ...reported, ...counter })
      }
      this.#tell(route)
    }
    const settled = await settleStretches(this.db, this.environmentId, [...stretches.values()])
    for (const [{ change, customerId, featureId, resourceId, from }, { isSet, value }] of settled) {
      if (!change) this.#reported.push({ customerId, featureId, resourceId, bucket: from!, isSet, value })
      else if (isSet) Object.assign(change, { how: 'set', value })
      else Object.assign(change, { how: 'add', value: decimal.add(change.value, value) })
    }
  }

  /** The change (so far, none) of the current counter that answers for the route. */
  current(route: Route): { change: CounterChange; tracked: TrackedSeries; period: TrackedPeriod } {
    return this.#currentOf(route, this.#tracker.answering(route, 'resource'))
  }

  #currentOf(route: Route, tracked: TrackedSeries): { change: CounterChange; tracked: TrackedSeries; period: TrackedPeriod } {
    const change = this.#changeOf(route, tracked, periodAt(tracked, this.versionOf(route)))
    if (!change.period.isComplete) change.how = 'compute'
    return { change, tracked, period: change.period }
  }

  /** Writes everything; answers the usage of each change. Fails when a counter has vanished: then what was known of its series is outdated. */
  async write(compute: ComputeUsage): Promise<Map<CounterChange, CounterValue>> {
    const rolledUp = this.#rollups.changes()
    if (rolledUp.length > 0) await addToRollups(this.db, this.environmentId, rolledUp)
    if (this.#reported.length > 0) await writeReportedRollups(this.db, this.environmentId, this.#reported)
    const changes = [...this.#changes.values()]
    if (changes.length === 0) return new Map()
    const toCompute = changes.filter(({ how }) => how === 'compute')
    const results = toCompute.length === 0 ? [] : await compute(toCompute.map(rangeOf))
    const computed = new Map(toCompute.map((change, index) => [change, results[index]!]))
    this.#computed = computed
    const written = await writeCounters(this.db, this.environmentId, {
      counters: changes.map((change) => toWrite(change, computed.get(change))),
      members: changes.flatMap((change, counter) => membersOf(change, computed.get(change)).map((member) => ({ ...member, counter }))),
    })
    const values = new Map(
      changes.map((change, index) => {
        const value = written.get(index)
        if (!value) throw new OutdatedSeries(change.tracked.series.customerId)
        return [change, value]
      }),
    )
    const crossed = await findCrossedBudgets(this.db, this.environmentId, this.#told, this.locked)
    this.#crossed = new Set(crossed.map(({ customerId }) => customerId))
    await recordCounted(this.db, this.environmentId, {
      versions: this.#newVersions(changes),
      access: crossed.map(({ refId, version }) => ({ customerId: refId, version })),
      usages: this.#toldUsages(values),
    })
    return values
  }

  /** Where other workers must look again, a new access version makes them: order matters for a while, or members that they know may be gone. */
  #newVersions(changes: CounterChange[]): CountedChanges['versions'] {
    const access = new Set([...[...this.#datedAhead.keys()].map(({ series }) => series.customerId), ...this.#crossed])
    for (const [{ tracked, period }, { meter }] of this.#computed)
      if (period.isComplete && meter?.aggregation === 'UNIQUE') access.add(tracked.series.customerId)
    const changed = new Set(changes.filter(({ how }) => how !== 'read').map(({ tracked }) => tracked.series.customerId))
    return [...changed].flatMap((customerId) => {
      const { version, isWritten } = this.locked.get(customerId)!
      const isAccess = access.has(customerId)
      return isWritten && !isAccess ? [] : [{ customerId, version, isAccess }]
    })
  }

  /** Whether what was counted has changed more than usage for the customer: a budget is used up, or is not any more. */
  hasChangedAccess(customerId: string): boolean {
    return this.#crossed.has(customerId)
  }

  #toldUsages(values: ReadonlyMap<CounterChange, CounterValue>): ToldUsage[] {
    return [...this.#messages.values()].flatMap(({ change, route, resourceRefId }) => {
      if (change.how === 'read') return []
      const { customerId } = route.customer.holder
      const { start: periodStart, end: periodEnd } = change.period
      const { usage: currentUsage, version: updatedAt } = values.get(change)!
      const usage = { currentUsage, periodStart, periodEnd, updatedAt }
      return [{ customerId, resourceId: resourceRefId, featureId: route.feature.refId, usage }]
    })
  }

  /** Remembers for the next batch what is true now that it is committed. */
  committed(): void {
    this.#tracker.committed()
    for (const { period, firstAt } of this.#changes.values()) {
      period.isComplete = true
      if (firstAt) this.members.add(period, firstAt.keys())
    }
    for (const [{ period }, { meter }] of this.#computed) {
      period.meterVersion = meter?.version ?? null
      this.members.forget(period)
    }
  }

  #changeOf(route: Route, tracked: TrackedSeries, period: TrackedPeriod): CounterChange {
    const existing = this.#changes.get(period)
    if (existing) return existing
    const version = this.versionOf(route)
    const change: CounterChange = { tracked, period, version, how: 'read', value: decimal.zero, tally: null, firstAt: null }
    this.#changes.set(period, change)
    return change
  }

  /** Announces the current usage of the customer and of the resource, once however often it changes in the batch. */
  #tell(route: Route): void {
    if (this.#told.has(route)) return
    this.#told.add(route)
    const { customer, resource, feature } = route
    for (const of of ['customer', 'resource'] as const) {
      if (of === 'resource' && !resource) continue
      const { change, tracked } = this.#currentOf(route, this.#tracker.answering(route, of))
      if (!tracked.entitled) continue
      const told = of === 'resource' ? resource : null
      const key = `${customer.customerId}|${told?.resourceId}|${feature.id}`
      this.#messages.set(key, { change, route, resourceRefId: told?.holder.resourceId ?? null })
    }
  }
}

/** A counter was gone that was known to be there. Forget the customer's bindings and try again. */
export class OutdatedSeries extends Error {
  override readonly name = 'OutdatedSeries'
  constructor(readonly customerId: string) {
    super(`the usage counters of customer ${customerId} are not what they were`)
  }
}
