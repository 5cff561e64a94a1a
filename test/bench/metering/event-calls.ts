/** Calls of reportEvent, built before they are needed: making them must not take the time of what is measured. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../../../src/kernel/problem.js'
import { type HttpConnection, postRequest } from '../load/http-connection.js'

export interface BenchEvent {
  customerId: string
  eventName: string
  idempotencyKey: string
  dimensions: { tokens: number; user: string }
}

export const eventsPerCall = 1_000
export const mutation = 'mutation ($events: UsageEventsReportInput!) { reportEvent(events: $events) }'
/** Of a customer: distinct users are found again and again, as in life. */
const usersPerCustomer = 50
const serialDigits = 10

let nextSerial = 0
/** Keys of two runs on one database never meet. */
const runName = process.pid.toString(36)

/** Keys differ from those of all other calls. */
const newKeys = () => `${runName}-${String(nextSerial++).padStart(serialDigits, '0')}`

/** `customer-0` to `customer-N`, chosen at random. */
export function makeEvents(customers: number, keys = newKeys()): BenchEvent[] {
  return Array.from({ length: eventsPerCall }, (_, index) => ({
    customerId: `customer-${Math.floor(Math.random() * customers)}`,
    eventName: 'request',
    idempotencyKey: `${keys}-${index}`,
    dimensions: { tokens: Math.floor(Math.random() * 1_000), user: `user-${Math.floor(Math.random() * usersPerCustomer)}` },
  }))
}

/** One call that is made again and again, each time with new keys. */
export class EventCall {
  /** With its head. */
  readonly request: Buffer
  /** What its events add to the sum of tokens. */
  readonly tokens: number
  readonly #keysAt: number[] = []

  constructor(serverKey: string, customers: number) {
    const keys = newKeys()
    const usageEvents = makeEvents(customers, keys)
    const body = JSON.stringify({ query: mutation, variables: { events: { usageEvents } } })
    const request = postRequest('/graphql', { 'x-api-key': serverKey }, body)
    for (let at = request.indexOf(keys); at >= 0; at = request.indexOf(keys, at + keys.length)) this.#keysAt.push(at)
    this.request = request
    this.tokens = usageEvents.reduce((sum, { dimensions }) => sum + dimensions.tokens, 0)
  }

  renewKeys(): void {
    const keys = Buffer.from(newKeys())
    for (const at of this.#keysAt) keys.copy(this.request, at)
  }
}

/** Refused for the backlog, or not answered in time: the same call, with its keys, may be made again. */
const retryable = /"code":"(Timeout|RateLimitExceeded|ServiceUnavailable)"/
/** Before a call that was refused is made again. */
const pauseMs = 50
/** Whoever is refused for so long has been forgotten. */
const longestMs = 120_000

/**
 * Makes the call until it is acknowledged, always with the same keys: until the answer begins with `acknowledged`. Answers how often it was refused.
 * @throws Problem when it fails in another way
 */
export async function sendUntilAcknowledged(
  connection: HttpConnection,
  request: Buffer,
  acknowledged = '{"data":{"reportEvent":null}}',
): Promise<number> {
  const end = performance.now() + longestMs
  for (let refusals = 0; ; refusals++) {
    const answer = await connection.send(request)
    if (answer.startsWith(acknowledged)) return refusals
    if (!retryable.test(answer) || performance.now() > end) throw new Problem('ABORTED', 'WRONG_ANSWERS', answer.slice(0, 500))
    await sleep(pauseMs)
  }
}
