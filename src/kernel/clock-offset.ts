import type { EpochMs } from './clock.js'

/** What another clock told. Instants are those of a steady clock here, such as `performance.now()`. */
interface Told {
  time: EpochMs
  /** It shows no smaller steps: what it told was up to so much ago. */
  stepMs: number
  askedAt: number
  answeredAt: number
}

/** No clock that is kept right drifts faster than it may be slewed. */
const driftPerMs = 500e-6

/**
 * How far another clock is from a steady one of this process. What it told was so at some instant between question and answer, so each answer bounds the
 * difference, and several narrow it down to much less than the time that one takes. When an answer contradicts what was known, the other clock (or who
 * answers) has changed, and only the new answer counts.
 */
export class ClockOffset {
  #least = Number.NEGATIVE_INFINITY
  #most = Number.POSITIVE_INFINITY
  #learnedAt = Number.NEGATIVE_INFINITY
  readonly #isGuessed: boolean
  #value: number

  /** `guess`: what it is taken for as far as nothing speaks against it; without one it is the least that it may be, which is never ahead of the other clock. */
  constructor(guess: number | null = null) {
    this.#isGuessed = guess !== null
    this.#value = guess ?? Number.NEGATIVE_INFINITY
  }

  /** Added to the steady clock it makes the other's time. */
  get value(): number {
    return this.#value
  }

  learn({ time, stepMs, askedAt, answeredAt }: Told): void {
    const [least, most] = [time - answeredAt, time + stepMs - askedAt]
    const drift = this.#learnedAt === Number.NEGATIVE_INFINITY ? 0 : Math.max(0, answeredAt - this.#learnedAt) * driftPerMs
    const [lower, upper] = [Math.max(least, this.#least - drift), Math.min(most, this.#most + drift)]
    ;[this.#least, this.#most] = lower <= upper ? [lower, upper] : [least, most]
    this.#learnedAt = answeredAt
    this.#value = this.#isGuessed ? Math.min(Math.max(this.#value, this.#least), this.#most) : this.#least
  }
}
