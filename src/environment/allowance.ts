import { LRUCache } from 'lru-cache'

/** Names that are remembered at a time. Whoever is forgotten begins afresh. */
const maxNames = 50_000

/**
 * So many points a second for each name, of which some seconds' worth can be spent at once. Whoever has any left may spend more than that, and then waits for
 * longer: otherwise nobody could ever do what costs more than all that one can have.
 */
export class Allowance {
  readonly #msPerPoint: number
  readonly #savedMs: number
  /** When a name has all its points again. */
  readonly #fullAt = new LRUCache<string, number>({ max: maxNames })

  constructor({ perSecond, savedMs = 1_000 }: { perSecond: number; savedMs?: number }) {
    this.#msPerPoint = 1_000 / perSecond
    this.#savedMs = savedMs
  }

  /** 0: taken. Else nothing is taken, and after so many milliseconds there is something left again. `now` never goes back. */
  take(name: string, points: number, now: number): number {
    const spentMs = this.#spentMs(name, now)
    // A whole point must be left, but for a rounding error.
    if (spentMs > this.#savedMs - this.#msPerPoint + 1e-6) return Math.ceil(spentMs - this.#savedMs + this.#msPerPoint)
    this.#fullAt.set(name, now + spentMs + points * this.#msPerPoint)
    return 0
  }

  giveBack(name: string, points: number, now: number): void {
    this.#fullAt.set(name, now + this.#spentMs(name, now) - points * this.#msPerPoint)
  }

  /** Points that were spent and have not come back yet. */
  spent(name: string, now: number): number {
    return this.#spentMs(name, now) / this.#msPerPoint
  }

  #spentMs(name: string, now: number): number {
    return Math.max((this.#fullAt.get(name) ?? 0) - now, 0)
  }
}
