import { RateLimiterMemory } from 'rate-limiter-flexible';
import { Problem } from '../kernel/problem.js';
/**
 * Counts in this process: a request that is within its limits costs no other system anything, and several processes let through that many times
 * as much. The purpose is that one caller cannot take a process from all others.
 */
export class RateLimits {
    #keys;
    #customers;
    constructor({ perKey, perCustomer }) {
        this.#keys = new RateLimiterMemory({ keyPrefix: '', points: perKey, duration: 1 });
        this.#customers = new RateLimiterMemory({ keyPrefix: '', points: perCustomer, duration: 1 });
    }
    /** Fails with RESOURCE_EXHAUSTED and `details.retryAfterMs`. */
    async take({ keyId, environmentId, customerId }) {
        try {
            if (customerId !== null)
                await this.#customers.consume(environmentId + customerId);
            await this.#keys.consume(keyId);
        }
        catch (error) {
            if (error instanceof Error)
                throw error;
            const { msBeforeNext } = error;
            throw new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'Too many requests: slow down, and try again in a moment.', {
                details: { retryAfterMs: msBeforeNext },
            });
        }
    }
}
//# sourceMappingURL=rate-limits.js.map