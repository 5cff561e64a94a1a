import { Problem } from '../../kernel/problem.js'
import type { Secret } from '../../kernel/secret.js'
import type { Owner } from '../states/entry.js'
import type { ApiClock } from './clock.js'
import { fromApiError } from './errors.js'
import type { HttpClient } from './http-client.js'
import { parseAnswer, type StateJson } from './messages.js'

/** After the edge could not answer it is left alone for so long, and reads go to GraphQL at once. */
const distrustMs = 10_000

/** The edge API: states by plain GET, which caches and replicas near the sidecar can serve. */
export class EdgeClient {
  #trustedFrom = 0

  constructor(
    private readonly http: HttpClient,
    private readonly apiKey: Secret,
    private readonly clock: ApiClock,
  ) {}

  /** False for a while after it could not answer. */
  get isTrusted(): boolean {
    return performance.now() >= this.#trustedFrom
  }

  /**
   * The state, an unknown customer's included. Null: the edge cannot answer (away, slower than `patienceMs`, not served there), and GraphQL has to.
   * Fails when the call as a whole was given up, or with what the edge refused.
   */
  async fetchState(owner: Owner, signal: AbortSignal, patienceMs: number): Promise<StateJson | null> {
    const { customerId, resourceId } = owner
    const query = resourceId === null ? '' : `?resourceId=${encodeURIComponent(resourceId)}`
    try {
      const sentAt = performance.now()
      const { status, serverTime, text } = await this.http.send({
        method: 'GET',
        path: `/v1/c/${encodeURIComponent(customerId)}/entitlements-state.json${query}`,
        headers: { accept: 'application/json', 'x-api-key': this.apiKey.reveal() },
        signal: AbortSignal.any([signal, AbortSignal.timeout(Math.max(1, patienceMs))]),
      })
      if (status === 200) this.clock.learn(serverTime, sentAt)
      if (status === 429) throw new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'The API answers no more requests at the moment')
      const answer = parseAnswer<{ entitlementsState: StateJson }>(text)
      const [error] = answer?.errors ?? []
      if (error?.extensions?.code !== undefined && error.extensions.code !== 'InternalServerError') throw fromApiError(error)
      if (answer?.data?.entitlementsState) return answer.data.entitlementsState
    } catch (error) {
      if (error instanceof Problem || signal.aborted) throw error
    }
    this.#trustedFrom = performance.now() + distrustMs
    return null
  }

  close(): void {
    this.http.close()
  }
}
