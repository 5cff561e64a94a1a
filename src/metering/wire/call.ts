/** What a door asks of a worker, and hears of it. */
import type { EpochMs } from '../../kernel/clock.js'
import type { PlainProblem, RefusedItem } from '../model/problems.js'
import type { ReportedUsage } from '../model/report.js'

/** One call of a door: its items are counted together or not at all (reports), or each by itself (events). */
export interface Call<Item> {
  /** By the database's clock. A worker that gets to it later refuses it, unless it is counted already. */
  deadline: EpochMs
  items: Item[]
}

export type ReportAnswer = { usages: ReportedUsage[] } | { problem: PlainProblem }
/** `refused`: the events that were not stored; the others were. */
export type EventAnswer = { refused: RefusedItem[] } | { problem: PlainProblem }
