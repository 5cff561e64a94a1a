import { Pool } from 'undici'
import type { EpochMs } from '../../kernel/clock.js'
import { Problem, unavailable } from '../../kernel/problem.js'
import type { Secret } from '../../platform/config.js'
import type { EntityId } from './keys.js'
import { entitlementFields, type StateJson, toWritableState } from './state-json.js'
import type { WritableState } from './value.js'

const query = `query EntitlementsState($query: FetchEntitlementsQuery!) {
  entitlementsState(query: $query) { accessDeniedReason entitlements { ${entitlementFields} } }
}`

interface Answer {
  data?: { entitlementsState: StateJson } | null
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
   * the key (someone will mend it), and with INVALID_ARGUMENT when it does not take the identifiers.
   */
  async fetch(id: EntityId, version: EpochMs, signal: AbortSignal): Promise<WritableState> {
    const { statusCode, text } = await this.#post(JSON.stringify({ query, variables: { query: id } }), signal)
    const { data, errors } = parseAnswer(text)
    if (data) return toWritableState(id, version, data.entitlementsState)
    const [error] = errors ?? []
    if (error?.extensions?.code === 'BadUserInput') throw new Problem('INVALID_ARGUMENT', 'BAD_USER_INPUT', error.message)
    throw unavailable(`The API did not answer with a state: ${error?.message ?? `HTTP ${statusCode}`}`)
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

/** Empty when it is not a GraphQL answer, such as a proxy's error page. */
function parseAnswer(text: string): Answer {
  try {
    return (JSON.parse(text) as Answer | null) ?? {}
  } catch {
    return {}
  }
}
