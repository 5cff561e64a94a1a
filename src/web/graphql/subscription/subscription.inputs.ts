import { Field, Float, InputType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import * as decimal from '../../../kernel/decimal.js'
import { invalidInput } from '../../../kernel/problem.js'
import type * as domain from '../../../subscription/use-cases/references.js'
import { CheckoutOptions, SubscriptionBillingInfo } from '../billing/billing.inputs.js'
import { fromBilling, fromBillingFacts, fromBudget } from '../billing/billing-request.js'
import { SubscriptionCouponInput } from '../billing/subscription-coupon.inputs.js'
import { fromCountry } from '../catalog/country-code.js'
import { BudgetConfigurationInput, PriceOverrideInput, SubscriptionMinimumSpendValueInput } from '../catalog/price.inputs.js'
import * as enums from '../schema/enums.js'
import { fromMetaData, sameValue } from '../schema/input-fields.js'
import { DateTime, Json } from '../schema/scalars.js'
import {
  fromSubscriptionEntitlements,
  SubscriptionEntitlementInput,
  SubscriptionEntitlementInputV2,
} from './subscription-entitlement.inputs.js'
import { SubscriptionContent, TrialOverrideConfigurationInput } from './subscription-parts.inputs.js'

/** What a subscription is asked for with, whoever it is for. Not a type of the schema. */
@InputType()
class SubscriptionParams extends SubscriptionContent {
  @Field(() => Json, { nullable: true, description: 'An object of your own facts.' })
  additionalMetaData?: unknown

  @Field(() => SubscriptionCouponInput, { nullable: true, description: 'A discount for this subscription.' })
  appliedCoupon?: SubscriptionCouponInput | null

  @Field(() => Boolean, { nullable: true, description: 'False: access does not wait for the payment.' })
  awaitPaymentConfirmation?: boolean | null

  @Field(() => String, { nullable: true, description: 'ISO 3166-1 alpha-2, in any case: chooses prices of that country.' })
  billingCountryCode?: string | null

  @Field(() => enums.SubscriptionBillingCycleAnchor, {
    nullable: true,
    description:
      'Whether billing periods begin anew. Default: NOW where another subscription’s place is taken, UNCHANGED where the same one changes.',
  })
  billingCycleAnchor?: keyof typeof enums.SubscriptionBillingCycleAnchor | null

  @Field(() => String, { nullable: true, description: 'Identifier at the billing provider.' })
  billingId?: string | null

  @Field(() => SubscriptionBillingInfo, { nullable: true })
  billingInformation?: SubscriptionBillingInfo | null

  @Field(() => enums.BillingPeriod, { nullable: true, description: 'Needed when the plan has prices for several.' })
  billingPeriod?: keyof typeof enums.BillingPeriod | null

  @Field(() => BudgetConfigurationInput, { nullable: true, description: 'For the usage-based charges of each billing period.' })
  budget?: BudgetConfigurationInput | null

  @Field(() => [SubscriptionEntitlementInputV2], { nullable: true, description: 'The newer form of subscriptionEntitlements.' })
  entitlements?: SubscriptionEntitlementInputV2[] | null

  @Field(() => SubscriptionMinimumSpendValueInput, { nullable: true, description: 'What is charged at least in a billing period.' })
  minimumSpend?: SubscriptionMinimumSpendValueInput | null

  @Field(() => enums.PaymentCollectionMethod, { nullable: true })
  paymentCollectionMethod?: keyof typeof enums.PaymentCollectionMethod | null

  @Field(() => String, { description: 'The plan’s identifier in the catalog.' })
  planId!: string

  @Field(() => [PriceOverrideInput], { nullable: true, description: 'Prices agreed for this subscription.' })
  priceOverrides?: PriceOverrideInput[] | null

  @Field(() => String, { nullable: true, description: 'A code of the billing provider.' })
  promotionCode?: string | null

  @Field(() => String, { nullable: true, description: 'Binds the subscription to a resource of the customer.' })
  resourceId?: string | null

  @Field(() => String, { nullable: true })
  salesforceId?: string | null

  @Field(() => DateTime, { nullable: true, description: 'Default now.' })
  startDate?: EpochMs | null

  @Field(() => [SubscriptionEntitlementInput], { nullable: true, description: 'In place of the plan’s for these features.' })
  subscriptionEntitlements?: SubscriptionEntitlementInput[] | null
}

@InputType({ description: 'The subscription that a new customer starts with.' })
export class ProvisionCustomerSubscriptionInput extends SubscriptionParams {
  @Field(() => Float, { nullable: true, description: 'The older name of unitQuantity; when both are sent they must be the same.' })
  priceUnitAmount?: number | null

  @Field(() => String, { nullable: true, description: 'The older name of subscriptionId; when both are sent they must be the same.' })
  refId?: string | null

  @Field(() => String, {
    nullable: true,
    description: 'Your identifier of the subscription; absent: one is made. The same one never makes two.',
  })
  subscriptionId?: string | null

  @Field(() => TrialOverrideConfigurationInput, { nullable: true })
  trialOverrideConfiguration?: TrialOverrideConfigurationInput | null
}

@InputType({ description: 'A subscription of a customer to a plan.' })
export class ProvisionSubscriptionInput extends SubscriptionParams {
  @Field(() => DateTime, { nullable: true, description: 'Ends the subscription then.' })
  cancellationDate?: EpochMs | null

  @Field(() => CheckoutOptions, { nullable: true })
  checkoutOptions?: CheckoutOptions | null

  @Field(() => String, { description: 'Your identifier of the customer.' })
  customerId!: string

  @Field(() => String, { nullable: true, description: 'Another customer that pays.' })
  payingCustomerId?: string | null

  @Field(() => Float, { nullable: true, description: 'The older name of unitQuantity; when both are sent they must be the same.' })
  priceUnitAmount?: number | null

  @Field(() => String, { nullable: true, description: 'The older name of subscriptionId; when both are sent they must be the same.' })
  refId?: string | null

  @Field(() => enums.ScheduleStrategy, { nullable: true, description: 'Wins over the product’s setting for downgrades.' })
  scheduleStrategy?: keyof typeof enums.ScheduleStrategy | null

  @Field(() => Boolean, { nullable: true, description: 'Starts without the plan’s trial.' })
  skipTrial?: boolean | null

  @Field(() => String, {
    nullable: true,
    description: 'Your identifier of the subscription; absent: one is made. The same one never makes two.',
  })
  subscriptionId?: string | null

  @Field(() => TrialOverrideConfigurationInput, { nullable: true })
  trialOverrideConfiguration?: TrialOverrideConfigurationInput | null
}

@InputType({ description: 'A subscription of a customer to a plan.' })
export class ProvisionSubscription extends ProvisionSubscriptionInput {}

@InputType({ description: 'The plan that a customer is to be subscribed to.' })
export class ApplySubscriptionInput extends SubscriptionParams {
  @Field(() => DateTime, { nullable: true, description: 'Ends the subscription then.' })
  cancellationDate?: EpochMs | null

  @Field(() => String, { description: 'Your identifier of the customer.' })
  customerId!: string

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { nullable: true, description: 'Another customer that pays.' })
  payingCustomerId?: string | null

  @Field(() => String, { nullable: true, description: 'What is charged of who pays from now on: the billing provider’s reference.' })
  paymentMethodId?: string | null

  @Field(() => enums.ScheduleStrategy, { nullable: true, description: 'Wins over the product’s setting for downgrades.' })
  scheduleStrategy?: keyof typeof enums.ScheduleStrategy | null

  @Field(() => Boolean, { nullable: true, description: 'Starts without the plan’s trial.' })
  skipTrial?: boolean | null

  @Field(() => DateTime, { nullable: true })
  trialEndDate?: EpochMs | null

  @Field(() => TrialOverrideConfigurationInput, { nullable: true })
  trialOverrideConfiguration?: TrialOverrideConfigurationInput | null
}

