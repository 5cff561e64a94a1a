import { Problem, unavailable } from '../../kernel/problem.js'

/** After so many reads in a row that found nobody, reads fail at once, and one a second tries again. */
const outageAfterFailures = 5
const retryMs = 1_000

/** Keeps reads from waiting for an API that did not answer the last ones. By hand: cockatiel takes 2 MB, a thirtieth of an idle sidecar. */
export class Outage {
  #failures = 0
  /** When the next read may try again. */
  #retryAt = 0

  /** What `read` answers. During an outage it is not called, and this fails with UNAVAILABLE. */
  async guard<T>(read: () => Promise<T>): Promise<T> {
    const isOutage = this.#failures >= outageAfterFailures
    if (isOutage && performance.now() < this.#retryAt) throw unavailable('The API did not answer lately; it is tried again within a second')
    if (isOutage) this.#retryAt = performance.now() + retryMs
    try {
      const answer = await read()
      this.#failures = 0
      return answer
    } catch (error) {
      this.#failures = foundNobody(error) ? this.#failures + 1 : 0
      this.#retryAt = performance.now() + retryMs
      throw error
    }
  }
}

const foundNobody = (error: unknown) => error instanceof Problem && (error.code === 'UNAVAILABLE' || error.code === 'DEADLINE_EXCEEDED')
