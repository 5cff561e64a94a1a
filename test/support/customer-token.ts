import { createHmac } from 'node:crypto'

/** The `X-CUSTOMER-KEY` as a host application makes it. */
export function makeToken(customerId: string, signingSecret: string): string {
  return `HMAC-SHA256 ${customerId}:${createHmac('sha256', signingSecret).update(customerId).digest('hex')}`
}
