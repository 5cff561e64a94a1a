/** How much there is of each owner, and of all: jobs, bytes. Who has none is forgotten. */
export class Tally {
  readonly #ofOwner = new Map<string, number>()
  #inAll = 0

  /** So many more of the owner, or fewer; answers how many it has. */
  add(owner: string, by: number): number {
    const ofOwner = this.of(owner) + by
    if (ofOwner > 0) this.#ofOwner.set(owner, ofOwner)
    else this.#ofOwner.delete(owner)
    this.#inAll += by
    return ofOwner
  }

  of(owner: string): number {
    return this.#ofOwner.get(owner) ?? 0
  }

  get inAll(): number {
    return this.#inAll
  }

  /** What owners have beyond one each. */
  get more(): number {
    return this.#inAll - this.#ofOwner.size
  }
}
