import type { EpochMs } from './clock.js'

const dayMs = 86_400_000
/** Times before or after have years of another length, or are none: those are left to the platform. */
const [firstMs, lastMs] = [0, Date.UTC(9999, 11, 31, 23, 59, 59, 999)]
/** From the first of March of the year 0, when the calendar's cycle of 400 years begins, to 1970. */
const daysBefore1970 = 719_468
const daysPerCycle = 146_097

const padded = (count: number, width: number) => Array.from({ length: count }, (_, n) => String(n).padStart(width, '0'))
const two = padded(100, 2)
const three = padded(1_000, 3)

/**
 * What `Date.prototype.toISOString` makes of the time, in a third of its time: an answer about entitlements has five of them for each. Fails with RangeError for
 * what is no time.
 */
export function isoTime(at: EpochMs): string {
  if (!(at >= firstMs && at <= lastMs)) return new Date(at).toISOString()
  const whole = Math.floor(at)
  const ms = whole % dayMs
  const seconds = Math.floor(ms / 1_000)
  const minutes = Math.floor(seconds / 60)
  const time = `${two[Math.floor(minutes / 60)]}:${two[minutes % 60]}:${two[seconds % 60]}.${three[ms % 1_000]}`
  return `${isoDay(Math.floor(whole / dayMs))}T${time}Z`
}

export const isoOrNull = (at: EpochMs | null): string | null => (at === null ? null : isoTime(at))

/** `day`: since 1970. Years begin in March here, so that the day that some of them have more is their last. */
function isoDay(day: number): string {
  const days = day + daysBefore1970
  const cycle = Math.floor(days / daysPerCycle)
  const dayOfCycle = days % daysPerCycle
  const yearOfCycle = Math.floor(
    (dayOfCycle - Math.floor(dayOfCycle / 1_460) + Math.floor(dayOfCycle / 36_524) - Math.floor(dayOfCycle / 146_096)) / 365,
  )
  const dayOfYear = dayOfCycle - (365 * yearOfCycle + Math.floor(yearOfCycle / 4) - Math.floor(yearOfCycle / 100))
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const dayOfMonth = dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
  const year = cycle * 400 + yearOfCycle + (month <= 2 ? 1 : 0)
  return `${year}-${two[month]}-${two[dayOfMonth]}`
}
