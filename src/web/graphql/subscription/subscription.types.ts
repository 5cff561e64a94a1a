import { Field, Float, ObjectType } from 'type-graphql'
import type { EntitlementState } from '../../../entitlement/rules/state.js'
import type { EpochMs } from '../../../kernel/clock.js'
import * as domain from '../../../subscription/rules/subscription.js'
import { Addon, Plan, toAddon, toPlan } from '../catalog/package.types.js'
import { Money, Price } from '../catalog/price.types.js'
import { Entitlement, toEntitlements } from '../entitlement/entitlement.types.js'
import { EntitlementUnion, type FeatureEntitlement, toFeatureEntitlements } from '../entitlement/entitlement-v2.types.js'
import { AlwaysNull, ExperimentInfo } from '../schema/always-null.js'
import * as enums from '../schema/enums.js'
import { DateTime, Json } from '../schema/scalars.js'
import { SubscriptionFutureUpdate, SubscriptionScheduledUpdate, toScheduledUpdate } from './schedule.types.js'

@ObjectType({ simpleResolvers: true, description: 'An add-on that a subscription holds.' })
export class SubscriptionAddon {
  @Field(() => Addon)
  addon!: Addon

  @Field(() => String)
  id!: string

  @Field(() => Float)
  quantity!: number
}

export function toSubscriptionAddon(environmentId: string, { id, quantity, version }: domain.HeldAddon): SubscriptionAddon {
  return { id, quantity, addon: toAddon(environmentId, version) }
}

@ObjectType({ simpleResolvers: true, description: 'The thing of a customer that holds its own subscription.' })
export class CustomerResource {
  @Field(() => String, { description: 'The identifier that the host application gave.' })
  resourceId!: string
}

@ObjectType({ simpleResolvers: true, description: 'How the trial of a subscription ends.' })
export class TrialConfiguration {
  @Field(() => enums.TrialEndBehavior)
  trialEndBehavior!: keyof typeof enums.TrialEndBehavior
}

@ObjectType({ simpleResolvers: true, description: 'A price that a subscription is charged by.' })
export class SubscriptionPrice {
  @Field(() => enums.BillingModel, { nullable: true })
  billingModel!: keyof typeof enums.BillingModel | null

  @Field(() => Price, { nullable: true })
  price!: Price | null

  @Field(() => Float, { nullable: true, description: 'Of a price per unit: how many are bought, with the whole of a block that is begun.' })
  usageLimit!: number | null
}

@ObjectType({ simpleResolvers: true, description: 'What a subscription costs in a billing period, without usage.' })
export class CustomerSubscriptionTotalPrice {
  @Field(() => Money)
  subTotal!: Money

  @Field(() => Money)
  total!: Money
}

@ObjectType({
  description:
    'A customer’s subscription to a plan. Its status is the one of now: a transition that is due counts although it may not be recorded yet.',
})
export class CustomerSubscription {
  /** What it was made of, for the fields that `SubscriptionResolver` answers. Not in the schema. */
  source!: domain.Subscription

  @Field(() => Json, { nullable: true, simple: true })
  additionalMetaData!: Record<string, unknown> | null

  @Field(() => [SubscriptionAddon], { nullable: true, simple: true })
  addons!: SubscriptionAddon[] | null

  @Field(() => String, { nullable: true, simple: true, description: 'ISO 8601: what billing periods are counted from.' })
  billingCycleAnchor!: string | null

  @Field(() => String, { nullable: true, simple: true, description: 'Identifier at the billing provider.' })
  billingId!: string | null

  @AlwaysNull(() => String)
  billingLinkUrl?: null

  @Field(() => enums.BillingPeriod, { nullable: true, simple: true })
  billingPeriod!: string | null

  @Field(() => enums.SubscriptionCancelReason, { nullable: true, simple: true })
  cancelReason!: string | null

  @Field(() => DateTime, { nullable: true, simple: true, description: 'When cancellation was asked for; see effectiveEndDate.' })
  cancellationDate!: EpochMs | null

  @Field(() => DateTime, { nullable: true, simple: true })
  createdAt!: EpochMs | null

  @Field(() => String, { nullable: true, simple: true, description: 'Identifier in the CRM.' })
  crmId!: string | null

