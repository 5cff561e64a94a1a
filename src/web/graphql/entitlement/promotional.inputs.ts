import { Field, Float, InputType } from 'type-graphql'
import type { PromotionalGrant } from '../../../entitlement/rules/promotional.js'
import type { EpochMs } from '../../../kernel/clock.js'
import * as enums from '../schema/enums.js'
import { DateTime } from '../schema/scalars.js'
import { ResetPeriodInput } from './reset-period.inputs.js'

@InputType({ description: 'A feature that a customer is entitled to beside its subscriptions.' })
export class GrantPromotionalEntitlementInput extends ResetPeriodInput {
  @Field(() => DateTime, { nullable: true, description: 'With period CUSTOM: when it ends; exclusive.' })
  customEndDate?: EpochMs | null

  @Field(() => [String], { nullable: true, description: 'ENUM: the values held.' })
  enumValues?: string[] | null

  @Field(() => String, { description: 'The feature’s identifier in the catalog.' })
  featureId!: string

  @Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' })
  hasSoftLimit?: boolean | null

  @Field(() => Boolean, { nullable: true })
  hasUnlimitedUsage?: boolean | null

  @Field(() => Boolean, { nullable: true, description: 'Whether you show it to the customer; default true.' })
  isVisible?: boolean | null

  @Field(() => enums.PromotionalEntitlementPeriod, { description: 'How long it is held, on the calendar of the customer’s time zone.' })
  period!: keyof typeof enums.PromotionalEntitlementPeriod

  @Field(() => Float, { nullable: true, description: 'The cap of a metered feature, the value of a NUMBER without a meter.' })
  usageLimit?: number | null
}

@InputType({ description: 'Rights for one customer, granted all or nothing. What it was granted of the same features is replaced.' })
export class GrantPromotionalEntitlementsInput {
  @Field(() => String)
  customerId!: string

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => [GrantPromotionalEntitlementInput], { description: 'At most 100, each of another feature.' })
  promotionalEntitlements!: GrantPromotionalEntitlementInput[]
}

@InputType({ description: 'Which customer, and which feature.' })
export class RevokePromotionalEntitlementInput {
  @Field(() => String)
  customerId!: string

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { description: 'The feature’s identifier in the catalog.' })
  featureId!: string
}

export function fromGrantInput(input: GrantPromotionalEntitlementInput): PromotionalGrant {
  const { featureId: featureRefId, monthlyResetPeriodConfiguration, weeklyResetPeriodConfiguration, yearlyResetPeriodConfiguration } = input
  const { customEndDate, enumValues, hasSoftLimit, hasUnlimitedUsage, isVisible, period, resetPeriod, usageLimit } = input
  return {
    featureRefId,
    customEndDate,
    enumValues,
    hasSoftLimit,
    hasUnlimitedUsage,
    isVisible,
    period,
    resetPeriod,
    usageLimit,
    resetRules: {
      MONTH: monthlyResetPeriodConfiguration?.accordingTo,
      WEEK: weeklyResetPeriodConfiguration?.accordingTo,
      YEAR: yearlyResetPeriodConfiguration?.accordingTo,
    },
  }
}
