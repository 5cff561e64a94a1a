import { Ctx, FieldResolver, Float, Resolver, Root } from 'type-graphql'
import { givesAccess, type Subscription } from '../../../subscription/rules/subscription.js'
import { shownSubscriptions } from '../../../subscription/use-cases/read.js'
import { Customer, CustomerStatistics } from '../customer/customer.types.js'
import type { RequestContext } from '../operations/context.js'
import { CustomerSubscription, toCustomerSubscription } from './subscription.types.js'

/** What a customer is subscribed to. */
@Resolver(() => Customer)
export class CustomerSubscriptionsResolver {
  @FieldResolver(() => Boolean, { description: 'Whether a resource of the customer has a subscription in force.' })
  async hasActiveResource(@Root() customer: Customer, @Ctx() context: RequestContext): Promise<boolean> {
    return (await inForce(customer, context)).some(({ resource }) => resource !== null)
  }

  @FieldResolver(() => Boolean, { description: 'Whether the customer or a resource has a subscription in force.' })
  async hasActiveSubscription(@Root() customer: Customer, @Ctx() context: RequestContext): Promise<boolean> {
    return (await inForce(customer, context)).length > 0
  }

  @FieldResolver(() => CustomerStatistics, { nullable: true })
  async statistics(@Root() customer: Customer, @Ctx() context: RequestContext): Promise<CustomerStatistics> {
    const counts = new Map<CustomerSubscription['source']['pricingType'], number>()
    for (const { pricingType } of await inForce(customer, context)) counts.set(pricingType, (counts.get(pricingType) ?? 0) + 1)
    return { activeSubscriptionsByPricingType: [...counts].map(([pricingType, totalCount]) => ({ pricingType, totalCount })) }
  }

  @FieldResolver(() => [CustomerSubscription], { nullable: true, description: 'The latest 10, ended ones too; the newest first.' })
  async subscriptions(@Root() { id }: Customer, @Ctx() { loaders }: RequestContext): Promise<CustomerSubscription[]> {
    return (await loaders.subscriptionsOfCustomer.load(id)).slice(0, shownSubscriptions).map(toCustomerSubscription)
  }

  @FieldResolver(() => Float, { description: 'How many subscriptions of the customer and its resources are in force.' })
  async totalActiveSubscription(@Root() customer: Customer, @Ctx() context: RequestContext): Promise<number> {
    return (await inForce(customer, context)).length
  }
}

async function inForce({ id }: Customer, { loaders }: RequestContext): Promise<Subscription[]> {
  return (await loaders.subscriptionsOfCustomer.load(id)).filter(({ status }) => givesAccess(status))
}
