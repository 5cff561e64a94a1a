import { GraphQLError } from 'graphql'
import { atOnceLength, jsonLengths, jsonPieces } from '../../../kernel/json-pieces.js'
import { invalidInput, type Problem } from '../../../kernel/problem.js'
import { jsonLength } from '../../../kernel/weight.js'
import { turnMs } from '../../access/fair-turns.js'

/** Characters from which on what has been written is encoded. */
const pieceLength = 64 * 1024

/** Of the answer to a request, of all its operations. A page of 100 subscriptions with plans, prices and customers has about 1 MB. */
export const maxAnswerBytes = 8 * 2 ** 20

/**
 * The room that an answer has, or all those to one request together. What is counted while an answer is made keeps it from being loaded whole before it is
 * refused; its text is counted as it is written.
 */
export class AnswerRoom {
  #valueBytes = 0
  #textBytes = 0
  /** Of values that were counted: one may be in many places. */
  #weights: Map<object, number> | undefined
  /** Ends when all that waits to be counted is. */
  #weighing: Promise<void> | undefined
  #turnEndsAt = 0
  /** One for all that is left, with a place: of an error without one graphql-js makes another for each field, which takes longer than the answer had. */
  #refusal: GraphQLError | undefined

  /**
   * Counts a value of any size that is to be part of the answer: at once as long as that is short work, else in turns, which the promise waits for. Fails when
   * there is no room for it.
   */
  takeValue(value: unknown, nextTurn: () => Promise<void>): Promise<void> | undefined {
    if (this.isExceeded) throw this.#refuse()
    if (typeof value !== 'object' || value === null) return void this.#count(jsonLength(value))
    const known = this.#weights?.get(value)
    if (known !== undefined) return void this.#count(known)
    const length = this.#valueBytes < atOnceLength ? jsonLength(value, atOnceLength) : Number.POSITIVE_INFINITY
    if (length > atOnceLength) return this.#takeInTurns(value, nextTurn)
    this.#remember(value, length)
    this.#count(length)
    return undefined
  }

  /** One value after the other, so that a turn has more than one of them. */
  #takeInTurns(value: object, nextTurn: () => Promise<void>): Promise<void> {
    const taken = (this.#weighing ?? Promise.resolve()).then(async () => {
      let length = 0
      const known = this.#weights?.get(value)
      const parts = known === undefined ? jsonLengths(value) : [known]
      if (this.isExceeded) throw this.#refuse()
      if (performance.now() >= this.#turnEndsAt) await this.#turn(nextTurn)
      for (const part of parts) {
        length += part
        this.#count(part)
        if (performance.now() >= this.#turnEndsAt) await this.#turn(nextTurn)
      }
      this.#remember(value, length)
    })
    this.#weighing = taken.catch(() => undefined)
    return taken
  }

  async #turn(nextTurn: () => Promise<void>): Promise<void> {
    await nextTurn()
    this.#turnEndsAt = performance.now() + turnMs
  }

  #remember(value: object, length: number): void {
    this.#weights ??= new Map()
    this.#weights.set(value, length)
  }

  #count(bytes: number): void {
    this.#valueBytes += bytes
    if (this.#valueBytes > maxAnswerBytes) throw this.#refuse()
  }

  #refuse(): GraphQLError {
    if (!this.#refusal) {
      const problem = answerTooLarge()
      this.#refusal = new GraphQLError(problem.message, { originalError: problem, path: [] })
    }
    return this.#refusal
  }

  /** Counts bytes of the text. Fails when there is no room for them. */
  takeText(bytes: number): void {
    this.#textBytes += bytes
    if (this.#textBytes > maxAnswerBytes) throw answerTooLarge()
  }

  /** About as much as the values that were counted have as text. */
  get valueBytes(): number {
    return this.#valueBytes
  }

  /** Whether more was to be part of the answer than there is room for. */
  get isExceeded(): boolean {
    return this.#valueBytes > maxAnswerBytes || this.#textBytes > maxAnswerBytes
  }
}

/** `isChange`: what was asked for is done, and only the answer is refused. */
export function answerTooLarge(isChange = false): Problem {
  const advice = 'ask for shorter pages, or for fewer fields, aliases or operations.'
  const message = `The answer is larger than ${maxAnswerBytes} bytes: ${advice}${isChange ? ' What the mutation changed stays changed.' : ''}`
  return invalidInput(message, { limit: maxAnswerBytes })
}

/** Plain data as JSON; what is long is written in turns. Fails when there is no room for it. */
export function textOf(value: object, room: AnswerRoom, nextTurn: () => Promise<void>): string | Promise<Buffer[]> {
  return shortTextOf(value, room) ?? longTextOf(value, room, nextTurn)
}

/** What has no more fields than these is short, but for its JSON: all other leaves have hundreds of characters, and some a few thousand. */
export const fewFields = 50

/** Plain data as JSON; null: it is long. `isOfFew`: it has few fields, and the JSON in it was counted. Fails when there is no room for it. */
export function shortTextOf(value: object, room: AnswerRoom, { isOfFew = false } = {}): string | null {
  const isShort = (isOfFew && room.valueBytes < atOnceLength / 2) || jsonLength(value, atOnceLength) <= atOnceLength
  if (!isShort) return null
  const text = JSON.stringify(value)
  room.takeText(Buffer.byteLength(text))
  return text
}

/** Plain data as JSON, written in turns, between which all others are served. Fails when there is no room for it. */
export async function longTextOf(value: object, room: AnswerRoom, nextTurn: () => Promise<void>): Promise<Buffer[]> {
  const pieces: Buffer[] = []
  let text = ''
  const encode = () => {
    const piece = Buffer.from(text)
    room.takeText(piece.length)
    pieces.push(piece)
    text = ''
  }
  let startedAt = performance.now()
  for (const part of jsonPieces(value)) {
    text += part
    if (text.length >= pieceLength) encode()
    if (performance.now() - startedAt < turnMs) continue
    await nextTurn()
    startedAt = performance.now()
  }
  encode()
  return pieces
}
