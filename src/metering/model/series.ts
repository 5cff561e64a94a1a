/**
 * A usage series: reports that add up together. It is named by whose usage it is, of which feature, and how that is reset. A change of any of
 * these begins another series, so usage is never carried from one rule to another by accident.
 */
import type { EpochMs } from '../../kernel/clock.js'
import { type ResetPeriod, type ResetRule, usagePeriodAt } from './usage-period.js'

/** Ids are ours. */
export interface UsageSeries {
  customerId: string
  /** Null: the customer's total over itself and all its resources. */
  resourceId: string | null
  featureId: string
  /** Null: never reset, and then rule and time zone are null too. */
  resetPeriod: ResetPeriod | null
  resetRule: ResetRule | null
  /** Nothing before it counts; null: everything counts (Fluctuating usage, and usage without an entitlement). */
  anchor: EpochMs | null
  timeZone: string | null
}

/** Half-open; null where usage is never reset. */
export interface SeriesPeriod {
  start: EpochMs | null
  end: EpochMs | null
}

/** The usage period of the series that contains `at`. */
export function seriesPeriodAt(series: UsageSeries, at: EpochMs): SeriesPeriod {
  const { resetPeriod: period, resetRule: rule, anchor, timeZone } = series
  if (period === null || rule === null || anchor === null || timeZone === null) return { start: null, end: null }
  return usagePeriodAt({ period, rule, anchor, timeZone, at })
}

/** Where the usage of a period of the series begins: nothing before the anchor counts, also in a period that begins before it. */
export function startOfRange({ anchor }: Pick<UsageSeries, 'anchor'>, period: SeriesPeriod): EpochMs | null {
  return anchor === null || (period.start !== null && period.start > anchor) ? period.start : anchor
}

/** What the usage of a customer without an entitlement to the feature adds up to: a lifetime sum. */
export function unentitledSeries(customerId: string, resourceId: string | null, featureId: string): UsageSeries {
  return { customerId, resourceId, featureId, resetPeriod: null, resetRule: null, anchor: null, timeZone: null }
}

/** The same text for the same series, and for no other. */
export function seriesKey(series: UsageSeries): string {
  const { customerId, resourceId, featureId, resetPeriod, resetRule, anchor, timeZone } = series
  return `${customerId}|${resourceId}|${featureId}|${resetPeriod}|${resetRule}|${anchor}|${timeZone}`
}
