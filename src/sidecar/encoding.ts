/**
 * Puts answers together from parts that are encoded already. The bytes are plain protobuf, field by field; the ordinary encoder
 * takes 1.5 µs for the answer of a metered check, and this takes 0.1 µs, of about 35 µs that a whole gRPC call takes.
 */

/**
 * Encoded bytes as a string, one character each ("latin1"). Kept this way by the cache: a string takes its length and 16 bytes,
 * whereas a small buffer takes 100 more and keeps alive the 8 KB slab that it was cut from.
 */
export type ByteString = string

export const toByteString = (bytes: Buffer): ByteString => bytes.toString('latin1')

/** A message as a field of another one. */
export interface EncodedField {
  /** Below 16, so that tag and number fit in one byte. */
  field: number
  bytes: ByteString
}

export interface CheckAnswer {
  hasAccess: boolean
  isFallback: boolean
  /** Number of the AccessDeniedReason; 0: none. */
  reason: number
  /** Metered checks; 0 is not written, as proto3 has it. */
  requestedUsage: number
  entitlement: EncodedField | null
}

/** Wire types of protobuf. */
const varint = 0
const fixed64 = 1
const lengthDelimited = 2

const tag = (field: number, wireType: number) => (field << 3) | wireType

/** Bytes that a length takes: seven bits in each. */
function lengthBytes(length: number): number {
  let bytes = 1
  for (let rest = length >>> 7; rest > 0; rest >>>= 7) bytes++
  return bytes
}

/** Any Get…EntitlementResponse: fields 1 to 3 are the same in all of them, 4 is the requested usage of the metered one. */
export function encodeCheckAnswer({ hasAccess, isFallback, reason, requestedUsage, entitlement }: CheckAnswer): Buffer {
  const entitlementBytes = entitlement === null ? 0 : fieldSize(entitlement.bytes)
  const size = (hasAccess ? 2 : 0) + (isFallback ? 2 : 0) + (reason === 0 ? 0 : 2) + (requestedUsage === 0 ? 0 : 9) + entitlementBytes
  const target = Buffer.allocUnsafe(size)
  let at = 0
  if (hasAccess) {
    target[at++] = tag(1, varint)
    target[at++] = 1
  }
  if (isFallback) {
    target[at++] = tag(2, varint)
    target[at++] = 1
  }
  if (reason !== 0) {
    target[at++] = tag(3, varint)
    target[at++] = reason
  }
  if (requestedUsage !== 0) {
    target[at++] = tag(4, fixed64)
    at = target.writeDoubleLE(requestedUsage, at)
  }
  if (entitlement !== null) writeField(target, at, entitlement)
  return target
}

/** A message that holds nothing but the given messages, in their order. */
export function encodeFields(fields: readonly EncodedField[]): Buffer {
  const target = Buffer.allocUnsafe(fields.reduce((size, { bytes }) => size + fieldSize(bytes), 0))
  let at = 0
  for (const field of fields) at = writeField(target, at, field)
  return target
}

const fieldSize = (bytes: ByteString) => 1 + lengthBytes(bytes.length) + bytes.length

/** Answers the position after the field. */
function writeField(target: Buffer, start: number, { field, bytes }: EncodedField): number {
  let at = start
  target[at++] = tag(field, lengthDelimited)
  let rest = bytes.length
  while (rest > 127) {
    target[at++] = (rest & 127) | 128
    rest >>>= 7
  }
  target[at++] = rest
  return at + target.write(bytes, at, 'latin1')
}
