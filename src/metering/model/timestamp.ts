import type { EpochMs } from '../../kernel/clock.js'
import { invalidInput } from '../../kernel/problem.js'
import { aheadMs, lateDays, lateMs } from './windows.js'

/** Date, time and zone: without a zone the same text would mean another instant on another machine. */
const timestampForm = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/**
 * When a usage report or event happened, as epoch milliseconds (finer digits are cut off). Takes ISO 8601 text with date, time
 * and zone, a Date, or epoch milliseconds; `path` names the input in the message.
 * Fails with INVALID_ARGUMENT on any other text, on days that do not exist, and outside of the window: at most `aheadMs`
 * after and `lateDays` before `now`, both included; null: whenever it was.
 */
export function checkTimestamp(timestamp: string | Date | EpochMs, now: EpochMs | null, path = 'timestamp'): EpochMs {
  const at = typeof timestamp === 'string' ? parseTimestamp(timestamp) : Math.floor(Number(timestamp))
  if (Number.isNaN(at)) throw invalidInput(`${path} must be an ISO 8601 time with a zone, such as 2026-01-31T09:30:00.000Z`, { path })
  if (now === null) return at
  if (at > now + aheadMs) throw invalidInput(`${path} is more than ${aheadMs / 60_000} minutes in the future`, { path })
  if (at < now - lateMs) throw invalidInput(`${path} is more than ${lateDays} days in the past`, { path })
  return at
}

/** NaN when the text is not such a time. `Date.parse` alone takes many other forms, and reads February 30 as March 2. */
function parseTimestamp(text: string): EpochMs {
  const match = timestampForm.exec(text)
  if (match === null) return Number.NaN
  const [year, month, day] = match.slice(1, 4).map(Number) as [number, number, number]
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return Number.NaN
  return Date.parse(text)
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
