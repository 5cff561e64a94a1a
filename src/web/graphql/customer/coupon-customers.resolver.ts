import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql'
import { Coupon } from '../catalog/coupon.types.js'
import type { RequestContext } from '../operations/context.js'
import { Customer, toCustomer } from './customer.types.js'

/** Who has a coupon. */
@Resolver(() => Coupon)
export class CouponCustomersResolver {
  @FieldResolver(() => [Customer], {
    nullable: true,
    description: 'The first 10 customers that have it, the newest first. Null for client keys: they may not know of other customers.',
  })
  async customers(@Root() { id }: Coupon, @Ctx() { identity, loaders }: RequestContext): Promise<Customer[] | null> {
    if (identity.kind !== 'SERVER') return null
    return (await loaders.customersOfCoupon.load(id)).map(toCustomer)
  }
}
