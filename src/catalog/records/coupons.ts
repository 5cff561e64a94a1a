import * as decimal from '../../kernel/decimal.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import type { Coupon } from '../model/coupon.js'

/** By our id, archived ones too. */
export async function findCoupons(db: Db, environmentId: string, ids: readonly string[]): Promise<Coupon[]> {
  const rows = await db.coupon.findMany({ where: { environmentId, id: { in: [...ids] } } })
  return rows.map(toCoupon)
}

/** `lock`: nobody else gives one away that is limited until the transaction ends. */
export async function findCoupon(
  db: Db,
  environmentId: string,
  by: { refId: string } | { id: string },
  { lock = false } = {},
): Promise<Coupon | null> {
  const row = await db.coupon.findFirst({ where: { environmentId, ...by } })
  if (!row) return null
  // One without a limit is given to many at once.
  if (lock && row.maxRedemptions !== null)
    await db.$queryRaw(Prisma.sql`SELECT FROM coupon WHERE environment_id = ${environmentId}::uuid AND id = ${row.id}::uuid FOR UPDATE`)
  return toCoupon(row)
}

function toCoupon({ percentOff, ...row }: Prisma.CouponGetPayload<object>): Coupon {
  return {
    id: row.id,
    refId: row.refId,
    environmentId: row.environmentId,
    name: row.name,
    description: row.description,
    percentOff: percentOff === null ? null : decimal.fromText(percentOff.toFixed()),
    amountsOff: row.amountsOff as unknown as Coupon['amountsOff'],
    durationInMonths: row.durationInMonths,
    status: row.status,
    maxRedemptions: row.maxRedemptions,
    additionalMetaData: row.additionalMetaData as Coupon['additionalMetaData'],
    createdAt: row.createdAt.getTime(),
    updatedAt: row.updatedAt.getTime(),
  }
}
