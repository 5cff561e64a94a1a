import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { Problem } from '../../kernel/problem.js'
import type { Identity } from './auth.js'

export interface RateLimitOptions {
  /** Requests per second of one key. An operation of a list is a request. */
  perKey: number
  /** Requests per second of one customer with its token: what a browser, or whoever took its token, may ask. */
  perCustomer: number
}

/**
 * Counts in this process: a request that is within its limits costs no other system anything, and several processes let through that many times
 * as much. The purpose is that one caller cannot take a process from all others.
 */
export class RateLimits {
  readonly #keys: RateLimiterMemory
  readonly #customers: RateLimiterMemory

  constructor({ perKey, perCustomer }: RateLimitOptions) {
    this.#keys = new RateLimiterMemory({ keyPrefix: '', points: perKey, duration: 1 })
    this.#customers = new RateLimiterMemory({ keyPrefix: '', points: perCustomer, duration: 1 })
  }

  /** Fails with RESOURCE_EXHAUSTED and `details.retryAfterMs`. */
  async take({ keyId, environmentId, customerId }: Identity): Promise<void> {
    try {
      if (customerId !== null) await this.#customers.consume(environmentId + customerId)
      await this.#keys.consume(keyId)
    } catch (error) {
      if (error instanceof Error) throw error
      const { msBeforeNext } = error as RateLimiterRes
      throw new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'Too many requests: slow down, and try again in a moment.', {
        details: { retryAfterMs: msBeforeNext },
      })
    }
  }
}
