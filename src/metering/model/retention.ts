/** How long raw events are kept. */
import type { ResetPeriod } from './usage-period.js'
import { changeableDays, dayMs } from './windows.js'

/** Days that no period of the kind is longer than, whatever clocks do in it. */
const longestDays: Readonly<Record<ResetPeriod, number>> = { HOUR: 1, DAY: 2, WEEK: 8, MONTH: 32, YEAR: 367 }

/**
 * How long raw events must be kept, in milliseconds: the longest period there is that usage is counted or charged in, and the time in which its events may come
 * or change, because then the whole period must be there to be computed; or what the operator asks for if that is longer. Null: for ever, because usage that is
 * never reset (a null among the periods) is counted from them.
 */
export function retentionMs(periods: (ResetPeriod | null)[], askedDays: number): number | null {
  let longest = 0
  for (const period of periods) {
    if (period === null) return null
    longest = Math.max(longest, longestDays[period])
  }
  return Math.max(longest + changeableDays, askedDays) * dayMs
}
