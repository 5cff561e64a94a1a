/** What is typed on a command line, read. */
import type { EpochMs } from '../../kernel/clock.js'

/** The command line is wrong: nothing was done. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** A time such as `30m`, `24h`, `7d` or `0`, in milliseconds. `option` names it in the message. */
export function durationMs(given: string, option: string): number {
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(given) ?? []
  if (given === '0') return 0
  if (count === undefined || unit === undefined) throw new UsageError(`${option} must be a time such as 30m, 24h or 7d, not "${given}"`)
  return Number(count) * unitMs[unit]!
}

/** A date (`2030-01-31`: its beginning in UTC), an instant with its zone, or a time from now. */
export function instantOf(given: string, option: string, now: EpochMs): EpochMs {
  if (/^\d+[a-z]$/.test(given)) return now + durationMs(given, option)
  const isInstant = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/.test(given)
  const at = isInstant ? Date.parse(given) : Number.NaN
  if (Number.isNaN(at)) throw new UsageError(`${option} must be a time such as 90d or a date such as 2030-01-31T00:00:00Z, not "${given}"`)
  return at
}
