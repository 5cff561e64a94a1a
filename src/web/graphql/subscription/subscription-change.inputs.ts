import { Field, InputType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import { invalidInput } from '../../../kernel/problem.js'
import type { UpdateSubscription } from '../../../subscription/use-cases/change.js'
import type { ImportSubscription } from '../../../subscription/use-cases/import.js'
import { SubscriptionBillingInfo } from '../billing/billing.inputs.js'
import { fromBilling, fromBillingFacts, fromBudget } from '../billing/billing-request.js'
import { SubscriptionCouponInput } from '../billing/subscription-coupon.inputs.js'
import { BudgetConfigurationInput, PriceOverrideInput, SubscriptionMinimumSpendValueInput } from '../catalog/price.inputs.js'
import * as enums from '../schema/enums.js'
import { fromMetaData, sameValue } from '../schema/input-fields.js'
import { DateTime, Json } from '../schema/scalars.js'
import { fromContent } from './subscription.inputs.js'
import {
  fromSubscriptionEntitlements,
  SubscriptionEntitlementInput,
  SubscriptionEntitlementInputV2,
  UpdateSubscriptionEntitlementInput,
} from './subscription-entitlement.inputs.js'
import { SubscriptionContent } from './subscription-parts.inputs.js'

@InputType({ description: 'Which subscription.' })
export class GetSubscriptionInput {
  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { description: 'Your identifier of the subscription.' })
  subscriptionId!: string
}

@InputType({ description: 'Whose subscriptions.' })
export class GetActiveSubscriptionsInput {
  @Field(() => String, { description: 'Your identifier of the customer.' })
  customerId!: string

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { nullable: true, description: 'Only those of this resource.' })
  resourceId?: string | null

  @Field(() => [String], { nullable: true, description: 'Only those of these resources.' })
  resourceIds?: string[] | null
}

@InputType({ description: 'Which subscription ends, and when.' })
export class SubscriptionCancellationInput {
  @Field(() => Boolean, { nullable: true, description: 'The answer always comes after the cancellation; accepted for older clients.' })
  awaitSubscriptionCancellation?: boolean | null

  @Field(() => DateTime, { nullable: true, description: 'With SPECIFIC_DATE: when.' })
  endDate?: EpochMs | null

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => Boolean, { nullable: true, description: 'Credits the unused time.' })
  prorate?: boolean | null

  @Field(() => enums.SubscriptionCancellationAction, { nullable: true, description: 'Default DEFAULT.' })
  subscriptionCancellationAction?: keyof typeof enums.SubscriptionCancellationAction | null

  @Field(() => enums.SubscriptionCancellationTime, {
    nullable: true,
    description: 'Absent: the product’s setting; trials and free plans end at once.',
  })
  subscriptionCancellationTime?: keyof typeof enums.SubscriptionCancellationTime | null

  @Field(() => String, { description: 'Your identifier of the subscription.' })
  subscriptionRefId!: string
}

@InputType({ description: 'What changes about a subscription: what is absent stays, null clears.' })
export class UpdateSubscriptionInput extends SubscriptionContent {
  @Field(() => Json, { nullable: true, description: 'An object of your own facts.' })
  additionalMetaData?: unknown

  @Field(() => SubscriptionCouponInput, { nullable: true, description: 'A discount for this subscription.' })
  appliedCoupon?: SubscriptionCouponInput | null

  @Field(() => Boolean, { nullable: true, description: 'False: access does not wait for the payment.' })
  awaitPaymentConfirmation?: boolean | null

  @Field(() => enums.SubscriptionBillingCycleAnchor, {
    nullable: true,
    description: 'NOW: a billing period begins with the change, which is at once. Default UNCHANGED.',
  })
  billingCycleAnchor?: keyof typeof enums.SubscriptionBillingCycleAnchor | null

  @Field(() => SubscriptionBillingInfo, { nullable: true })
  billingInformation?: SubscriptionBillingInfo | null

  @Field(() => enums.BillingPeriod, { nullable: true, description: 'Changes the billing period.' })
  billingPeriod?: keyof typeof enums.BillingPeriod | null

  @Field(() => BudgetConfigurationInput, { nullable: true, description: 'For the usage-based charges of each billing period; null: none.' })
  budget?: BudgetConfigurationInput | null

