import { Field, Float, ObjectType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import * as decimal from '../../../kernel/decimal.js'
import type { ReportedUsage } from '../../../metering/model/report.js'
import { AlwaysNull } from '../schema/always-null.js'
import { DateTime } from '../schema/scalars.js'

@ObjectType({ simpleResolvers: true, description: 'Credits that a measurement consumed. There are no credits in Tollgate.' })
export class UsageMeasurementCredit {
  @Field(() => Float)
  consumed!: number

  @Field(() => String)
  currencyId!: string

  @Field(() => Float)
  currentUsage!: number

  @Field(() => DateTime)
  timestamp!: EpochMs

  @Field(() => DateTime, { nullable: true })
  usagePeriodEnd!: EpochMs | null
}

@ObjectType({
  simpleResolvers: true,
  description: 'A stored measurement and the usage in the current usage period, also for a report that was dated back.',
})
export class UsageMeasurementWithCurrentUsage {
  @AlwaysNull(() => UsageMeasurementCredit)
  credit?: null

  @Field(() => Float, { nullable: true })
  currentUsage!: number | null

  @Field(() => String)
  customerId!: string

  @Field(() => String)
  featureId!: string

  @Field(() => String, { description: 'Of the measurement.' })
  id!: string

  @Field(() => DateTime, { nullable: true, description: 'The same as usagePeriodEnd.' })
  nextResetDate!: EpochMs | null

  @Field(() => String, { nullable: true })
  resourceId!: string | null

  @Field(() => DateTime, { description: 'Version of the usage.' })
  timestamp!: EpochMs

  @Field(() => DateTime, { nullable: true, description: 'Exclusive; null when usage is never reset or the customer is not entitled.' })
  usagePeriodEnd!: EpochMs | null

  @Field(() => DateTime, { nullable: true })
  usagePeriodStart!: EpochMs | null
}

export function toUsageMeasurement(usage: ReportedUsage): UsageMeasurementWithCurrentUsage {
  const { id, customerId, resourceId, featureId, currentUsage, periodStart, periodEnd, timestamp } = usage
  return {
    id,
    customerId,
    resourceId,
    featureId,
    currentUsage: decimal.toNumber(currentUsage),
    nextResetDate: periodEnd,
    timestamp,
    usagePeriodEnd: periodEnd,
    usagePeriodStart: periodStart,
  }
}
