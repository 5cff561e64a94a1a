import { readFileSync } from 'node:fs'
import { Crowd } from '../../kernel/crowd.js'
import { Problem } from '../../kernel/problem.js'

/** What this process's main thread has had to wait for a processor so far, in ms. */
export function waitedForProcessorMs(): number {
  try {
    // Nanoseconds that it ran, that it was ready to run and did not, and how often it began to.
    return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[1]) / 1e6
  } catch {
    // Not on Linux, or of a kernel that does not count it.
    return 0
  }
}

/** How often it is looked whether there are processors for all that is under way. */
const lookMs = 50
/** Of the time, that the thread may wait for a processor: with more, calls that take a millisecond take many. */
const tolerated = 0.1
/** Who has half of what the loudest has under way is loud too. */
const loud = 0.5
const least = 4
const most = 256
/** Of one environment: who comes then is refused. */
const maxWaiting = 2_000

interface Line {
  /** What all of its calls that are under way weigh, and those that wait. */
  underWay: number
  demand: number
  waiting: { weight: number; enter: () => void }[]
}

/**
 * How many calls of one environment are under way at once. Any number, as long as the process has a processor when it wants one; when it has to wait, and several
 * environments call, fewer and fewer of those that call most, until it need not wait: what they have under way, here and in what it asks, is what takes the processors.
 */
export class Admission {
  readonly #lines = new Map<string, Line>()
  readonly #crowd = new Crowd()
  #limit = Number.POSITIVE_INFINITY
  #loudest = 0
  #lookedAt = 0
  #waitedMs = 0

  constructor(
    private readonly waitedMs = waitedForProcessorMs,
    private readonly now = () => performance.now(),
  ) {}

  /** Undefined: at once. Fails with RESOURCE_EXHAUSTED when too many wait. Whoever has entered leaves. `weight`: see `weightOf`. */
  enter(environmentId: string, weight: number): Promise<void> | undefined {
    const now = this.now()
    this.#crowd.see(environmentId, now)
    if (now - this.#lookedAt > lookMs) this.#look(environmentId, now)
    const line = this.#lines.get(environmentId) ?? { underWay: 0, demand: 0, waiting: [] }
    if (line.demand === 0) this.#lines.set(environmentId, line)
    if (line.waiting.length >= maxWaiting) throw tooManyWaiting()
    line.demand += weight
    if (line.waiting.length === 0 && this.#mayEnter(line, weight)) {
      line.underWay += weight
      return undefined
    }
    return new Promise((resolve) => line.waiting.push({ weight, enter: resolve }))
  }

  leave(environmentId: string, weight: number): void {
    const line = this.#lines.get(environmentId)!
    line.underWay -= weight
    line.demand -= weight
    for (let next = line.waiting[0]; next && this.#mayEnter(line, next.weight); next = line.waiting[0]) {
      line.waiting.shift()
      line.underWay += next.weight
      next.enter()
    }
    if (line.demand === 0) this.#lines.delete(environmentId)
  }

  #mayEnter({ underWay, demand }: Line, weight: number): boolean {
    return underWay === 0 || underWay + weight <= this.#limit || demand < this.#loudest * loud
  }

  #look(environmentId: string, now: number): void {
    const waitedMs = this.waitedMs()
    const share = (waitedMs - this.#waitedMs) / (now - this.#lookedAt)
    this.#waitedMs = waitedMs
    this.#lookedAt = now
    this.#loudest = 0
    for (const { demand } of this.#lines.values()) this.#loudest = Math.max(this.#loudest, demand)
    if (share > tolerated && this.#crowd.isAround(environmentId, now)) this.#limit = Math.max(least, Math.min(this.#limit, this.#loudest) * 0.7)
    else if (this.#limit < most) this.#limit = this.#limit * 1.1 + 1
    else this.#limit = Number.POSITIVE_INFINITY
  }
}

/** Of a body that is to come: a small call is one. */
export const weightOf = (contentLength: number): number => 1 + Math.floor((contentLength || bytesOfOne) / bytesOfOne)
const bytesOfOne = 8_192

const tooManyWaiting = () =>
  new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'Too many calls of this environment wait: send fewer at a time.', {
    details: { retryAfterMs: 1_000 },
  })