@InputType({ description: 'A subscription of a customer to a plan.' })
export class SubscriptionInput extends SubscriptionParams {
  @Field(() => DateTime, { nullable: true, description: 'Ends the subscription then.' })
  cancellationDate?: EpochMs | null

  @Field(() => String, { nullable: true })
  crmId?: string | null

  @Field(() => String, { description: 'Your identifier of the customer.' })
  customerId!: string

  @Field(() => DateTime, { nullable: true, description: 'The end of a term that is agreed at the start; exclusive.' })
  endDate?: EpochMs | null

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => Boolean, { nullable: true, description: 'True: it has prices of its own, which priceOverrides tells.' })
  isCustomPriceSubscription?: boolean | null

  @Field(() => Boolean, { nullable: true, description: 'False: the plan’s trial holds, whatever isTrial says.' })
  isOverridingTrialConfig?: boolean | null

  @Field(() => Boolean, { nullable: true, description: 'Wins over the plan’s trial.' })
  isTrial?: boolean | null

  @Field(() => String, { nullable: true, description: 'Another customer that pays.' })
  payingCustomerId?: string | null

  @Field(() => Float, { nullable: true, description: 'The older name of unitQuantity; when both are sent they must be the same.' })
  priceUnitAmount?: number | null

  @Field(() => String, { nullable: true, description: 'The older name of subscriptionId; when both are sent they must be the same.' })
  refId?: string | null

  @Field(() => enums.ScheduleStrategy, { nullable: true, description: 'Wins over the product’s setting for downgrades.' })
  scheduleStrategy?: keyof typeof enums.ScheduleStrategy | null

  @Field(() => String, {
    nullable: true,
    description: 'Your identifier of the subscription; absent: one is made. The same one never makes two.',
  })
  subscriptionId?: string | null

  @Field(() => enums.TrialEndBehavior, { nullable: true })
  trialEndBehavior?: keyof typeof enums.TrialEndBehavior | null
}

/** What every input that makes a subscription has beside `SubscriptionParams`, under one name or another. */
type Params = SubscriptionParams & {
  refId?: string | null
  subscriptionId?: string | null
  priceUnitAmount?: number | null
  trialOverrideConfiguration?: TrialOverrideConfigurationInput | null
}

