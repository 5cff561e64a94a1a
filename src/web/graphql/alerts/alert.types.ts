import { Field, Float, InputType, Int, ObjectType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import * as decimal from '../../../kernel/decimal.js'
import type { Crossing, CrossingFilter } from '../../../notifications/alerts/records/lists.js'
import { type Alert as AlertRecord, type Threshold, type ThresholdKind, thresholdKinds } from '../../../notifications/alerts/rules/alert.js'
import { type EndReason, endReasons } from '../../../notifications/alerts/rules/crossings.js'
import type { ReachedMessage } from '../../../updates/wire/alert-message.js'
import { connectionType } from '../lists/page.types.js'
import { defineEnum } from '../schema/define-enum.js'
import { DateTime } from '../schema/scalars.js'

export const AlertSubject = defineEnum(
  'AlertSubject',
  'What an alert watches. FEATURE: the usage of a metered feature. BUDGET: what usage-based charges of a subscription come to, against its budget.',
  ['FEATURE', 'BUDGET'],
)
export const AlertThresholdKind = defineEnum(
  'AlertThresholdKind',
  'SHARE: per cent of the limit, or of the budget. AMOUNT: so much, in units of the feature or of the currency.',
  thresholdKinds,
)
export const AlertCrossingEndReason = defineEnum(
  'AlertCrossingEndReason',
  'Why a threshold is not reached any more. BACK_UNDER: usage fell below it, or the limit was raised. RESET: the next period began. NOT_HELD: what was watched, or the threshold, is no more.',
  endReasons,
)

@ObjectType({ simpleResolvers: true, description: 'Where an alert tells something.' })
export class AlertThreshold {
  @Field(() => AlertThresholdKind)
  kind!: ThresholdKind

  @Field(() => Float)
  value!: number
}

@ObjectType({ simpleResolvers: true, description: 'What the host application wants to be told of when usage reaches it.' })
export class Alert {
  @Field(() => DateTime)
  createdAt!: EpochMs

  @Field(() => String, { nullable: true, description: 'Only this customer; null: all.' })
  customerId!: string | null

  @Field(() => String, { nullable: true })
  description!: string | null

  @Field(() => String, { nullable: true, description: 'FEATURE: which.' })
  featureId!: string | null

  @Field(() => Int, { description: 'How far usage has to fall below a threshold, in per cent of it, before it can be reached again.' })
  hysteresisPercent!: number

  @Field(() => String)
  id!: string

  @Field(() => String, { nullable: true, description: 'Only customers and resources with a subscription of this plan; null: all.' })
  planId!: string | null

  @Field(() => AlertSubject)
  subject!: keyof typeof AlertSubject

  @Field(() => [AlertThreshold], { description: 'Shares first, the lowest first.' })
  thresholds!: AlertThreshold[]

  @Field(() => DateTime)
  updatedAt!: EpochMs
}

const toThreshold = ({ kind, value }: Threshold): AlertThreshold => ({ kind, value: decimal.toNumber(value) })

export const toAlert = ({ environmentId: _, feature, customer, thresholds, ...alert }: AlertRecord): Alert => ({
  ...alert,
  customerId: customer?.refId ?? null,
  featureId: feature?.refId ?? null,
  subject: feature ? 'FEATURE' : 'BUDGET',
  thresholds: thresholds.map(toThreshold),
})

@ObjectType({ simpleResolvers: true, description: 'A threshold that was reached, from then until usage is back under it or starts again.' })
export class AlertCrossing {
  @Field(() => String)
  alertId!: string

  @Field(() => String)
  customerId!: string

  @Field(() => DateTime, { nullable: true, description: 'When it was left; null: it is reached.' })
  endedAt!: EpochMs | null

  @Field(() => AlertCrossingEndReason, { nullable: true, description: 'Null: it is reached.' })
  endReason!: EndReason | null

  @Field(() => String, { nullable: true, description: 'Null: a budget.' })
  featureId!: string | null

  @Field(() => String, { description: 'Of the event that tells it, too.' })
  id!: string

  @Field(() => Float, { nullable: true, description: 'The limit, or the budget, when it was reached; null: unlimited.' })
  limit!: number | null

  @Field(() => DateTime, { nullable: true, description: 'Exclusive; null: never reset.' })
  periodEnd!: EpochMs | null

  @Field(() => DateTime, { nullable: true })
  periodStart!: EpochMs | null

  @Field(() => DateTime)
  reachedAt!: EpochMs

  @Field(() => String, { nullable: true, description: 'Null: the customer itself.' })
  resourceId!: string | null

  @Field(() => String, { nullable: true, description: 'Whose budget it is; null: of a feature.' })
  subscriptionId!: string | null

  @Field(() => AlertThreshold)
  threshold!: AlertThreshold

  @Field(() => Float, { description: 'What was used, or spent, when it was reached.' })
  usage!: number
}

export const toCrossing = ({ threshold, usage, limit, ...crossing }: Crossing): AlertCrossing => ({
  ...crossing,
  threshold: toThreshold(threshold),
  usage: decimal.toNumber(usage),
  limit: limit === null ? null : decimal.toNumber(limit),
})

/** As it is when it was reached. */
export const toReached = (crossing: ReachedMessage): AlertCrossing => toCrossing({ ...crossing, endedAt: null, endReason: null })

export const AlertConnection = connectionType('Alert', Alert, 'alerts')
export const AlertCrossingConnection = connectionType('AlertCrossing', AlertCrossing, 'thresholds that were reached')

@InputType({ description: 'Where an alert is to tell something.' })
export class AlertThresholdInput {
  @Field(() => AlertThresholdKind)
  kind!: ThresholdKind

  @Field(() => Float, { description: 'Above 0. SHARE: 1000 at most, with two decimals at most; 100 is the limit.' })
  value!: number
}

export const fromThresholds = (thresholds: readonly AlertThresholdInput[]): Threshold[] =>
  thresholds.map(({ kind, value }) => ({ kind, value: decimal.fromNumber(value) }))

@InputType({ description: 'An alert to be made.' })
export class CreateAlertInput {
  @Field(() => String, { nullable: true, description: 'Only for this customer. Default: for all.' })
  customerId?: string | null

  @Field(() => String, { nullable: true, description: 'What it is for.' })
  description?: string | null

  @Field(() => String, { nullable: true, description: 'FEATURE: which. It has a meter.' })
  featureId?: string | null

  @Field(() => Int, { nullable: true, description: '0 to 99. Default: 0, so that being below a threshold is enough.' })
  hysteresisPercent?: number | null

  @Field(() => String, {
    nullable: true,
    description: 'Only for customers and resources with a subscription of this plan. Default: for all.',
  })
  planId?: string | null

  @Field(() => AlertSubject, { nullable: true, description: 'Default: FEATURE.' })
  subject?: keyof typeof AlertSubject | null

  @Field(() => [AlertThresholdInput], { description: '1 to 10.' })
  thresholds!: AlertThresholdInput[]
}

@InputType({ description: 'What is to be changed of an alert. What is absent stays.' })
export class UpdateAlertInput {
  @Field(() => String, { nullable: true, description: 'What it is for; null: nothing is said.' })
  description?: string | null

  @Field(() => Int, { nullable: true, description: '0 to 99.' })
  hysteresisPercent?: number | null

  @Field(() => String)
  id!: string

  @Field(() => [AlertThresholdInput], {
    nullable: true,
    description: 'All of them. What was reached of those that stay is not told again.',
  })
  thresholds?: AlertThresholdInput[] | null
}

@InputType({ description: 'Which alert.' })
export class AlertInput {
  @Field(() => String)
  id!: string
}

@InputType({ description: 'Which thresholds that were reached. All that is given must hold.' })
export class AlertCrossingFilter implements CrossingFilter {
  @Field(() => String, { nullable: true })
  alertId?: string | null

  @Field(() => String, { nullable: true })
  customerId?: string | null

  @Field(() => Boolean, { nullable: true, description: 'True: those that are reached now. False: those that were left. Default: both.' })
  isReached?: boolean | null
}
