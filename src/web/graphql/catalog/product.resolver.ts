import { Arg, Ctx, Query, Resolver } from 'type-graphql'
import { productColumns } from '../../../catalog/records/list-columns.js'
import { readJsonFilter } from '../../../platform/list/json-filter.js'
import { CursorPaging } from '../lists/list.inputs.js'
import { connectionType, toConnection } from '../lists/page.types.js'
import type { RequestContext } from '../operations/context.js'
import { Json } from '../schema/scalars.js'
import { Product, toProduct } from './package.types.js'

const ProductConnection = connectionType('Product', Product, 'products')

@Resolver()
export class ProductListResolver {
  @Query(() => ProductConnection, { description: 'The products of the catalog, the newest first.' })
  async products(
    @Arg('filter', () => Json, {
      nullable: true,
      description: 'Which ones, such as {"refId": {"eq": "acme-cloud"}}: fields of a product with comparisons, and, or.',
    })
    filter: unknown,
    @Arg('paging', () => CursorPaging, { nullable: true, description: 'Which page.' }) paging: CursorPaging | null,
    @Ctx() { app, identity }: RequestContext,
  ) {
    const request = { filter: readJsonFilter(filter ?? {}, productColumns), paging }
    return toConnection(await app.offers.listProducts(identity.environmentId, request), toProduct)
  }
}
