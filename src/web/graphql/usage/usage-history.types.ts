import { Field, Float, ObjectType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import * as decimal from '../../../kernel/decimal.js'
import type { History } from '../../../metering/history/usage-history.js'
import type { HistoryPoint } from '../../../metering/model/history.js'
import { lineCursor } from '../../../metering/model/history-paging.js'
import * as enums from '../schema/enums.js'
import { ConnectionCursor, DateTime } from '../schema/scalars.js'

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

  @Field(() => String, { description: 'Empty where usage has no such dimension.' })
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

  @Field(() => String, { description: 'Empty where usage has no such dimension.' })
  value!: string
}

@ObjectType({ simpleResolvers: true, description: 'Usage of one combination of dimensions.' })
export class UsageHistorySeries {
  @Field(() => ConnectionCursor, { description: 'Its place among the series, for paging.' })
  cursor!: string

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

export function toUsageHistory(
  { lines, resets }: History,
  { groupBy, start, end }: { groupBy: string[]; start: EpochMs; end: EpochMs },
): UsageHistory {
  const isGrouped = groupBy.length > 0
  return {
    startDate: start,
    endDate: end,
    markers: resets.map(toMarker),
    groups: isGrouped ? lines.map(({ tags, points }) => ({ groupInfo: tags, usageMeasurements: points.map(toMeasurementPoint) })) : [],
    usageMeasurements: isGrouped ? [] : lines.flatMap(({ points }) => points.map(toMeasurementPoint)),
  }
}

export function toUsageHistoryV2({ lines, resets }: History): UsageHistoryV2 {
  return {
    markers: resets.map(toMarker),
    series: lines.map(({ tags, points }) => ({
      cursor: lineCursor({ tags }),
      tags,
      points: points.map(({ at, value, isReset }) => ({ timestamp: at, value: decimal.toNumber(value), isResetPoint: isReset })),
    })),
  }
}

const toMarker = (timestamp: EpochMs): UsageMarker => ({ timestamp, type: 'PERIODIC_RESET' })
const toMeasurementPoint = ({ at, value, isReset }: HistoryPoint): UsageMeasurementPoint => ({
  date: at,
  value: decimal.toNumber(value),
  isResetPoint: isReset,
})
