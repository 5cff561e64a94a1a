/**
 * What history is made of.
 *
 * bucket  a quarter of an hour, which the hours of every time zone are made of
 * part    the usage of one resource, or the customer's own
 */
import type { EpochMs } from '../../kernel/clock.js'

export const bucketMs = 15 * 60_000

/** The start of the bucket that contains `at`. */
export const bucketOf = (at: EpochMs): EpochMs => Math.floor(at / bucketMs) * bucketMs

/** [from, to); null: without bound. */
export interface TimeRange {
  from: EpochMs | null
  to: EpochMs | null
}

/** A range, as the whole buckets in it and what is left of it before and after them. `since`: earlier buckets are not to be had (null: all are). */
export function splitByBuckets({ from, to }: TimeRange, since: EpochMs | null): { whole: TimeRange | null; rest: TimeRange[] } {
  const first = from === null || since === null ? (from ?? since) : Math.max(from, since)
  const whole = { from: first === null ? null : Math.ceil(first / bucketMs) * bucketMs, to: to === null ? null : bucketOf(to) }
  if (whole.from !== null && whole.to !== null && whole.from >= whole.to) return { whole: null, rest: [{ from, to }] }
  const before = whole.from !== null && whole.from !== from ? [{ from, to: whole.from }] : []
  const after = whole.to !== null && whole.to !== to ? [{ from: whole.to, to }] : []
  return { whole, rest: [...before, ...after] }
}

/** Stands in the place of a resource's id. */
export const ownPart = '00000000-0000-0000-0000-000000000000'
