import type { Clock, EpochMs } from '../../kernel/clock.js'
import { ClockOffset } from '../../kernel/clock-offset.js'

/** HTTP tells whole seconds. */
const stepMs = 1_000

/**
 * The platform's time: usage periods and trials end by it, whatever the clock here says. Until an answer has told it, and as far as none contradicts, it is
 * what this machine's clock said; each answer narrows down how wrong that is, to much less than the second that it tells.
 */
export class ApiClock implements Clock {
  #offset: ClockOffset | undefined

  now(): EpochMs {
    return this.#offset ? Math.floor(performance.now() + this.#offset.value) : Date.now()
  }

  /** `date`: header of an answer, which is here by now, to a request that was sent at `sentAt` of `performance.now()`. */
  learn(date: string | undefined, sentAt: number): void {
    const time = Date.parse(date ?? '')
    if (Number.isNaN(time)) return
    const answeredAt = performance.now()
    this.#offset ??= new ClockOffset(Date.now() - answeredAt)
    this.#offset.learn({ time, stepMs, askedAt: sentAt, answeredAt })
  }
}
