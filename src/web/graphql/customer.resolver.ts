import { Arg, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql'
import type { RequestContext } from './context.js'
import { fromProvisionCustomerInput, GetCustomerByRefIdInput, ProvisionCustomerInput } from './customer.inputs.js'
import { Customer, subscriptionCounts, toCustomer } from './customer.types.js'
import { ProvisionedCustomer, toProvisionedCustomer } from './subscription.types.js'

@Resolver(() => Customer)
export class CustomerResolver {
  @Query(() => Customer, { nullable: true, description: 'The customer, or null when it was never provisioned.' })
  async getCustomerByRefId(
    @Arg('input', () => GetCustomerByRefIdInput, { description: 'Which customer.' }) { customerId }: GetCustomerByRefIdInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    const customer = await app.customers.get(identity.environmentId, customerId)
    return customer && toCustomer(customer)
  }

  @Mutation(() => ProvisionedCustomer, {
    description:
      'Creates the customer with its first subscription. Safe to repeat: a known customer is updated and gets no second subscription.',
  })
  async provisionCustomer(
    @Arg('input', () => ProvisionCustomerInput, { description: 'The customer.' }) input: ProvisionCustomerInput,
    @Ctx() { app, identity, now }: RequestContext,
  ) {
    return toProvisionedCustomer(await app.customers.provision(identity.environmentId, fromProvisionCustomerInput(input)), now)
  }

  @FieldResolver(subscriptionCounts.hasActiveResource.type, { description: subscriptionCounts.hasActiveResource.description })
  async hasActiveResource(@Root() { refId }: Customer, @Ctx() { loaders }: RequestContext): Promise<boolean> {
    return (await loaders.activeSubscriptions.load(refId)).some(({ resource }) => resource !== null)
  }

  @FieldResolver(subscriptionCounts.hasActiveSubscription.type, { description: subscriptionCounts.hasActiveSubscription.description })
  async hasActiveSubscription(@Root() { refId }: Customer, @Ctx() { loaders }: RequestContext): Promise<boolean> {
    return (await loaders.activeSubscriptions.load(refId)).length > 0
  }

  @FieldResolver(subscriptionCounts.totalActiveSubscription.type, { description: subscriptionCounts.totalActiveSubscription.description })
  async totalActiveSubscription(@Root() { refId }: Customer, @Ctx() { loaders }: RequestContext): Promise<number> {
    return (await loaders.activeSubscriptions.load(refId)).length
  }
}
