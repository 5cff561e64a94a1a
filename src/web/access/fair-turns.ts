/** What is done in one round of the event loop, at most: everybody else is served between the rounds. */
const roundMs = 8
/** The clock is looked at before each turn; a round of more turns than this is shorter than `roundMs` all the same. */
const turnsPerRound = 32

/**
 * The event loop, shared by all who have work of more than a few milliseconds for it. Each piece of work takes a turn before it begins; owners have theirs one
 * after the other, so that what one of them has waiting delays each piece of another by no more than a piece of its own. A turn ends where its work first
 * waits for something else.
 */
export class FairTurns {
  /** Those who wait, by owner, in the order in which the owners come next. */
  readonly #waiting = new Map<string, Array<() => void>>()
  #isServing = false
  /** When each owner first worked in this round without waiting for a turn. */
  readonly #beganAt = new Map<string, number>()
  readonly #now: () => number

  constructor(now = () => performance.now()) {
    this.#now = now
  }

  /** A turn without waiting, as an owner has it that works little: for what is usually short. False: it has had its part of this round. */
  takeNow(owner: string): boolean {
    if (this.#waiting.has(owner)) return false
    const now = this.#now()
    const beganAt = this.#beganAt.get(owner)
    if (beganAt !== undefined) return now - beganAt < roundMs
    if (this.#beganAt.size === 0) setImmediate(() => this.#beganAt.clear())
    this.#beganAt.set(owner, now)
    return true
  }

  take(owner: string): Promise<void> {
    return new Promise((resolve) => {
      const line = this.#waiting.get(owner)
      if (line) line.push(resolve)
      else this.#waiting.set(owner, [resolve])
      this.#serve()
    })
  }

  /** All that a turn begins without waiting is done before the next immediate is called: so each of them sees how long the round has lasted. */
  #serve(): void {
    if (this.#isServing || this.#waiting.size === 0) return
    this.#isServing = true
    let startedAt: number | null = null
    for (let turn = 1; turn <= turnsPerRound; turn++) {
      setImmediate(() => {
        startedAt ??= this.#now()
        if (this.#now() - startedAt < roundMs) this.#next()
        if (turn < turnsPerRound) return
        this.#isServing = false
        this.#serve()
      })
    }
  }

  #next(): void {
    const [first] = this.#waiting
    if (!first) return
    const [owner, line] = first
    const begin = line.shift()
    this.#waiting.delete(owner)
    if (line.length > 0) this.#waiting.set(owner, line)
    begin?.()
  }
}

/** Those of this process. An owner is an environment, as a rule. */
export const turns = new FairTurns()

/** A piece of long work gives up its turn after this long. What one turn of an answer asks the database for is loaded together, so shorter ones cost statements. */
export const turnMs = 8
