import { isUtf8 } from 'node:buffer'

const nothing = Buffer.alloc(0)
const beyondOneByte = /[^\0-\xff]/

/** UTF-8 that arrives in pieces, decoded piece by piece: megabytes that are copied and decoded at once keep all others waiting. */
export class Utf8Text {
  #parts: string[] = []
  #length = 0
  #isWide = false
  /** Bytes of a character whose others are to come. */
  #rest: Buffer = nothing

  /** False: it is no UTF-8, and there is nothing more to add. */
  add(piece: Buffer): boolean {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
    const end = endOfCharacters(bytes)
    this.#rest = end === bytes.length ? nothing : bytes.subarray(end)
    const whole = end === bytes.length ? bytes : bytes.subarray(0, end)
    if (!isUtf8(whole)) return false
    const part = whole.toString('utf8')
    this.#parts.push(part)
    this.#length += part.length
    // One character beyond ISO 8859-1 makes two bytes of each.
    if (part.length !== whole.length) this.#isWide ||= beyondOneByte.test(part)
    return true
  }

  /** What it takes of memory. */
  get bytes(): number {
    return this.#isWide ? 2 * this.#length : this.#length
  }

  /** All of it; null: it ends within a character. */
  end(): string | null {
    return this.#rest.length === 0 ? this.#parts.join('') : null
  }

  /** Nobody wants it any more. */
  drop(): void {
    this.#parts = []
    this.#rest = nothing
  }
}

/** Where the last character that is there whole ends. A character has four bytes at most, and the first tells how many. */
function endOfCharacters(bytes: Buffer): number {
  for (let at = bytes.length - 1; at >= 0 && at >= bytes.length - 3; at--) {
    const byte = bytes[at]!
    if (byte < 0x80) break
    if (byte < 0xc0) continue
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    return at + length > bytes.length ? at : bytes.length
  }
  return bytes.length
}
