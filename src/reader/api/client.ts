import { Problem, timedOut, unavailable } from '../../kernel/problem.js'
import type { Secret } from '../../kernel/secret.js'
import { notCounted } from '../../metering/model/problems.js'
import type { Dimensions } from '../../metering/model/report.js'
import type { Owner } from '../states/entry.js'
import type { ReaderMetrics } from '../states/figures.js'
import type { ApiClock } from './clock.js'
import { EdgeClient } from './edge-client.js'
import { fromApiError, isKeyRefused } from './errors.js'
import { HttpClient, Unsent } from './http-client.js'
import { keyQuestion } from './key-question.js'
import { documents, parseAnswer, type ReportUsageJson, type StateJson } from './messages.js'
import { foundNobody, Outage } from './outage.js'

/** As the API's JSON takes it. */
export interface SentReport extends Owner {
  featureId: string
  idempotencyKey: string
  value: number
  updateBehavior: 'DELTA' | 'SET' | null
  dimensions: Dimensions | null
  /** ISO 8601; null: the time of acceptance. */
  createdAt: string | null
}

export interface SentEvent extends Owner {
  eventName: string
  idempotencyKey: string
  dimensions: Dimensions
  /** ISO 8601; null: the time of acceptance. */
  timestamp: string | null
}

export interface Operation {
  name: string
  text: string
  isRead: boolean
}

interface ApiClientOptions {
  /** Base address; `/graphql` is appended. */
  url: string
  /** Base address of the edge API; null: states are read over GraphQL. */
  edgeUrl: string | null
  apiKey: Secret
  /** Longest that one call may take. */
  timeoutMs: number
  metrics: ReaderMetrics
  /** Corrected by what the API's answers tell. */
  clock: ApiClock
  /** Told by each answer whether the key was taken. */
  hearKey: (isTaken: boolean) => void
}

/** Enough to fill a cold cache quickly; few enough that a thousand sidecars do not exhaust the API. */
const connections = 16
/** So many reads in a row that found nobody are an outage. */
const outageAfterFailures = 5
/** Room for thousands of entitlements; a proxy's error page or a runaway answer must not fill the memory. */
const largestAnswerBytes = 32 * 1024 * 1024

/**
 * The platform's API, as far as a sidecar uses it. Failures are Problems; UNAVAILABLE and DEADLINE_EXCEEDED mean that nobody answered. Of usage they say what
 * became of it (`UsageOutcome`).
 */
export class ApiClient {
  readonly #http: HttpClient
  readonly #edge: EdgeClient | null
  readonly #outage = new Outage({ name: 'The API', afterFailures: outageAfterFailures, isAway: foundNobody })

  constructor(private readonly options: ApiClientOptions) {
    const limits = { connections, largestAnswerBytes }
    this.#http = new HttpClient(options.url, limits)
    this.#edge = options.edgeUrl === null ? null : new EdgeClient(new HttpClient(options.edgeUrl, limits), options.apiKey, options.clock)
  }

  /**
   * The state of a customer or resource, an unknown one included. During an outage it fails at once. Safe to repeat. `isStrong`: the platform is to ask its
   * database.
   */
  fetchState(owner: Owner, isStrong = false): Promise<StateJson> {
    return this.#outage.guard(() => this.#fetchState(owner, isStrong, AbortSignal.timeout(this.options.timeoutMs)))
  }

