import { isAscii, isUtf8 } from 'node:buffer'

/** Longer texts are put together in memory that others have used before: what is new takes longer to have than to fill. */
export const longBytes = 256 * 1024
/** Doubled four times it holds the largest body. */
const smallestBuffer = 320 * 1024
/** Kept for the next ones. */
const maxKeptBytes = 10 * 1024 * 1024

/** Memory for long texts, of sizes that double. */
class Buffers {
  readonly #kept = new Map<number, Buffer[]>()
  #keptBytes = 0

  /** Holds what any text before it has left. */
  take(size: number): Buffer {
    const kept = this.#kept.get(size)?.pop()
    if (!kept) return Buffer.allocUnsafeSlow(size)
    this.#keptBytes -= size
    return kept
  }

  giveBack(buffer: Buffer): void {
    const { length } = buffer
    if (this.#keptBytes + length > maxKeptBytes) return
    this.#keptBytes += length
    const kept = this.#kept.get(length)
    if (kept) kept.push(buffer)
    else this.#kept.set(length, [buffer])
  }
}

const buffers = new Buffers()

/** All of it; null: it is no UTF-8. */
export const utf8TextOf = (bytes: Buffer): string | null => (isAscii(bytes) ? bytes.toString('latin1') : decoded(bytes))

const decoded = (bytes: Buffer): string | null => (isUtf8(bytes) ? bytes.toString('utf8') : null)

/** UTF-8 that arrives in pieces. */
export class Utf8Text {
  /** Of a text that is not long. */
  #pieces: Buffer[] = []
  /** Of one that is; taken from `buffers`, so it must be given back. */
  #buffer: Buffer | null = null
  #length = 0
  #isAscii = true

  add(piece: Buffer): void {
    this.#isAscii &&= isAscii(piece)
    const length = this.#length + piece.length
    if (length > longBytes) {
      if (length > (this.#buffer?.length ?? 0)) this.#grow(length)
      piece.copy(this.#buffer!, this.#length)
    } else this.#pieces.push(piece)
    this.#length = length
  }

  #grow(length: number): void {
    let size = smallestBuffer
    while (size < length) size *= 2
    const larger = buffers.take(size)
    let at = 0
    for (const piece of this.#pieces) at += piece.copy(larger, at)
    this.#pieces = []
    this.#buffer?.copy(larger, 0, 0, this.#length)
    this.#giveBack()
    this.#buffer = larger
  }

  /** What it takes of memory, as it is or decoded: one character beyond ISO 8859-1 makes two bytes of each, and other ones are not told from it. */
  get bytes(): number {
    return this.#isAscii ? this.#length : 2 * this.#length
  }

  /** All of it; null: it is no UTF-8. There is nothing more to add. */
  end(): string | null {
    const bytes = this.#buffer?.subarray(0, this.#length) ?? (this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces))
    const text = this.#isAscii ? bytes.toString('latin1') : decoded(bytes)
    this.drop()
    return text
  }

  /** Nobody wants it any more. */
  drop(): void {
    this.#pieces = []
    this.#giveBack()
  }

  #giveBack(): void {
    if (this.#buffer) buffers.giveBack(this.#buffer)
    this.#buffer = null
  }
}
