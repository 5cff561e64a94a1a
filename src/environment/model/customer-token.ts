/**
 * The `X-CUSTOMER-KEY` of a client key: `HMAC-SHA256 <customerId>:<hex of hmac-sha256(signing secret, customerId)>`. The host application
 * signs the identifier of the customer that it has logged in, so that a browser can ask for this customer and for no other.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { maxIdentifierLength } from '../../kernel/id.js'

/** Of the longest identifier, whose characters a header has as 4 bytes each: what is longer was signed for nobody. */
export const maxTokenLength = 'HMAC-SHA256 '.length + 4 * maxIdentifierLength + ':'.length + 64

const form = /^HMAC-SHA256 (.+):([0-9a-fA-F]{64})$/

/** `secrets`: those that are valid now; while one is being rotated there are several. Answers the customer's refId, or null: not genuine. */
export function verifyToken(header: string, secrets: readonly Uint8Array[]): string | null {
  if (header.length > maxTokenLength) return null
  const [, customerId, signature] = form.exec(header) ?? []
  if (customerId === undefined || signature === undefined) return null
  const given = Buffer.from(signature, 'hex')
  return readings(customerId).find((reading) => secrets.some((secret) => timingSafeEqual(sign(reading, secret), given))) ?? null
}

function sign(customerId: string, secret: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(customerId).digest()
}

/**
 * Node reads each byte of a header as one character, and clients send letters beyond ASCII as UTF-8 or as Latin-1. The signature says which
 * one it was.
 */
function readings(customerId: string): string[] {
  const isBytes = [...customerId].every((character) => character <= '\xff')
  return isBytes ? [customerId, Buffer.from(customerId, 'latin1').toString('utf8')] : [customerId]
}
