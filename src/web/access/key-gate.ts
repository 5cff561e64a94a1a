import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { EnvironmentService } from '../../environment/service.js'
import { type Credentials, type Identity, identify } from './auth.js'
import { consume } from './rate-limits.js'

/** Look-ups a second of keys that this process has not seen lately, of one address and of all. */
export const lookUpsPerAddress = 20
export const lookUpsInAll = 200

/**
 * Finds out who asks. A key that was seen lately is known, or known to be none, without the database; what has not been seen costs a look-up, of which one
 * address has its share, so that made-up keys keep the database from nobody.
 */
export class KeyGate {
  readonly #environments: Pick<EnvironmentService, 'authenticate' | 'verifyCustomerToken' | 'remembers'>
  readonly #addresses = new RateLimiterMemory({ keyPrefix: '', points: lookUpsPerAddress, duration: 1 })
  readonly #all = new RateLimiterMemory({ keyPrefix: '', points: lookUpsInAll, duration: 1 })

  constructor(environments: Pick<EnvironmentService, 'authenticate' | 'verifyCustomerToken' | 'remembers'>) {
    this.#environments = environments
  }

  /** Fails with UNAUTHENTICATED when the key or the token is missing or not valid, with RESOURCE_EXHAUSTED when too many unknown ones were shown. */
  async identify(credentials: Credentials, address: string): Promise<Identity> {
    const { apiKey } = credentials
    if (apiKey && !this.#environments.remembers(apiKey)) {
      const why = 'Too many API keys that are not known: try again in a moment.'
      await consume(this.#addresses, address, why)
      await consume(this.#all, '', why)
    }
    return identify(this.#environments, credentials)
  }
}
