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