  @Field(() => DateTime, { nullable: true, description: 'Null takes a scheduled cancellation back.' })
  cancellationDate?: EpochMs | null

  @Field(() => [SubscriptionEntitlementInputV2], { nullable: true, description: 'The newer form of subscriptionEntitlements.' })
  entitlements?: SubscriptionEntitlementInputV2[] | null

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => SubscriptionMinimumSpendValueInput, { nullable: true, description: 'What is charged at least in a billing period.' })
  minimumSpend?: SubscriptionMinimumSpendValueInput | null

  @Field(() => [PriceOverrideInput], { nullable: true, description: 'Prices agreed for this subscription.' })
  priceOverrides?: PriceOverrideInput[] | null

  @Field(() => String, { nullable: true, description: 'A code of the billing provider.' })
  promotionCode?: string | null

  @Field(() => String, { nullable: true, description: 'The older name of subscriptionId; when both are sent they must be the same.' })
  refId?: string | null

  @Field(() => String, { nullable: true })
  salesforceId?: string | null

  @Field(() => enums.ScheduleStrategy, {
    nullable: true,
    description: 'When quantities, add-ons and the billing period change. All else of the update is at once.',
  })
  scheduleStrategy?: keyof typeof enums.ScheduleStrategy | null

  @Field(() => [UpdateSubscriptionEntitlementInput], { nullable: true, description: 'In place of the plan’s for these features.' })
  subscriptionEntitlements?: UpdateSubscriptionEntitlementInput[] | null

  @Field(() => String, { nullable: true, description: 'Your identifier of the subscription.' })
  subscriptionId?: string | null

  @Field(() => DateTime, { nullable: true, description: 'Moves the end of the trial.' })
  trialEndDate?: EpochMs | null
}

@InputType({ description: 'Which subscription moves to the latest version of its plan.' })
export class SubscriptionMigrationInput {
  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { description: 'Your identifier of the subscription.' })
  subscriptionId!: string

  @Field(() => enums.SubscriptionMigrationTime, { nullable: true, description: 'Default END_OF_BILLING_PERIOD.' })
  subscriptionMigrationTime?: keyof typeof enums.SubscriptionMigrationTime | null
}

@InputType({ description: 'Whose scheduled updates are taken back.' })
export class SubscriptionUpdateScheduleCancellationInput {
  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => enums.SubscriptionScheduleStatus, { nullable: true, description: 'Only updates with this status. Default Scheduled.' })
  status?: keyof typeof enums.SubscriptionScheduleStatus | null

  @Field(() => String, { description: 'Your identifier of the subscription.' })
  subscriptionId!: string
}

@InputType({ description: 'From which resource of a customer to which other.' })
export class TransferSubscriptionInput {
  @Field(() => String, { description: 'Your identifier of the customer.' })
  customerId!: string

  @Field(() => String, { description: 'Your identifier of the resource.' })
  destinationResourceId!: string

  @Field(() => String)
  sourceResourceId!: string
}

@InputType({ description: 'Which subscription, and the resource that it is to be bound to.' })
export class TransferSubscriptionToResourceInput {
  @Field(() => String, { nullable: true, description: 'Null: the customer itself.' })
  destinationResourceId?: string | null

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { description: 'Your identifier of the subscription.' })
  subscriptionId!: string
}

@InputType({ description: 'Which subscription, and who pays for it.' })
export class DelegateSubscriptionToCustomerInput {
  @Field(() => String, { nullable: true, description: 'Null: the customer pays itself again.' })
  destinationCustomerId?: string | null

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { description: 'Your identifier of the subscription.' })
  subscriptionId!: string
}

@InputType({ description: 'A subscription that exists elsewhere.' })
export class ImportSubscriptionInput extends SubscriptionContent {
  @Field(() => Json, { nullable: true, description: 'An object of your own facts.' })
  additionalMetaData?: unknown

  @Field(() => String, { nullable: true, description: 'Identifier at the billing provider.' })
  billingId?: string | null

  @Field(() => enums.BillingPeriod, { nullable: true, description: 'Needed when the plan has prices for several.' })
  billingPeriod?: keyof typeof enums.BillingPeriod | null

  @Field(() => String, { description: 'Your identifier of the customer.' })
  customerId!: string

