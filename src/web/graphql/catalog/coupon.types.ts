import { Field, Float, ObjectType } from 'type-graphql'
import type * as catalog from '../../../catalog/model/coupon.js'
import type { EpochMs } from '../../../kernel/clock.js'
import * as decimal from '../../../kernel/decimal.js'
import { AlwaysNull } from '../schema/always-null.js'
import * as enums from '../schema/enums.js'
import { DateTime, Json } from '../schema/scalars.js'
import { Money, toNumber } from './price.types.js'

@ObjectType({ simpleResolvers: true, description: 'Where the copy of a record at another vendor stands.' })
export class SyncState {
  @Field(() => enums.SyncStatus)
  status!: keyof typeof enums.SyncStatus

  @Field(() => enums.VendorIdentifier)
  vendorIdentifier!: keyof typeof enums.VendorIdentifier
}

@ObjectType({ simpleResolvers: true, description: 'A discount for a customer or a subscription.' })
export class Coupon {
  @Field(() => Json, { nullable: true })
  additionalMetaData!: unknown

  @Field(() => [Money], { nullable: true, description: 'FIXED: one amount for each currency.' })
  amountsOff!: Money[] | null

  @AlwaysNull(() => String)
  billingId?: null

  @AlwaysNull(() => String)
  billingLinkUrl?: null

  @Field(() => DateTime)
  createdAt!: EpochMs

  @Field(() => String, { nullable: true })
  description!: string | null

  @Field(() => Float, { description: 'The percentage, or the amount in the first currency.' })
  discountValue!: number

  @Field(() => Float, { nullable: true, description: 'Null: for ever.' })
  durationInMonths!: number | null

  @Field(() => String)
  environmentId!: string

  @Field(() => String, { description: 'Our identifier.' })
  id!: string

  @Field(() => String)
  name!: string

  @Field(() => Float, { nullable: true, description: 'PERCENTAGE: above 0, at most 100.' })
  percentOff!: number | null

  @Field(() => String, { description: 'The identifier that the catalog gave it.' })
  refId!: string

  @Field(() => enums.CouponSource)
  source!: keyof typeof enums.CouponSource

  @Field(() => enums.CouponStatus)
  status!: keyof typeof enums.CouponStatus

  @AlwaysNull(() => [SyncState])
  syncStates?: null

  @Field(() => enums.CouponType)
  type!: keyof typeof enums.CouponType

  @Field(() => DateTime, { description: 'When it last changed.' })
  updatedAt!: EpochMs
}

export function toCoupon(coupon: catalog.Coupon): Coupon {
  const { percentOff, amountsOff, ...facts } = coupon
  const amounts = amountsOff?.map(({ amount, currency }) => ({ amount: decimal.toNumber(amount), currency })) ?? null
  return {
    ...facts,
    amountsOff: amounts,
    percentOff: toNumber(percentOff),
    discountValue: percentOff === null ? amounts![0]!.amount : decimal.toNumber(percentOff),
    source: 'STIGG',
    type: percentOff === null ? 'FIXED' : 'PERCENTAGE',
  }
}
