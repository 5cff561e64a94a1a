/** What is done in one round of the event loop, at most: everybody else is served between the rounds. */
const roundMs = 8
/** The clock is looked at before each turn; a round of more turns than this is shorter than `roundMs` all the same. */
const turnsPerRound = 32

/**
 * Work for listeners, in turns. Each piece of work takes a turn before it begins; environments have theirs one after the other, so that what one of
 * them has waiting delays each piece of another by no more than a piece of its own. A turn ends where its work first waits for something else.
 */
export class FairTurns {
  /** Those who wait, by environment, in the order in which the environments come next. */
  readonly #waiting = new Map<string, Array<() => void>>()
  #isServing = false

  take(environmentId: string): Promise<void> {
    return new Promise((resolve) => {
      const line = this.#waiting.get(environmentId)
      if (line) line.push(resolve)
      else this.#waiting.set(environmentId, [resolve])
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
        startedAt ??= performance.now()
        if (performance.now() - startedAt < roundMs) this.#next()
        if (turn < turnsPerRound) return
        this.#isServing = false
        this.#serve()
      })
    }
  }

  #next(): void {
    const [first] = this.#waiting
    if (!first) return
    const [environmentId, line] = first
    const begin = line.shift()
    this.#waiting.delete(environmentId)
    if (line.length > 0) this.#waiting.set(environmentId, line)
    begin?.()
  }
}
