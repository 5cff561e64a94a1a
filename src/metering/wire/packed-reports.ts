/**
 * How reports travel to the worker, and their answers back: by position and not by name, without what can be left out. Copying and reading the bytes of named
 * ones costs every process on the way more than packing them.
 */
import type { EpochMs } from '../../kernel/clock.js'
import type { Decimal } from '../../kernel/decimal.js'
import type { PlainProblem } from '../model/problems.js'
import type { ReportedUsage, ReportItem } from '../model/report.js'
import type { Call, ReportAnswer } from './call.js'

type PlainReport = [id: string, customerId: string, featureId: string, value: Decimal]
type Particulars = [
  behavior: ReportItem['behavior'],
  resourceId: string | null,
  timestamp: EpochMs | null,
  idempotencyKey: string | null,
  dimensions: ReportItem['dimensions'],
]
/** Without particulars it is a DELTA of the customer itself, at the time at which it is counted, that may be counted again. */
type PackedReport = PlainReport | [...PlainReport, ...Particulars]

export type PackedCall = [deadline: EpochMs, ...PackedReport[]]

type PackedUsage = [id: string, currentUsage: Decimal, periodStart: EpochMs | null, periodEnd: EpochMs | null, timestamp: EpochMs]
/** Usages in the order of the call's reports, which tell of whom and what they are. */
export type PackedAnswer = PackedUsage[] | { problem: PlainProblem }

export function packCall({ deadline, items }: Call<ReportItem>): PackedCall {
  return [deadline, ...items.map(packReport)]
}

function packReport(report: ReportItem): PackedReport {
  const { id, customerId, featureId, value, behavior, resourceId, timestamp, idempotencyKey, dimensions } = report
  const hasNone = behavior === 'DELTA' && resourceId === null && timestamp === null && idempotencyKey === null && dimensions === null
  return hasNone
    ? [id, customerId, featureId, value]
    : [id, customerId, featureId, value, behavior, resourceId, timestamp, idempotencyKey, dimensions]
}

export function unpackCall([deadline, ...reports]: PackedCall): Call<ReportItem> {
  return { deadline, items: reports.map(unpackReport) }
}

function unpackReport(packed: PackedReport): ReportItem {
  const [
    id,
    customerId,
    featureId,
    value,
    behavior = 'DELTA',
    resourceId = null,
    timestamp = null,
    idempotencyKey = null,
    dimensions = null,
  ] = packed
  return { id, customerId, featureId, value, behavior, resourceId, timestamp, idempotencyKey, dimensions }
}

export function packAnswer(answer: ReportAnswer): PackedAnswer {
  if (!('usages' in answer)) return answer
  return answer.usages.map(({ id, currentUsage, periodStart, periodEnd, timestamp }) => [
    id,
    currentUsage,
    periodStart,
    periodEnd,
    timestamp,
  ])
}

/** `reports`: those of the call. */
export function unpackAnswer(packed: PackedAnswer, reports: readonly ReportItem[]): ReportAnswer {
  if (!Array.isArray(packed)) return packed
  return {
    usages: packed.map(([id, currentUsage, periodStart, periodEnd, timestamp], index): ReportedUsage => {
      const { customerId, resourceId, featureId } = reports[index]!
      return { id, customerId, resourceId, featureId, currentUsage, periodStart, periodEnd, timestamp }
    }),
  }
}
