import type { Clock } from '../../kernel/clock.js'

/** The header by which sidecars set their clocks: `Date` is by the clock of this machine, and tells no more than the second. */
export const serverTime = (clock: Clock): { 'x-server-time': string } => ({ 'x-server-time': String(clock.now()) })
