/** How much work is under way, by owner. */
export class OwnedWork {
  readonly #ofOwner = new Map<string, number>()
  #inAll = 0

  /** One more, or one less, of the owner; answers how many it has. */
  count(owner: string, by: 1 | -1): number {
    const ofOwner = (this.#ofOwner.get(owner) ?? 0) + by
    if (ofOwner === 0) this.#ofOwner.delete(owner)
    else this.#ofOwner.set(owner, ofOwner)
    this.#inAll += by
    return ofOwner
  }

  get inAll(): number {
    return this.#inAll
  }

  /** What owners have beyond one each. */
  get more(): number {
    return this.#inAll - this.#ofOwner.size
  }
}
