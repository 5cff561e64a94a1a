import { Arg, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql'
import type * as customers from '../../../customer/model/customer.js'
import { customerNotFound } from '../../../customer/model/problems.js'
import type { EpochMs } from '../../../kernel/clock.js'
import { currentBillingPeriod } from '../../../subscription/rules/billing-period.js'
import { fromCheckoutOptions } from '../billing/billing-request.js'
import { Customer, toCustomer } from '../customer/customer.types.js'
import type { RequestContext } from '../operations/context.js'
import { DateTime } from '../schema/scalars.js'
import { checkoutOf, collected, collectedProvision } from './collected.js'
import { fromProvisionSubscriptionInput, givenSubscription, ProvisionSubscriptionInput } from './subscription.inputs.js'
import {
  CustomerSubscription,
  ProvisionSubscriptionResult,
  toCustomerSubscription,
  toProvisionSubscriptionResult,
} from './subscription.types.js'
import {
  fromCancellationInput,
  fromGetActiveSubscriptionsInput,
  GetActiveSubscriptionsInput,
  GetSubscriptionInput,
  SubscriptionCancellationInput,
} from './subscription-change.inputs.js'

@Resolver(() => CustomerSubscription)
export class SubscriptionResolver {
  @Query(() => [CustomerSubscription], { nullable: true, description: 'The subscriptions of a customer that give access now.' })
  async getActiveSubscriptions(
    @Arg('input', () => GetActiveSubscriptionsInput, { description: 'Whose subscriptions.' }) input: GetActiveSubscriptionsInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    const subscriptions = await app.subscriptionReads.active(identity.environmentId, fromGetActiveSubscriptionsInput(input))
    return subscriptions.map(toCustomerSubscription)
  }

  @Query(() => CustomerSubscription, { description: 'One subscription, whatever its status.' })
  async getSubscription(
    @Arg('input', () => GetSubscriptionInput, { description: 'Which subscription.' }) { subscriptionId }: GetSubscriptionInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    return toCustomerSubscription(await app.subscriptionReads.get(identity.environmentId, subscriptionId))
  }

  @Mutation(() => ProvisionSubscriptionResult, {
    description:
      'Subscribes a customer to a plan, replacing its other subscription to the same product where the rules say so. Safe to repeat. Takes `input` or its other name, `subscription`.',
  })
  async provisionSubscriptionV2(
    @Arg('input', () => ProvisionSubscriptionInput, { nullable: true, description: 'The subscription.' })
    input: ProvisionSubscriptionInput | null,
    @Arg('subscription', () => ProvisionSubscriptionInput, { nullable: true, description: 'The same as input.' })
    subscription: ProvisionSubscriptionInput | null,
    @Ctx() context: RequestContext,
  ) {
    return provision(context, givenSubscription(input, subscription))
  }

  @Mutation(() => CustomerSubscription, { description: 'Ends a subscription, now or at a later date.' })
  async cancelSubscription(
    @Arg('input', () => SubscriptionCancellationInput, { description: 'Which subscription, and when.' })
    input: SubscriptionCancellationInput,
    @Ctx() context: RequestContext,
  ) {
    const { app, identity } = context
    const canceled = await app.cancellations.cancel(identity.environmentId, fromCancellationInput(input))
    return toCustomerSubscription(await collected(context, canceled))
  }

  @FieldResolver(() => Customer, {
    nullable: true,
    description: 'Who pays, when it is another customer. Null for client keys: they may not know of other customers.',
  })
  async payingCustomer(@Root() { source }: CustomerSubscription, @Ctx() context: RequestContext): Promise<Customer | null> {
    const id = shownPayer(source, context)
    return id === null ? null : toCustomer(await loadCustomer(context, id))
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'The host application’s identifier of the customer that pays, when it is another one. Null for client keys.',
  })
  async payingCustomerId(@Root() { source }: CustomerSubscription, @Ctx() context: RequestContext): Promise<string | null> {
    const id = shownPayer(source, context)
    return id === null ? null : (await loadCustomer(context, id)).refId
  }

  @FieldResolver(() => Customer)
  async customer(@Root() { source }: CustomerSubscription, @Ctx() context: RequestContext): Promise<Customer> {
    return toCustomer(await loadCustomer(context, source.customerId))
  }

  @FieldResolver(() => String, { nullable: true, description: 'The host application’s identifier of the customer.' })
  async customerId(@Root() { source }: CustomerSubscription, @Ctx() context: RequestContext): Promise<string> {
    return (await loadCustomer(context, source.customerId)).refId
  }

  @FieldResolver(() => DateTime, { nullable: true, description: 'Exclusive. In a trial: its end.' })
  currentBillingPeriodEnd(@Root() { source }: CustomerSubscription): EpochMs | null {
    return currentBillingPeriod(source)?.end ?? null
  }

  @FieldResolver(() => DateTime, { nullable: true, description: 'In a trial: its start.' })
  currentBillingPeriodStart(@Root() { source }: CustomerSubscription): EpochMs | null {
    return currentBillingPeriod(source)?.start ?? null
  }
}

/** Provisions, has the billing provider make the invoice, and tells where to pay when the payment comes first. */
export async function provision(context: RequestContext, input: ProvisionSubscriptionInput): Promise<ProvisionSubscriptionResult> {
  const { app, identity, now } = context
  const checkout = fromCheckoutOptions(input.checkoutOptions)
  const request = fromProvisionSubscriptionInput(input)
  const provisioned = await collectedProvision(context, await app.subscriptions.provision(identity.environmentId, request))
  return { ...toProvisionSubscriptionResult(provisioned, now), ...(await checkoutOf(context, provisioned.subscription, checkout)) }
}

/** Another customer than the one whose subscription it is. */
const shownPayer = ({ payingCustomerId }: CustomerSubscription['source'], { identity }: RequestContext): string | null =>
  identity.kind === 'SERVER' ? payingCustomerId : null

async function loadCustomer({ loaders }: RequestContext, id: string): Promise<customers.Customer> {
  const customer = await loaders.customers.load(id)
  if (!customer) throw customerNotFound(id)
  return customer
}
