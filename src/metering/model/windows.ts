/**
 * How long what is reported may still come, come again, or be changed, in days; and what follows from it for what is kept. The one place of these
 * numbers: SQL takes them as parameters, and a test holds the documentation against them.
 *
 *     0        35      36         40        41
 *     now ──── late ── reached ── known ─── changed
 */
export const dayMs = 86_400_000

/** What is accepted at the end of a window may be counted a moment after it: whoever drops things by age waits so long more. */
const graceDays = 1

/** Usage may be dated back so far. Longer than the longest month, so that a whole billing month can still be sent. */
export const lateDays = 35
export const lateMs = lateDays * dayMs

/** Counting reaches back so far: counters of periods that ended before it, and their charges, change no more unless somebody corrects them. */
export const reachedDays = lateDays + graceDays
export const reachedMs = reachedDays * dayMs

/** Identities of events and reports are kept so long, so that a repeat is known and what was reported can be corrected by them. Longer than it may be late. */
export const identityDays = lateDays + 5

/** What has been stored may be corrected for so long: until its identity is gone. */
export const changeableDays = identityDays + graceDays

/** Clocks of callers run ahead by seconds to minutes; more than this is a mistake. */
export const aheadMs = 5 * 60_000

/** Raw events have their months so far ahead: more than any that a worker that tends them hourly could miss. */
export const monthsAheadDays = 62
