import { Field, Float, InputType, Int } from 'type-graphql'
import type { BillingPeriod } from '../../catalog/model.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { invalidInput } from '../../kernel/problem.js'
import type { CancellationTime } from '../../subscription/cancel.js'
import type { TrialEndBehavior } from '../../subscription/model.js'
import type { ProvisionSubscription } from '../../subscription/service.js'
import * as enums from './enums.js'
import { fromMetaData, sameId } from './input-fields.js'
import { DateTime, Json } from './scalars.js'

@InputType({ description: 'An add-on of the subscription.' })
export class SubscriptionAddonInput {
  @Field(() => String)
  addonId!: string

  @Field(() => Int, { nullable: true, description: 'Default 1.' })
  quantity?: number | null
}

@InputType({ description: 'How many units of a feature are bought (seats).' })
export class BillableFeatureInput {
  @Field(() => String)
  featureId!: string

  @Field(() => Float)
  quantity!: number
}

@InputType({ description: 'Wins over the plan’s trial and over whether the customer may still have one.' })
export class TrialOverrideConfigurationInput {
  @Field(() => Boolean)
  isTrial!: boolean

  @Field(() => enums.TrialEndBehavior, { nullable: true })
  trialEndBehavior?: TrialEndBehavior | null

  @Field(() => DateTime, { nullable: true })
  trialEndDate?: EpochMs | null
}

/** What a subscription is asked for with, whoever it is for. Not a type of the schema. */
@InputType()
class SubscriptionParams {
  @Field(() => Json, { nullable: true, description: 'An object of your own facts.' })
  additionalMetaData?: unknown

  @Field(() => [SubscriptionAddonInput], { nullable: true })
  addons?: SubscriptionAddonInput[] | null

  @Field(() => [BillableFeatureInput], { nullable: true })
  billableFeatures?: BillableFeatureInput[] | null

  @Field(() => String, { nullable: true, description: 'ISO 3166-1 alpha-2: chooses prices of that country.' })
  billingCountryCode?: string | null

  @Field(() => enums.BillingPeriod, { nullable: true, description: 'Needed when the plan has prices for several.' })
  billingPeriod?: BillingPeriod | null

  @Field(() => String)
  planId!: string

  @Field(() => String, { nullable: true, description: 'The older name of subscriptionId; when both are sent they must be the same.' })
  refId?: string | null

  @Field(() => String, { nullable: true, description: 'Binds the subscription to a resource of the customer.' })
  resourceId?: string | null

  @Field(() => DateTime, { nullable: true, description: 'Default now.' })
  startDate?: EpochMs | null

  @Field(() => String, {
    nullable: true,
    description: 'Your identifier of the subscription; absent: one is made. The same one never makes two.',
  })
  subscriptionId?: string | null

  @Field(() => TrialOverrideConfigurationInput, { nullable: true })
  trialOverrideConfiguration?: TrialOverrideConfigurationInput | null
}

@InputType({ description: 'The subscription that a new customer starts with.' })
export class ProvisionCustomerSubscriptionInput extends SubscriptionParams {}

@InputType({ description: 'A subscription of a customer to a plan.' })
export class ProvisionSubscriptionInput extends SubscriptionParams {
  @Field(() => String)
  customerId!: string

  @Field(() => Boolean, { nullable: true, description: 'Starts without the plan’s trial.' })
  skipTrial?: boolean | null
}

export function fromSubscriptionParams(params: SubscriptionParams): ProvisionSubscription {
  const { planId, refId, subscriptionId, resourceId, billingPeriod, billingCountryCode, startDate } = params
  return {
    planRefId: planId,
    subscriptionRefId: sameId({ subscriptionId, refId }),
    resourceRefId: resourceId,
    billingPeriod,
    billingCountryCode,
    startDate,
    addons: params.addons?.map(({ addonId, quantity }) => ({ addonRefId: addonId, quantity: quantity ?? 1 })),
    quantities: params.billableFeatures?.map(({ featureId, quantity }) => ({
      featureRefId: featureId,
      quantity: decimal.fromNumber(quantity),
    })),
    trialOverride: params.trialOverrideConfiguration,
    additionalMetaData: fromMetaData(params.additionalMetaData),
  }
}

/** The argument had another name once: exactly one of the two is sent. */
export function fromProvisionSubscriptionInput(
  input: ProvisionSubscriptionInput | null,
  subscription: ProvisionSubscriptionInput | null,
): ProvisionSubscription & { customerRefId: string } {
  const given = input ?? subscription
  if (!given || (input && subscription)) throw invalidInput('Send exactly one of the arguments input and subscription')
  return { ...fromSubscriptionParams(given), customerRefId: given.customerId, skipTrial: given.skipTrial }
}

@InputType({ description: 'Whose subscriptions.' })
export class GetActiveSubscriptionsInput {
  @Field(() => String)
  customerId!: string

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { nullable: true, description: 'Only those of this resource.' })
  resourceId?: string | null

  @Field(() => [String], { nullable: true, description: 'Only those of these resources.' })
  resourceIds?: string[] | null
}

export function fromGetActiveSubscriptionsInput({ customerId, resourceId, resourceIds }: GetActiveSubscriptionsInput) {
  const named = [...(resourceId ? [resourceId] : []), ...(resourceIds ?? [])]
  return { customerRefId: customerId, resourceRefIds: named.length > 0 ? named : undefined }
}

@InputType({ description: 'Which subscription ends, and when.' })
export class SubscriptionCancellationInput {
  @Field(() => DateTime, { nullable: true, description: 'With SPECIFIC_DATE: when.' })
  endDate?: EpochMs | null

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => enums.SubscriptionCancellationTime, {
    nullable: true,
    description: 'Absent: the product’s setting; trials and free plans end at once.',
  })
  subscriptionCancellationTime?: CancellationTime | null

  @Field(() => String)
  subscriptionRefId!: string
}

export function fromCancellationInput({ subscriptionRefId, subscriptionCancellationTime, endDate }: SubscriptionCancellationInput) {
  return { subscriptionRefId, time: subscriptionCancellationTime ?? null, endDate: endDate ?? null }
}
