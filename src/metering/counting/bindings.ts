/**
 * Which usage series a report or event belongs to, remembered between batches: deciding it takes the whole of what a customer holds.
 *
 * binding   a holder and what it holds, at one access version
 * decision  what it is entitled to, as series, for a stretch of time in which nothing starts or ends
 * tracked   a series known to be in the database, with the periods whose counters are known to be complete
 */
import { LRUCache } from 'lru-cache'
import { customerArchived, customerNotFound, customerResourceNotFound } from '../../customer/model/problems.js'
import type { EpochMs } from '../../kernel/clock.js'
import type { Problem } from '../../kernel/problem.js'
import { type Holder, holderKey } from '../model/holder.js'
import { type SeriesPeriod, seriesKey, seriesPeriodAt, type UsageSeries, unentitledSeries } from '../model/series.js'
import type { EntitledSeries, HeldBudgets, HeldSeries, LoadHeldSeries } from './held-series.js'

/** One counter of a series. */
export interface TrackedPeriod extends SeriesPeriod {
  /** The counter's row is in the database and contains everything, so it may be added to. */
  isComplete: boolean
  /** Of the meter that counts it; null: usage that is reported, or not known yet. */
  meterVersion: number | null
}

export interface TrackedSeries {
  id: string
  series: UsageSeries
  /** What the series measures; null: nobody is entitled. */
  entitled: EntitledSeries | null
  periods: TrackedPeriod[]
  /** Measurements are dated up to this instant: until then adding would ignore their order. */
  datedAheadUntil: EpochMs
}

export interface BindingDecision {
  /** Half-open: between the two, time alone changes nothing. */
  from: EpochMs
  until: EpochMs
  /** By feature id (ours). */
  entitled: ReadonlyMap<string, EntitledSeries>
  /** By feature id (ours); null: the resource has no series of its own for it. */
  tracked: Map<string, TrackedSeries | null>
  /** By feature id (ours): series that are counted for budgets besides. */
  budgeted: Map<string, TrackedSeries[]>
}

export class Binding {
  readonly resourceId: string | null
  readonly accessVersion: EpochMs
  /** Null: no usage is charged within a budget. */
  readonly budgets: HeldBudgets | null
  readonly #held: HeldSeries
  #decision: BindingDecision | undefined

  constructor(
    readonly holder: Holder,
    readonly customerId: string,
    held: HeldSeries,
    /** Told how many series it is entitled to whenever that is decided anew. */
    private readonly onDecided: (binding: Binding, series: number) => void,
  ) {
    this.resourceId = held.resource?.id ?? null
    this.accessVersion = held.accessVersion
    this.budgets = held.budgets
    this.#held = held
  }

  /**
   * What holds at `at`, or later where it was last asked for a later instant: the environment's clock may be far ahead of that of whoever has no version of
   * the customer yet.
   */
  decisionFrom(at: EpochMs): BindingDecision {
    return this.decisionAt(Math.max(at, this.#decision?.from ?? at))
  }

  /** What holds at `at`, which is a version given under the customer's lock and so never goes back. */
  decisionAt(at: EpochMs): BindingDecision {
    if (this.#decision && at >= this.#decision.from && at < this.#decision.until) return this.#decision
    const { until, entitled } = this.#held.decideAt(at)
    this.#decision = {
      from: at,
      until,
      entitled: new Map(entitled.map((one) => [one.feature.id, one])),
      tracked: new Map(),
      budgeted: new Map(),
    }
    this.onDecided(this, entitled.length)
    return this.#decision
  }

  /** The series of the feature that budgets of the customer's, or the resource's, own subscriptions are measured by at `at`. */
  budgetSeriesOf(featureId: string, at: EpochMs): UsageSeries[] {
    const series = this.budgets?.seriesAt(at) ?? []
    const own = series.filter((one) => one.featureId === featureId && one.resourceId === this.resourceId)
    return [...new Map(own.map((one) => [seriesKey(one), one])).values()]
  }

  /**
   * The series that this binding answers for: of a customer, the total over itself and its resources; of a resource, the one of its own
   * subscription, or null when the customer's measures it too.
   */
  seriesOf(decision: BindingDecision, featureId: string): { series: UsageSeries; entitled: EntitledSeries | null } | null {
    const entitled = decision.entitled.get(featureId) ?? null
    if (this.resourceId === null) return { series: entitled?.series ?? unentitledSeries(this.customerId, null, featureId), entitled }
    return entitled && entitled.series.resourceId === this.resourceId ? { series: entitled.series, entitled } : null
  }
}

/** The period of a tracked series that contains `at`, remembered: finding it in a time zone costs over 100 µs. */
export function periodAt({ series, entitled, periods }: TrackedSeries, at: EpochMs): TrackedPeriod {
  const known = periods.find(({ start, end }) => (start === null || start <= at) && (end === null || at < end))
  if (known) return known
  const period = { ...(entitled ? entitled.periodAt(at) : seriesPeriodAt(series, at)), isComplete: false, meterVersion: null }
  periods.unshift(period)
  return period
}

/** How many series all of them may be entitled to: some 300 bytes each. Whoever makes the catalog decides how many a customer has. */
const maxSeries = 1_000_000
/** What a binding takes beside them. */
const seriesOfOne = 10

export class Bindings {
  readonly #cache = new LRUCache<string, { binding: Binding }>({ maxSize: maxSeries })

  constructor(private readonly loadHeld: LoadHeldSeries) {}

  /**
   * The bindings of the holders, by `holderKey`; a Problem where the customer is unknown or archived, or the resource unknown, which is never
   * remembered. They may be outdated: compare their access version under the customer's lock.
   */
  async load(environmentId: string, holders: Holder[]): Promise<Map<string, Binding | Problem>> {
    const found = new Map<string, Binding | Problem>()
    const missing: Holder[] = []
    for (const holder of new Map(holders.map((holder) => [holderKey(holder), holder])).values()) {
      const cached = this.#cache.get(environmentId + holderKey(holder))?.binding
      if (cached) found.set(holderKey(holder), cached)
      else missing.push(holder)
    }
    if (missing.length === 0) return found
    for (const [index, held] of (await this.loadHeld(environmentId, missing)).entries()) {
      const holder = missing[index]!
      const key = environmentId + holderKey(holder)
      const binding = bindingOf(holder, held, (decided, series) => {
        if (this.#cache.peek(key)?.binding === decided) this.#cache.set(key, { binding: decided }, { size: seriesOfOne + series })
      })
      if (binding instanceof Binding) this.#cache.set(key, { binding }, { size: seriesOfOne })
      found.set(holderKey(holder), binding)
    }
    return found
  }

  /** The binding of the holder if it is at hand; it may be outdated. */
  cached(environmentId: string, holder: Holder): Binding | undefined {
    return this.#cache.get(environmentId + holderKey(holder))?.binding
  }

  /** The database may have lost counters that are known here. */
  forgetAll(): void {
    this.#cache.clear()
  }

  /** Forgets a binding that turned out to be outdated. */
  forget(environmentId: string, holder: Holder): void {
    this.#cache.delete(environmentId + holderKey(holder))
  }
}

function bindingOf(holder: Holder, held: HeldSeries, onDecided: (binding: Binding, series: number) => void): Binding | Problem {
  const { customer } = held
  if (!customer) return customerNotFound(holder.customerId)
  if (customer.isArchived) return customerArchived(holder.customerId)
  if (holder.resourceId !== null && !held.resource) return customerResourceNotFound(holder.customerId, holder.resourceId)
  return new Binding(holder, customer.id, held, onDecided)
}
