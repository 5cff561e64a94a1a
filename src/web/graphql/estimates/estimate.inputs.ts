import { Field, Float, InputType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import type { UpdateSubscription } from '../../../subscription/use-cases/change.js'
import type { ProvisionSubscription } from '../../../subscription/use-cases/references.js'
import { SubscriptionBillingInfo } from '../billing/billing.inputs.js'
import { fromBilling, fromBillingFacts } from '../billing/billing-request.js'
import { SubscriptionCouponInput } from '../billing/subscription-coupon.inputs.js'
import { knownCountry } from '../catalog/country-code.js'
import * as enums from '../schema/enums.js'
import { DateTime } from '../schema/scalars.js'
import { fromContent } from '../subscription/subscription.inputs.js'
import { SubscriptionContent, TrialOverrideConfigurationInput } from '../subscription/subscription-parts.inputs.js'

@InputType({ description: 'The subscription that is to be priced.' })
export class EstimateSubscriptionInput extends SubscriptionContent {
  @Field(() => SubscriptionCouponInput, { nullable: true, description: 'A discount for this subscription.' })
  appliedCoupon?: SubscriptionCouponInput | null

  @Field(() => String, {
    nullable: true,
    description: 'ISO 3166-1 alpha-2: chooses prices of that country. A code that is none: prices for any.',
  })
  billingCountryCode?: string | null

  @Field(() => SubscriptionBillingInfo, { nullable: true })
  billingInformation?: SubscriptionBillingInfo | null

  @Field(() => enums.BillingPeriod, { nullable: true, description: 'Needed when the plan has prices for several.' })
  billingPeriod?: keyof typeof enums.BillingPeriod | null

  @Field(() => String, { description: 'Your identifier of the customer.' })
  customerId!: string

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { nullable: true, description: 'Another customer that pays.' })
  payingCustomerId?: string | null

  @Field(() => String, { description: 'The plan’s identifier in the catalog.' })
  planId!: string

  @Field(() => Float, { nullable: true, description: 'The older name of unitQuantity; when both are sent they must be the same.' })
  priceUnitAmount?: number | null

  @Field(() => String, { nullable: true, description: 'A code of the billing provider.' })
  promotionCode?: string | null

  @Field(() => String, { nullable: true, description: 'Binds the subscription to a resource of the customer.' })
  resourceId?: string | null

  @Field(() => Boolean, { nullable: true, description: 'Starts without the plan’s trial.' })
  skipTrial?: boolean | null

  @Field(() => DateTime, { nullable: true, description: 'Default now.' })
  startDate?: EpochMs | null

  @Field(() => TrialOverrideConfigurationInput, { nullable: true })
  trialOverrideConfiguration?: TrialOverrideConfigurationInput | null
}

@InputType({ description: 'The change that is to be priced.' })
export class EstimateSubscriptionUpdateInput extends SubscriptionContent {
  @Field(() => SubscriptionCouponInput, { nullable: true, description: 'A discount for this subscription.' })
  appliedCoupon?: SubscriptionCouponInput | null

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { nullable: true, description: 'A code of the billing provider.' })
  promotionCode?: string | null

  @Field(() => String, { description: 'Your identifier of the subscription.' })
  subscriptionId!: string
}

@InputType({ description: 'The subscription that is to be priced.' })
export class PreviewSubscriptionInput extends SubscriptionContent {
  @Field(() => SubscriptionCouponInput, { nullable: true, description: 'A discount for this subscription.' })
  appliedCoupon?: SubscriptionCouponInput | null

  @Field(() => String, {
    nullable: true,
    description: 'ISO 3166-1 alpha-2: chooses prices of that country. A code that is none: prices for any.',
  })
  billingCountryCode?: string | null

  @Field(() => enums.SubscriptionBillingCycleAnchor, {
    nullable: true,
    description:
      'Whether billing periods begin anew. Default: NOW where another subscription’s place is taken, UNCHANGED where the same one changes.',
  })
  billingCycleAnchor?: keyof typeof enums.SubscriptionBillingCycleAnchor | null

  @Field(() => SubscriptionBillingInfo, { nullable: true })
  billingInformation?: SubscriptionBillingInfo | null

  @Field(() => enums.BillingPeriod, { nullable: true, description: 'Needed when the plan has prices for several.' })
  billingPeriod?: keyof typeof enums.BillingPeriod | null

  @Field(() => String, { description: 'Your identifier of the customer.' })
  customerId!: string

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { nullable: true, description: 'Another customer that pays.' })
  payingCustomerId?: string | null

  @Field(() => String, { description: 'The plan’s identifier in the catalog.' })
  planId!: string

  @Field(() => String, { nullable: true, description: 'A code of the billing provider.' })
  promotionCode?: string | null

  @Field(() => String, { nullable: true, description: 'Binds the subscription to a resource of the customer.' })
  resourceId?: string | null

  @Field(() => enums.ScheduleStrategy, { nullable: true, description: 'Wins over the product’s setting for downgrades.' })
  scheduleStrategy?: keyof typeof enums.ScheduleStrategy | null

  @Field(() => DateTime, { nullable: true, description: 'Default now.' })
  startDate?: EpochMs | null

  @Field(() => TrialOverrideConfigurationInput, { nullable: true })
  trialOverrideConfiguration?: TrialOverrideConfigurationInput | null
}

@InputType({ description: 'Which subscription.' })
export class PreviewNextInvoiceInput {
  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { description: 'Your identifier of the subscription.' })
  subscriptionId!: string
}

export function fromEstimateSubscriptionInput(input: EstimateSubscriptionInput): ProvisionSubscription & { customerRefId: string } {
  const { customerId, planId, billingCountryCode, billingPeriod, payingCustomerId, resourceId, skipTrial, startDate } = input
  // Passed on to nobody, as nothing changes; what would be refused is.
  fromBillingFacts(input.billingInformation)
  return {
    customerRefId: customerId,
    planRefId: planId,
    payingCustomerRefId: payingCustomerId,
    resourceRefId: resourceId,
    billingCountryCode: knownCountry(billingCountryCode),
    billingPeriod,
    skipTrial,
    startDate,
    ...fromContent(input),
    trialOverride: input.trialOverrideConfiguration,
    billing: fromBilling(input),
  }
}

export function fromPreviewSubscriptionInput(input: PreviewSubscriptionInput): ProvisionSubscription & { customerRefId: string } {
  const { billingCycleAnchor, scheduleStrategy } = input
  return { ...fromEstimateSubscriptionInput(input), billingCycleAnchor, scheduleStrategy }
}

export function fromEstimateSubscriptionUpdateInput(input: EstimateSubscriptionUpdateInput): UpdateSubscription {
  return { subscriptionRefId: input.subscriptionId, ...fromContent(input), billing: fromBilling(input) }
}
