/**
 * Usage periods: the windows in which the usage of a metered entitlement adds up.
 *
 * period       [start, end): the end is exclusive and is the start of the next one; every instant is in exactly one period
 * anchor       the instant that a series of periods is laid out from, in both directions
 * reset rule   what a period starts at: the anchor's own date and time of day, or a local midnight whatever the anchor is
 *
 * Start n is always computed from the anchor, never from start n-1: monthly from January 31 is February 28, March 31, April 30.
 */
import { createRequire } from 'node:module'
import type { EpochMs } from '../../kernel/clock.js'

export type ResetPeriod = 'HOUR' | 'DAY' | 'WEEK' | 'MONTH' | 'YEAR'

export type ResetRule =
  | 'SubscriptionStart'
  | 'StartOfTheMonth'
  | 'EverySunday'
  | 'EveryMonday'
  | 'EveryTuesday'
  | 'EveryWednesday'
  | 'EveryThursday'
  | 'EveryFriday'
  | 'EverySaturday'

/** The rules that make sense for each period; the first is the default. */
export const resetRules: Readonly<Record<ResetPeriod, readonly ResetRule[]>> = {
  HOUR: ['SubscriptionStart'],
  DAY: ['SubscriptionStart'],
  WEEK: [
    'SubscriptionStart',
    'EverySunday',
    'EveryMonday',
    'EveryTuesday',
    'EveryWednesday',
    'EveryThursday',
    'EveryFriday',
    'EverySaturday',
  ],
  MONTH: ['SubscriptionStart', 'StartOfTheMonth'],
  YEAR: ['SubscriptionStart'],
}

/** Loaded when the first zone other than UTC is met: readers that meet none, such as the sidecar, do without its memory. */
let loaded: typeof import('temporal-polyfill') | undefined
function temporal(): typeof import('temporal-polyfill').Temporal {
  loaded ??= createRequire(import.meta.url)('temporal-polyfill') as typeof import('temporal-polyfill')
  return loaded.Temporal
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Of the Gregorian calendar, whose years repeat after 400. */
const averageYearMs = 365.2425 * dayMs

type CalendarStep = ({ days: number } | { months: number }) & { averageMs: number }

/** How far apart starts are on the local calendar. */
const calendarSteps: Readonly<Record<Exclude<ResetPeriod, 'HOUR'>, CalendarStep>> = {
  DAY: { days: 1, averageMs: dayMs },
  WEEK: { days: 7, averageMs: 7 * dayMs },
  MONTH: { months: 1, averageMs: averageYearMs / 12 },
  YEAR: { months: 12, averageMs: averageYearMs },
}

/** 1970-01-04 (local midnight read as UTC), and so on to Saturday, January 10. */
const weekdayOrigins: Partial<Record<ResetRule, number>> = {
  EverySunday: 3 * dayMs,
  EveryMonday: 4 * dayMs,
  EveryTuesday: 5 * dayMs,
  EveryWednesday: 6 * dayMs,
  EveryThursday: 7 * dayMs,
  EveryFriday: 8 * dayMs,
  EverySaturday: 9 * dayMs,
}

/**
 * The period that contains `at`, which may be before the anchor. `timeZone` is an IANA name; hours are absolute and do not use it,
 * days and longer follow its local time. A local time that does not exist is moved on by the length of the gap, one that exists
 * twice is the first of the two; only the anchor is an instant already, so the period it starts begins exactly there. So each local
 * day has exactly one daily reset, but for the odd zone whose clocks jump over the hour before midnight (Nuuk): a reset in that hour
 * falls on the morning after.
 *
 * Costs up to a microsecond in UTC and tens to hundreds of them elsewhere, near and far from the anchor alike: keep the answer while it
 * contains the time in question. Fails with a RangeError on an unknown time zone and on a rule that is not one of the period's.
 */
export function usagePeriodAt(input: { period: ResetPeriod; rule: ResetRule; anchor: EpochMs; timeZone: string; at: EpochMs }): {
  start: EpochMs
  end: EpochMs
} {
  const { period, rule, at } = input
  if (!resetRules[period].includes(rule)) throw new RangeError(`reset rule ${rule} does not go with the period ${period}`)
  if (period === 'HOUR') {
    const start = input.anchor + Math.floor((at - input.anchor) / hourMs) * hourMs
    return { start, end: start + hourMs }
  }
  const step = calendarSteps[period]
  const { origin, startOf } = layOut(step, input)
  // Reading `at` as if it were local is wrong by a day at most, and starts are within five days of where average months put them: the loops take a step or none.
  let n = Math.floor((at - origin) / step.averageMs)
  let start = startOf(n)
  while (at < start) {
    n -= 1
    start = startOf(n)
  }
  let end = start
  do {
    start = end
    n += 1
    end = startOf(n)
  } while (at >= end)
  return { start, end }
}

/** The local time (as if it were UTC) that period 0 starts at, and the instant that period n starts at. */
function layOut(step: CalendarStep, { rule, anchor, timeZone }: { rule: ResetRule; anchor: EpochMs; timeZone: string }) {
  const origin = rule === 'StartOfTheMonth' ? 0 : (weekdayOrigins[rule] ?? toLocal(anchor, timeZone))
  const startOf = (n: number): EpochMs => {
    // The anchor is an instant; going through local time and back would move it when its local time exists twice.
    if (n === 0 && rule === 'SubscriptionStart') return anchor
    return fromLocal('days' in step ? origin + n * step.days * dayMs : addMonths(origin, n * step.months), timeZone)
  }
  return { origin, startOf }
}

const utcNames: ReadonlySet<string> = new Set(['UTC', 'Etc/UTC'])

/** What a wall clock in the zone shows at `at`, as if it were UTC. */
function toLocal(at: EpochMs, timeZone: string): number {
  if (utcNames.has(timeZone)) return at
  return at + temporal().Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone).offsetNanoseconds / 1e6
}

/** The instant at which a wall clock in the zone shows `local`: Temporal's `compatible` for times that do not exist or exist twice. */
function fromLocal(local: number, timeZone: string): EpochMs {
  if (utcNames.has(timeZone)) return local
  const wallClock = temporal().Instant.fromEpochMilliseconds(local).toZonedDateTimeISO('UTC').toPlainDateTime()
  return wallClock.toZonedDateTime(timeZone, { disambiguation: 'compatible' }).epochMilliseconds
}

/** The same day and time of day `months` later; the last day of the month where that day does not exist. */
function addMonths(local: number, months: number): number {
  const date = new Date(local)
  const day = date.getUTCDate()
  date.setUTCMonth(date.getUTCMonth() + months, 1)
  const lastDay = new Date(date).setUTCMonth(date.getUTCMonth() + 1, 0)
  return date.setUTCDate(Math.min(day, new Date(lastDay).getUTCDate()))
}
