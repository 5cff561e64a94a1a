import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { Problem } from '../../kernel/problem.js'
import type { Identity } from './auth.js'

export interface RateLimitOptions {
  /** Requests per second of one key. An operation of a list is a request. */
  perKey: number
  /** Requests per second of one customer with its token: what a browser, or whoever took its token, may ask. */
  perCustomer: number
}

/** Fields of large answers that a second may have: of one key about a third of a core. */
export const costPerKey = 500_000
export const costPerCustomer = 100_000

/**
 * Counts in this process: a request that is within its limits costs no other system anything, and several processes let through that many times
 * as much. The purpose is that one caller cannot take a process from all others.
 */
export class RateLimits {
  readonly #keys: RateLimiterMemory
  readonly #customers: RateLimiterMemory
  readonly #costs = new RateLimiterMemory({ keyPrefix: '', points: costPerKey, duration: 1 })
  readonly #customerCosts = new RateLimiterMemory({ keyPrefix: '', points: costPerCustomer, duration: 1 })

  constructor({ perKey, perCustomer }: RateLimitOptions) {
    this.#keys = new RateLimiterMemory({ keyPrefix: '', points: perKey, duration: 1 })
    this.#customers = new RateLimiterMemory({ keyPrefix: '', points: perCustomer, duration: 1 })
  }

  /** Fails with RESOURCE_EXHAUSTED and `details.retryAfterMs`. */
  async take({ keyId, environmentId, customerId }: Identity): Promise<void> {
    if (customerId !== null) await consume(this.#customers, environmentId + customerId, tooMany)
    await consume(this.#keys, keyId, tooMany)
  }

  /**
   * Of an answer that may be large. Whoever has not used up the second yet may have any: the largest are larger than a second's. Fails with
   * RESOURCE_EXHAUSTED and `details.retryAfterMs`.
   */
  async takeCost({ keyId, environmentId, customerId }: Identity, cost: number): Promise<void> {
    if (customerId !== null) await spend(this.#customerCosts, environmentId + customerId, cost)
    await spend(this.#costs, keyId, cost)
  }
}

const tooMany = 'Too many requests: slow down, and try again in a moment.'

async function spend(limiter: RateLimiterMemory, key: string, cost: number): Promise<void> {
  await consume(limiter, key, 'Too many large answers: ask for fewer fields or shorter pages, or try again in a moment.')
  await limiter.penalty(key, cost)
}

/** Takes one point. Fails with RESOURCE_EXHAUSTED and `details.retryAfterMs`. */
export async function consume(limiter: RateLimiterMemory, key: string, why: string): Promise<void> {
  try {
    await limiter.consume(key)
  } catch (error) {
    if (error instanceof Error) throw error
    const { msBeforeNext } = error as RateLimiterRes
    throw new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', why, { details: { retryAfterMs: msBeforeNext } })
  }
}
