import { Arg, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import type { Filter } from '../../../platform/list/request.js'
import { currentBillingPeriod } from '../../../subscription/rules/billing-period.js'
import { Customer, toCustomer } from '../customer/customer.types.js'
import { SubscriptionQueryFilter } from '../lists/filter.inputs.js'
import { CursorPaging, SubscriptionQuerySort } from '../lists/list.inputs.js'
import { connectionType, toConnection } from '../lists/page.types.js'
import type { RequestContext } from '../operations/context.js'
import { DateTime } from '../schema/scalars.js'
import { SubscriptionQuery, toSubscriptionQuery } from './subscription-query.types.js'

const SubscriptionQueryConnection = connectionType('SubscriptionQuery', SubscriptionQuery, 'subscriptions')

@Resolver(() => SubscriptionQuery)
export class SubscriptionQueryResolver {
  @Query(() => SubscriptionQueryConnection, {
    description: 'The subscriptions of the environment, whatever their status; the newest first.',
  })
  async subscriptions(
    @Arg('filter', () => SubscriptionQueryFilter, { nullable: true, description: 'Which ones.' }) filter: Filter | null,
    @Arg('paging', () => CursorPaging, { nullable: true, description: 'Which page.' }) paging: CursorPaging | null,
    @Arg('sorting', () => [SubscriptionQuerySort], { nullable: true, description: 'In which order.' }) sorting:
      | SubscriptionQuerySort[]
      | null,
    @Ctx() { app, identity }: RequestContext,
  ) {
    return toConnection(await app.subscriptionList.page(identity.environmentId, { filter, paging, sorting }), toSubscriptionQuery)
  }

  @FieldResolver(() => DateTime, { nullable: true, description: 'Exclusive. In a trial: its end.' })
  currentBillingPeriodEnd(@Root() { source }: SubscriptionQuery): EpochMs | null {
    return currentBillingPeriod(source)?.end ?? null
  }

  @FieldResolver(() => Customer)
  async customer(@Root() { source }: SubscriptionQuery, @Ctx() { loaders }: RequestContext): Promise<Customer> {
    return toCustomer((await loaders.customers.load(source.customerId))!)
  }

  @FieldResolver(() => Customer, { nullable: true, description: 'Who pays, when it is another customer.' })
  async payingCustomer(@Root() { source }: SubscriptionQuery, @Ctx() { loaders }: RequestContext): Promise<Customer | null> {
    const customer = source.payingCustomerId === null ? null : await loaders.customers.load(source.payingCustomerId)
    return customer && toCustomer(customer)
  }
}
