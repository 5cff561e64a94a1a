import { Field, Float, ObjectType } from 'type-graphql'
import type { EpochMs } from '../../kernel/clock.js'
import * as enums from './enums.js'
import { DateTime } from './scalars.js'

@ObjectType({ simpleResolvers: true, description: 'An instant at which usage was reset.' })
export class UsageMarker {
  @Field(() => DateTime)
  timestamp!: EpochMs

  @Field(() => enums.UsageMarkerType)
  type!: keyof typeof enums.UsageMarkerType
}

@ObjectType({ simpleResolvers: true, description: 'Usage at an instant.' })
export class UsageMeasurementPoint {
  @Field(() => DateTime)
  date!: EpochMs

  @Field(() => Boolean, { description: 'Whether usage starts again here.' })
  isResetPoint!: boolean

  @Field(() => Float, { description: 'Kept to 9 decimals.' })
  value!: number
}

@ObjectType({ simpleResolvers: true, description: 'A dimension and its value.' })
export class GroupInfo {
  @Field(() => String)
  key!: string

  @Field(() => String, { description: 'Kept to 9 decimals.' })
  value!: string
}

@ObjectType({ simpleResolvers: true, description: 'Usage of one combination of dimensions.' })
export class GroupUsageHistory {
  @Field(() => [GroupInfo], { nullable: true })
  groupInfo!: GroupInfo[] | null

  @Field(() => [UsageMeasurementPoint], { nullable: true })
  usageMeasurements!: UsageMeasurementPoint[] | null
}

@ObjectType({ simpleResolvers: true, description: 'Usage over time.' })
export class UsageHistory {
  @Field(() => DateTime, { nullable: true, description: 'Exclusive; default now.' })
  endDate!: EpochMs | null

  @Field(() => [GroupUsageHistory], { nullable: true })
  groups!: GroupUsageHistory[] | null

  @Field(() => [UsageMarker], { nullable: true })
  markers!: UsageMarker[] | null

  @Field(() => DateTime)
  startDate!: EpochMs

  @Field(() => [UsageMeasurementPoint], { nullable: true })
  usageMeasurements!: UsageMeasurementPoint[] | null
}

@ObjectType({ simpleResolvers: true, description: 'Usage at an instant.' })
export class UsageHistoryPoint {
  @Field(() => Boolean, { description: 'Whether usage starts again here.' })
  isResetPoint!: boolean

  @Field(() => DateTime)
  timestamp!: EpochMs

  @Field(() => Float, { description: 'Kept to 9 decimals.' })
  value!: number
}

@ObjectType({ simpleResolvers: true, description: 'A dimension and its value.' })
export class UsageHistorySeriesTag {
  @Field(() => String)
  key!: string

  @Field(() => String, { description: 'Kept to 9 decimals.' })
  value!: string
}

@ObjectType({ simpleResolvers: true, description: 'Usage of one combination of dimensions.' })
export class UsageHistorySeries {
  @Field(() => [UsageHistoryPoint], { nullable: true })
  points!: UsageHistoryPoint[] | null

  @Field(() => [UsageHistorySeriesTag], { nullable: true, description: 'The dimensions and values of the group.' })
  tags!: UsageHistorySeriesTag[] | null
}

@ObjectType({ simpleResolvers: true, description: 'Usage over time.' })
export class UsageHistoryV2 {
  @Field(() => [UsageMarker], { nullable: true })
  markers!: UsageMarker[] | null

  @Field(() => [UsageHistorySeries], { nullable: true })
  series!: UsageHistorySeries[] | null
}