export function fromSubscriptionParams(params: Params): domain.ProvisionSubscription {
  const { planId, refId, subscriptionId, resourceId, billingPeriod, billingCountryCode, startDate, billingId, salesforceId } = params
  return {
    planRefId: planId,
    subscriptionRefId: sameValue({ subscriptionId, refId }),
    resourceRefId: resourceId,
    billingPeriod,
    billingCountryCode: fromCountry(billingCountryCode, 'billingCountryCode'),
    startDate,
    ...fromContent(params),
    ownEntitlements: fromSubscriptionEntitlements(params),
    trialOverride: params.trialOverrideConfiguration,
    additionalMetaData: fromMetaData(params.additionalMetaData),
    billing: fromBilling(params),
    billingInformation: fromBillingFacts(params.billingInformation),
    billingCycleAnchor: params.billingCycleAnchor,
    budget: fromBudget(params.budget),
    billingId,
    salesforceId,
  }
}

/** What is bought beside the plan. `priceUnitAmount` is how many units, not what one costs. */
export function fromContent({
  addons,
  unitQuantity,
  priceUnitAmount,
  ...content
}: SubscriptionContent & { priceUnitAmount?: number | null }) {
  const units = sameValue({ unitQuantity, priceUnitAmount })
  return {
    addons: addons?.map(({ addonId, quantity }) => ({ addonRefId: addonId, quantity: quantity ?? 1 })),
    quantities: fromQuantities(content),
    unitQuantity: units === null ? null : decimal.fromNumber(units),
  }
}

/** `charges` of type FEATURE are `billableFeatures` under their newer name. Undefined: neither was sent. */
function fromQuantities({ billableFeatures, charges }: Pick<SubscriptionContent, 'billableFeatures' | 'charges'>) {
  if (charges?.some(({ type }) => type === 'CREDIT'))
    throw invalidInput('Tollgate has no credits: send charges of type FEATURE only.', { path: 'charges' })
  if (billableFeatures && charges)
    throw invalidInput('Send billableFeatures or charges, not both: they mean the same.', { path: 'charges' })
  const quantities = billableFeatures ?? charges?.map(({ id, quantity }) => ({ featureId: id, quantity }))
  return quantities?.map(({ featureId, quantity }) => ({ featureRefId: featureId, quantity: decimal.fromNumber(quantity) }))
}

/** The argument had another name once: exactly one of the two is sent. */
export function givenSubscription(
  input: ProvisionSubscriptionInput | null,
  subscription: ProvisionSubscriptionInput | null,
): ProvisionSubscriptionInput {
  const given = input ?? subscription
  if (!given || (input && subscription)) throw invalidInput('Send exactly one of the arguments input and subscription')
  return given
}

export function fromProvisionSubscriptionInput(
  input: ProvisionSubscriptionInput,
): domain.ProvisionSubscription & { customerRefId: string } {
  return { ...fromSubscriptionParams(input), ...fromLife(input), skipTrial: input.skipTrial }
}

/** What the inputs have in common that name a customer. */
function fromLife(input: {
  customerId: string
  cancellationDate?: EpochMs | null
  payingCustomerId?: string | null
  scheduleStrategy?: keyof typeof enums.ScheduleStrategy | null
}) {
  const { customerId, cancellationDate, payingCustomerId, scheduleStrategy } = input
  return { customerRefId: customerId, cancellationDate, payingCustomerRefId: payingCustomerId, scheduleStrategy }
}

export function fromApplySubscriptionInput(input: ApplySubscriptionInput): domain.ProvisionSubscription & { customerRefId: string } {
  const { paymentMethodId, skipTrial, trialEndDate, trialOverrideConfiguration } = input
  if (trialEndDate && trialOverrideConfiguration)
    throw invalidInput('Send trialEndDate in trialOverrideConfiguration, not beside it.', { path: 'trialEndDate' })
  const trialOverride = trialEndDate ? { isTrial: true, trialEndDate } : trialOverrideConfiguration
  return { ...fromSubscriptionParams(input), ...fromLife(input), skipTrial, trialOverride, paymentMethodId }
}

/** In the oldest form the trial's override is spread over the input. */
export function fromSubscriptionInput(input: SubscriptionInput): domain.ProvisionSubscription & { customerRefId: string } {
  const { crmId, endDate, isTrial, isOverridingTrialConfig, trialEndBehavior } = input
  if (input.isCustomPriceSubscription && !input.priceOverrides?.length)
    throw invalidInput('A subscription with prices of its own needs them: send priceOverrides.', { path: 'isCustomPriceSubscription' })
  // False: whether there is a trial is the plan's to say.
  const isOverridden = typeof isTrial === 'boolean' && isOverridingTrialConfig !== false
  const trialOverride = isOverridden ? { isTrial, trialEndBehavior } : null
  return { ...fromSubscriptionParams(input), ...fromLife(input), crmId, endDate, trialOverride }
}
