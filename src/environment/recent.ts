import { LRUCache } from 'lru-cache'
import type { Clock, EpochMs } from '../kernel/clock.js'

interface Answer<T> {
  value: Promise<T>
  askedAt: EpochMs
}

/** Answers of the last `ttlMs`, counted from when they were asked for, for at most `max` questions. Nothing that failed is kept. */
export class Recent<T> {
  readonly #ttlMs: number
  readonly #clock: Clock
  readonly #answers: LRUCache<string, Answer<T>>

  constructor({ ttlMs, max, clock }: { ttlMs: number; max: number; clock: Clock }) {
    this.#ttlMs = ttlMs
    this.#clock = clock
    this.#answers = new LRUCache({ max })
  }

  /** Callers that ask the same at the same time share one `load`. */
  get(key: string, load: () => Promise<T>): Promise<T> {
    const now = this.#clock.now()
    const known = this.#answers.get(key)
    // A clock that was set back must not lengthen an answer's life.
    if (known && Math.abs(now - known.askedAt) < this.#ttlMs) return known.value
    const answer = { value: load(), askedAt: now }
    this.#answers.set(key, answer)
    answer.value.catch(() => {
      if (this.#answers.peek(key) === answer) this.#answers.delete(key)
    })
    return answer.value
  }

  clear(): void {
    this.#answers.clear()
  }
}