  /** Edge first; what it cannot answer is asked over GraphQL, while time is left. Between here and the edge something may keep answers. */
  async #fetchState(owner: Owner, isStrong: boolean, signal: AbortSignal): Promise<StateJson> {
    if (this.#edge?.isTrusted && !isStrong) {
      const state = await this.#timed('edge', this.#edge.fetchState(owner, signal, this.options.timeoutMs / 2))
      if (state !== null) return state
    }
    const { entitlementsState: text } = documents
    const headers: Record<string, string> = isStrong ? { 'x-consistency': 'strong' } : {}
    const read = await this.#read<{ entitlementsState: StateJson }>('entitlementsState', text, { query: owner }, signal, headers)
    return read.entitlementsState
  }

  /** Answers when the report is stored. */
  async reportUsage(report: SentReport, signal: AbortSignal): Promise<ReportUsageJson> {
    return (await this.#report<{ reportUsage: ReportUsageJson }>('reportUsage', { input: withoutNulls(report) }, signal)).reportUsage
  }

  /** Answers, in their order, when all reports are stored; fails when none is. */
  async reportUsageBulk(reports: readonly SentReport[], signal: AbortSignal): Promise<ReportUsageJson[]> {
    const input = { usages: reports.map(withoutNulls) }
    return (await this.#report<{ reportUsageBulk: ReportUsageJson[] | null }>('reportUsageBulk', { input }, signal)).reportUsageBulk ?? []
  }

  /** Answers when all events are stored. Refused ones are `details.items` of the problem; the others are stored then too. Safe to repeat. */
  async reportEvents(events: readonly SentEvent[], signal: AbortSignal): Promise<void> {
    await this.#report('reportEvent', { events: { usageEvents: events.map(withoutNulls) } }, signal)
  }

  /** Any operation, once; a read that a dying connection swallowed is sent once more. */
  execute<Data>({ name, text, isRead }: Operation, variables: object, signal: AbortSignal): Promise<Data> {
    return isRead ? this.#read(name, text, variables, signal) : this.#timed(name, this.#post<Data>(bodyOf(text, variables), signal))
  }

  /** Passes when the API takes the key, for the environment if one is named. Fails with UNAUTHENTICATED or PERMISSION_DENIED when it does not. */
  async checkKey(environmentId: string | null, signal: AbortSignal): Promise<void> {
    await this.#post(JSON.stringify(keyQuestion(environmentId)), signal).catch((error: unknown) => {
      throw toProblem(error)
    })
  }

  close(): void {
    this.#http.close()
    this.#edge?.close()
  }

  /** One that a dying connection swallowed is sent once more. */
  #read<Data>(
    operation: string,
    text: string,
    variables: object,
    signal: AbortSignal,
    headers: Record<string, string> = {},
  ): Promise<Data> {
    const body = bodyOf(text, variables)
    const sent = this.#post<Data>(body, signal, headers).catch((error: unknown) => {
      if (isBrokenConnection(error) && !signal.aborted) return this.#post<Data>(body, signal, headers)
      throw error
    })
    return this.#timed(operation, sent)
  }

  #report<Data>(operation: keyof typeof documents, variables: object, signal: AbortSignal): Promise<Data> {
    const sent = this.#post<Data>(bodyOf(documents[operation], variables), signal).catch((error: unknown) => {
      throw error instanceof Unsent ? notCounted(toProblem(error)) : error
    })
    return this.#timed(operation, sent)
  }

  async #timed<T>(operation: string, work: Promise<T>): Promise<T> {
    const timer = this.options.metrics.apiSeconds.startTimer({ operation })
    try {
      const result = await work
      if (result !== null) this.options.hearKey(true)
      timer({ outcome: result === null ? 'passed_on' : 'ok' })
      return result
    } catch (error) {
      const problem = toProblem(error)
      if (isKeyRefused(problem)) this.options.hearKey(false)
      timer({ outcome: problem.code })
      throw problem
    }
  }

  async #post<Data>(body: string, signal: AbortSignal, headers: Record<string, string> = {}): Promise<Data> {
    const sentAt = performance.now()
    const { status, serverTime, text } = await this.#http.send({
      method: 'POST',
      path: '/graphql',
      headers: {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        accept: 'application/json',
        'x-api-key': this.options.apiKey.reveal(),
        ...headers,
      },
      body,
      signal,
    })
    this.options.clock.learn(serverTime, sentAt)
    const answer = parseAnswer<Data>(text)
    const error = answer?.errors?.[0]
    if (error) throw fromApiError(error)
    if (status === 401) throw fromApiError({ message: 'The API refused the key', extensions: { code: 'Unauthenticated' } })
    if (!answer?.data || status >= 500) throw unavailable(`The API answered HTTP ${status} without a GraphQL result`)
    return answer.data
  }
}

const bodyOf = (query: string, variables: object) => JSON.stringify({ query, variables })

/** The GraphQL inputs take an absent field for "not said"; null is not always the same to them. */
const withoutNulls = (input: object) => Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null))

/** The other side closed a kept connection while we wrote on it. */
const isBrokenConnection = (error: unknown) => ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  const { name } = (error instanceof Unsent ? error.cause : error) as Error
  if (name === 'TimeoutError' || name === 'AbortError') return timedOut('The API did not answer in time', error)
  return unavailable('The API cannot be reached', error)
}
