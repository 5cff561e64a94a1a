/** When an attempt is repeated, and when an endpoint is left alone. Pure. */
import type { EpochMs } from '../../../kernel/clock.js'

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]

/** After each attempt that failed; after the last of them comes no other. */
const pausesMs = [5 * second, minute, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 24 * hour]
/** Those that failed together do not come again together: up to so much longer. */
const jitter = 0.2
/** Longer than any pause of ours a receiver does not put us off. */
const longestRetryAfterMs = 24 * hour

/** An endpoint without one success for so long is disabled. */
export const disabledAfterMs = 5 * day

/** Failures in a row that say nothing about the endpoint yet: an event may be at fault. */
export const failuresWithoutRest = 5
const longestRestMs = minute
/** Asked to wait, we send nothing else meanwhile; but one answer does not silence an endpoint for long. */
const longestAskedRestMs = 5 * minute

/** What was answered to an attempt. */
export interface Answered {
  /** Null: nothing. */
  statusCode: number | null
  /** The header Retry-After. */
  retryAfter: string | null
}

export interface AttemptOutcome extends Answered {
  durationMs: number
  /** The beginning of the answer; null: there was none. */
  response: string | null
  /** Why there was no answer; null: there was one. Says nothing of addresses that were refused. */
  error: string | null
  /** It is the event: it can be sent to nobody, which says nothing of the endpoint, and no other attempt would help. */
  isHopeless?: true
}

export const isSuccess = ({ statusCode }: Answered): boolean => statusCode !== null && statusCode >= 200 && statusCode < 300
/** The receiver says that nobody will hear there again. */
export const isGone = ({ statusCode }: Answered): boolean => statusCode === 410

/** How long a receiver asks us to wait; null: it says nothing that can be read. */
export function retryAfterMs({ statusCode, retryAfter }: Answered, now: EpochMs): number | null {
  if (retryAfter === null || statusCode === null || isSuccess({ statusCode, retryAfter })) return null
  const text = retryAfter.trim()
  const asked = /^\d+$/.test(text) ? Number(text) * second : Date.parse(text) - now
  return Number.isNaN(asked) ? null : Math.min(Math.max(asked, 0), longestRetryAfterMs)
}

/** How long until the next attempt, when `tries` have failed; null: there is none. `random`: from 0 up to 1. */
export function nextPauseMs({ tries, askedMs, random }: { tries: number; askedMs: number | null; random: number }): number | null {
  const pause = pausesMs[tries - 1]
  if (pause === undefined) return null
  return Math.round(Math.max(pause * (1 + jitter * random), askedMs ?? 0))
}

/** Whether so many failures say that it is the endpoint. */
export const restsAfter = (failuresInRow: number): boolean => failuresInRow > failuresWithoutRest

/** How long an endpoint is left alone whatever is due for it, after so many failures in a row (of whichever events). */
export function restMs({ failuresInRow, askedMs }: { failuresInRow: number; askedMs: number | null }): number {
  const beyond = failuresInRow - failuresWithoutRest
  const rest = beyond <= 0 ? 0 : Math.min(second * 2 ** Math.min(beyond - 1, 16), longestRestMs)
  return Math.max(rest, Math.min(askedMs ?? 0, longestAskedRestMs))
}
