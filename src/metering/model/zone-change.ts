/**
 * Which time zone usage periods follow when the customer's has changed: a period that was begun in the old zone keeps its end, and the new zone counts
 * from there.
 */
import type { EpochMs } from '../../kernel/clock.js'
import { type ResetPeriod, type ResetRule, usagePeriodAt } from './usage-period.js'

/** A zone that the customer once had, until somebody changed it. */
export interface FormerZone {
  timeZone: string
  until: EpochMs
}

/** A stretch of time in which periods follow one zone. Null: without bound. */
export interface ZoneStretch {
  timeZone: string
  from: EpochMs | null
  until: EpochMs | null
}

/** The stretch that contains `at`. `former` are in the order of their change; `timeZone` is the customer's zone now. */
export function zoneStretchAt(input: {
  period: ResetPeriod
  rule: ResetRule
  anchor: EpochMs
  timeZone: string
  former: readonly FormerZone[]
  at: EpochMs
}): ZoneStretch {
  const { period, rule, anchor, former, at } = input
  const zones = [...former.map(({ timeZone }) => timeZone), input.timeZone]
  const stretches: { timeZone: string; from: EpochMs }[] = [{ timeZone: zones[0]!, from: Number.NEGATIVE_INFINITY }]
  for (const [index, { until: changedAt }] of former.entries()) {
    const last = stretches.at(-1)!
    // A change that had not taken effect yet is replaced by the next one.
    if (changedAt < last.from) stretches.pop()
    const current = stretches.at(-1)!
    const from = usagePeriodAt({ period, rule, anchor, timeZone: current.timeZone, at: changedAt }).end
    stretches.push({ timeZone: zones[index + 1]!, from })
  }
  const found = stretches.findLastIndex(({ from }) => from <= at)
  const { timeZone, from } = stretches[found]!
  return { timeZone, from: Number.isFinite(from) ? from : null, until: stretches[found + 1]?.from ?? null }
}

/** A period cut where the zone of its series takes effect, or loses it. */
export function cutToStretch<T extends { start: EpochMs | null; end: EpochMs | null }>(
  period: T,
  { from, until }: Omit<ZoneStretch, 'timeZone'>,
  at: EpochMs,
): T {
  let { start, end } = period
  if (start === null || end === null) return period
  if (from !== null) {
    if (at >= from) start = Math.max(start, from)
    else end = Math.min(end, from)
  }
  if (until !== null && at < until) end = Math.min(end, until)
  return { ...period, start, end }
}
