import type { EpochMs } from '../kernel/clock.js'
import * as decimal from '../kernel/decimal.js'
import { newId } from '../kernel/id.js'
import { type Binding, type BindingDecision, periodAt, type TrackedPeriod, type TrackedSeries } from './bindings.js'
import {
  type Connection,
  type CounterValue,
  dropCounters,
  findCounters,
  findDatedAhead,
  findSeries,
  findWithResources,
  insertSeries,
  type LockedCustomer,
  type StoredSeries,
  type UsageMessage,
  type UsageRange,
  writeCounters,
} from './counter-repository.js'
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
  /** read: nothing yet · add, set: `value` · compute: add up what is stored */
  how: 'read' | 'add' | 'set' | 'compute'
  value: decimal.Decimal
}

/** Late usage reaches a few periods back, and hourly ones would pile up. */
const maxPeriodsKept = 8

/** Adds up what is stored in the ranges, which are of `changes` in the same order. */
export type ComputeUsage = (ranges: UsageRange[]) => Promise<decimal.Decimal[]>

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
  #withResources: ReadonlySet<string> = new Set()

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
      for (const [index, period] of periods.entries()) period.isComplete = found.has(index)
    }
    if (hasSet) this.#withResources = await findWithResources(this.db, this.environmentId, [...this.locked.keys()])
  }

  /** Adds usage that may come in any order (of events, which are never set). */
  addEvent(route: Route, at: EpochMs, value: decimal.Decimal): void {
    for (const tracked of this.#seriesOf(route)) {
      if (tracked.series.anchor !== null && at < tracked.series.anchor) continue
      const change = this.#changeOf(route, tracked, periodAt(tracked, at))
      if (!change.period.isComplete) change.how = 'compute'
      if (change.how !== 'compute') Object.assign(change, { how: 'add', value: decimal.add(change.value, value) })
      this.#tell(route)
    }
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
    const changes = [...this.#changes.values()]
    if (changes.length === 0) return new Map()
    const computed = changes.filter(({ how }) => how === 'compute')
    if (computed.length > 0) {
      const usages = await compute(computed.map(rangeOf))
      for (const [index, change] of computed.entries()) change.value = usages[index]!
    }
    const changedCustomers = new Set(changes.filter(({ how }) => how !== 'read').map(({ tracked }) => tracked.series.customerId))
    const datedAhead = new Set([...this.#datedAhead.keys()].map(({ series }) => series.customerId))
    const values = await writeCounters(this.db, this.environmentId, {
      counters: changes.map(({ tracked, period, how, value, version }) => ({
        seriesId: tracked.id,
        start: period.start,
        end: period.end,
        how: how === 'read' || how === 'add' ? how : 'replace',
        value,
        version,
      })),
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

  /** Remembers for the next batch what is true now that it is committed. */
  committed(): void {
    for (const [decision, ofDecision] of this.#tracked)
      for (const [featureId, tracked] of ofDecision) decision.tracked.set(featureId, tracked)
    for (const { period } of this.#changes.values()) period.isComplete = true
  }

  #changeOf(route: Route, tracked: TrackedSeries, period: TrackedPeriod): CounterChange {
    const existing = this.#changes.get(period)
    if (existing) return existing
    const change: CounterChange = { tracked, period, version: this.versionOf(route), how: 'read', value: decimal.zero }
    this.#changes.set(period, change)
    return change
  }

  /** Announces the current usage of the customer and of the resource, once however often it changes in the batch. */
  #tell(route: Route): void {
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
    const own = route.resource && this.#find(route, route.resource)
    const total = this.#find(route, route.customer)!
    return own ? [total, own] : [total]
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

/** Nothing before the anchor counts, also in a period that begins before it. */
function rangeOf({ tracked: { series }, period }: CounterChange): UsageRange {
  const { customerId, resourceId, featureId, anchor } = series
  const from = anchor === null || (period.start !== null && period.start > anchor) ? period.start : anchor
  return { customerId, resourceId, featureId, from, to: period.end }
}
