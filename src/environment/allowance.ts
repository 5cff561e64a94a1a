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
  /** When a name has all its points again; changed in place, as every request comes this way. */
  readonly #fullAt = new LRUCache<string, { ms: number }>({ max: maxNames })

  constructor({ perSecond, savedMs = 1_000 }: { perSecond: number; savedMs?: number }) {
    this.#msPerPoint = 1_000 / perSecond
    this.#savedMs = savedMs
  }

  /** 0: taken. Else nothing is taken, and after so many milliseconds there is something left again. `now` never goes back. */
  take(name: string, points: number, now: number): number {
    const full = this.#fullAt.get(name)
    const spentMs = msUntil(full, now)
    // A whole point must be left, but for a rounding error.
    if (spentMs > this.#savedMs - this.#msPerPoint + 1e-6) return Math.ceil(spentMs - this.#savedMs + this.#msPerPoint)
    this.#spend(name, full, now + spentMs + points * this.#msPerPoint)
    return 0
  }

  giveBack(name: string, points: number, now: number): void {
    const full = this.#fullAt.get(name)
    this.#spend(name, full, now + msUntil(full, now) - points * this.#msPerPoint)
  }

  /** Points that were spent and have not come back yet. */
  spent(name: string, now: number): number {
    return msUntil(this.#fullAt.get(name), now) / this.#msPerPoint
  }

  #spend(name: string, full: { ms: number } | undefined, fullAt: number): void {
    if (full) full.ms = fullAt
    else this.#fullAt.set(name, { ms: fullAt })
  }
}

const msUntil = (full: { ms: number } | undefined, now: number): number => (full ? Math.max(full.ms - now, 0) : 0)
