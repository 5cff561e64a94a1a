import { randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'
import { invalidInput } from './problem.js'

/** Asking the system for the randomness of one id takes longer than all the rest of it. */
const pool = new Uint8Array(16 * 256)
let used = pool.length
let lastMs = 0
let sequence = 0

/** Our own identifier: a UUIDv7, so that keys grow with time and index pages stay warm. Those of one process grow within a millisecond too. */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const random = pool.subarray(used, used + 16)
  used += 16
  const now = Date.now()
  if (now > lastMs) {
    lastMs = now
    // Room to count up in.
    sequence = (random[6]! << 16) | (random[7]! << 8) | random[8]!
  } else sequence += 1
  return v7({ msecs: lastMs, seq: sequence, random })
}

/** And what decoders put where bytes were no UTF-8: different ones would become one. */
const controlCharacter = /[\p{Cc}\ufffd]/u

export const maxIdentifierLength = 255

/**
 * Checks an identifier that a caller chose (refId): 1 to 255 characters, no control characters, not blank; compared exactly.
 * Answers it unchanged. `field` names the input in the message.
 */
export function checkRefId(value: string, field: string): string {
  if (value.length <= maxIdentifierLength && value.trim() === '') throw invalidInput(`${field} must not be empty`, { field })
  const fault = identifierFault(value)
  if (fault) throw invalidInput(`${field} ${fault}`, { field })
  return value
}

/** What is wrong with the characters of an identifier, for a message that begins with its name; null: nothing. */
export function identifierFault(value: string): string | null {
  // A character takes two units of a text at most, so that no long text need be counted.
  const isLong =
    value.length > maxIdentifierLength && (value.length > 2 * maxIdentifierLength || characterCount(value) > maxIdentifierLength)
  if (isLong) return `has ${value.length} characters: at most ${maxIdentifierLength} are taken`
  // Halves of characters are none: they would become one, too. A megabyte of identifiers is looked at in some milliseconds.
  return !value.isWellFormed() || controlCharacter.test(value) ? 'contains a control character' : null
}

/** Those of two units count once; a half by itself does too. Nothing is made of the text, of which a request may have a thousand. */
function characterCount(value: string): number {
  let count = value.length
  for (let at = 1; at < value.length; at++) if (isLowHalf(value.charCodeAt(at)) && isHighHalf(value.charCodeAt(at - 1))) count--
  return count
}

const isHighHalf = (unit: number) => (unit & 0xfc00) === 0xd800
const isLowHalf = (unit: number) => (unit & 0xfc00) === 0xdc00
