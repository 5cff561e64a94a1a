import { v7 } from 'uuid'
import { invalidInput } from './problem.js'

/** Our own identifier: a UUIDv7, so that keys grow with time and index pages stay warm. */
export const newId = (): string => v7()

/** Halves of characters too: they could not be told apart once they are stored. */
const controlCharacter = /[\p{Cc}\p{Surrogate}]/u

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
