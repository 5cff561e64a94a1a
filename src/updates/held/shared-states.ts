import { type EntitlementState, mayBeKept } from '../../entitlement/rules/state.js'
import type { EntitlementService } from '../../entitlement/service.js'
import type { EpochMs } from '../../kernel/clock.js'
import type { Logger } from '../../platform/logger.js'
import { freshUntil } from './fresh-until.js'
import { mergeStates } from './merge-state.js'
import type { StateCache } from './state-cache.js'

type Owner = Pick<EntitlementState, 'environmentId' | 'customerId' | 'resourceId'>

/** How long a reader waits for Redis before it asks PostgreSQL instead, which takes some milliseconds. */
const patienceMs = 100

/**
 * Entitlement states in Redis, as readers may trust them. Redis can lag behind PostgreSQL, and after a crash it can have gone back; so a state
 * counts only when it was read at the versions that PostgreSQL has now. One small statement tells them; building the state takes many.
 */
export class SharedStates {
  readonly #cache: StateCache
  readonly #source: Pick<EntitlementService, 'versions'>
  readonly #log: Logger

  constructor({ cache, source, log }: { cache: StateCache; source: Pick<EntitlementService, 'versions'>; log: Logger }) {
    this.#cache = cache
    this.#source = source
    this.#log = log
  }

  /** Null: there is none that is certainly current. */
  async read(of: Owner, now: EpochMs): Promise<EntitlementState | null> {
    const [stored, versions] = await Promise.all([this.#stored(of), this.#source.versions(of.environmentId, of.customerId)])
    if (!stored || !versions) return null
    const isCurrent = mayBeKept(stored) && stored.version === versions.state && stored.basis?.catalogVersion === versions.catalog
    return isCurrent && stored.validUntil !== undefined && now < freshUntil(stored) ? stored : null
  }

  /** In the background. States of unknown customers and resources are not kept: anybody can make up as many as they like. */
  offer(state: EntitlementState): void {
    if (state.deniedReason === 'CustomerNotFound' || state.deniedReason === 'CustomerResourceNotFound') return
    this.#cache
      .update(state, (stored) => mergeStates(stored, state))
      .catch((error: unknown) => this.#log.debug({ err: error }, 'entitlement state could not be shared'))
  }

  async #stored(of: Owner): Promise<EntitlementState | null> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, patienceMs, null)
    })
    try {
      return await Promise.race([this.#cache.read(of), late])
    } catch (error) {
      this.#log.debug({ err: error }, 'entitlement state could not be read from Redis')
      return null
    } finally {
      clearTimeout(timer)
    }
  }
}
