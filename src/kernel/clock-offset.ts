import type { EpochMs } from './clock.js'

/** What another clock told, in whole milliseconds. Instants are those of a steady clock here, such as `performance.now()`. */
interface Told {
  time: EpochMs
  askedAt: number
  answeredAt: number
}

/** No clock that is kept right drifts faster than it may be slewed. */
const driftPerMs = 500e-6

/**
 * How far another clock is from a steady one of this process. What it told was so at some instant between question and answer, so each answer bounds the
 * difference, and several narrow it down to less than the time that one takes. When an answer contradicts what was known, the other clock (or who
 * answers) has changed, and only the new answer counts.
 */
export class ClockOffset {
  #least = Number.NEGATIVE_INFINITY
  #learnedAt = Number.NEGATIVE_INFINITY

  /** Added to the steady clock it makes the other's time, or a little less: nothing is to be thought over, or begun, before it is. */
  get value(): number {
    return this.#least
  }

  learn({ time, askedAt, answeredAt }: Told): void {
    const [least, most] = [time - answeredAt, time + 1 - askedAt]
    const known = this.#least - Math.max(0, answeredAt - this.#learnedAt) * driftPerMs
    this.#least = most < known ? least : Math.max(least, known)
    this.#learnedAt = answeredAt
  }
}
