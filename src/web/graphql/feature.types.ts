import { createUnionType, Field, Float, ObjectType } from 'type-graphql'
import type { Feature as FeatureOfCatalog } from '../../catalog/model/feature.js'
import type { ResetPeriod, ResetRule } from '../../metering/model/usage-period.js'
import * as enums from './enums.js'

@ObjectType({ simpleResolvers: true, description: 'Converts measured units to the coarser ones that are answered and limited.' })
export class UnitTransformation {
  @Field(() => Float)
  divide!: number

  @Field(() => enums.UnitTransformationRound)
  round!: keyof typeof enums.UnitTransformationRound
}

/** What is said of a feature wherever it is named. Not a type of the schema. */
@ObjectType({ simpleResolvers: true })
export class FeatureFacts {
  @Field(() => String, { nullable: true })
  description!: string | null

  @Field(() => String)
  displayName!: string

  @Field(() => enums.FeatureType)
  featureType!: keyof typeof enums.FeatureType

  @Field(() => String, { nullable: true, description: 'What one unit is called.' })
  featureUnits!: string | null

  @Field(() => String, { nullable: true })
  featureUnitsPlural!: string | null

  @Field(() => enums.MeterType, { nullable: true })
  meterType!: keyof typeof enums.MeterType | null

  @Field(() => String, { description: 'The identifier that the catalog gave it.' })
  refId!: string
}

@ObjectType({ simpleResolvers: true, description: 'A thing that customers may be entitled to.' })
export class Feature extends FeatureFacts {}

@ObjectType({ simpleResolvers: true, description: 'What monthly usage periods begin at.' })
export class MonthlyResetPeriodConfig {
  @Field(() => enums.MonthlyAccordingTo, { nullable: true })
  monthlyAccordingTo!: keyof typeof enums.MonthlyAccordingTo | null
}

@ObjectType({ simpleResolvers: true, description: 'What weekly usage periods begin at.' })
export class WeeklyResetPeriodConfig {
  @Field(() => enums.WeeklyAccordingTo, { nullable: true })
  weeklyAccordingTo!: keyof typeof enums.WeeklyAccordingTo | null
}

@ObjectType({ simpleResolvers: true, description: 'What yearly usage periods begin at.' })
export class YearlyResetPeriodConfig {
  @Field(() => enums.YearlyAccordingTo, { nullable: true })
  yearlyAccordingTo!: keyof typeof enums.YearlyAccordingTo | null
}

export function toFeature({ refId, displayName, description, featureType, meterType, units, unitsPlural }: FeatureOfCatalog): FeatureFacts {
  return { refId, displayName, description, featureType, meterType, featureUnits: units, featureUnitsPlural: unitsPlural }
}

type ResetConfiguration = MonthlyResetPeriodConfig | WeeklyResetPeriodConfig | YearlyResetPeriodConfig

export const ResetPeriodConfiguration = createUnionType({
  name: 'ResetPeriodConfiguration',
  description: 'What usage periods begin at. Hours and days have none.',
  types: () => [MonthlyResetPeriodConfig, WeeklyResetPeriodConfig, YearlyResetPeriodConfig] as const,
  resolveType: (value: ResetConfiguration) => {
    if ('monthlyAccordingTo' in value) return MonthlyResetPeriodConfig
    return 'weeklyAccordingTo' in value ? WeeklyResetPeriodConfig : YearlyResetPeriodConfig
  },
})

export function toResetPeriodConfiguration(period: ResetPeriod, rule: ResetRule): ResetConfiguration | null {
  if (period === 'MONTH') return { monthlyAccordingTo: rule as MonthlyResetPeriodConfig['monthlyAccordingTo'] }
  if (period === 'WEEK') return { weeklyAccordingTo: rule as WeeklyResetPeriodConfig['weeklyAccordingTo'] }
  return period === 'YEAR' ? { yearlyAccordingTo: 'SubscriptionStart' } : null
}
