/** What is typed on a command line, read. */
import type { EpochMs } from '../kernel/clock.js'

/** The command line is wrong: nothing was done. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The options of a command line, by name. */
export type Values = Readonly<Record<string, string | boolean | undefined>>

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

/** The option's text; undefined when it was not given. */
export const text = (value: string | boolean | undefined): string | undefined => (typeof value === 'string' ? value : undefined)

export const overlapHelp = (what: string) => `how long the old ${what} stays valid: 30m, 24h (default), 7d; 0 for not at all`

export const overlapOf = (values: Values): number => durationMs(text(values.overlap) ?? '24h', '--overlap')

/** Null: never. */
export function expiryOf(values: Values, now: EpochMs): EpochMs | null {
  const given = text(values.expires)
  return given === undefined ? null : instantOf(given, '--expires', now)
}

export function requiredName(values: Values): string {
  const name = text(values.name)
  if (name === undefined) throw new UsageError('--name is required: say where the key is used')
  return name
}

const keyKinds = ['SERVER', 'CLIENT'] as const

export function kindOf(values: Values): (typeof keyKinds)[number] {
  const given = text(values.kind) ?? 'server'
  const kind = keyKinds.find((candidate) => candidate.toLowerCase() === given.toLowerCase())
  if (!kind) throw new UsageError(`--kind must be server or client, not "${given}"`)
  return kind
}

interface Named {
  refId: string
}

/** The environment of `--environment`, or the only one. */
export function chooseEnvironment<Environment extends Named>(all: readonly Environment[], values: Values): Environment {
  const refId = text(values.environment)
  const found = refId === undefined && all.length === 1 ? all[0] : all.find((candidate) => candidate.refId === refId)
  if (found) return found
  const known = all.length === 0 ? 'there is none yet (environment create)' : `there are: ${all.map((one) => one.refId).join(', ')}`
  throw new UsageError(refId === undefined ? `say which --environment; ${known}` : `there is no environment "${refId}"; ${known}`)
}
