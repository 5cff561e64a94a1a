import { inPieces } from '../../kernel/pieces.js'

/** Lists by name, as they go from one thread to another: in pieces, as an object is copied in one step where it is sent and where it is taken. */
export type Lists = Record<string, unknown[]>

/** Some of the items of a list. */
export type Piece = [name: string, items: unknown[]]

/** Characters as JSON: copied in a millisecond. */
const pieceLength = 64_000

/** A list without items has no piece. */
export function* piecesOf(lists: Lists): Generator<Piece> {
  for (const [name, items] of Object.entries(lists)) for (const piece of inPieces(items, pieceLength)) yield [name, piece]
}

export function addPiece(lists: Lists, [name, items]: Piece): void {
  lists[name] ??= []
  for (const item of items) lists[name].push(item)
}
