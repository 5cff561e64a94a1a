import { Arg, Ctx, Query, Resolver } from 'type-graphql'
import type { Filter } from '../../platform/list/request.js'
import { connectionType, toConnection } from './connection.types.js'
import type { RequestContext } from './context.js'
import { Customer, toCustomer } from './customer.types.js'
import { CustomerFilter } from './filter.inputs.js'
import { CursorPaging, CustomerSort } from './list.inputs.js'

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
