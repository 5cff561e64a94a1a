/** To whom coupons have been given. */
import type { Coupon } from '../../catalog/model/coupon.js'
import type { Db } from '../../platform/postgres.js'
import { oncePerGroup } from '../../platform/transaction-group.js'

/** Of the customer itself. */
export function findCustomerCouponId(db: Db, environmentId: string, customerId: string): Promise<string | null> {
  return couponIdOf(db, { environmentId, customerId })
}

const couponIdOf = oncePerGroup(async (db, all: { environmentId: string; customerId: string }[]) => {
  const environmentIds = [...new Set(all.map(({ environmentId }) => environmentId))]
  const ids = all.map(({ customerId }) => customerId)
  const rows = await db.customer.findMany({
    where: { environmentId: { in: environmentIds }, id: { in: ids } },
    select: { environmentId: true, id: true, couponId: true },
  })
  const coupons = new Map(rows.map((row) => [row.environmentId + row.id, row.couponId]))
  return all.map(({ environmentId, customerId }) => coupons.get(environmentId + customerId) ?? null)
})

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
