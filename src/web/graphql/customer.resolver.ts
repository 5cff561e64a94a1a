import { Arg, Ctx, FieldResolver, Float, Mutation, Query, Resolver, Root } from 'type-graphql'
import { givesAccess, type Subscription } from '../../subscription/rules/subscription.js'
import { shownSubscriptions } from '../../subscription/use-cases/read.js'
import { collectedProvision } from './collected.js'
import type { RequestContext } from './context.js'
import { Coupon, toCoupon } from './coupon.types.js'
import {
  ArchiveCustomerInput,
  CustomerInput,
  fromCustomerInput,
  fromImportCustomerInput,
  fromProvisionCustomerInput,
  fromUpdateCustomerInput,
  GetCustomerByRefIdInput,
  ImportCustomerInput,
  ProvisionCustomerInput,
  UnarchiveCustomerInput,
  UpdateCustomerInput,
} from './customer.inputs.js'
import { Customer, CustomerStatistics, EligibleForTrial, TrialedPlan, toCustomer } from './customer.types.js'
import { PromotionalEntitlement, toPromotionalEntitlement } from './promotional.types.js'
import { CustomerSubscription, ProvisionedCustomer, toCustomerSubscription, toProvisionedCustomer } from './subscription.types.js'

@Resolver(() => Customer)
export class CustomerResolver {
  @Query(() => Customer, { nullable: true, description: 'The customer, or null when it was never provisioned or is archived.' })
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
    @Ctx() context: RequestContext,
  ) {
    const { app, identity, now } = context
    const provisioned = await app.customers.provision(identity.environmentId, fromProvisionCustomerInput(input))
    const { subscription, state } = provisioned
    const paid = subscription ? await collectedProvision(context, { subscription, state }) : provisioned
    return toProvisionedCustomer({ ...provisioned, ...paid }, now)
  }

  @Mutation(() => Customer, { description: 'Creates a customer without a subscription. Refused when the identifier is taken.' })
  async createOneCustomer(
    @Arg('input', () => CustomerInput, { description: 'The customer.' }) input: CustomerInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    return toCustomer(await app.customers.create(identity.environmentId, fromCustomerInput(input)))
  }

  @Mutation(() => Customer, { description: 'Changes what is sent of a customer; null clears.' })
  async updateOneCustomer(
    @Arg('input', () => UpdateCustomerInput, { description: 'Which customer, and what changes.' }) input: UpdateCustomerInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    const { refId, change } = fromUpdateCustomerInput(input)
    return toCustomer(await app.customers.update(identity.environmentId, refId, change))
  }

  @Mutation(() => Customer, { description: 'Creates a customer without a subscription, or changes what is sent of it. Safe to repeat.' })
  async importOneCustomer(
    @Arg('input', () => ImportCustomerInput, { description: 'The customer.' }) input: ImportCustomerInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    return toCustomer(await app.customers.importOne(identity.environmentId, fromImportCustomerInput(input)))
  }

  @Mutation(() => Customer, {
    description:
      'Ends all access of the customer for good: subscriptions are canceled, promotional entitlements revoked, name and email forgotten. It is no longer answered, and its identifier stays taken. Safe to repeat.',
  })
  async archiveCustomer(
    @Arg('input', () => ArchiveCustomerInput, { description: 'Which customer.' }) { customerId }: ArchiveCustomerInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    return toCustomer(await app.customers.archive(identity.environmentId, customerId))
  }

  @Mutation(() => Customer, {
    description: 'Brings an archived customer back, without what archiving ended and forgot: subscribe it anew. Safe to repeat.',
  })
  async unarchiveCustomer(
    @Arg('input', () => UnarchiveCustomerInput, { description: 'Which customer.' }) { customerId }: UnarchiveCustomerInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    return toCustomer(await app.customers.unarchive(identity.environmentId, customerId))
  }

  @FieldResolver(() => Coupon, { nullable: true, description: 'Of everything that the customer pays.' })
  async coupon(@Root() { couponId }: Customer, @Ctx() { loaders }: RequestContext): Promise<Coupon | null> {
    const coupon = couponId && (await loaders.coupons.load(couponId))
    return coupon ? toCoupon(coupon) : null
  }

  @FieldResolver(() => [EligibleForTrial], { nullable: true, description: 'Of each product: whether a trial would be given.' })
  eligibleForTrial(@Root() { id }: Customer, @Ctx() { loaders }: RequestContext): Promise<EligibleForTrial[]> {
    return loaders.trialEligibilityOfCustomer.load(id)
  }

  @FieldResolver(() => Boolean, { description: 'Whether a resource of the customer has a subscription in force.' })
  async hasActiveResource(@Root() customer: Customer, @Ctx() context: RequestContext): Promise<boolean> {
    return (await inForce(customer, context)).some(({ resource }) => resource !== null)
  }

  @FieldResolver(() => Boolean, { description: 'Whether the customer or a resource has a subscription in force.' })
  async hasActiveSubscription(@Root() customer: Customer, @Ctx() context: RequestContext): Promise<boolean> {
    return (await inForce(customer, context)).length > 0
  }

  @FieldResolver(() => [PromotionalEntitlement], { nullable: true, description: 'The latest 10, expired ones too; the newest first.' })
  async promotionalEntitlements(@Root() { id }: Customer, @Ctx() { loaders }: RequestContext): Promise<PromotionalEntitlement[]> {
    const held = await loaders.promotionalOfCustomer.load(id)
    return held.slice(0, shownPromotional).map(toPromotionalEntitlement)
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

  @FieldResolver(() => Float, { description: 'How many promotional entitlements count now.' })
  async totalActivePromotionalEntitlements(@Root() { id }: Customer, @Ctx() { loaders }: RequestContext): Promise<number> {
    return (await loaders.promotionalOfCustomer.load(id)).filter(({ status }) => status === 'Active').length
  }

  @FieldResolver(() => Float, { description: 'How many subscriptions of the customer and its resources are in force.' })
  async totalActiveSubscription(@Root() customer: Customer, @Ctx() context: RequestContext): Promise<number> {
    return (await inForce(customer, context)).length
  }

  @FieldResolver(() => [TrialedPlan], { nullable: true, description: 'The plans that it has had a trial of, the first one first.' })
  trialedPlans(@Root() { id }: Customer, @Ctx() { loaders }: RequestContext): Promise<TrialedPlan[]> {
    return loaders.trialedPlansOfCustomer.load(id)
  }
}

/** As nested lists are. */
const shownPromotional = 10

async function inForce({ id }: Customer, { loaders }: RequestContext): Promise<Subscription[]> {
  return (await loaders.subscriptionsOfCustomer.load(id)).filter(({ status }) => givesAccess(status))
}
