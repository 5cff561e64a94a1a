import { Field, Float, InputType, Int } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import * as enums from '../schema/enums.js'
import { DateTime } from '../schema/scalars.js'

@InputType({ description: 'An add-on of the subscription.' })
export class SubscriptionAddonInput {
  @Field(() => String, { description: 'The add-on’s identifier in the catalog.' })
  addonId!: string

  @Field(() => Int, { nullable: true, description: 'Default 1.' })
  quantity?: number | null
}

@InputType({ description: 'How many units of a feature are bought (seats).' })
export class BillableFeatureInput {
  @Field(() => String, { description: 'The feature’s identifier in the catalog.' })
  featureId!: string

  @Field(() => Float)
  quantity!: number
}

@InputType({ description: 'How many units of a feature are bought; the newer form of billableFeatures.' })
export class ChargeInput {
  @Field(() => String)
  id!: string

  @Field(() => Float)
  quantity!: number

  @Field(() => enums.ChargeType)
  type!: keyof typeof enums.ChargeType
}

@InputType({ description: 'Wins over the plan’s trial and over whether the customer may still have one.' })
export class TrialOverrideConfigurationInput {
  @Field(() => Boolean, { description: 'Wins over the plan’s trial.' })
  isTrial!: boolean

  @Field(() => enums.TrialEndBehavior, { nullable: true })
  trialEndBehavior?: keyof typeof enums.TrialEndBehavior | null

  @Field(() => DateTime, { nullable: true })
  trialEndDate?: EpochMs | null
}

/** What is bought beside the plan. Not a type of the schema. */
@InputType()
export class SubscriptionContent {
  @Field(() => [SubscriptionAddonInput], { nullable: true, description: 'The add-ons, with how many of each.' })
  addons?: SubscriptionAddonInput[] | null

  @Field(() => [BillableFeatureInput], { nullable: true, description: 'Units bought of features that are priced per unit.' })
  billableFeatures?: BillableFeatureInput[] | null

  @Field(() => [ChargeInput], { nullable: true, description: 'The newer form of billableFeatures.' })
  charges?: ChargeInput[] | null

  @Field(() => Float, { nullable: true, description: 'The quantity of the plan’s only price per unit.' })
  unitQuantity?: number | null
}
