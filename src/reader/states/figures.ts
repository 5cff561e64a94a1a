/** `error`: the API answered an error. */
export type FallbackCause = 'offline' | 'unavailable' | 'timeout' | 'error' | 'type_mismatch'

/** What a reader counts. Plain numbers: a labelled counter would cost as much as the look-up that it counts. */
export class ReaderFigures {
  /** stale: answered while, or although, it could not be refreshed. */
  readonly lookups = { hit: 0, stale: 0, miss: 0 }
  readonly fallbacks: Record<FallbackCause, number> = { offline: 0, unavailable: 0, timeout: 0, error: 0, type_mismatch: 0 }
  /** Age of the oldest entry that was answered and that no connection vouched for. */
  oldestAnswerSeconds = 0
  isRealTime = false
  readonly reconnections = { gap: 0, caught_up: 0 }
  /** With an external cache: reads and writes that it did not answer. */
  externalCacheFailures = 0
}

/** Counts and times what a reader does. */
export interface ReaderMetrics extends ReaderFigures {
  /** Requests to the API. */
  readonly apiSeconds: { startTimer(labels: { operation: string }): (labels: { outcome: string }) => unknown }
}
