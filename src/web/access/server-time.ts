import type { Clock, EpochMs } from '../../kernel/clock.js'

/** Many are answered in a millisecond. */
let last: { at: EpochMs; text: string } = { at: Number.NaN, text: '' }

/** The header by which sidecars set their clocks: `Date` is by the clock of this machine, and tells no more than the second. */
export function serverTime(clock: Clock): { 'x-server-time': string } {
  const at = clock.now()
  if (at !== last.at) last = { at, text: String(at) }
  return { 'x-server-time': last.text }
}
