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

/** Halves of characters too, and what decoders put where bytes were no UTF-8: different ones would become one. */
const controlCharacter = /[\p{Cc}\p{Surrogate}\ufffd]/u

/**
 * Checks an identifier that a caller chose (refId): 1 to 255 characters, no control characters, not blank; compared exactly.
 * Answers it unchanged. `field` names the input in the message.
 */
export function checkRefId(value: string, field: string): string {
  if (value.trim() === '') throw invalidInput(`${field} must not be empty`, { field })
  if (value.length > 255 && [...value].length > 255) throw invalidInput(`${field} has more than 255 characters`, { field })
  if (controlCharacter.test(value)) throw invalidInput(`${field} contains a control character`, { field })
  return value
}
