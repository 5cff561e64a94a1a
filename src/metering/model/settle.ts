import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'

/** A report at its time. */
export interface TimedReport {
  at: EpochMs
  behavior: 'DELTA' | 'SET'
  value: decimal.Decimal
}

/**
 * What reports, in the order of their arrival, come to where the last SET before them is of `lastSetAt` (null: there is none). Usage is the last SET, by
 * time and then by arrival, and every DELTA after it. `set`: the report that is the last SET from now on. `added`: the DELTAs that count, of these reports.
 */
export function settle(reports: readonly TimedReport[], lastSetAt: EpochMs | null): { set: TimedReport | null; added: decimal.Decimal } {
  let set: TimedReport | null = null
  let added = decimal.zero
  for (const report of [...reports].sort((one, other) => one.at - other.at)) {
    if (lastSetAt !== null && report.at < lastSetAt) continue
    if (report.behavior === 'SET') [set, added] = [report, decimal.zero]
    else added = decimal.add(added, report.value)
  }
  return { set, added }
}
