import { type GraphQLInputType, isInputObjectType, isLeafType, isListType, isNonNullType } from 'graphql'

/** Stands for a value that is not exactly what its type says. */
export const unread = Symbol('unread')

/** A value as graphql-js coerces it, or `unread`. */
type Read = (value: unknown) => unknown

/**
 * Reads values of a type as graphql-js coerces them, with the type's own rules for leaves, in a tenth of the time: what costs there is to find the words
 * for what may be wrong. What is wrong is `unread` here, and so is what only graphql-js need understand: one item in place of a list, and defaults.
 * How much there is has been looked at before (`operations/input-bounds.ts`).
 */
export function readerOf(type: GraphQLInputType): Read {
  if (!isNonNullType(type)) {
    const read = readerOfPresent(type)
    return (value) => (value === null || value === undefined ? value : read(value))
  }
  const read = readerOfPresent(type.ofType)
  return (value) => (value === null || value === undefined ? unread : read(value))
}

/** Of values that are neither null nor absent. */
function readerOfPresent(type: GraphQLInputType): Read {
  if (isListType(type)) {
    const readItem = readerOf(type.ofType)
    return (value) => (Array.isArray(value) ? readAll(value, readItem) : unread)
  }
  if (isLeafType(type)) return (value) => readLeaf(value, type)
  if (!isInputObjectType(type)) throw new Error(`not a type of input: ${type}`)
  const fields = Object.values(type.getFields())
  // With a default, absent is not absent.
  if (fields.some(({ defaultValue }) => defaultValue !== undefined)) return () => unread
  const readers = new Map(fields.map((field) => [field.name, readerOf(field.type)]))
  const required = fields.filter(({ type }) => isNonNullType(type)).map(({ name }) => name)
  return (value) => readFields(value, readers, required)
}

function readAll(values: readonly unknown[], read: Read): unknown {
  const all: unknown[] = []
  for (const value of values) {
    const item = read(value)
    if (item === unread || item === undefined) return unread
    all.push(item)
  }
  return all
}

function readFields(value: unknown, readers: ReadonlyMap<string, Read>, required: readonly string[]): unknown {
  if (typeof value !== 'object' || Array.isArray(value)) return unread
  const given = value as Record<string, unknown>
  const input: Record<string, unknown> = {}
  for (const name in given) {
    const field = readers.get(name)?.(given[name])
    // Undefined: the type has no such field.
    if (field === unread || field === undefined) return unread
    input[name] = field
  }
  for (const name of required) if (input[name] === undefined) return unread
  return input
}

function readLeaf(value: unknown, type: { parseValue(value: unknown): unknown }): unknown {
  try {
    const leaf = type.parseValue(value)
    return leaf === undefined ? unread : leaf
  } catch {
    return unread
  }
}
