import { readFileSync } from 'node:fs'
import { Crowd } from '../../kernel/crowd.js'
import { Problem } from '../../kernel/problem.js'
import { Gauge, type Registry } from '../../platform/metrics.js'

/** How often it is looked whether the process has a processor when it wants one. */
const lookMs = 50
/** Of the time, that it may wait for one: with more, calls of a millisecond take many. */
const tolerated = 0.07
/** Another environment that called so lately is to find the process free. */
const recentMs = 10_000
/** An environment that has so much under way, in the weight of small calls, and waiting, is not held up. */
const quietDemand = 16
/** What each of the others may have under way: never less, and in the end any number again. */
const [least, most] = [2, 256]
const [narrowed, widened, widenedBy] = [0.7, 1.03, 0.2]

/** Calls of one environment that wait at most, and how long. */
export const maxWaitingCalls = 2_000
export const maxWaitMs = 5_000
/** Who waits is looked for so often, should nobody leave. */
const wakeMs = 500

/** Of a call: a small one is 1. `length`: characters of its body; `operations`: of a list of them, which may be empty. */
export const weightOf = (length: number, operations: number): number => Math.max(1, operations) + Math.floor(length / lengthOfOne)
const lengthOfOne = 8_192

interface WaitingCall {
  weight: number
  since: number
  enter: () => void
  refuse: (error: Error) => void
}

/** A call that has to wait. */
export interface Waiting {
  /** Fails with RESOURCE_EXHAUSTED when it has waited for too long. */
  entered: Promise<void>
  /** It will not enter: `entered` fails so. Afterwards nothing. */
  giveUp: (error: Error) => void
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
 * to wait, fewer and fewer of each environment that has many, until it need not: what they have begun, here and in the workers and databases of the same machine,
 * is what takes the processors. Those that have few enter at once.
 */
export class Admission {
  readonly #lines = new Map<string, Line>()
  readonly #crowd = new Crowd(recentMs)
  readonly #waitedMsNow: () => number
  readonly #now: () => number
  #limit = Number.POSITIVE_INFINITY
  #lookedAt = Number.NEGATIVE_INFINITY
  /** Null: nobody had to know. */
  #waitedMs: number | null = null
  /** Set while anybody waits. */
  #waking: NodeJS.Timeout | undefined

  constructor({ metrics, waitedMs = waitedForProcessorMs, now = () => performance.now() }: AdmissionOptions = {}) {
    this.#waitedMsNow = waitedMs
    this.#now = now
    if (!metrics) return
    const waiting = () => this.#waiting
    new Gauge({
      name: 'tollgate_calls_waiting',
      help: 'Calls that wait, as their environment has many under way, the process has to wait for a processor and others call too',
      registers: [metrics],
      collect() {
        this.set(waiting())
      },
    })
  }

  get #waiting(): number {
    return [...this.#lines.values()].reduce((sum, { waiting }) => sum + waiting.length, 0)
  }

  /** Undefined: at once. Fails with RESOURCE_EXHAUSTED when too many wait. Whoever has entered leaves with the same weight. */
  enter(environmentId: string, weight: number): Waiting | undefined {
    const now = this.#now()
    this.#crowd.see(environmentId, now)
    if (now - this.#lookedAt > lookMs) this.#look(environmentId, now)
    let line = this.#lines.get(environmentId)
    if (!line) {
      line = { underWay: 0, demand: 0, waiting: [] }
      this.#lines.set(environmentId, line)
    }
    if (line.waiting.length >= maxWaitingCalls) throw tooManyWaiting()
    line.demand += weight
    if (line.waiting.length === 0 && this.#mayEnter(line, weight)) {
      line.underWay += weight
      return undefined
    }
    this.#waking ??= setInterval(() => this.#serveAll(), wakeMs).unref()
    let call!: WaitingCall
    const entered = new Promise<void>((enter, refuse) => {
      call = { weight, since: now, enter, refuse }
    })
    line.waiting.push(call)
    const { waiting } = line
    const giveUp = (error: Error) => {
      const place = waiting.indexOf(call)
      if (place < 0) return
      waiting.splice(place, 1)
      call.refuse(error)
      this.#gone(line, weight)
    }
    return { entered, giveUp }
  }

  leave(environmentId: string, weight: number): void {
    const line = this.#lines.get(environmentId)!
    line.underWay -= weight
    this.#gone(line, weight)
  }

  #gone(line: Line, weight: number): void {
    line.demand -= weight
    if (line.waiting.length > 0) this.#serve(line)
  }

  #serveAll(): void {
    for (const line of this.#lines.values()) this.#serve(line)
    if (this.#waiting > 0) return
    clearInterval(this.#waking)
    this.#waking = undefined
  }

  #serve(line: Line): void {
    const now = this.#now()
    for (let next = line.waiting[0]; next; next = line.waiting[0]) {
      const isLate = now - next.since > maxWaitMs
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
  }

  /** Not at each call: most have the next one before long. */
  #forgetIdle(): void {
    for (const [environmentId, { demand }] of this.#lines) if (demand === 0) this.#lines.delete(environmentId)
  }

  #mayEnter({ underWay, demand }: Line, weight: number): boolean {
    return underWay === 0 || underWay + weight <= this.#limit || demand <= quietDemand
  }

  #look(environmentId: string, now: number): void {
    const sinceMs = now - this.#lookedAt
    this.#lookedAt = now
    this.#forgetIdle()
    if (!this.#crowd.isAround(environmentId, now)) {
      this.#limit = Number.POSITIVE_INFINITY
      this.#waitedMs = null
      return
    }
    const [before, waitedMs] = [this.#waitedMs, this.#waitedMsNow()]
    this.#waitedMs = waitedMs
    if (before === null) return
    if (waitedMs - before > sinceMs * tolerated) this.#narrow()
    else if (this.#limit < most) this.#limit = this.#limit * widened + widenedBy
    else this.#limit = Number.POSITIVE_INFINITY
    if (this.#waking) this.#serveAll()
  }

  /** Where nobody has much under way it is somebody else who takes the processors. */
  #narrow(): void {
    const loudest = Math.max(0, ...[...this.#lines.values()].map(({ demand }) => demand))
    if (loudest > quietDemand) this.#limit = Math.max(least, Math.min(this.#limit, loudest) * narrowed)
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
