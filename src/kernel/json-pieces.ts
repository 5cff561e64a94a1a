import { jsonLength } from './weight.js'

/** JSON of about this many characters is written in one step: less than a millisecond, or three where each name is another one. */
export const atOnceLength = 128 * 1024

/** Parts of the JSON of a value in their order, none of many more characters than are written at once, unless it is one long text. */
export function* jsonPieces(value: unknown): Generator<string> {
  const isWritten = typeof value !== 'object' || value === null || typeof (value as { toJSON?: unknown }).toJSON === 'function'
  if (isWritten || jsonLength(value, atOnceLength) <= atOnceLength) yield JSON.stringify(value) ?? 'null'
  else if (Array.isArray(value)) {
    yield '['
    for (const [index, item] of value.entries()) {
      if (index > 0) yield ','
      yield* jsonPieces(item)
    }
    yield ']'
  } else {
    yield '{'
    let separator = ''
    for (const [name, item] of Object.entries(value)) {
      if (item === undefined) continue
      yield `${separator}${JSON.stringify(name)}:`
      yield* jsonPieces(item)
      separator = ','
    }
    yield '}'
  }
}

/** What `jsonLength` says of a value, in parts: to find out each takes no longer than what is written at once, unless one object has very many names. */
export function* jsonLengths(value: unknown): Generator<number> {
  const whole = jsonLength(value, atOnceLength)
  if (whole <= atOnceLength || typeof value !== 'object' || value === null) return yield whole
  yield 2
  let length = 0
  if (Array.isArray(value))
    for (const item of value) {
      length += 1
      if (isObject(item)) yield* jsonLengths(item)
      else length += jsonLength(item)
    }
  else
    for (const [name, item] of Object.entries(value)) {
      if (item === undefined) continue
      length += name.length + 4
      if (isObject(item)) yield* jsonLengths(item)
      else length += jsonLength(item)
    }
  yield length
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null
