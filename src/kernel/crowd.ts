interface Seen {
  owner: string
  at: number
}
const nobody: Seen = { owner: '', at: Number.NEGATIVE_INFINITY }

/** Somebody else was there so lately. */
const crowdedMs = 1_000

/** Whether others are there too: who is alone may have all that there is. Instants are of one clock that only goes on, in ms. */
export class Crowd {
  /** The last two that are not the same. */
  #seen: [last: Seen, before: Seen] = [nobody, nobody]

  see(owner: string, at: number): void {
    const [last, before] = this.#seen
    this.#seen = last.owner === owner ? [{ owner, at }, before] : [{ owner, at }, last]
  }

  /** Whether another one was seen in the last second. */
  isAround(owner: string, now: number): boolean {
    const [last, before] = this.#seen
    return now - (last.owner === owner ? before : last).at < crowdedMs
  }
}
