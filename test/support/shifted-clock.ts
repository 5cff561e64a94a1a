/**
 * Imported before everything else of a process (`--import`), it puts that process's clock ahead: `shifted-clock.js?ahead=5000`. Timers and
 * `performance.now()` are as they were, as on a machine whose clock is wrong.
 */
const aheadMs = Number(new URL(import.meta.url).searchParams.get('ahead') ?? 0)
const RealDate = Date

class ShiftedDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(RealDate.now() + aheadMs)
    else super(...(given as [number]))
  }

  static override now(): number {
    return RealDate.now() + aheadMs
  }

  // Those that the runtime makes are of the class that was there before.
  static override [Symbol.hasInstance](value: unknown): boolean {
    return Object.prototype.toString.call(value) === '[object Date]'
  }
}

globalThis.Date = ShiftedDate as DateConstructor

export {}
