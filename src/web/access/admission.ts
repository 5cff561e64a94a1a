import { readFileSync } from 'node:fs'
import { Crowd } from '../../kernel/crowd.js'
import { Problem } from '../../kernel/problem.js'
import { Gauge, type Registry } from '../../platform/metrics.js'

/** How often it is looked whether the process has a processor when it wants one. */
const lookMs = 50
/** Of the time, that it may wait for one: with more, calls of a millisecond take many. */
const tolerated = 0.07
/** Who has half of what the loudest has is loud too. */
const loudShare = 0.5
/** What the loud ones may have under way, in the weight of small calls: never less, and in the end any number again. */
const [least, most] = [2, 256]
const [narrowed, widened, widenedBy] = [0.7, 1.03, 0.2]

/** Calls of one environment that wait at most, and how long. */
export const maxWaitingCalls = 2_000
const maxWaitMs = 5_000

/** Of a call by the length of its body, as the headers say: a small one is 1. One that does not say may be long. */
export const weightOf = (contentLength: string | undefined): number => 1 + Math.floor(Number(contentLength ?? unsaidBytes) / bytesOfOne)
const [bytesOfOne, unsaidBytes] = [8_192, 65_536]

interface WaitingCall {
  weight: number
  since: number
  enter: () => void
  refuse: (problem: Problem) => void
}

/** Calls of one environment. */
interface Line {
  /** What those that are under way weigh. */
  underWay: number
  /** The same, with those that wait. */
  demand: number
  waiting: WaitingCall[]
}

interface AdmissionOptions {
  metrics?: Registry
  /** How long the process has waited for a processor so far. */
  waitedMs?: () => number
  now?: () => number
}

/**
 * How many calls of one environment are under way at once. Any number, as long as the process has a processor when it wants one, or nobody else calls. When it has
 * to wait, fewer and fewer of those environments that have most under way, until it need not: what they have begun, here and in the workers and databases of the
 * same machine, is what takes the processors. The calls of the others enter at once.
 */
export class Admission {
  readonly #lines = new Map<string, Line>()
  readonly #crowd = new Crowd()
  readonly #waitedMsNow: () => number
  readonly #now: () => number
  #limit = Number.POSITIVE_INFINITY
  /** What the environment with the most has, as was seen last. */
  #loudest = 0
  #lookedAt = Number.NEGATIVE_INFINITY
  /** Null: nobody had to know. */
  #waitedMs: number | null = null

  constructor({ metrics, waitedMs = waitedForProcessorMs, now = () => performance.now() }: AdmissionOptions = {}) {
    this.#waitedMsNow = waitedMs
    this.#now = now
    if (!metrics) return
    const lines = this.#lines
    new Gauge({
      name: 'tollgate_calls_waiting',
      help: 'Calls of environments with much under way that wait, as the process has to wait for a processor and others call too',
      registers: [metrics],
      collect() {
        this.set([...lines.values()].reduce((sum, { waiting }) => sum + waiting.length, 0))
      },
    })
  }

  /** Undefined: at once. Fails with RESOURCE_EXHAUSTED when too many wait, or for too long. Whoever has entered leaves with the same weight. */
  enter(environmentId: string, weight: number): Promise<void> | undefined {
    const now = this.#now()
    this.#crowd.see(environmentId, now)
    if (now - this.#lookedAt > lookMs) this.#look(environmentId, now)
    const line = this.#lines.get(environmentId) ?? { underWay: 0, demand: 0, waiting: [] }
    if (line.waiting.length >= maxWaitingCalls) throw tooManyWaiting()
    if (line.demand === 0) this.#lines.set(environmentId, line)
    line.demand += weight
    if (line.waiting.length === 0 && this.#mayEnter(line, weight)) {
      line.underWay += weight
      return undefined
    }
    return new Promise((resolve, reject) => line.waiting.push({ weight, since: now, enter: resolve, refuse: reject }))
  }

  leave(environmentId: string, weight: number): void {
    const line = this.#lines.get(environmentId)!
    line.underWay -= weight
    line.demand -= weight
    for (let next = line.waiting[0]; next; next = line.waiting[0]) {
      const isLate = this.#now() - next.since > maxWaitMs
      if (!isLate && !this.#mayEnter(line, next.weight)) break
      line.waiting.shift()
      if (isLate) {
        line.demand -= next.weight
        next.refuse(tooManyWaiting())
      } else {
        line.underWay += next.weight
        next.enter()
      }
    }
    if (line.demand === 0) this.#lines.delete(environmentId)
  }

  #mayEnter({ underWay, demand }: Line, weight: number): boolean {
    return underWay === 0 || underWay + weight <= this.#limit || demand < this.#loudest * loudShare
  }

  #look(environmentId: string, now: number): void {
    const lookedAt = this.#lookedAt
    this.#lookedAt = now
    if (!this.#crowd.isAround(environmentId, now)) {
      this.#limit = Number.POSITIVE_INFINITY
      this.#waitedMs = null
      return
    }
    this.#loudest = 0
    for (const { demand } of this.#lines.values()) this.#loudest = Math.max(this.#loudest, demand)
    const [before, waitedMs] = [this.#waitedMs, this.#waitedMsNow()]
    this.#waitedMs = waitedMs
    if (before === null) return
    if (waitedMs - before > (now - lookedAt) * tolerated) this.#limit = Math.max(least, Math.min(this.#limit, this.#loudest) * narrowed)
    else if (this.#limit < most) this.#limit = this.#limit * widened + widenedBy
    else this.#limit = Number.POSITIVE_INFINITY
  }
}

/** Of the main thread, in ms; 0 where the system does not count it. */
function waitedForProcessorMs(): number {
  try {
    // Nanoseconds that it ran, nanoseconds that it was ready to run and did not, and how often it began.
    return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

const tooManyWaiting = () =>
  new Problem(
    'RESOURCE_EXHAUSTED',
    'RATE_LIMIT_EXCEEDED',
    'Too many calls of this environment wait: send fewer at a time, and try again.',
    {
      details: { retryAfterMs: 1_000 },
    },
  )