  @Field(() => DateTime, { nullable: true, description: 'The end of a term that is agreed at the start; exclusive.' })
  endDate?: EpochMs | null

  @Field(() => [SubscriptionEntitlementInputV2], { nullable: true, description: 'The newer form of subscriptionEntitlements.' })
  entitlements?: SubscriptionEntitlementInputV2[] | null

  @Field(() => String, { description: 'The plan’s identifier in the catalog.' })
  planId!: string

  @Field(() => String, { nullable: true, description: 'Binds the subscription to a resource of the customer.' })
  resourceId?: string | null

  @Field(() => String, { nullable: true })
  salesforceId?: string | null

  @Field(() => DateTime, { nullable: true, description: 'When it began; default now.' })
  startDate?: EpochMs | null

  @Field(() => [SubscriptionEntitlementInput], { nullable: true, description: 'In place of the plan’s for these features.' })
  subscriptionEntitlements?: SubscriptionEntitlementInput[] | null

  @Field(() => String, {
    nullable: true,
    description: 'Your identifier of the subscription; absent: one is made. The same one never makes two.',
  })
  subscriptionId?: string | null

  @Field(() => DateTime, {
    nullable: true,
    description: 'When it last changed there: an import that is older than the last one of the same subscriptionId changes nothing.',
  })
  updatedAt?: EpochMs | null
}

@InputType({ description: 'Subscriptions that exist elsewhere.' })
export class ImportSubscriptionsBulkInput {
  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, {
    nullable: true,
    description: 'Where the subscriptions come from. There is one billing provider, so any value is fine.',
  })
  integrationId?: string | null

  @Field(() => [ImportSubscriptionInput])
  subscriptions!: ImportSubscriptionInput[]
}

export function fromGetActiveSubscriptionsInput({ customerId, resourceId, resourceIds }: GetActiveSubscriptionsInput) {
  const named = [...(resourceId ? [resourceId] : []), ...(resourceIds ?? [])]
  return { customerRefId: customerId, resourceRefIds: named.length > 0 ? named : undefined }
}

export function fromCancellationInput(input: SubscriptionCancellationInput) {
  const { subscriptionRefId, subscriptionCancellationTime, subscriptionCancellationAction, prorate, endDate } = input
  return {
    subscriptionRefId,
    time: subscriptionCancellationTime ?? null,
    endDate: endDate ?? null,
    revokesEntitlements: subscriptionCancellationAction === 'REVOKE_ENTITLEMENTS',
    billing: { creditsUnused: prorate },
  }
}

export function fromUpdateSubscriptionInput(input: UpdateSubscriptionInput): UpdateSubscription {
  const { subscriptionId, refId, trialEndDate, billingPeriod, cancellationDate, scheduleStrategy, salesforceId } = input
  const subscriptionRefId = sameValue({ subscriptionId, refId })
  if (subscriptionRefId === null) throw invalidInput('Name the subscription: send subscriptionId.', { path: 'subscriptionId' })
  return {
    subscriptionRefId,
    ...fromContent(input),
    ownEntitlements: fromSubscriptionEntitlements(input),
    additionalMetaData: fromMetaData(input.additionalMetaData),
    trialEndDate,
    billingPeriod,
    cancellationDate,
    scheduleStrategy,
    billing: fromBilling(input),
    billingInformation: fromBillingFacts(input.billingInformation),
    billingCycleAnchor: input.billingCycleAnchor,
    budget: fromBudget(input.budget),
    salesforceId,
  }
}

/** As it is kept until it is imported. What exists elsewhere has had its trial there. */
export function fromImportSubscriptionsBulkInput({ subscriptions }: ImportSubscriptionsBulkInput): ImportSubscription[] {
  return subscriptions.map((input) => {
    const { customerId, planId, subscriptionId, resourceId, billingPeriod, billingId, salesforceId, startDate, endDate } = input
    return {
      customerRefId: customerId,
      planRefId: planId,
      subscriptionRefId: subscriptionId,
      resourceRefId: resourceId,
      billingPeriod,
      billingId,
      salesforceId,
      startDate,
      endDate,
      updatedAt: input.updatedAt,
      ...fromContent(input),
      ownEntitlements: fromSubscriptionEntitlements(input),
      additionalMetaData: fromMetaData(input.additionalMetaData),
      skipTrial: true,
    }
  })
}
