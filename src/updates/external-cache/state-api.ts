import { type Dispatcher, Pool } from 'undici'
import type { EpochMs } from '../../kernel/clock.js'
import { checkRefId } from '../../kernel/id.js'
import { Problem, unavailable } from '../../kernel/problem.js'
import type { Secret } from '../../kernel/secret.js'
import { inChildSpan, traceHeaders } from '../../platform/context/tracing.js'
import type { EntityId } from './keys.js'
import { type StateJson, toWritableState } from './state-json.js'
import type { WritableState } from './value.js'

interface Answer<T> {
  data?: T | null
  errors?: { message: string; extensions?: { code?: string } }[]
}

interface Answered<T> {
  statusCode: number
  answer: Answer<T>
}

/** Longest wait for a connection, for an answer to begin, and between two parts of it. */
const timeoutMs = 10_000
/** Messages that miss their state are few; one slow answer must not hold up the others. */
const mostConnections = 4

/** Reads states from the platform's edge API. */
export class StateApi {
  readonly #pool: Pool
  readonly #base: string
  readonly #apiKey: Secret

  /** `url`: without `/v1`. */
  constructor({ url, apiKey }: { url: string; apiKey: Secret }) {
    const { origin, pathname } = new URL(url)
    this.#base = pathname.replace(/\/$/, '')
    this.#apiKey = apiKey
    this.#pool = new Pool(origin, {
      connections: mostConnections,
      connect: { timeout: timeoutMs },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    })
  }

  /**
   * The state of a customer or resource, an unknown one included, as of a version not below `version`. Fails with UNAVAILABLE when the API is away or refuses
   * the key (someone will mend it), with reason QUESTION_FAILED when it answered that it can't answer this, and with INVALID_ARGUMENT when it does not take
   * the question.
   */
  async fetch(id: EntityId, version: EpochMs, signal: AbortSignal): Promise<WritableState> {
    const { statusCode, answer } = await this.#ask(id, {}, signal)
    if (answer.data?.entitlementsState) return toWritableState(id, version, answer.data.entitlementsState)
    const [error] = answer.errors ?? []
    const { code } = error?.extensions ?? {}
    const message = `The API did not answer with a state: ${error?.message ?? `HTTP ${statusCode}`}`
    if (isRefusal(code)) throw new Problem('UNAVAILABLE', keyRefused, message)
    if (code === 'InternalServerError') throw new Problem('UNAVAILABLE', questionFailed, message)
    if (code === 'BadUserInput' || unfit.includes(statusCode)) throw new Problem('INVALID_ARGUMENT', 'BAD_USER_INPUT', message)
    throw unavailable(message)
  }

  /**
   * Passes when the API takes the key, for the environment if one is named. Fails with PERMISSION_DENIED when it does not, and with another problem when that
   * is not known.
   */
  async checkKey(environmentId: string | null, signal: AbortSignal): Promise<void> {
    const { statusCode, answer } = await this.#ask(keyQuestion, environmentId === null ? {} : { environmentId }, signal)
    const [error] = answer.errors ?? []
    if (isRefusal(error?.extensions?.code)) throw new Problem('PERMISSION_DENIED', keyRefused, error!.message)
    if (error || !answer.data) throw unavailable(`The API did not say whether it takes the key: ${error?.message ?? `HTTP ${statusCode}`}`)
  }

  /**
   * Has everything told to the queue; answers the id of the warming, which may be one that is under way. Fails when the API is away, or where it does not serve
   * GraphQL beside the edge API.
   */
  async warm(signal: AbortSignal): Promise<string> {
    const headers = { 'content-type': 'application/json', accept: 'application/json', 'x-api-key': this.#apiKey.reveal() }
    const body = JSON.stringify({ query: 'mutation { warmPersistentCache { id } }' })
    const { statusCode, answer } = await this.#send<{ warmPersistentCache?: { id: string } }>({
      method: 'POST',
      path: `${this.#base}/graphql`,
      headers,
      body,
      signal,
    })
    if (answer.data?.warmPersistentCache) return answer.data.warmPersistentCache.id
    throw unavailable(`The API does not warm the cache: ${answer.errors?.[0]?.message ?? `HTTP ${statusCode}`}`)
  }

  close(): Promise<void> {
    return this.#pool.destroy()
  }

  #ask(id: EntityId, also: Record<string, string>, signal: AbortSignal): Promise<Answered<{ entitlementsState?: StateJson | null }>> {
    const headers = { accept: 'application/json', 'x-api-key': this.#apiKey.reveal() }
    return this.#send({ method: 'GET', path: this.#base + statePath(id, also), headers, signal })
  }

  #send<T>(request: Dispatcher.RequestOptions & { headers: Record<string, string> }): Promise<Answered<T>> {
    const { method } = request
    return inChildSpan({ name: method, kind: 'client', attributes: { 'http.request.method': method } }, async (span) => {
      const answered = await this.#exchange<T>({ ...request, headers: { ...request.headers, ...traceHeaders() } })
      span?.set({ 'http.response.status_code': answered.statusCode })
      return answered
    })
  }

  async #exchange<T>(request: Dispatcher.RequestOptions): Promise<Answered<T>> {
    try {
      const response = await this.#pool.request(request)
      return { statusCode: response.statusCode, answer: parseAnswer(await response.body.text()) }
    } catch (error) {
      throw unavailable('The API cannot be reached', error)
    }
  }
}

function statePath({ customerId, resourceId }: EntityId, also: Record<string, string>): string {
  checkRefId(customerId, 'customerId')
  if (resourceId !== null) checkRefId(resourceId, 'resourceId')
  const query = new URLSearchParams({ ...(resourceId !== null && { resourceId }), ...also }).toString()
  return `/v1/c/${encodeURIComponent(customerId)}/entitlements-state.json${query && `?${query}`}`
}

/** A customer of nobody: whether the question is answered tells whether the key may ask what messages need. */
const keyQuestion: EntityId = { customerId: 'key-check', resourceId: null }

/** The reason of a problem: it goes on until the key is put right. */
export const keyRefused = 'KEY_REFUSED'

/** The reason of a problem: it may be that of the question alone. */
export const questionFailed = 'QUESTION_FAILED'

/** HTTP statuses of what will not be taken next time either: the request, its address, its size. */
const unfit = [400, 411, 413, 414, 431]

const isRefusal = (code: string | undefined) => code === 'Unauthenticated' || code === 'IdentityForbidden'

/** Empty when it is no answer of the API, such as a proxy's error page. */
function parseAnswer<T>(text: string): Answer<T> {
  try {
    return (JSON.parse(text) as Answer<T> | null) ?? {}
  } catch {
    return {}
  }
}
