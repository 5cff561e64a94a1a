/**
 * Places for work that takes long, of which only some is under way at a time: what all of it has waited for (rows of a database) arrives in one round of the
 * event loop, before anybody has a turn. Owners come one after the other; none has more than its part of the places.
 */
export class FairPlaces {
  readonly #mostInAll: number
  readonly #mostOfOwner: number
  /** Work that is under way, by owner. */
  readonly #taken = new Map<string, number>()
  /** Those who wait, by owner, in the order in which the owners come next. */
  readonly #waiting = new Map<string, Array<() => void>>()
  #inAll = 0

  constructor({ inAll, ofOwner }: { inAll: number; ofOwner: number }) {
    this.#mostInAll = inAll
    this.#mostOfOwner = ofOwner
  }

  /** Begins the work when there is a place for it, and gives the place back when it is done. */
  async run<Result>(owner: string, work: () => Result | Promise<Result>): Promise<Result> {
    if (this.#isFree(owner) && !this.#waiting.has(owner)) this.#take(owner)
    else await this.#wait(owner)
    try {
      return await work()
    } finally {
      this.#giveBack(owner)
    }
  }

  #isFree(owner: string): boolean {
    return this.#inAll < this.#mostInAll && (this.#taken.get(owner) ?? 0) < this.#mostOfOwner
  }

  #wait(owner: string): Promise<void> {
    return new Promise((resolve) => {
      const line = this.#waiting.get(owner)
      if (line) line.push(resolve)
      else this.#waiting.set(owner, [resolve])
    })
  }

  #take(owner: string): void {
    this.#inAll += 1
    this.#taken.set(owner, (this.#taken.get(owner) ?? 0) + 1)
  }

  #giveBack(owner: string): void {
    this.#inAll -= 1
    const left = this.#taken.get(owner)! - 1
    if (left > 0) this.#taken.set(owner, left)
    else this.#taken.delete(owner)
    for (const [next, line] of this.#waiting) {
      if (!this.#isFree(next)) continue
      const begin = line.shift()!
      this.#waiting.delete(next)
      if (line.length > 0) this.#waiting.set(next, line)
      this.#take(next)
      begin()
      return
    }
  }
}
