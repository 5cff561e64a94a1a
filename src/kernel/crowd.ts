interface Seen {
  owner: string
  at: number
}
const nobody = (): Seen => ({ owner: '', at: Number.NEGATIVE_INFINITY })

/**
 * The most that one may have of what there is for all: half of what the others leave. So one alone has half of all, of two loud ones each a third, and who comes
 * next finds room.
 */
export const shareOf = ({ most, taken, own }: { most: number; taken: number; own: number }): number => (most - (taken - own)) / 2

/** Whether others are there too: who is alone may have all that there is. Instants are of one clock that only goes on, in ms. */
export class Crowd {
  readonly #recentMs: number
  /** The last two that are not the same. */
  #last = nobody()
  #before = nobody()

  /** `recentMs`: who was seen so lately is there. */
  constructor(recentMs = 1_000) {
    this.#recentMs = recentMs
  }

  see(owner: string, at: number): void {
    // Every call comes this way, so nothing is made for it.
    if (this.#last.owner !== owner) {
      ;[this.#last, this.#before] = [this.#before, this.#last]
      this.#last.owner = owner
    }
    this.#last.at = at
  }

  /** Whether another one was seen lately. */
  isAround(owner: string, now: number): boolean {
    return now - (this.#last.owner === owner ? this.#before : this.#last).at < this.#recentMs
  }
}
