import { Field, InputType } from 'type-graphql'
import * as enums from '../schema/enums.js'

@InputType({ description: 'What monthly usage periods begin at.' })
export class MonthlyResetPeriodConfigInput {
  @Field(() => enums.MonthlyAccordingTo, { description: 'What the periods begin at.' })
  accordingTo!: keyof typeof enums.MonthlyAccordingTo
}

@InputType({ description: 'What weekly usage periods begin at.' })
export class WeeklyResetPeriodConfigInput {
  @Field(() => enums.WeeklyAccordingTo, { description: 'What the periods begin at.' })
  accordingTo!: keyof typeof enums.WeeklyAccordingTo
}

@InputType({ description: 'What yearly usage periods begin at.' })
export class YearlyResetPeriodConfigInput {
  @Field(() => enums.YearlyAccordingTo, { description: 'What the periods begin at.' })
  accordingTo!: keyof typeof enums.YearlyAccordingTo
}

/** How often usage starts again, in inputs that grant a feature. Not a type of the schema. */
@InputType()
export class ResetPeriodInput {
  @Field(() => MonthlyResetPeriodConfigInput, { nullable: true })
  monthlyResetPeriodConfiguration?: MonthlyResetPeriodConfigInput | null

  @Field(() => enums.EntitlementResetPeriod, {
    nullable: true,
    description: 'Incremental usage starts again at each reset; absent: never.',
  })
  resetPeriod?: keyof typeof enums.EntitlementResetPeriod | null

  @Field(() => WeeklyResetPeriodConfigInput, { nullable: true })
  weeklyResetPeriodConfiguration?: WeeklyResetPeriodConfigInput | null

  @Field(() => YearlyResetPeriodConfigInput, { nullable: true })
  yearlyResetPeriodConfiguration?: YearlyResetPeriodConfigInput | null
}
