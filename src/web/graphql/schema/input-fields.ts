import { invalidInput } from '../../../kernel/problem.js'

/** Reading fields that several inputs share. */

/** Absent: undefined (leave it), null: clear it. Anything but an object is refused. */
export function fromMetaData(value: unknown): Record<string, unknown> | null | undefined {
  if (value === undefined || value === null) return value
  if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>
  throw invalidInput('additionalMetaData must be an object', { path: 'additionalMetaData' })
}

/**
 * The one value that an input carries under its present and its older name; null when it carries none.
 * Fails with INVALID_ARGUMENT when the two differ.
 */
export function sameValue<T extends string | number>(names: Readonly<Record<string, T | null | undefined>>): T | null {
  const given = Object.entries(names).filter(([, value]) => value !== null && value !== undefined)
  if (new Set(given.map(([, value]) => value)).size > 1)
    throw invalidInput(`${given.map(([name]) => name).join(' and ')} mean the same: send one of them, or the same value`)
  return given[0]?.[1] ?? null
}
