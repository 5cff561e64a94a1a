import { customerNotFound, customerResourceNotFound } from '../customer/problems.js'
import type { EpochMs } from '../kernel/clock.js'
import * as decimal from '../kernel/decimal.js'
import { checkRefId } from '../kernel/id.js'
import { invalidInput } from '../kernel/problem.js'
import type { Connection } from './counter-repository.js'
import { readGroups } from './grouped-usage.js'
import {
  calendarPeriods,
  drawLine,
  type Granularity,
  granularityOf,
  type HistoryPlan,
  type HistoryPoint,
  type HistoryReset,
  planHistory,
} from './history.js'
import { findMeasured, type Measured } from './history-repository.js'
import { featureIsNotMetered, featureNotFound } from './problems.js'
import { bucketOf, readNewMembers, readRollups } from './rollup-repository.js'
import { toAnsweredUnits } from './unit-transformation.js'
import type { ResetPeriod, ResetRule } from './usage-period.js'

/** Ids are the caller's. */
export interface HistoryQuestion {
  customerId: string
  /** Null: the customer with all its resources. */
  resourceId: string | null
  featureId: string
  start: EpochMs
  /** Exclusive. */
  end: EpochMs
  /** Dimensions; empty: one line. */
  groupBy: string[]
  /** Read as if usage were reset so; null: as the entitlement says. */
  reset: { period: ResetPeriod; rule: ResetRule | null } | null
}

export interface HistoryLine {
  /** The group, in the order of `groupBy`; a dimension that is missing is "". */
  tags: { key: string; value: string }[]
  points: HistoryPoint[]
}

export interface History {
  lines: HistoryLine[]
  /** Where usage started again in the range. */
  resets: EpochMs[]
}

const maxRangeMs = 5 * 366 * 86_400_000
const maxDimensions = 5

/** Answers how an entitled feature's usage is reset now; null: it is not, or the customer is not entitled. */
export type ResetOf = (
  environmentId: string,
  customerRefId: string,
  resourceRefId: string | null,
  featureRefId: string,
) => Promise<HistoryReset | null>

/** Usage over time, from rollups: what was reported or how often does not matter, only for how long. Groups are read from what is stored. */
export class UsageHistory {
  constructor(private readonly parts: { db: Connection; resetOf: ResetOf }) {}

  async read(environmentId: string, question: HistoryQuestion): Promise<History> {
    const { start, end, groupBy, resourceId } = check(question)
    const { db, resetOf } = this.parts
    const measured = await findMeasured(db, environmentId, question)
    if (measured.customerId === null) throw customerNotFound(question.customerId)
    if (resourceId !== null && measured.resourceId === null) throw customerResourceNotFound(question.customerId, resourceId)
    if (measured.feature === null) throw featureNotFound(question.featureId)
    if (measured.feature.meterType === 'None') throw featureIsNotMetered(question.featureId)
    const held = await resetOf(environmentId, question.customerId, resourceId, question.featureId)
    const reset = resetToRead(question, held, measured)
    const granularity = stepsOf(question, reset)
    const plan = planHistory({ start, end, granularity, timeZone: measured.timeZone }, reset)
    if (!plan) throw invalidInput('the range has too many points: ask for a shorter one', { path: 'endDate' })
    const scope = { customerId: measured.customerId, featureId: measured.feature.id, resourceId: measured.resourceId }
    const lines =
      groupBy.length === 0
        ? [{ tags: [], points: await this.#line(environmentId, scope, measured, plan) }]
        : await readGroups(db, environmentId, { scope, measured, plan, groupBy })
    const { unitTransformation } = measured.feature
    return {
      lines: lines.map(({ tags, points }) => ({
        tags,
        points: points.map((point) => ({ ...point, value: toAnsweredUnits(decimal.max(point.value, decimal.zero), unitTransformation) })),
      })),
      resets: plan.resets.filter((at) => at >= start),
    }
  }

  async #line(
    environmentId: string,
    scope: { customerId: string; featureId: string; resourceId: string | null },
    { feature }: Measured,
    plan: HistoryPlan,
  ): Promise<HistoryPoint[]> {
    const aggregation = feature!.aggregation ?? 'SUM'
    const asked = {
      from: plan.from === null ? null : bucketOf(plan.from),
      cuts: [...plan.slices.map(({ start }) => bucketOf(start)), plan.end],
      resets: plan.resets.map(bucketOf),
    }
    if (aggregation === 'UNIQUE') {
      const rows = (await readNewMembers(this.parts.db, environmentId, scope, asked)).sort((a, b) => a.cut - b.cut)
      const sums = new Map<number, number>()
      const usages = rows.map(({ cut, period, members }) => {
        const sum = (sums.get(period) ?? 0) + members
        sums.set(period, sum)
        return { part: '', cut, period, usage: decimal.fromNumber(sum), events: sum }
      })
      return drawLine(plan, 'SUM', usages)
    }
    const rows = await readRollups(this.parts.db, environmentId, scope, { ...asked, aggregation })
    return drawLine(
      plan,
      aggregation === 'COUNT' ? 'SUM' : aggregation,
      rows.map((row) => ({ ...row, usage: decimal.fromText(row.usage) })),
    )
  }
}

function check(question: HistoryQuestion): HistoryQuestion {
  const { customerId, resourceId, featureId, start, end, groupBy } = question
  checkRefId(customerId, 'customerId')
  checkRefId(featureId, 'featureId')
  if (resourceId !== null) checkRefId(resourceId, 'resourceId')
  if (start >= end) throw invalidInput('startDate must be before endDate', { path: 'startDate' })
  if (end - start > maxRangeMs) throw invalidInput('the range must not be longer than five years', { path: 'endDate' })
  if (groupBy.length > maxDimensions) throw invalidInput(`groupBy has at most ${maxDimensions} dimensions`, { path: 'groupBy' })
  if (new Set(groupBy).size < groupBy.length) throw invalidInput('groupBy names a dimension twice', { path: 'groupBy' })
  return question
}

/** A level (seats) is never reset, whatever is asked. Without a rule, the periods are the calendar's. */
function resetToRead({ reset, start }: HistoryQuestion, held: HistoryReset | null, { feature, timeZone }: Measured): HistoryReset | null {
  if (feature!.meterType === 'Fluctuating') return null
  if (!reset) return held
  const periods = calendarPeriods(reset.period, timeZone, start)
  if (reset.rule === null) return periods
  return { ...periods, rule: reset.rule, anchor: reset.rule === 'SubscriptionStart' ? (held?.anchor ?? periods.anchor) : periods.anchor }
}

/** Steps are never longer than usage periods; null: they are those that were asked for. */
function stepsOf({ start, end, reset }: HistoryQuestion, read: HistoryReset | null): Granularity | null {
  if (reset && read) return null
  const order: Granularity[] = ['HOUR', 'DAY', 'WEEK', 'MONTH']
  const asked = reset?.period ?? null
  if (asked) return asked === 'YEAR' ? 'MONTH' : asked
  const longest = read === null || read.period === 'YEAR' ? 'MONTH' : read.period
  return order[Math.min(order.indexOf(granularityOf(start, end)), order.indexOf(longest))]!
}
