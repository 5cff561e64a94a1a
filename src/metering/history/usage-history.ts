import type pg from 'pg'
import { customerNotFound, customerResourceNotFound } from '../../customer/model/problems.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { checkRefId } from '../../kernel/id.js'
import { invalidInput } from '../../kernel/problem.js'
import { findNearestFeature } from '../counting/feature-names.js'
import { bucketMs, bucketOf } from '../model/bucket.js'
import {
  calendarPeriods,
  drawLine,
  type Granularity,
  granularityOf,
  type HistoryPlan,
  type HistoryPoint,
  type HistoryReset,
  planHistory,
} from '../model/history.js'
import { type LinePaging, pageOfLines } from '../model/history-paging.js'
import { featureIsNotMetered, featureNotFound } from '../model/problems.js'
import { toAnsweredUnits } from '../model/unit-transformation.js'
import type { ResetPeriod, ResetRule } from '../model/usage-period.js'
import { dayMs } from '../model/windows.js'
import { readGroups } from './grouped-usage.js'
import { findMeasured, type Measured, readNewMembers, readRollups } from './history-repository.js'

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
  /** Read as if usage were reset so, by default from the start of the subscription; null: as the entitlement says. */
  reset: { period: ResetPeriod; rule: ResetRule | null } | null
  /** Leaves out usage of the time before the sources began that entitle to the feature now: what came under subscriptions that have ended. */
  isOfActiveOnly: boolean
  /** Of the lines; null: all. */
  paging: LinePaging | null
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

const maxRangeMs = 5 * 366 * dayMs
const maxDimensions = 5

/** How an entitled feature's usage is reset now (null: it is not, or the customer is not entitled), and since when what entitles to it has been in force. */
export interface HeldFeature {
  reset: HistoryReset | null
  /** Null: nothing is in force. */
  since: EpochMs | null
}

/** Ids are the caller's. */
export type FindHeld = (
  environmentId: string,
  customerRefId: string,
  resourceRefId: string | null,
  featureRefId: string,
) => Promise<HeldFeature>

/** Usage over time, from rollups: what was reported or how often does not matter, only for how long. */
export class UsageHistory {
  constructor(private readonly parts: { pool: pg.Pool; findHeld: FindHeld }) {}

  async read(environmentId: string, question: HistoryQuestion): Promise<History> {
    const { start, end, groupBy, resourceId } = check(question)
    const { pool, findHeld } = this.parts
    const measured = await findMeasured(pool, environmentId, question)
    if (measured.customerId === null) throw customerNotFound(question.customerId)
    if (resourceId !== null && measured.resourceId === null) throw customerResourceNotFound(question.customerId, resourceId)
    if (measured.feature === null)
      throw featureNotFound(question.featureId, await findNearestFeature(pool, environmentId, question.featureId))
    if (measured.feature.meterType === 'None') throw featureIsNotMetered(question.featureId)
    const held = await findHeld(environmentId, question.customerId, resourceId, question.featureId)
    const reset = resetToRead(question, held, measured)
    const granularity = stepsOf(question, reset)
    const plan = planHistory({ start, end, granularity, timeZone: measured.timeZone }, reset)
    if (!plan) throw invalidInput('the range has too many points: ask for a shorter one', { path: 'endDate' })
    // Nothing is in force: a quarter of an hour after the end there is nothing to read.
    const from = question.isOfActiveOnly ? Math.max(held.since ?? end + bucketMs, plan.from ?? 0) : plan.from
    const scope = { customerId: measured.customerId, featureId: measured.feature.id, resourceId: measured.resourceId }
    const lines =
      groupBy.length === 0
        ? [{ tags: [], points: await this.#line(environmentId, scope, measured, { plan, from }) }]
        : await readGroups(pool, environmentId, { scope, measured, plan, from, groupBy })
    const shown = question.paging ? pageOfLines(lines, question.paging, groupBy) : lines
    const { unitTransformation } = measured.feature
    return {
      lines: shown.map(({ tags, points }) => ({
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
    { plan, from }: { plan: HistoryPlan; from: EpochMs | null },
  ): Promise<HistoryPoint[]> {
    const aggregation = feature!.aggregation ?? 'SUM'
    const asked = {
      from: from === null ? null : bucketOf(from),
      cuts: [...plan.slices.map(({ start }) => bucketOf(start)), plan.end],
      resets: plan.resets.map(bucketOf),
    }
    if (aggregation === 'UNIQUE') {
      const rows = (await readNewMembers(this.parts.pool, environmentId, scope, asked)).sort((a, b) => a.cut - b.cut)
      const sums = new Map<number, number>()
      const usages = rows.map(({ cut, period, members }) => {
        const sum = (sums.get(period) ?? 0) + members
        sums.set(period, sum)
        return { part: '', cut, period, usage: decimal.fromNumber(sum), events: sum }
      })
      return drawLine(plan, 'SUM', usages)
    }
    const rows = await readRollups(this.parts.pool, environmentId, scope, { ...asked, aggregation })
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

/**
 * A level (seats) is never reset, whatever is asked. Without a rule, periods are counted from the start of what entitles to the feature; where nothing
 * does, they are the calendar's.
 */
function resetToRead({ reset, start }: HistoryQuestion, held: HeldFeature, { feature, timeZone }: Measured): HistoryReset | null {
  if (feature!.meterType === 'Fluctuating') return null
  if (!reset) return held.reset
  const periods = calendarPeriods(reset.period, timeZone, start)
  const rule = reset.rule ?? 'SubscriptionStart'
  if (rule !== 'SubscriptionStart') return { ...periods, rule }
  const anchor = held.reset?.anchor ?? held.since
  return anchor === null ? periods : { ...periods, rule, anchor }
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
