import { BrokenCircuitError, ConsecutiveBreaker, circuitBreaker, handleWhen } from 'cockatiel'
import { Pool } from 'undici'
import { newId } from '../kernel/id.js'
import { Problem, timedOut, unavailable } from '../kernel/problem.js'
import type { Secret } from '../platform/config.js'
import { documents, type EntitlementsStateJson, type Owner, type ReportUsageJson, type StateReader } from './api-messages.js'
import type { CachedState } from './cache/cache.js'
import { type ApiError, fromApiError } from './errors.js'
import type { SidecarMetrics } from './metrics.js'

export interface UsageReport extends Owner {
  featureId: string
  value: number
  updateBehavior: 'DELTA' | 'SET' | null
  dimensions: Record<string, EventDimension> | null
  /** ISO 8601; null: the time of acceptance. */
  createdAt: string | null
}

export type EventDimension = string | number | boolean | null

export interface UsageEvent extends Owner {
  eventName: string
  idempotencyKey: string
  dimensions: Record<string, EventDimension>
  /** ISO 8601; null: the time of acceptance. */
  timestamp: string | null
}

export interface ApiClientOptions {
  /** Base address; `/graphql` is appended. */
  url: string
  apiKey: Secret
  /** Longest that one call may take. */
  timeoutMs: number
  states: StateReader
  metrics: SidecarMetrics
}

/** Enough to fill a cold cache quickly; few enough that a thousand sidecars do not exhaust the API. */
const mostConnections = 16
/** Room for thousands of entitlements; a proxy's error page or a runaway answer must not fill the memory. */
const largestAnswerBytes = 32 * 1024 * 1024
/** After this many reads in a row that found nobody, reads fail at once, and one a second tries again. */
const outageAfterFailures = 5
const outageRetryMs = 1_000

/** The platform's GraphQL API, as far as a sidecar uses it. Failures are Problems; UNAVAILABLE and DEADLINE_EXCEEDED mean that nobody answered. */
export class ApiClient {
  readonly #pool: Pool
  readonly #path: string
  readonly #breaker = circuitBreaker(handleWhen(isOutage), {
    halfOpenAfter: outageRetryMs,
    breaker: new ConsecutiveBreaker(outageAfterFailures),
  })

  constructor(private readonly options: ApiClientOptions) {
    const url = new URL(options.url)
    this.#path = `${url.pathname.replace(/\/$/, '')}/graphql`
    this.#pool = new Pool(url.origin, {
      connections: mostConnections,
      connect: { timeout: options.timeoutMs },
      maxResponseSize: largestAnswerBytes,
    })
  }

  /** The state of a customer or resource, an unknown one included. During an outage it fails at once. Safe to repeat. */
  async fetchState(owner: Owner): Promise<CachedState> {
    try {
      const { entitlementsState } = await this.#breaker.execute(() =>
        this.#send<{ entitlementsState: EntitlementsStateJson }>(
          'entitlementsState',
          { query: owner },
          AbortSignal.timeout(this.options.timeoutMs),
        ),
      )
      return this.options.states.state(owner, entitlementsState)
    } catch (error) {
      if (error instanceof BrokenCircuitError) throw unavailable('The API did not answer lately; it is tried again within a second', error)
      throw error
    }
  }

  /** Answers when the report is stored. The key made here keeps an attempt that is sent twice from counting twice. */
  async reportUsage(report: UsageReport, signal: AbortSignal): Promise<ReportUsageJson> {
    const input = { ...withoutNulls(report), idempotencyKey: newId() }
    return (await this.#send<{ reportUsage: ReportUsageJson }>('reportUsage', { input }, signal)).reportUsage
  }

  /** Answers when all events are stored. Refused ones are `details.items` of the problem; the others are stored then too. Safe to repeat. */
  async reportEvents(events: readonly UsageEvent[], signal: AbortSignal): Promise<void> {
    await this.#send('reportEvent', { events: { usageEvents: events.map(withoutNulls) } }, signal)
  }

  close(): Promise<void> {
    return this.#pool.destroy()
  }

  /** Every operation may be sent twice, so one that a dying connection swallowed is sent once more. */
  async #send<Data>(operation: keyof typeof documents, variables: object, signal: AbortSignal): Promise<Data> {
    const body = JSON.stringify({ query: documents[operation], variables })
    const timer = this.options.metrics.apiSeconds.startTimer({ operation })
    try {
      const data = await this.#post<Data>(body, signal).catch((error: unknown) => {
        if (isBrokenConnection(error) && !signal.aborted) return this.#post<Data>(body, signal)
        throw error
      })
      timer({ outcome: 'ok' })
      return data
    } catch (error) {
      const problem = toProblem(error)
      timer({ outcome: problem.code })
      throw problem
    }
  }

  async #post<Data>(body: string, signal: AbortSignal): Promise<Data> {
    const response = await this.#pool.request({
      method: 'POST',
      path: this.#path,
      headers: { 'content-type': 'application/json', accept: 'application/json', 'x-api-key': this.options.apiKey.reveal() },
      body,
      signal,
    })
    const text = await response.body.text()
    const answer = parseAnswer<Data>(text)
    const error = answer?.errors?.[0]
    if (error) throw fromApiError(error)
    if (response.statusCode === 401) throw fromApiError({ message: 'The API refused the key', extensions: { code: 'Unauthenticated' } })
    if (!answer?.data || response.statusCode >= 500)
      throw unavailable(`The API answered HTTP ${response.statusCode} without a GraphQL result`)
    return answer.data
  }
}

/** Null: not a GraphQL answer, such as a proxy's error page. */
function parseAnswer<Data>(text: string): { data?: Data | null; errors?: ApiError[] } | null {
  try {
    const answer: unknown = JSON.parse(text)
    return typeof answer === 'object' && answer !== null ? answer : null
  } catch {
    return null
  }
}

/** The GraphQL inputs take an absent field for "not said"; null is not always the same to them. */
const withoutNulls = (input: object) => Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null))

const isOutage = (error: Error) => error instanceof Problem && (error.code === 'UNAVAILABLE' || error.code === 'DEADLINE_EXCEEDED')

/** The other side closed a kept connection while we wrote on it. */
const isBrokenConnection = (error: unknown) =>
  ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  const { name, code = '' } = error as NodeJS.ErrnoException
  if (name === 'TimeoutError' || name === 'AbortError' || /^UND_ERR_\w+_TIMEOUT$/.test(code))
    return timedOut('The API did not answer in time', error)
  return unavailable('The API cannot be reached', error)
}
