import { jsonLength } from './weight.js'

/**
 * The items in their order, as many at a time as have about `length` characters as JSON, or one more. They are taken as the pieces are, so that nobody waits
 * for all of them to be made.
 */
export function* inPieces<T>(items: Iterable<T>, length: number): Generator<T[]> {
  let [piece, taken]: [T[], number] = [[], 0]
  for (const item of items) {
    piece.push(item)
    taken += jsonLength(item, length)
    if (taken < length) continue
    yield piece
    ;[piece, taken] = [[], 0]
  }
  if (piece.length > 0) yield piece
}
