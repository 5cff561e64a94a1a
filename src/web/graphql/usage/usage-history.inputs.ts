import { Field, InputType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import type { HistoryQuestion } from '../../../metering/history/usage-history.js'
import type { ResetRule } from '../../../metering/model/usage-period.js'
import { ResetPeriodInput } from '../entitlement/reset-period.inputs.js'
import { CursorPaging } from '../lists/list.inputs.js'
import { DateTime } from '../schema/scalars.js'

@InputType({ description: 'Whose usage of which feature, from when to when.' })
export class UsageHistoryInput extends ResetPeriodInput {
  @Field(() => String, { description: 'Your identifier of the customer.' })
  customerRefId!: string

  @Field(() => DateTime, { nullable: true, description: 'Exclusive; default now.' })
  endDate?: EpochMs | null

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { description: 'The feature’s identifier in the catalog.' })
  featureRefId!: string

  @Field(() => [String], { nullable: true, description: 'Dimensions: one series for each combination of their values.' })
  groupBy?: string[] | null

  @Field(() => String, { nullable: true, description: 'Absent: the customer with all its resources.' })
  resourceRefId?: string | null

  @Field(() => DateTime)
  startDate!: EpochMs
}

@InputType({ description: 'Whose usage of which feature, from when to when.' })
export class UsageHistoryV2Input {
  @Field(() => String)
  customerId!: string

  @Field(() => DateTime, { nullable: true, description: 'Exclusive; default now.' })
  endDate?: EpochMs | null

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String)
  featureId!: string

  @Field(() => [String], { nullable: true, description: 'Dimensions: one series for each combination of their values.' })
  groupBy?: string[] | null

  @Field(() => Boolean, {
    nullable: true,
    description:
      'Default true. False leaves out, to the quarter of an hour, usage of the time before the subscriptions began that entitle to the feature now.',
  })
  includeInactiveSubscriptions?: boolean | null

  @Field(() => CursorPaging, { nullable: true, description: 'Of the series, which are in the order of their values. Absent: all.' })
  paging?: CursorPaging | null

  @Field(() => String, { nullable: true, description: 'Absent: the customer with all its resources.' })
  resourceId?: string | null

  @Field(() => DateTime)
  startDate!: EpochMs
}

export function fromUsageHistoryInput(input: UsageHistoryInput, now: EpochMs): HistoryQuestion {
  const { customerRefId, featureRefId, resourceRefId, startDate, endDate, groupBy, resetPeriod } = input
  return {
    customerId: customerRefId,
    featureId: featureRefId,
    resourceId: resourceRefId ?? null,
    start: startDate,
    end: endDate ?? now,
    groupBy: groupBy ?? [],
    reset: resetPeriod ? { period: resetPeriod, rule: ruleOf(input) } : null,
    isOfActiveOnly: false,
    paging: null,
  }
}

export function fromUsageHistoryV2Input(input: UsageHistoryV2Input, now: EpochMs): HistoryQuestion {
  const { customerId, featureId, resourceId, startDate, endDate, groupBy, includeInactiveSubscriptions, paging } = input
  return {
    customerId,
    featureId,
    resourceId: resourceId ?? null,
    start: startDate,
    end: endDate ?? now,
    groupBy: groupBy ?? [],
    reset: null,
    isOfActiveOnly: includeInactiveSubscriptions === false,
    paging: paging
      ? { first: paging.first ?? null, last: paging.last ?? null, after: paging.after ?? null, before: paging.before ?? null }
      : null,
  }
}

function ruleOf(input: UsageHistoryInput): ResetRule | null {
  const { resetPeriod, monthlyResetPeriodConfiguration: month, weeklyResetPeriodConfiguration: week } = input
  if (resetPeriod === 'MONTH') return month?.accordingTo ?? null
  return resetPeriod === 'WEEK' ? (week?.accordingTo ?? null) : null
}
