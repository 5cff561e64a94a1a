/**
 * What values weigh, for whoever keeps what others chose the size of. Estimates that cost a walk; tests compare them with the heap of Node.
 */

/** Objects begin with three pointers, and a double or a text outside of them with two. */
const pointerBytes = 8
const objectBytes = 3 * pointerBytes
const arrayBytes = 6 * pointerBytes
const boxedBytes = 2 * pointerBytes
/** In data read from JSON, texts of up to ten characters are there once, however many places have them. */
const sharedLength = 10
const sharedBytes = 4
/** From this length on it is worth looking whether a text needs two bytes a character. */
const longText = 64
const beyondOneByte = /[^\0-\xff]/

/** Memory that a text takes: two bytes for each character as soon as one of them is beyond ISO 8859-1. */
export function textBytes(text: string): number {
  const perCharacter = text.length >= longText && beyondOneByte.test(text) ? 2 : 1
  return boxedBytes + aligned(perCharacter * text.length)
}

/** Memory that plain data takes when it shares nothing. */
export function heapBytes(value: unknown): number {
  if (typeof value === 'string') return value.length <= sharedLength ? sharedBytes : textBytes(value)
  if (typeof value === 'number') return isSmall(value) ? 0 : boxedBytes
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) return value.reduce<number>((bytes, item) => bytes + pointerBytes + heapBytes(item), arrayBytes)
  let bytes = objectBytes
  for (const name in value) bytes += pointerBytes + heapBytes((value as Record<string, unknown>)[name])
  return bytes
}

/**
 * About as many characters as the value has as JSON; what has to be escaped counts once. Stops counting when there are more than `enough`.
 */
export function jsonLength(value: unknown, enough = Number.POSITIVE_INFINITY): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value === 'number') return 8
  if (typeof value !== 'object' || value === null) return value === undefined ? 0 : 5
  if (value instanceof Date) return 26
  let length = 2
  if (Array.isArray(value)) {
    for (const item of value) {
      if (length > enough) return length
      length += 1 + jsonLength(item, enough - length)
    }
    return length
  }
  for (const name in value) {
    if (length > enough) return length
    const item = (value as Record<string, unknown>)[name]
    if (item !== undefined) length += name.length + 4 + jsonLength(item, enough - length)
  }
  return length
}

const isSmall = (value: number): boolean => Number.isInteger(value) && Math.abs(value) < 2 ** 31

const aligned = (bytes: number): number => Math.ceil(bytes / pointerBytes) * pointerBytes
