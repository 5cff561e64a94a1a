import { Pool } from 'undici'
import type { EpochMs } from '../../kernel/clock.js'
import { Problem, unavailable } from '../../kernel/problem.js'
import type { Secret } from '../../platform/config.js'
import { keyQuestion } from './key-question.js'
import type { EntityId } from './keys.js'
import { entitlementFields, type StateJson, toWritableState } from './state-json.js'
import type { WritableState } from './value.js'

const query = `query EntitlementsState($query: FetchEntitlementsQuery!) {
  entitlementsState(query: $query) { accessDeniedReason entitlements { ${entitlementFields} } }
}`

interface Answer {
  data?: { entitlementsState?: StateJson | null } | null
  errors?: { message: string; extensions?: { code?: string } }[]
}

/** Longest wait for a connection, for an answer to begin, and between two parts of it. */
const timeoutMs = 10_000
/** Messages that miss their state are few; one slow answer must not hold up the others. */
const mostConnections = 4

/** Reads states from the platform's GraphQL API. */
export class StateApi {
  readonly #pool: Pool
  readonly #path: string
  readonly #apiKey: Secret

  /** `url`: without `/graphql`. */
  constructor({ url, apiKey }: { url: string; apiKey: Secret }) {
    const { origin, pathname } = new URL(url)
    this.#path = `${pathname.replace(/\/$/, '')}/graphql`
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
    const { statusCode, text } = await this.#post(JSON.stringify({ query, variables: { query: id } }), signal)
    const { data, errors } = parseAnswer(text)
    if (data?.entitlementsState) return toWritableState(id, version, data.entitlementsState)
    const [error] = errors ?? []
    const { code } = error?.extensions ?? {}
    const message = `The API did not answer with a state: ${error?.message ?? `HTTP ${statusCode}`}`
    if (isRefusal(code)) throw new Problem('UNAVAILABLE', keyRefused, message)
    if (code === 'InternalServerError') throw new Problem('UNAVAILABLE', questionFailed, message)
    if (code === 'BadUserInput' || unfit.includes(statusCode)) throw new Problem('INVALID_ARGUMENT', 'BAD_USER_INPUT', message)
    throw unavailable(message)
  }

  /**
   * Passes when the API takes the key for the environment whose changes the queue carries. Fails with PERMISSION_DENIED when it does not, and with another
   * problem when that is not known.
   */
  async checkKey(queue: string, signal: AbortSignal): Promise<void> {
    const environmentId = environmentOf(queue)
    if (environmentId === null)
      throw refused(`The queue "${queue}" is that of no environment: it is called environment-<id> (npm run admin -- environment list)`)
    const { statusCode, text } = await this.#post(JSON.stringify(keyQuestion(environmentId)), signal)
    const { data, errors } = parseAnswer(text)
    const [error] = errors ?? []
    if (isRefusal(error?.extensions?.code)) throw refused(error!.message)
    if (error || !data) throw unavailable(`The API did not say whether it takes the key: ${error?.message ?? `HTTP ${statusCode}`}`)
  }

  close(): Promise<void> {
    return this.#pool.destroy()
  }

  async #post(body: string, signal: AbortSignal): Promise<{ statusCode: number; text: string }> {
    try {
      const headers = { 'content-type': 'application/json', accept: 'application/json', 'x-api-key': this.#apiKey.reveal() }
      const response = await this.#pool.request({ method: 'POST', path: this.#path, headers, body, signal })
      return { statusCode: response.statusCode, text: await response.body.text() }
    } catch (error) {
      throw unavailable('The API cannot be reached', error)
    }
  }
}

/** The reason of a problem: it goes on until the key is put right. */
export const keyRefused = 'KEY_REFUSED'

/** The reason of a problem: it may be that of the question alone. */
export const questionFailed = 'QUESTION_FAILED'

/** HTTP statuses of what will not be taken next time either: the request, its address, its size. */
const unfit = [400, 411, 413, 414, 431]

const refused = (message: string) => new Problem('PERMISSION_DENIED', keyRefused, message)
const isRefusal = (code: string | undefined) => code === 'Unauthenticated' || code === 'IdentityForbidden'

/** Null: no environment has a queue of that name. */
const environmentOf = (queue: string): string | null => /^environment-([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/.exec(queue)?.[1] ?? null

/** Empty when it is not a GraphQL answer, such as a proxy's error page. */
function parseAnswer(text: string): Answer {
  try {
    return (JSON.parse(text) as Answer | null) ?? {}
  } catch {
    return {}
  }
}
