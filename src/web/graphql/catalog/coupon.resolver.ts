import { Arg, Ctx, Mutation, Query, Resolver } from 'type-graphql'
import { Problem } from '../../../kernel/problem.js'
import type { Filter } from '../../../platform/list/request.js'
import { CouponFilter } from '../lists/filter.inputs.js'
import { CouponSort, CursorPaging } from '../lists/list.inputs.js'
import { connectionType, toConnection } from '../lists/page.types.js'
import type { RequestContext } from '../operations/context.js'
import { CreateCouponInput, fromCreateCouponInput } from './coupon.inputs.js'
import { Coupon, toCoupon } from './coupon.types.js'

const CouponConnection = connectionType('Coupon', Coupon, 'coupons')

@Resolver()
export class CouponResolver {
  @Query(() => CouponConnection, { description: 'The coupons of the catalog, archived ones too; the newest first.' })
  async coupons(
    @Arg('filter', () => CouponFilter, { nullable: true, description: 'Which ones.' }) filter: Filter | null,
    @Arg('paging', () => CursorPaging, { nullable: true, description: 'Which page.' }) paging: CursorPaging | null,
    @Arg('sorting', () => [CouponSort], { nullable: true, description: 'In which order.' }) sorting: CouponSort[] | null,
    @Ctx() { app, identity }: RequestContext,
  ) {
    // Whether a coupon is in the list would tell who has it.
    if (identity.kind !== 'SERVER' && comparesCustomers(filter))
      throw new Problem('PERMISSION_DENIED', 'IDENTITY_FORBIDDEN', 'Coupons are found by their customers with a server key only.')
    return toConnection(await app.offers.listCoupons(identity.environmentId, { filter, paging, sorting }), toCoupon)
  }

  @Mutation(() => Coupon, { description: 'Adds a coupon to the catalog.' })
  async createOneCoupon(
    @Arg('input', () => CreateCouponInput, { description: 'The coupon.' }) input: CreateCouponInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    return toCoupon(await app.offers.createCoupon(identity.environmentId, fromCreateCouponInput(input)))
  }
}

function comparesCustomers(filter: Filter | null | undefined): boolean {
  if (!filter) return false
  return Boolean(filter.customers) || [...(filter.and ?? []), ...(filter.or ?? [])].some(comparesCustomers)
}
