import type { EpochMs } from '../kernel/clock.js'
import { unavailable } from '../kernel/problem.js'

const refreshMs = 30_000

/**
 * The database's time, which rules deadlines and versions, without asking it each time: an offset to this process's steady clock, learned again
 * every half minute of use. Right to about the time that one query takes.
 */
export class DatabaseClock {
  #offset: number | undefined
  #learnedAt = 0
  #learning: Promise<void> | undefined

  /** `ask` answers the database's time. */
  constructor(private readonly ask: () => Promise<EpochMs>) {}

  /** Waits only until the time is known at all: every report asks. Fails with UNAVAILABLE when the database does not tell it. */
  now(): EpochMs | Promise<EpochMs> {
    if (performance.now() - this.#learnedAt > refreshMs || this.#offset === undefined) {
      this.#learning ??= this.#learn().finally(() => {
        this.#learning = undefined
      })
      if (this.#offset === undefined) return this.#learning.then(() => this.#here())
      // An old offset is better than none, and the next call tries again.
      this.#learning.catch(() => undefined)
    }
    return this.#here()
  }

  #here(): EpochMs {
    return Math.round(performance.now() + this.#offset!)
  }

  async #learn(): Promise<void> {
    const before = performance.now()
    const time = await this.ask().catch((error: unknown) => {
      throw unavailable('The database cannot be reached, so nothing was done: try again.', error)
    })
    this.#offset = time - (before + performance.now()) / 2
    this.#learnedAt = performance.now()
  }
}
