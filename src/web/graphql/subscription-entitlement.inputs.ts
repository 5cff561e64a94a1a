import { Field, Float, InputType } from 'type-graphql'
import * as enums from './enums.js'
import { ResetPeriodInput } from './reset-period.inputs.js'

@InputType({ description: 'An entitlement of this subscription, in place of the plan’s for the feature.' })
export class SubscriptionEntitlementInput extends ResetPeriodInput {
  @Field(() => String, { nullable: true })
  description?: string | null

  @Field(() => String, { description: 'The feature’s identifier in the catalog.' })
  featureId!: string

  @Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' })
  hasSoftLimit?: boolean | null

  @Field(() => Boolean, { nullable: true })
  hasUnlimitedUsage?: boolean | null

  @Field(() => Float, { nullable: true, description: 'The cap of a metered feature, the value of a NUMBER without a meter.' })
  usageLimit?: number | null
}

@InputType({ description: 'An entitlement of this subscription, named by its id or its feature.' })
export class UpdateSubscriptionEntitlementInput extends ResetPeriodInput {
  @Field(() => String, { nullable: true, description: 'The feature’s identifier in the catalog.' })
  featureId?: string | null

  @Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' })
  hasSoftLimit?: boolean | null

  @Field(() => Boolean, { nullable: true })
  hasUnlimitedUsage?: boolean | null

  @Field(() => String, { nullable: true })
  id?: string | null

  @Field(() => Float, { nullable: true, description: 'The cap of a metered feature, the value of a NUMBER without a meter.' })
  usageLimit?: number | null
}

@InputType({ description: 'An entitlement to a feature.' })
export class SubscriptionFeatureEntitlementInput extends ResetPeriodInput {
  @Field(() => [String], { nullable: true, description: 'ENUM: the values held.' })
  enumValues?: string[] | null

  @Field(() => String, { nullable: true })
  featureGroupId?: string | null

  @Field(() => String, { description: 'The feature’s identifier in the catalog.' })
  featureId!: string

  @Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' })
  hasSoftLimit?: boolean | null

  @Field(() => Boolean, { nullable: true })
  hasUnlimitedUsage?: boolean | null

  @Field(() => Float, { nullable: true, description: 'The cap of a metered feature, the value of a NUMBER without a meter.' })
  usageLimit?: number | null
}

@InputType({ description: 'An entitlement to credits. Not supported yet.' })
export class SubscriptionCreditEntitlementInput {
  @Field(() => Float)
  amount!: number

  @Field(() => enums.CreditCadence)
  cadence!: keyof typeof enums.CreditCadence

  @Field(() => String)
  customCurrencyId!: string

  @Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' })
  hasSoftLimit?: boolean | null
}

@InputType({ description: 'An entitlement of this subscription, in place of the plan’s.' })
export class SubscriptionEntitlementInputV2 {
  @Field(() => SubscriptionCreditEntitlementInput, { nullable: true })
  credit?: SubscriptionCreditEntitlementInput | null

  @Field(() => SubscriptionFeatureEntitlementInput, { nullable: true })
  feature?: SubscriptionFeatureEntitlementInput | null
}
