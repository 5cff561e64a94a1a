import { atOnceLength, jsonPieces } from '../../../kernel/json-pieces.js'
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

  /** Counts a value of any size that is to be part of the answer. Fails when there is no room for it. */
  takeValue(value: unknown): void {
    this.#valueBytes += jsonLength(value)
    if (this.#valueBytes > maxAnswerBytes) throw answerTooLarge()
  }

  /** Counts bytes of the text. Fails when there is no room for them. */
  takeText(bytes: number): void {
    this.#textBytes += bytes
    if (this.#textBytes > maxAnswerBytes) throw answerTooLarge()
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

/** Plain data as JSON; what is large is written in turns, between which all others are served. Fails when there is no room for it. */
export function textOf(value: object, room: AnswerRoom, nextTurn: () => Promise<void>): string | Promise<Buffer[]> {
  if (jsonLength(value, atOnceLength) > atOnceLength) return inPieces(value, room, nextTurn)
  const text = JSON.stringify(value)
  room.takeText(Buffer.byteLength(text))
  return text
}

async function inPieces(value: object, room: AnswerRoom, nextTurn: () => Promise<void>): Promise<Buffer[]> {
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
