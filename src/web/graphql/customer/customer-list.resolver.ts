import { Arg, Ctx, Query, Resolver } from 'type-graphql'
import type { Filter } from '../../../platform/list/request.js'
import { CustomerFilter } from '../lists/filter.inputs.js'
import { CursorPaging, CustomerSort } from '../lists/list.inputs.js'
import { connectionType, toConnection } from '../lists/page.types.js'
import type { RequestContext } from '../operations/context.js'
import { Customer, toCustomer } from './customer.types.js'

const CustomerConnection = connectionType('Customer', Customer, 'customers')

@Resolver()
export class CustomerListResolver {
  @Query(() => CustomerConnection, {
    description: 'The customers of the environment, the newest first. Archived ones are hidden, unless the filter asks about deletedAt.',
  })
  async customers(
    @Arg('filter', () => CustomerFilter, { nullable: true, description: 'Which ones.' }) filter: Filter | null,
    @Arg('paging', () => CursorPaging, { nullable: true, description: 'Which page.' }) paging: CursorPaging | null,
    @Arg('sorting', () => [CustomerSort], { nullable: true, description: 'In which order.' }) sorting: CustomerSort[] | null,
    @Ctx() { app, identity }: RequestContext,
  ) {
    return toConnection(await app.customers.list(identity.environmentId, { filter, paging, sorting }), toCustomer)
  }
}
