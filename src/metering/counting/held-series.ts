/**
 * What counting has to know of what a customer or resource holds. The domain that decides what is held implements it.
 *
 * held series  the usage series that holders' usage of a feature counts in, and how long that is so
 * watch        what is to be read to see whether what was counted has changed what is held
 */
import type { EpochMs } from '../../kernel/clock.js'
import type { Decimal } from '../../kernel/decimal.js'
import type { Holder } from '../model/holder.js'
import type { SeriesPeriod, UsageSeries } from '../model/series.js'
import type { AskedSeries } from './current-usage.js'

/** What the holders hold, in their order; access version and facts belong together. */
export type LoadHeldSeries = (environmentId: string, holders: readonly Holder[]) => Promise<HeldSeries[]>

export interface HeldSeries {
  /** Null: unknown. Ids are ours. */
  customer: { id: string; isArchived: boolean } | null
  /** Null: none was asked for, or it is unknown. */
  resource: { id: string } | null
  accessVersion: EpochMs
  /** What holds at `at`. Deciding it takes a while: keep the answer until it ends. */
  decideAt(at: EpochMs): SeriesDecision
  /** Null: no usage is charged within a budget. */
  budgets: HeldBudgets | null
}

/** True from the instant that it was asked for until time alone may change it. */
export interface SeriesDecision {
  until: EpochMs
  /** What the holder is entitled to, also by its customer's subscriptions; features without usage may be missing. */
  entitled: readonly EntitledSeries[]
}

/** The series that measures what the holder is entitled to. */
export interface EntitledSeries {
  /** Our id and the caller's. */
  feature: { id: string; refId: string }
  series: UsageSeries
  /** Its usage period that contains `at`; takes over 100 µs in a time zone. */
  periodAt(at: EpochMs): SeriesPeriod
}

/** More is counted then than what the holder is entitled to asks for, and what it comes to may change what is held. */
export interface HeldBudgets {
  /** What budgets are measured by at `at`. */
  seriesAt(at: EpochMs): UsageSeries[]
  /** Null: nothing of what is held depends on it. */
  watchAt(at: EpochMs): BudgetWatch | null
}

export interface BudgetWatch {
  asked: readonly AskedSeries[]
  /** Whether other things are held with this usage (by `seriesKey`) than when it was loaded what is held. */
  isCrossed(usage: ReadonlyMap<string, { currentUsage: Decimal }>): boolean
}
