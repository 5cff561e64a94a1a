import { Field, ObjectType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import type * as customers from '../../../provisioning/customers.js'
import { Customer, toCustomer } from '../customer/customer.types.js'
import { Entitlement, toEntitlements } from '../entitlement/entitlement.types.js'
import { EntitlementUnion, type FeatureEntitlement, toFeatureEntitlements } from '../entitlement/entitlement-v2.types.js'
import * as enums from '../schema/enums.js'
import { CustomerSubscription, toCustomerSubscription } from '../subscription/subscription.types.js'

@ObjectType({ simpleResolvers: true, description: 'The provisioned customer and what it starts with.' })
export class ProvisionedCustomer {
  @Field(() => Customer)
  customer!: Customer

  @Field(() => [Entitlement], { nullable: true, description: 'All entitlements of the customer now.' })
  entitlements!: Entitlement[] | null

  @Field(() => [EntitlementUnion], { nullable: true, description: 'The same in their newer form.' })
  entitlementsV2!: FeatureEntitlement[] | null

  @Field(() => CustomerSubscription, { nullable: true, description: 'The subscription that was made; null when none was.' })
  subscription!: CustomerSubscription | null

  @Field(() => enums.SubscriptionDecisionStrategy)
  subscriptionDecisionStrategy!: string
}

export function toProvisionedCustomer(
  { customer, subscription, decision, state }: customers.ProvisionedCustomer,
  now: EpochMs,
): ProvisionedCustomer {
  return {
    customer: toCustomer(customer),
    entitlements: toEntitlements(state, now),
    entitlementsV2: toFeatureEntitlements(state, now),
    subscription: subscription && toCustomerSubscription(subscription),
    subscriptionDecisionStrategy: decision,
  }
}