  @AlwaysNull(() => String)
  crmLinkUrl?: null

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description:
      'When access ended, or will as far as is known now: by a cancellation, the end date, or a trial that does not convert; exclusive.',
  })
  effectiveEndDate!: EpochMs | null

  @Field(() => DateTime, { nullable: true, simple: true, description: 'The end of a term that was agreed at the start; exclusive.' })
  endDate!: EpochMs | null

  @Field(() => String, { simple: true })
  environmentId!: string

  @AlwaysNull(() => ExperimentInfo)
  experimentInfo?: null

  @Field(() => [SubscriptionFutureUpdate], { nullable: true, simple: true, description: 'Changes that are yet to come.' })
  futureUpdates!: SubscriptionFutureUpdate[] | null

  @Field(() => String, { simple: true, description: 'Our identifier.' })
  id!: string

  @AlwaysNull(() => String)
  oldBillingId?: null

  @AlwaysNull(() => [String])
  outdatedPricePackages?: null

  @Field(() => enums.PaymentCollection, { simple: true })
  paymentCollection!: string

  @Field(() => Plan, { simple: true })
  plan!: Plan

  @Field(() => enums.PricingType, { simple: true })
  pricingType!: string

  @Field(() => String, { simple: true, description: 'The older name of subscriptionId.' })
  refId!: string

  @Field(() => CustomerResource, { nullable: true, simple: true, description: 'Null: the customer itself.' })
  resource!: CustomerResource | null

  @Field(() => String, { nullable: true, simple: true })
  resourceId!: string | null

  @Field(() => String, { nullable: true, simple: true })
  salesforceId!: string | null

  @Field(() => [SubscriptionScheduledUpdate], { nullable: true, simple: true, description: 'Changes that are scheduled.' })
  scheduledUpdates!: SubscriptionScheduledUpdate[] | null

  @Field(() => DateTime, { simple: true })
  startDate!: EpochMs

  @Field(() => enums.SubscriptionStatus, { simple: true })
  status!: string

  @Field(() => String, { simple: true, description: 'The host application’s identifier; ours when it gave none.' })
  subscriptionId!: string

  @Field(() => TrialConfiguration, { nullable: true, simple: true })
  trialConfiguration!: TrialConfiguration | null

  @Field(() => DateTime, { nullable: true, simple: true })
  trialEndDate!: EpochMs | null

  @Field(() => Boolean, { nullable: true, simple: true, description: 'Whether it began with a trial.' })
  wasInTrial!: boolean | null
}

export function toCustomerSubscription(source: domain.Subscription): CustomerSubscription {
  const { environmentId, resource, trialEndBehavior } = source
  return {
    source,
    id: source.id,
    refId: source.refId,
    subscriptionId: source.refId,
    environmentId,
    additionalMetaData: source.additionalMetaData,
    addons: source.addons.map((addon) => toSubscriptionAddon(environmentId, addon)),
    billingCycleAnchor: new Date(source.billingAnchor).toISOString(),
    billingId: source.billingId,
    billingPeriod: source.billingPeriod,
    cancelReason: source.cancelReason,
    cancellationDate: source.cancellationDate,
    createdAt: source.createdAt,
    crmId: source.crmId,
    effectiveEndDate: domain.knownEnd(source),
    endDate: source.endDate,
    futureUpdates: source.scheduled.map(toScheduledUpdate),
    paymentCollection: source.paymentCollection,
    plan: toPlan(environmentId, source.plan),
    pricingType: source.pricingType,
    resource: resource && { resourceId: resource.refId },
    resourceId: resource?.refId ?? null,
    salesforceId: source.salesforceId,
    scheduledUpdates: source.scheduled.map(toScheduledUpdate),
    startDate: source.startDate,
    status: source.status,
    trialConfiguration: trialEndBehavior && { trialEndBehavior },
    trialEndDate: source.trialEndDate,
    wasInTrial: source.trialEndDate !== null,
  }
}

@ObjectType({ simpleResolvers: true, description: 'The subscription that the customer has now, and what it entitles to.' })
export class ApplySubscription {
  @Field(() => [Entitlement], { nullable: true, description: 'All entitlements of the customer or resource now.' })
  entitlements!: Entitlement[] | null

  @Field(() => [EntitlementUnion], { nullable: true, description: 'The same in their newer form.' })
  entitlementsV2!: FeatureEntitlement[] | null

  @Field(() => CustomerSubscription, { nullable: true })
  subscription!: CustomerSubscription | null
}

@ObjectType({ simpleResolvers: true, description: 'The provisioned subscription and what it entitles to.' })
export class ProvisionSubscriptionResult {
  @Field(() => String, { nullable: true, description: 'The billing provider’s identifier of the checkout.' })
  checkoutBillingId!: string | null

  @Field(() => String, { nullable: true, description: 'With PAYMENT_REQUIRED: where the customer pays.' })
  checkoutUrl!: string | null

  @Field(() => [Entitlement], { nullable: true, description: 'All entitlements of the customer or resource now.' })
  entitlements!: Entitlement[] | null

  @Field(() => [EntitlementUnion], { nullable: true, description: 'The same in their newer form.' })
  entitlementsV2!: FeatureEntitlement[] | null

  @Field(() => String, { nullable: true, description: 'Our identifier of the subscription.' })
  id!: string | null

  @Field(() => Boolean, { nullable: true, description: 'Whether what was asked for is yet to come: it begins later, or the change waits.' })
  isScheduled!: boolean | null

  @Field(() => enums.ProvisionSubscriptionStatus)
  status!: string

  @Field(() => CustomerSubscription, { nullable: true })
  subscription!: CustomerSubscription | null
}

export function toProvisionSubscriptionResult(
  { subscription, isScheduled, state }: { subscription: domain.Subscription; isScheduled: boolean; state: EntitlementState },
  now: EpochMs,
): ProvisionSubscriptionResult {
  return {
    checkoutBillingId: null,
    checkoutUrl: null,
    entitlements: toEntitlements(state, now),
    entitlementsV2: toFeatureEntitlements(state, now),
    id: subscription.id,
    isScheduled,
    status: subscription.status === 'PAYMENT_PENDING' ? 'PAYMENT_REQUIRED' : 'SUCCESS',
    subscription: toCustomerSubscription(subscription),
  }
}
