// Loaded into a process of the stage (`node --import`): its clock is an hour ahead.
const aheadMs = 3_600_000
const TrueDate = Date

globalThis.Date = class extends TrueDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(TrueDate.now() + aheadMs)
    else super(...(given as [number]))
  }

  static override now(): number {
    return TrueDate.now() + aheadMs
  }
} as DateConstructor
