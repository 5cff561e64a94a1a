/** Time is an argument. Only a service's `now()` reads a clock; rules take `now` as epoch milliseconds. */

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = number

export interface Clock {
  now(): EpochMs
}

export const systemClock: Clock = { now: () => Date.now() }

/** A clock that stands still until it is told otherwise (tests). */
export class FrozenClock implements Clock {
  constructor(private current: EpochMs) {}
  now(): EpochMs {
    return this.current
  }
  set(at: EpochMs): void {
    this.current = at
  }
}
