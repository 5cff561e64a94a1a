import { Problem, timedOut, unavailable } from '../../kernel/problem.js'

const retryMs = 1_000

/** Whom it keeps reads from waiting for. */
export interface Guarded {
  name: string
  /** After so many reads in a row that found nobody, reads fail at once, and one a second tries again. */
  afterFailures: number
  /** Whether the error of a read says that nobody was there. */
  isAway: (error: unknown) => boolean
}

/** Keeps reads from waiting for somebody who did not answer the last ones. By hand: cockatiel takes 2 MB, a thirtieth of an idle sidecar, and as long as the reads. */
export class Outage {
  #failures = 0
  /** When the next read may try again. */
  #retryAt = 0

  constructor(private readonly of: Guarded) {}

  /** What `read` answers. During an outage it is not called, and this fails with UNAVAILABLE. */
  async guard<T>(read: () => Promise<T>): Promise<T> {
    const { name, afterFailures, isAway } = this.of
    const isOutage = this.#failures >= afterFailures
    if (isOutage && performance.now() < this.#retryAt) throw unavailable(`${name} did not answer lately; it is tried again within a second`)
    if (isOutage) this.#retryAt = performance.now() + retryMs
    try {
      const answer = await read()
      this.#failures = 0
      return answer
    } catch (error) {
      this.#failures = isAway(error) ? this.#failures + 1 : 0
      this.#retryAt = performance.now() + retryMs
      throw error
    }
  }
}

export const foundNobody = (error: unknown) =>
  error instanceof Problem && (error.code === 'UNAVAILABLE' || error.code === 'DEADLINE_EXCEEDED')

/** The result, or DEADLINE_EXCEEDED. The work goes on: others may wait for it. `whose`: who did not answer then. */
export function within<T>(work: Promise<T>, waitMs: number, whose: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(timedOut(`${whose} did not answer in time`)), waitMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
