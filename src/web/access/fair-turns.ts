/** What is done in one round of the event loop, at most: everybody else is served between the rounds. */
const roundMs = 8
/** The clock is looked at before each turn; a round of more turns than this is shorter than `roundMs` all the same. */
const turnsPerRound = 32

interface Line {
  /** Those who wait, first come first. */
  readonly waiting: (() => void)[]
  /** The time that its owner has had since it waits, beginning with what the one who was served then had had. */
  hadMs: number
}

/** What an owner has done in a round; `since`: when it last began. */
interface Worked {
  ms: number
  since: number
}

/**
 * The event loop, shared by all who have work of more than a few milliseconds for it. Each piece of work takes a turn before it begins; the next one is that
 * of the owner who has had the least time while it waited. So what one of them has waiting delays the pieces of another, however many small ones those are,
 * by no more than a piece of its own until both have had as much. A turn ends where its work first waits for something else.
 */
export class FairTurns {
  readonly #lines = new Map<string, Line>()
  #floorMs = 0
  /** Whose piece is under way, and since when. */
  #current: { line: Line; since: number } | null = null
  #isServing = false
  /** How long each owner has worked in this round without waiting for a turn; null: nobody has. */
  #worked: Map<string, Worked> | null = null
  /** Who worked last without waiting: whatever is done until the next one comes is taken for its work. */
  #last: Worked = { ms: 0, since: 0 }
  readonly #endOfRound = () => {
    this.#worked = null
  }
  readonly #now: () => number

  constructor(now = () => performance.now()) {
    this.#now = now
  }

  /** A turn without waiting, as an owner has it that works little: for what is usually short. False: it has had its part of this round. */
  takeNow(owner: string): boolean {
    if (this.#lines.size > 0 && this.#lines.get(owner)?.waiting.length) return false
    const now = this.#now()
    let worked = this.#worked?.get(owner)
    if (this.#worked) this.#last.ms += now - this.#last.since
    else {
      this.#worked = new Map()
      setImmediate(this.#endOfRound)
    }
    if (!worked) {
      worked = { ms: 0, since: now }
      this.#worked.set(owner, worked)
    }
    worked.since = now
    this.#last = worked
    return worked.ms < roundMs
  }

  take(owner: string): Promise<void> {
    return new Promise((resolve) => {
      const line = this.#lines.get(owner)
      if (line) line.waiting.push(resolve)
      else this.#lines.set(owner, { waiting: [resolve], hadMs: this.#floorMs })
      this.#serve()
    })
  }

  /** All that a turn begins without waiting is done before the next immediate is called: so each of them sees how long it took, and the round. */
  #serve(): void {
    if (this.#isServing || this.#lines.size === 0) return
    this.#isServing = true
    let startedAt: number | null = null
    for (let turn = 1; turn <= turnsPerRound; turn++) {
      setImmediate(() => {
        this.#account()
        startedAt ??= this.#now()
        if (turn < turnsPerRound) {
          if (this.#now() - startedAt < roundMs) this.#next()
          return
        }
        this.#isServing = false
        this.#serve()
      })
    }
  }

  #account(): void {
    if (!this.#current) return
    const { line, since } = this.#current
    line.hadMs += this.#now() - since
    this.#current = null
  }

  #next(): void {
    let next: Line | undefined
    for (const [owner, line] of this.#lines) {
      if (line.waiting.length === 0) this.#lines.delete(owner)
      else if (!next || line.hadMs < next.hadMs) next = line
    }
    if (!next) return
    this.#floorMs = next.hadMs
    this.#current = { line: next, since: this.#now() }
    next.waiting.shift()!()
  }
}

/** Those of this process. An owner is an environment, as a rule. */
export const turns = new FairTurns()

/** Whose the turns are of pages: who reads them is nobody that is known, so all together have as many as an environment. */
export const ofPages = 'pages'

/** A piece of long work gives up its turn after this long. What one turn of an answer asks the database for is loaded together, so shorter ones cost statements. */
export const turnMs = 8
