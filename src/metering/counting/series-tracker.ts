import { type LockedCustomer } from '../../changes/counting.js'
import type { EpochMs } from '../../kernel/clock.js'
import { newId } from '../../kernel/id.js'
import { type Queryable } from '../../platform/sql.js'
import { seriesKey } from '../model/series.js'
import type { Binding, BindingDecision, TrackedSeries } from './bindings.js'
import { dropCounters } from './counter-repository.js'
import { findDatedAhead } from './measurement-repository.js'
import { findSeries, insertSeries, type StoredSeries } from './series-repository.js'

/** Where usage of a feature belongs: to the customer's series, and to the resource's when its own subscription is what entitles it. */
export interface Route {
  customer: Binding
  /** Null: the usage is the customer's own. */
  resource: Binding | null
  feature: { id: string; refId: string }
}

/**
 * The usage series of the routes of one transaction, which holds the customers' locks: found in what the bindings remember, else in the database, else
 * created. Those that have stopped winning are retired.
 */
export class SeriesTracker {
  /** As of this transaction's versions: what the bindings remember may be replaced while it waits for the database. */
  readonly #decisions = new Map<Binding, BindingDecision>()
  readonly #tracked = new Map<BindingDecision, Map<string, TrackedSeries | null>>()
  readonly #budgeted = new Map<BindingDecision, Map<string, TrackedSeries[]>>()
  readonly #series = new Map<Route, { total: TrackedSeries; own: TrackedSeries | null; all: TrackedSeries[] }>()

  constructor(
    private readonly db: Queryable,
    private readonly environmentId: string,
    private readonly locked: ReadonlyMap<string, LockedCustomer>,
  ) {}

  /** The version that this transaction gives the customer's state; also the time of usage that came without one. */
  versionOf(route: Route): EpochMs {
    return this.locked.get(route.customer.customerId)!.version
  }

  /** Looks up the series that are new to this process, creates those that are new, and retires those that have stopped winning. */
  async track(routes: Iterable<Route>): Promise<void> {
    const wanted = new Map<string, { binding: Binding; decision: BindingDecision; featureId: string; at: EpochMs }>()
    for (const route of routes) {
      const at = this.versionOf(route)
      for (const binding of route.resource ? [route.customer, route.resource] : [route.customer]) {
        const decision = this.#decisionOf(binding, at)
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
    const track = (found: Pick<TrackedSeries, 'series' | 'entitled'>, datedAheadUntil: EpochMs): TrackedSeries => {
      const key = seriesKey(found.series)
      let id = byKey.get(key)?.id
      if (id === undefined) {
        id = newId()
        created.push({ ...found.series, id })
      }
      byKey.delete(key)
      return { id, ...found, periods: [], datedAheadUntil }
    }
    for (const [index, { binding, decision, featureId, at }] of asked.entries()) {
      const datedAheadUntil = datedAhead.get(index) ?? 0
      const found = binding.seriesOf(decision, featureId)
      const ofDecision = this.#tracked.get(decision) ?? new Map<string, TrackedSeries | null>()
      this.#tracked.set(decision, ofDecision.set(featureId, found && track(found, datedAheadUntil)))
      if (!binding.budgets) continue
      const answering = found && seriesKey(found.series)
      const besides = binding.budgetSeriesOf(featureId, at).filter((series) => seriesKey(series) !== answering)
      const budgeted = this.#budgeted.get(decision) ?? new Map<string, TrackedSeries[]>()
      this.#budgeted.set(
        decision,
        budgeted.set(
          featureId,
          besides.map((series) => track({ series, entitled: null }, datedAheadUntil)),
        ),
      )
    }
    if (created.length > 0) await insertSeries(this.db, this.environmentId, created)
    const retired = [...byKey.values()].map(({ id }) => id)
    if (retired.length > 0) await dropCounters(this.db, this.environmentId, retired)
  }

  /** The series that usage of the route counts in: those of budgets, the customer's total, then the resource's own if it has one. */
  seriesOf(route: Route): readonly TrackedSeries[] {
    return this.#seriesOf(route).all
  }

  /** The series that usage of the customer, or of the route's resource, is read from. */
  answering(route: Route, of: 'customer' | 'resource'): TrackedSeries {
    const { total, own } = this.#seriesOf(route)
    return (of === 'resource' ? own : null) ?? total
  }

  #seriesOf(route: Route) {
    const known = this.#series.get(route)
    if (known) return known
    const own = route.resource && this.#find(route, route.resource)
    const total = this.#find(route, route.customer)!
    const bindings = route.resource ? [route.customer, route.resource] : [route.customer]
    const besides = bindings.flatMap((binding) => (binding.budgets ? this.#findBudgeted(route, binding) : []))
    const series = { total, own, all: own ? [...besides, total, own] : [...besides, total] }
    this.#series.set(route, series)
    return series
  }

  /** The bindings remember what is true now that it is committed. */
  committed(): void {
    for (const [decision, ofDecision] of this.#tracked)
      for (const [featureId, tracked] of ofDecision) decision.tracked.set(featureId, tracked)
    for (const [decision, ofDecision] of this.#budgeted)
      for (const [featureId, budgeted] of ofDecision) decision.budgeted.set(featureId, budgeted)
  }

  #decisionOf(binding: Binding, at: EpochMs): BindingDecision {
    const known = this.#decisions.get(binding)
    if (known) return known
    const decision = binding.decisionAt(at)
    this.#decisions.set(binding, decision)
    return decision
  }

  #find(route: Route, binding: Binding): TrackedSeries | null {
    const decision = this.#decisionOf(binding, this.versionOf(route))
    return decision.tracked.get(route.feature.id) ?? this.#tracked.get(decision)?.get(route.feature.id) ?? null
  }

  #findBudgeted(route: Route, binding: Binding): TrackedSeries[] {
    const decision = this.#decisionOf(binding, this.versionOf(route))
    return decision.budgeted.get(route.feature.id) ?? this.#budgeted.get(decision)?.get(route.feature.id) ?? []
  }
}
