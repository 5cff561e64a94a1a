/**
 * How many fields an encoded message has with those of the messages in it, without decoding it. Two bytes make a field that takes some hundred when it is
 * decoded, so what is large is counted first.
 */
import { invalidInput, type Problem } from '../../kernel/problem.js'
import { maxItemsPerCall } from '../../metering/model/report.js'

/** Of a request, with those of the messages in it. An item of 60 dimensions has 250 at most. */
export const maxFields = { question: 3_000, usage: 256 * maxItemsPerCall }
/** Of a request of health or reflection, which are asked by names. */
export const largestNameBytes = 16 * 1024

/** What a field holds that is no message; the first four are wire types of protobuf. */
export const scalars = {
  /** A number of up to 64 bits. */
  varint: 0,
  fixed64: 1,
  text: 2,
  fixed32: 5,
  /** A number of 32 bits. */
  shortVarint: 8,
} as const

export type Scalar = (typeof scalars)[keyof typeof scalars]

/** A message by the numbers of its fields. Those that are not known here are skipped, and count. */
export type Shape = ReadonlyMap<number, Scalar | Shape>

/**
 * Counts up to `most` and one more. Fails with INVALID_ARGUMENT on what no encoder writes for the shape, such as a text where a number belongs: what is
 * skipped here has to be what the decoder skips, and it goes by the number of a field alone.
 */
export function countFields(message: Uint8Array, shape: Shape, most: number): number {
  let [at, count] = [0, 0]

  const readByte = (): number => {
    const byte = message[at++]
    if (byte === undefined) throw noMessage()
    return byte
  }
  /** A tag or a length. Where it has more than 5 bytes, the decoder takes 10 for it. */
  const readShort = (): number => {
    let value = 0
    for (let factor = 1; factor <= 2 ** 28; factor *= 128) {
      const byte = readByte()
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
    throw noMessage()
  }
  const skipVarint = (isShort: boolean): void => {
    const start = at
    while (readByte() >= 0x80);
    const length = at - start
    // Those below zero have 10.
    if (isShort && length > 5 && length !== 10) throw noMessage()
  }

  const walk = (fields: Shape | undefined, end: number): void => {
    while (at < end && count < most + 1) {
      count += 1
      const tag = readShort()
      const wireType = tag & 7
      const known = fields?.get(tag >>> 3)
      if (known !== undefined && wireType !== wireTypeOf(known)) throw noMessage()
      if (wireType === scalars.varint) skipVarint(known === scalars.shortVarint)
      else if (wireType === scalars.fixed64) at += 8
      else if (wireType === scalars.fixed32) at += 4
      else if (wireType === scalars.text) {
        // Read before it is added: reading moves the place.
        const length = readShort()
        const fieldEnd = at + length
        if (fieldEnd > end) throw noMessage()
        if (typeof known === 'object') walk(known, fieldEnd)
        else at = fieldEnd
      } else throw noMessage()
      if (at > end) throw noMessage()
    }
  }
  walk(shape, message.length)
  return count
}

function wireTypeOf(known: Scalar | Shape): number {
  if (typeof known === 'object') return scalars.text
  return known === scalars.shortVarint ? scalars.varint : known
}

const noMessage = (): Problem => invalidInput('the request is not encoded as the message of its method')
