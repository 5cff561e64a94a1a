import { Field, ObjectType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import type * as domain from '../../../subscription/rules/subscription.js'
import { Plan, toPlan } from '../catalog/package.types.js'
import * as enums from '../schema/enums.js'
import { DateTime } from '../schema/scalars.js'
import { CustomerResource, SubscriptionAddon, TrialConfiguration, toSubscriptionAddon } from './subscription.types.js'

@ObjectType({ simpleResolvers: true, description: 'A subscription as the list of subscriptions has it, with its status of now.' })
export class SubscriptionQuery {
  /** What it was made of, for the fields that `SubscriptionQueryResolver` answers. Not in the schema. */
  source!: domain.Subscription

  @Field(() => [SubscriptionAddon], { nullable: true })
  addons!: SubscriptionAddon[] | null

  @Field(() => Plan)
  plan!: Plan

  @Field(() => enums.PricingType)
  pricingType!: keyof typeof enums.PricingType

  @Field(() => CustomerResource, { nullable: true, description: 'Null: the customer itself.' })
  resource!: CustomerResource | null

  @Field(() => DateTime)
  startDate!: EpochMs

  @Field(() => enums.SubscriptionStatus)
  status!: keyof typeof enums.SubscriptionStatus

  @Field(() => String, { description: 'The host application’s identifier; ours when it gave none.' })
  subscriptionId!: string

  @Field(() => TrialConfiguration, { nullable: true })
  trialConfiguration!: TrialConfiguration | null

  @Field(() => DateTime, { nullable: true })
  trialEndDate!: EpochMs | null
}

export function toSubscriptionQuery(source: domain.Subscription): SubscriptionQuery {
  const { environmentId, addons, plan, pricingType, refId, resource, startDate, status, trialEndBehavior, trialEndDate } = source
  return {
    source,
    addons: addons.map((addon) => toSubscriptionAddon(environmentId, addon)),
    plan: toPlan(environmentId, plan),
    pricingType,
    resource: resource && { resourceId: resource.refId },
    startDate,
    status,
    subscriptionId: refId,
    trialConfiguration: trialEndBehavior && { trialEndBehavior },
    trialEndDate,
  }
}
