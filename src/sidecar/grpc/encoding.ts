/**
 * Puts answers together from parts that are encoded already. The bytes are plain protobuf, field by field; the ordinary encoder
 * takes 1.5 µs for the answer of a metered check, and this takes 0.2 µs, of about 35 µs that a whole gRPC call takes.
 */
import type { EpochMs } from '../../kernel/clock.js'

/** A message as a field of another one. */
export interface EncodedField {
  /** Below 16, so that tag and number fit in one byte. */
  field: number
  bytes: Uint8Array
}

interface CheckAnswer {
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

/** Bytes that a number takes: seven bits in each. For 0 to 2^53. */
function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) bytes++
  return bytes
}

/** Answers the position after the number. */
function writeVarint(target: Uint8Array, start: number, value: number): number {
  let at = start
  let rest = value
  while (rest > 127) {
    target[at++] = (rest % 128) | 128
    rest = Math.floor(rest / 128)
  }
  target[at++] = rest
  return at
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

interface MeteredParts {
  /** Fields 4 to 6, which customers of the same plan share, and 14. */
  before: Uint8Array
  after: Uint8Array
  currentUsage: number
  /** Number of the EntitlementResetPeriod; 0: none. */
  resetPeriod: number
  anchor: EpochMs | null
  periodStart: EpochMs | null
  periodEnd: EpochMs | null
}

/** The message MeteredEntitlement, byte for byte as the ordinary encoder makes it. */
export function encodeMeteredEntitlement({
  before,
  after,
  currentUsage,
  resetPeriod,
  anchor,
  periodStart,
  periodEnd,
}: MeteredParts): Buffer {
  const dates = 2 * timestampSize(periodEnd) + timestampSize(anchor) + timestampSize(periodStart)
  const target = Buffer.allocUnsafe(before.length + (currentUsage === 0 ? 0 : 9) + (resetPeriod === 0 ? 0 : 2) + dates + after.length)
  target.set(before)
  let at = before.length
  if (currentUsage !== 0) {
    target[at++] = tag(7, fixed64)
    at = target.writeDoubleLE(currentUsage, at)
  }
  if (resetPeriod !== 0) {
    target[at++] = tag(9, varint)
    target[at++] = resetPeriod
  }
  at = writeTimestamp(target, at, 10, periodEnd)
  at = writeTimestamp(target, at, 11, anchor)
  at = writeTimestamp(target, at, 12, periodStart)
  at = writeTimestamp(target, at, 13, periodEnd)
  target.set(after, at)
  return target
}

/** google.protobuf.Timestamp of an instant since 1970 as a field below 16; earlier ones never bound a usage period. */
function timestampSize(at: EpochMs | null): number {
  return at === null ? 0 : 2 + timestampBytes(Math.max(0, at))
}

function timestampBytes(at: EpochMs): number {
  const seconds = Math.floor(at / 1_000)
  const nanos = (at - seconds * 1_000) * 1_000_000
  return (seconds === 0 ? 0 : 1 + varintBytes(seconds)) + (nanos === 0 ? 0 : 1 + varintBytes(nanos))
}

function writeTimestamp(target: Uint8Array, start: number, field: number, instant: EpochMs | null): number {
  if (instant === null) return start
  const since = Math.max(0, instant)
  const seconds = Math.floor(since / 1_000)
  const nanos = (since - seconds * 1_000) * 1_000_000
  let at = start
  target[at++] = tag(field, lengthDelimited)
  target[at++] = timestampBytes(since)
  if (seconds !== 0) {
    target[at++] = tag(1, varint)
    at = writeVarint(target, at, seconds)
  }
  if (nanos !== 0) {
    target[at++] = tag(2, varint)
    at = writeVarint(target, at, nanos)
  }
  return at
}

const fieldSize = (bytes: Uint8Array) => 1 + varintBytes(bytes.length) + bytes.length

/** Answers the position after the field. */
function writeField(target: Uint8Array, start: number, { field, bytes }: EncodedField): number {
  target[start] = tag(field, lengthDelimited)
  const at = writeVarint(target, start + 1, bytes.length)
  target.set(bytes, at)
  return at + bytes.length
}
