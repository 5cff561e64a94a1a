import { isUtf8 } from 'node:buffer'
import { invalidInput } from './problem.js'

/**
 * What the bytes say in UTF-8. Fails with INVALID_ARGUMENT when they say nothing in it: different bytes would become one text, and so would different
 * identifiers. `what` begins the message.
 */
export function decodeUtf8(bytes: Buffer, what: string): string {
  if (!isUtf8(bytes)) throw invalidInput(`${what} is not UTF-8.`)
  return bytes.toString('utf8')
}
