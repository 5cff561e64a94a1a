import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../../kernel/problem.js'
import { isRefusal, mayBeCounted, outcomeUnknown } from '../../metering/model/problems.js'
import type { SentEvent, SentReport } from '../api/client.js'
import type { ReportUsageJson } from '../api/messages.js'
import type { UsageDoor, UsageSource } from './source.js'

/** Between two attempts that failed at once. */
const firstPauseMs = 50
const longestPauseMs = 1_000
/** Of the caller's time, for the first attempt: the rest is for asking once more what became of it. */
const shareOfFirst = 0.75

/** Sends usage until it is known what became of it, or its caller waits no more: under the same keys, so that it counts once. */
export class PersistentUsage implements UsageSource {
  readonly #door: UsageDoor
  readonly #attemptMs: number

  /** `attemptMs`: longest that one attempt may take. */
  constructor(door: UsageDoor, attemptMs: number) {
    this.#door = door
    this.#attemptMs = attemptMs
  }

  reportUsage(report: SentReport, waitMs: number): Promise<ReportUsageJson> {
    return this.#untilKnown([report], waitMs, (signal) => this.#door.reportUsage(report, signal))
  }

  reportUsageBulk(reports: readonly SentReport[], waitMs: number): Promise<ReportUsageJson[]> {
    return this.#untilKnown(reports, waitMs, (signal) => this.#door.reportUsageBulk(reports, signal))
  }

  reportEvents(events: readonly SentEvent[], waitMs: number): Promise<void> {
    return this.#untilKnown(events, waitMs, (signal) => this.#door.reportEvents(events, signal))
  }

  /**
   * Fails with what an attempt failed with when nothing was counted for certain, else with UNKNOWN and the keys: at once when an attempt is refused, which those
   * after it would be, too.
   */
  async #untilKnown<T>(
    items: readonly { idempotencyKey: string }[],
    waitMs: number,
    attempt: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const until = performance.now() + waitMs
    const keys = items.map(({ idempotencyKey }) => idempotencyKey)
    let isUnknown = false
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const startedAt = performance.now()
      const leftMs = until - startedAt
      const attemptMs = Math.min(this.#attemptMs, isUnknown ? leftMs : leftMs * shareOfFirst)
      try {
        return await attempt(AbortSignal.timeout(Math.max(0, Math.ceil(attemptMs))))
      } catch (error) {
        const problem = Problem.from(error)
        // That one attempt was not counted says nothing of those before it.
        if (isUnknown && isRefusal(problem)) throw outcomeUnknown(keys, 'UNKNOWN', problem)
        if (!isUnknown && !mayBeCounted(problem)) throw error
        isUnknown = true
      }
      const restMs = Math.max(0, pauseMs - (performance.now() - startedAt))
      if (until - performance.now() <= restMs) throw outcomeUnknown(keys, 'UNKNOWN')
      await sleep(restMs)
    }
  }
}
