import type { Fields } from './entry.js'

/** What is stored in the place of a hidden value. */
const marker = { changed: true }

/** A value that is compared and never stored. */
class Hidden {
  constructor(readonly value: unknown) {}
}

/** For names, addresses and secrets; null and undefined are stored as null: whether something is there may be known. */
export const hidden = (value: unknown): Hidden | null => (value === null || value === undefined ? null : new Hidden(value))

interface Difference {
  before: Fields | null
  after: Fields | null
}

/**
 * What an entry says: of an entity that was made all that it has, of one that is gone all that it had, else the fields that are different. Null: none is.
 * What is null, or empty, in an entity that was made or is gone is left out.
 */
export function differenceOf({ before, after }: Difference): Difference | null {
  if (!before || !after) return before || after ? { before: before && present(before), after: after && present(after) } : null
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !isSame(before[name], after[name]))
  if (names.length === 0) return null
  const pick = (of: Fields) => Object.fromEntries(names.map((name) => [name, stored(of[name])]))
  return { before: pick(before), after: pick(after) }
}

/** What two changes of an entity, one after the other in a transaction, come to. */
export function joined(first: Difference, second: Difference): Difference {
  return {
    before: first.before && second.before ? { ...second.before, ...first.before } : first.before,
    after: first.after && second.after ? { ...first.after, ...second.after } : second.after,
  }
}

const isEmpty = (value: unknown) => value === null || value === undefined || (Array.isArray(value) && value.length === 0)

const present = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (isEmpty(value) ? [] : [[name, stored(value)]])))

/** Hidden values stand at the top of what is compared, or inside of it. */
function stored(value: unknown): unknown {
  if (value instanceof Hidden) return marker
  if (Array.isArray(value)) return value.map(stored)
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, stored(inner)]))
  return value ?? null
}

/** As JSON: the order of fields says nothing. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b || (isNothing(a) && isNothing(b))) return true
  if (a instanceof Hidden && b instanceof Hidden) return isSame(a.value, b.value)
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((value, index) => isSame(value, b[index]))
  if (!isRecord(a) || !isRecord(b)) return false
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((name) => isSame(a[name], b[name]))
}

const isNothing = (value: unknown) => value === null || value === undefined

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Hidden)
