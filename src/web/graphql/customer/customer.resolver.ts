import { Arg, Ctx, FieldResolver, Float, Mutation, Query, Resolver, Root } from 'type-graphql'
import { Coupon, toCoupon } from '../catalog/coupon.types.js'
import { PromotionalEntitlement, toPromotionalEntitlement } from '../entitlement/promotional.types.js'
import type { RequestContext } from '../operations/context.js'
import {
  ArchiveCustomerInput,
  CustomerInput,
  fromCustomerInput,
  fromImportCustomerInput,
  fromUpdateCustomerInput,
  GetCustomerByRefIdInput,
  ImportCustomerInput,
  UnarchiveCustomerInput,
  UpdateCustomerInput,
} from './customer.inputs.js'
import { Customer, EligibleForTrial, TrialedPlan, toCustomer } from './customer.types.js'

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

  @FieldResolver(() => [PromotionalEntitlement], { nullable: true, description: 'The latest 10, expired ones too; the newest first.' })
  async promotionalEntitlements(@Root() { id }: Customer, @Ctx() { loaders }: RequestContext): Promise<PromotionalEntitlement[]> {
    const held = await loaders.promotionalOfCustomer.load(id)
    return held.slice(0, shownPromotional).map(toPromotionalEntitlement)
  }

  @FieldResolver(() => Float, { description: 'How many promotional entitlements count now.' })
  async totalActivePromotionalEntitlements(@Root() { id }: Customer, @Ctx() { loaders }: RequestContext): Promise<number> {
    return (await loaders.promotionalOfCustomer.load(id)).filter(({ status }) => status === 'Active').length
  }

  @FieldResolver(() => [TrialedPlan], { nullable: true, description: 'The plans that it has had a trial of, the first one first.' })
  trialedPlans(@Root() { id }: Customer, @Ctx() { loaders }: RequestContext): Promise<TrialedPlan[]> {
    return loaders.trialedPlansOfCustomer.load(id)
  }
}

/** As nested lists are. */
const shownPromotional = 10
