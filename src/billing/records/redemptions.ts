/** To whom coupons have been given. */
import type { Coupon } from '../../catalog/model/coupon.js'
import { findCoupons } from '../../catalog/records/coupons.js'
import type { Db } from '../../platform/postgres.js'
import { oncePerGroup } from '../../platform/transaction-group.js'
import type { Discount } from '../rules/billing.js'
import { toDiscount } from '../rules/coupon.js'

/** What the customer's coupon stands for, from when it was given; null: it has none. */
export function findCustomerDiscount(db: Db, environmentId: string, customerId: string): Promise<Discount | null> {
  return customerDiscountOf(db, { environmentId, customerId })
}

const customerDiscountOf = oncePerGroup(async (db, all: { environmentId: string; customerId: string }[]) => {
  const found = new Map<string, Map<string, Discount>>()
  for (const environmentId of new Set(all.map((asked) => asked.environmentId))) {
    const ids = all.filter((asked) => asked.environmentId === environmentId).map(({ customerId }) => customerId)
    found.set(environmentId, await findCustomerDiscounts(db, environmentId, ids))
  }
  return all.map(({ environmentId, customerId }) => found.get(environmentId)!.get(customerId) ?? null)
})

/** By our id of the customer; those without a coupon are absent. */
export async function findCustomerDiscounts(db: Db, environmentId: string, customerIds: readonly string[]): Promise<Map<string, Discount>> {
  const holders = await db.customer.findMany({
    where: { environmentId, id: { in: [...new Set(customerIds)] }, couponId: { not: null } },
    select: { id: true, couponId: true, couponGrantedAt: true },
  })
  if (holders.length === 0) return new Map()
  const coupons = await findCoupons(db, environmentId, [...new Set(holders.map(({ couponId }) => couponId!))])
  const byId = new Map(coupons.map((coupon) => [coupon.id, coupon]))
  return new Map(
    holders.map(({ id, couponId, couponGrantedAt }) => [
      id,
      toDiscount(byId.get(couponId!)!, 'customerCoupon', couponGrantedAt!.getTime()),
    ]),
  )
}

/** Counts the coupon as given to the subscription, under the coupon's lock. A repeat is one. */
export async function redeem(db: Db, environmentId: string, coupon: Coupon, subscriptionId: string): Promise<void> {
  await db.couponRedemption.createMany({ data: [{ environmentId, couponId: coupon.id, subscriptionId }], skipDuplicates: true })
}

/**
 * Whether the coupon has been given to as many as it may, the asked one apart: to subscriptions, and to the customers that hold it. Certain under the
 * coupon's lock.
 */
export async function isUsedUp(
  db: Db,
  environmentId: string,
  { id: couponId, maxRedemptions }: Coupon,
  by: { subscriptionId: string } | { customerRefId: string },
): Promise<boolean> {
  if (maxRedemptions === null) return false
  const apart = 'subscriptionId' in by ? { subscriptionId: { not: by.subscriptionId } } : {}
  const apartFrom = 'customerRefId' in by ? { refId: { not: by.customerRefId } } : {}
  const subscriptions = await db.couponRedemption.count({ where: { environmentId, couponId, ...apart } })
  const customers = await db.customer.count({ where: { environmentId, couponId, ...apartFrom } })
  return subscriptions + customers >= maxRedemptions
}
