/** The doors as the load uses them: what came of a call, told apart as a careful caller would. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Metadata } from '@grpc/grpc-js'
import { SidecarClient } from '../../../src/local/demo/clients.js'

export type Outcome<T> = { kind: 'acknowledged'; answer: T } | { kind: 'refused' | 'unknown'; why: string }

export interface CheckAnswer {
  isGranted: boolean
  usage: number
  limit: number | null
}

/** Longer than any process of the platform takes to answer something. */
const deadlineMs = 12_000
const mostTries = 20
/** Codes of answers that promise that nothing was done, where the answer has no word of its own for it. */
const nothingDone = ['RateLimitExceeded', 'ServiceUnavailable']
/** Where a sidecar says why in its own words: a status without them is that of a connection that broke. */
const detailsKey = 'grpc-status-details-bin'
/** INVALID_ARGUMENT, NOT_FOUND, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, UNAVAILABLE: of these a sidecar says that nothing was counted. */
const notCounted = [3, 5, 8, 9, 14]

const reportMutation = 'mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { id } }'
const eventMutation = 'mutation ($events: UsageEventsReportInput!) { reportEvent(events: $events) }'
const checkQuery = `query ($query: FetchEntitlementQuery!) {
  entitlement(query: $query) { isGranted usageLimit currentUsage } }`

interface GraphqlAnswer {
  data?: Record<string, unknown> | null
  errors?: { message: string; extensions?: { code?: string; outcome?: string } }[]
}

export class WebDoor {
  readonly kind = 'graphql'

  constructor(
    private readonly url: string,
    private readonly serverKey: string,
  ) {}

  async call<T>(query: string, variables: object): Promise<Outcome<T>> {
    let answer: GraphqlAnswer
    try {
      const response = await fetch(`${this.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': this.serverKey },
        body: JSON.stringify({ query, variables }),
        signal: AbortSignal.timeout(deadlineMs),
      })
      answer = (await response.json()) as GraphqlAnswer
    } catch (error) {
      return { kind: 'unknown', why: String((error as Error).cause ?? error) }
    }
    const [error] = answer.errors ?? []
    if (!error) return answer.data ? { kind: 'acknowledged', answer: answer.data as T } : { kind: 'unknown', why: 'no data' }
    const { code = '', outcome } = error.extensions ?? {}
    const isRefused = outcome === undefined ? nothingDone.includes(code) : outcome === 'notCounted'
    return { kind: isRefused ? 'refused' : 'unknown', why: `${code}: ${error.message}` }
  }

  async report(customerId: string, value: number, idempotencyKey: string): Promise<Outcome<string>> {
    const input = { customerId, featureId: 'calls', value, idempotencyKey }
    return mapped(await this.call<{ reportUsage: { id: string } }>(reportMutation, { input }), ({ reportUsage }) => reportUsage.id)
  }

  events(usageEvents: object[]): Promise<Outcome<unknown>> {
    return this.call(eventMutation, { events: { usageEvents } })
  }

  /** Null: no answer, or one that claims nothing. */
  async check(customerId: string, requestedUsage: number, featureId = 'calls'): Promise<CheckAnswer | null> {
    interface Answer {
      entitlement: { isGranted: boolean; usageLimit: number | null; currentUsage: number | null }
    }
    const outcome = await this.call<Answer>(checkQuery, { query: { customerId, featureId, options: { requestedUsage } } })
    if (outcome.kind !== 'acknowledged') return null
    const { isGranted, usageLimit, currentUsage } = outcome.answer.entitlement
    return { isGranted, usage: currentUsage ?? 0, limit: usageLimit }
  }
}

export class SidecarDoor {
  readonly kind = 'sidecar'
  readonly #client: SidecarClient

  constructor(address: string) {
    this.#client = new SidecarClient(address)
  }

  async call<T>(method: string, request: object): Promise<Outcome<T>> {
    try {
      return { kind: 'acknowledged', answer: await this.#client.call<T>(method, request, deadlineMs) }
    } catch (error) {
      const { code, metadata, message } = error as { code: number; metadata?: Metadata; message: string }
      const isSaid = (metadata?.get(detailsKey).length ?? 0) > 0
      return { kind: isSaid && notCounted.includes(code) ? 'refused' : 'unknown', why: message }
    }
  }

  async report(customer_id: string, value: number, idempotency_key: string): Promise<Outcome<string>> {
    const request = { customer_id, feature_id: 'calls', value, idempotency_key }
    return mapped(await this.call<{ measurement_id: string }>('ReportUsage', request), ({ measurement_id }) => measurement_id)
  }

  async check(customer_id: string, requested_usage: number, feature_id = 'calls'): Promise<CheckAnswer | null> {
    interface Answer {
      has_access: boolean
      is_fallback: boolean
      entitlement?: { usage_limit?: number; current_usage: number }
    }
    const outcome = await this.call<Answer>('GetMeteredEntitlement', { customer_id, feature_id, options: { requested_usage } })
    if (outcome.kind !== 'acknowledged' || outcome.answer.is_fallback) return null
    const { has_access, entitlement } = outcome.answer
    return { isGranted: has_access, usage: entitlement?.current_usage ?? 0, limit: entitlement?.usage_limit ?? null }
  }

  close(): void {
    this.#client.close()
  }
}

/** Repeats what may be repeated. @throws Error when it is never done */
export async function untilDone(call: () => Promise<Outcome<unknown>>): Promise<void> {
  for (let tries = 1; ; tries++) {
    const outcome = await call()
    if (outcome.kind === 'acknowledged') return
    if (tries === mostTries) throw new Error(`Not done: ${outcome.why}`)
    await sleep(500)
  }
}

export type Door = WebDoor | SidecarDoor

function mapped<T, R>(outcome: Outcome<T>, map: (answer: T) => R): Outcome<R> {
  return outcome.kind === 'acknowledged' ? { kind: 'acknowledged', answer: map(outcome.answer) } : outcome
}
