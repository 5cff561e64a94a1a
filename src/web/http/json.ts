/**
 * JSON of any size within the limits, without keeping others waiting: `JSON.parse` takes up to 250 ms for a megabyte that is made for it. So a long text is
 * parsed in pieces, each of a few milliseconds, between which others are served. A worker thread would not help: what it answers has to be read here, which takes
 * longer than parsing.
 */
import { invalidInput } from '../../kernel/problem.js'
import { turnMs, turns } from '../access/fair-turns.js'

/** Parsed at once, and the length of a piece. */
export const pieceLength = 32 * 1024
/** Of one object: growing a larger one takes longer than a turn. */
export const maxNames = 10_000

/** At once when the text is short. What it may hold is bounded by its shape (`json-shape.ts`). Fails with BAD_USER_INPUT when it is no JSON. */
export const parseJson = (text: string, owner: string): unknown =>
  text.length > pieceLength ? new PiecewiseParser(text, owner).parse() : parsePiece(text)

function parsePiece(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw notJson()
  }
}

const notJson = () => invalidInput('The body is not JSON')

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openList, closeList, openRecord, closeRecord] = [0x5b, 0x5d, 0x7b, 0x7d]
const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

/** What `JSON.parse` makes of the text: what fits into a piece is left to it, and only what is longer is taken apart here. */
class PiecewiseParser {
  #at = 0
  #depth = 0
  #turnStartedAt = 0
  /** What has been looked at beyond it is not looked at again, however deep it nests. */
  #scannedTo = 0
  #isScanInText = false
  /** Where the last comma of each object or list stands that is open there; -1: it has none yet. */
  readonly #commas: number[] = []

  /** `owner`: whose turns it takes. */
  constructor(
    readonly text: string,
    readonly owner: string,
  ) {}

  async parse(): Promise<unknown> {
    const value = await this.#value()
    this.#skipSpace()
    if (this.#at < this.text.length) throw notJson()
    return value
  }

  async #nextTurn(): Promise<void> {
    await turns.take(this.owner)
    this.#turnStartedAt = performance.now()
  }

  async #value(): Promise<unknown> {
    this.#skipSpace()
    const code = this.#code()
    if (code === openList) return this.#list()
    if (code === openRecord) return this.#record()
    return this.#scalar()
  }

  async #list(): Promise<unknown[]> {
    const list: unknown[] = []
    await this.#items(closeList, {
      piece: (text) => {
        for (const item of parsePiece(`[${text}]`) as unknown[]) list.push(item)
      },
      long: async () => {
        list.push(await this.#value())
      },
    })
    return list
  }

  async #record(): Promise<Record<string, unknown>> {
    const record: Record<string, unknown> = {}
    let names = 0
    await this.#items(closeRecord, {
      piece: (text) => {
        const part = parsePiece(`{${text}}`) as Record<string, unknown>
        for (const name of Object.keys(part)) {
          names += 1
          put(record, name, part[name])
        }
        if (names > maxNames) throw invalidInput(`An object of the body has more than ${maxNames} fields`, { limit: maxNames })
      },
      long: async () => {
        if (this.#code() !== quote) throw notJson()
        const name = this.#scalar() as string
        this.#skipSpace()
        if (this.#code() !== colon) throw notJson()
        this.#at += 1
        put(record, name, await this.#value())
      },
    })
    return record
  }

  /** Reads what stands between the brackets: runs of items that fit into a piece, and single items that do not. */
  async #items(close: number, { piece, long }: { piece: (text: string) => void; long: () => Promise<void> }): Promise<void> {
    this.#at += 1
    this.#depth += 1
    // It was not reached, or was closed with nothing but space behind it.
    if (this.#scannedTo < this.#at || this.#commas.length < this.#depth) this.#scanFromHere(-1)
    for (let isFirst = true; ; isFirst = false) {
      if (performance.now() - this.#turnStartedAt > turnMs) await this.#nextTurn()
      this.#skipSpace()
      if (isFirst && this.#code() === close) break
      const end = this.#endOfPiece()
      if (end === this.#at) throw notJson()
      if (end === null) {
        await long()
        this.#skipSpace()
      } else {
        piece(this.text.slice(this.#at, end))
        this.#at = end
      }
      if (this.#code() === close) break
      if (this.#code() !== comma) throw notJson()
      this.#at += 1
    }
    this.#at += 1
    this.#depth -= 1
    this.#scanFromHere()
  }

  /** `comma`: of the innermost that is open, when it has just begun. */
  #scanFromHere(comma?: number): void {
    this.#scannedTo = this.#at
    this.#isScanInText = false
    this.#commas.length = Math.min(this.#commas.length, comma === undefined ? this.#depth : this.#depth - 1)
    if (comma !== undefined) this.#commas.push(comma)
  }

  /** Where these items end or, when that is too far, the last comma between them; null: the first one is too long. */
  #endOfPiece(): number | null {
    // A text that is too long was read from end to end.
    if (this.#scannedTo < this.#at) this.#scanFromHere()
    const limit = Math.min(this.#at + pieceLength, this.text.length)
    if (this.#scan(limit)) return this.#scannedTo
    const comma = this.#commas[this.#depth - 1]!
    return comma >= this.#at ? comma : null
  }

  /** Answers whether the innermost that is open at the moment is closed before the limit. */
  #scan(limit: number): boolean {
    const { text } = this
    const commas = this.#commas
    let [at, isInText, isClosed] = [this.#scannedTo, this.#isScanInText, false]
    for (; at < limit && !isClosed; at++) {
      const code = text.charCodeAt(at)
      if (isInText) {
        if (code === backslash) at += 1
        else if (code === quote) isInText = false
      } else if (code === quote) isInText = true
      else if (code === openList || code === openRecord) commas.push(-1)
      else if (code === closeList || code === closeRecord) {
        isClosed = commas.length === this.#depth
        if (!isClosed) commas.pop()
      } else if (code === comma) commas[commas.length - 1] = at
    }
    this.#scannedTo = isClosed ? at - 1 : at
    this.#isScanInText = isInText
    return isClosed
  }

  #scalar(): unknown {
    const { text } = this
    let end = this.#at
    if (this.#code() === quote) end = endOfText(text, this.#at)
    else while (end < text.length && !endsScalar(text.charCodeAt(end))) end += 1
    const value = parsePiece(text.slice(this.#at, end))
    this.#at = end
    return value
  }

  #skipSpace(): void {
    let at = this.#at
    while (isSpace(this.text.charCodeAt(at))) at += 1
    this.#at = at
  }

  /** NaN at the end. */
  #code(): number {
    return this.text.charCodeAt(this.#at)
  }
}

/** Behind the quote that ends the text which begins at `start`; behind all of it when none does. A long one has few quotes, and finding them is fast. */
function endOfText(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes += 1
    if (backslashes % 2 === 0) return at + 1
  }
  return text.length
}

const endsScalar = (code: number) => code === comma || code === colon || code === closeList || code === closeRecord || isSpace(code)

/** Any name may be sent, and becomes a property like others. */
function put(record: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(record, name, { value, writable: true, enumerable: true, configurable: true })
  else record[name] = value
}
