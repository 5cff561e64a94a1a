import type { Clock, EpochMs } from '../../kernel/clock.js'
import { ClockOffset } from '../../kernel/clock-offset.js'

/** The platform's time: usage periods and trials end by it, whatever the clock here says. Until an answer has told it, this machine's clock is believed. */
export class ApiClock implements Clock {
  #offset: ClockOffset | undefined

  now(): EpochMs {
    return this.#offset ? Math.floor(performance.now() + this.#offset.value) : Date.now()
  }

  /** `told`: the header `x-server-time` of an answer, which is here by now, to a request that was sent at `sentAt` of `performance.now()`. */
  learn(told: string | undefined, sentAt: number): void {
    const time = Number(told ?? Number.NaN)
    if (!Number.isSafeInteger(time) || time <= 0) return
    this.#offset ??= new ClockOffset()
    this.#offset.learn({ time, askedAt: sentAt, answeredAt: performance.now() })
  }
}
