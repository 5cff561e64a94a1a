import type { Clock, EpochMs } from '../../kernel/clock.js'

/** The API tells whole seconds only; and below this nobody's period or trial ends noticeably early or late. */
const toleranceMs = 1_000

/**
 * This machine's clock, corrected when the API's answers show that it is wrong: usage periods and trials end by the platform's time, whatever the
 * clock here says.
 */
export class ApiClock implements Clock {
  #offsetMs = 0

  now(): EpochMs {
    return Date.now() + this.#offsetMs
  }

  /** `date`: header of an answer to a request that was sent at `sentAt` by this machine's clock, and answered now. */
  learn(date: string | undefined, sentAt: EpochMs): void {
    const told = Date.parse(date ?? '')
    if (Number.isNaN(told)) return
    // It was made between then and now, and says the second that had begun.
    const [least, most] = [told - Date.now(), told + 1_000 - sentAt]
    const isRight = least - toleranceMs <= 0 && most + toleranceMs >= 0
    this.#offsetMs = isRight ? 0 : Math.round((least + most) / 2)
  }

  /** How far this machine's clock is behind. */
  get offsetMs(): number {
    return this.#offsetMs
  }
}
