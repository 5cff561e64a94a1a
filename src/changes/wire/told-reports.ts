/**
 * What reports counted together changed, as it waits in the outbox: three lines of text, of which the database writes the last two, because it alone
 * knows what the usage is. It is written for each batch of reports, so it says nothing twice.
 */
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import type { ToldUsage } from '../model/change.js'

/** Of the shape, which is first in the first line; raised with it. */
export const toldVersion = 1

/** One of the reports. */
export interface ToldReport {
  /** Position of its counter in the other two lines. */
  counter: number
  customerId: string
  resourceId: string | null
  featureId: string
  periodStart: EpochMs | null
  periodEnd: EpochMs | null
}

type Period = [start: EpochMs | null, end: EpochMs | null]
type PackedReport = [counter: number, customerId: string, featureId: string, period: number, resourceId?: string]

/** The first line. */
export function packTold(told: readonly ToldReport[]): string {
  const periods: Period[] = []
  const reports = told.map(({ counter, customerId, resourceId, featureId, periodStart, periodEnd }): PackedReport => {
    let period = periods.findIndex(([start, end]) => start === periodStart && end === periodEnd)
    if (period < 0) period = periods.push([periodStart, periodEnd]) - 1
    return resourceId === null ? [counter, customerId, featureId, period] : [counter, customerId, featureId, period, resourceId]
  })
  return JSON.stringify([toldVersion, periods, reports])
}

/** `told`: all three lines. Fails when they are of another version, or no such lines. */
export function unpackTold(told: string): ToldUsage[] {
  const [first = '', second = '', third = ''] = told.split('\n')
  const [version, periods, reports] = JSON.parse(first) as [number, Period[], PackedReport[]]
  if (version !== toldVersion) throw new Error(`told reports of version ${version}`)
  const usages = second.split(',')
  const versions = third.split(',')
  return reports.map(([counter, customerId, featureId, period, resourceId = null]) => {
    const [periodStart, periodEnd] = periods[period]!
    const updatedAt = Number(versions[counter])
    if (typeof customerId !== 'string' || typeof featureId !== 'string' || !(updatedAt > 0))
      throw new Error('told reports that say nothing')
    const usage = { currentUsage: decimal.fromText(usages[counter]!), periodStart, periodEnd, updatedAt }
    return { customerId, resourceId, featureId, usage }
  })
}
