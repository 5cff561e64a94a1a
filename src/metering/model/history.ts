import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { type ResetPeriod, type ResetRule, usagePeriodAt } from './usage-period.js'
import { dayMs } from './windows.js'

/**
 * Usage over time, as a line: where it stood at the end of each slice since it last started again.
 *
 * slice   the stretch between two cuts: an hour, a day, a week or a month of the customer's time zone, cut also where usage is reset
 */

export type Granularity = 'HOUR' | 'DAY' | 'WEEK' | 'MONTH'

export interface HistoryReset {
  period: ResetPeriod
  rule: ResetRule
  anchor: EpochMs
  timeZone: string
}

export interface HistorySlice {
  start: EpochMs
  /** Usage starts again at its beginning. */
  isReset: boolean
  /** Index in `resets`; -1: usage is never reset. */
  period: number
}

export interface HistoryPlan {
  slices: HistorySlice[]
  end: EpochMs
  /** Where usage is counted from, for the first slice; null: from ever. */
  from: EpochMs | null
  resets: EpochMs[]
}

/** A line has at most about this many points. */
const finest: [Granularity, maxMs: number][] = [
  ['HOUR', 7 * dayMs],
  ['DAY', 200 * dayMs],
  ['WEEK', 800 * dayMs],
]
const maxSlices = 2_000

/** The finest steps that give a readable line. */
export function granularityOf(start: EpochMs, end: EpochMs): Granularity {
  return finest.find(([, maxMs]) => end - start <= maxMs)?.[0] ?? 'MONTH'
}

const calendarRules: Readonly<Record<ResetPeriod, ResetRule>> = {
  HOUR: 'SubscriptionStart',
  DAY: 'SubscriptionStart',
  WEEK: 'EveryMonday',
  MONTH: 'StartOfTheMonth',
  YEAR: 'SubscriptionStart',
}

/** Periods of the calendar: full hours, days, weeks from Monday, months and years, as clocks in the time zone show them. */
export function calendarPeriods(period: ResetPeriod, timeZone: string, near: EpochMs): HistoryReset {
  const rule = calendarRules[period]
  // A local midnight (and so a local full hour) of a month's first day to lay them out from.
  const month = usagePeriodAt({ period: 'MONTH', rule: 'StartOfTheMonth', anchor: near, timeZone, at: near }).start
  if (period !== 'YEAR') return { period, rule, anchor: month, timeZone }
  const [year] = new Intl.DateTimeFormat('en', { year: 'numeric', timeZone }).format(near).split('/')
  const inJanuary = Date.UTC(Number(year), 0, 15)
  const january = usagePeriodAt({ period: 'MONTH', rule: 'StartOfTheMonth', anchor: near, timeZone, at: inJanuary }).start
  return { period, rule, anchor: january, timeZone }
}

/**
 * Null when the range has too many slices to be answered. `reset` null: usage is never reset. `granularity` null: one slice for each time that usage is
 * reset.
 */
export function planHistory(
  { start, end, granularity, timeZone }: { start: EpochMs; end: EpochMs; granularity: Granularity | null; timeZone: string },
  reset: HistoryReset | null,
): HistoryPlan | null {
  const stepsBy = granularity === null ? reset! : calendarPeriods(granularity, timeZone, start)
  const steps = boundaries(stepsBy, start, end)
  const resets = reset ? boundaries(reset, start, end) : []
  if (!steps || !resets) return null
  const cuts = [...new Set([...steps, ...resets.filter((at) => at > steps[0]!)])].sort((a, b) => a - b)
  if (cuts.length > maxSlices) return null
  const isReset = new Set(resets)
  const slices = cuts.map((cut) => ({
    start: cut,
    isReset: isReset.has(cut),
    period: resets.findLastIndex((at) => at <= Math.max(cut, start)),
  }))
  return { slices, end, from: resets[0] ?? null, resets }
}

/** Starts of the periods that touch [start, end); the first may be before it. */
function boundaries(rule: HistoryReset, start: EpochMs, end: EpochMs): EpochMs[] | null {
  const found: EpochMs[] = []
  for (let at = start; at < end; ) {
    const period = usagePeriodAt({ ...rule, at })
    found.push(period.start)
    if (found.length > maxSlices) return null
    at = period.end
  }
  return found
}

export interface HistoryPoint {
  at: EpochMs
  value: decimal.Decimal
  isReset: boolean
}

/** What one part has at the end of a slice in which it had usage. */
export interface SliceUsage {
  part: string
  cut: number
  period: number
  usage: decimal.Decimal
  events: number
}

/** The line. A part keeps what it had until it has usage again or usage starts again. */
export function drawLine(plan: HistoryPlan, aggregation: 'SUM' | 'MAX' | 'MIN' | 'AVG', usages: SliceUsage[]): HistoryPoint[] {
  const bySlice = new Map<number, SliceUsage[]>()
  for (const usage of usages) bySlice.set(usage.cut, [...(bySlice.get(usage.cut) ?? []), usage])
  const held = new Map<string, SliceUsage>()
  const take = (usage: SliceUsage) => {
    const before = held.get(usage.part)
    if (!before || before.period <= usage.period) held.set(usage.part, usage)
  }
  // What was before the first cut.
  for (const usage of bySlice.get(-1) ?? []) take(usage)
  return plan.slices.map(({ start, isReset, period }, index) => {
    for (const usage of bySlice.get(index) ?? []) take(usage)
    const parts = [...held.values()].filter((usage) => usage.period === period)
    return { at: start, value: together(aggregation, parts), isReset }
  })
}

function together(aggregation: 'SUM' | 'MAX' | 'MIN' | 'AVG', parts: SliceUsage[]): decimal.Decimal {
  const counted = aggregation === 'SUM' ? parts : parts.filter(({ events }) => events > 0)
  if (counted.length === 0) return decimal.zero
  const usages = counted.map(({ usage }) => usage)
  if (aggregation === 'MAX') return usages.reduce(decimal.max)
  if (aggregation === 'MIN') return usages.reduce((a, b) => (decimal.compare(a, b) < 0 ? a : b))
  const sum = usages.reduce(decimal.add)
  return aggregation === 'SUM' ? sum : decimal.divide(sum, decimal.fromNumber(counted.reduce((all, { events }) => all + events, 0)))
}
