import { Field, Float, ObjectType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import { Money } from '../catalog/price.types.js'
import * as enums from '../schema/enums.js'
import { DateTime } from '../schema/scalars.js'

@ObjectType({ simpleResolvers: true, description: 'From start to end, which is exclusive.' })
export class DateRange {
  @Field(() => DateTime, { nullable: true, description: 'Exclusive.' })
  end!: EpochMs | null

  @Field(() => DateTime, { nullable: true })
  start!: EpochMs | null
}

@ObjectType({ simpleResolvers: true, description: 'A tax rate.' })
export class SubscriptionPreviewTaxDetails {
  @Field(() => String)
  displayName!: string

  @Field(() => Boolean)
  inclusive!: boolean

  @Field(() => Float)
  percentage!: number
}

@ObjectType({ simpleResolvers: true, description: 'A discount.' })
export class SubscriptionPreviewDiscount {
  @Field(() => Float, { nullable: true, description: 'Null: for ever.' })
  durationInMonths!: number | null

  @Field(() => enums.DiscountDurationType)
  durationType!: keyof typeof enums.DiscountDurationType

  @Field(() => String, { nullable: true })
  name!: string | null

  @Field(() => enums.DiscountType)
  type!: keyof typeof enums.DiscountType

  @Field(() => Float)
  value!: number
}

@ObjectType({ simpleResolvers: true, description: 'Balance of the customer that is used.' })
export class SubscriptionPreviewCredits {
  @Field(() => Money)
  initial!: Money

  @Field(() => Money)
  remaining!: Money

  @Field(() => Money)
  used!: Money
}

@ObjectType({ simpleResolvers: true, description: 'Amounts for parts of a billing period: credit is negative, debit positive.' })
export class SubscriptionPreviewProrations {
  @Field(() => Money)
  credit!: Money

  @Field(() => Money)
  debit!: Money

  @Field(() => Boolean, { nullable: true })
  hasProrations!: boolean | null

  @Field(() => Money)
  netAmount!: Money

  @Field(() => DateTime)
  prorationDate!: EpochMs
}

@ObjectType({ simpleResolvers: true, description: 'What the subscription costs in each billing period.' })
export class SubscriptionPricePreviewDto {
  @Field(() => SubscriptionPreviewDiscount, { nullable: true })
  discount!: SubscriptionPreviewDiscount | null

  @Field(() => Money, { nullable: true })
  discountAmount!: Money | null

  @Field(() => Money)
  subTotal!: Money

  @Field(() => Money)
  tax!: Money

  @Field(() => SubscriptionPreviewTaxDetails, { nullable: true })
  taxDetails!: SubscriptionPreviewTaxDetails | null

  @Field(() => Money)
  total!: Money

  @Field(() => Money)
  totalExcludingTax!: Money
}

@ObjectType({ simpleResolvers: true, description: 'What a subscription, or a change of one, costs.' })
export class SubscriptionPreview {
  @Field(() => DateRange)
  billingPeriodRange!: DateRange

  @Field(() => SubscriptionPreviewCredits, { nullable: true })
  credits!: SubscriptionPreviewCredits | null

  @Field(() => SubscriptionPreviewDiscount, { nullable: true })
  discount!: SubscriptionPreviewDiscount | null

  @Field(() => Money, { nullable: true })
  discountAmount!: Money | null

  @Field(() => Boolean, { nullable: true, description: 'Whether the subscription has changes that are yet to come.' })
  hasScheduledUpdates!: boolean | null

  @Field(() => Boolean, { nullable: true, description: 'Whether it leads to a cheaper plan.' })
  isPlanDowngrade!: boolean | null

  @Field(() => SubscriptionPreviewProrations, { nullable: true, description: 'Null when there is none.' })
  proration!: SubscriptionPreviewProrations | null

  @Field(() => Money)
  subTotal!: Money

  @Field(() => SubscriptionPricePreviewDto, { nullable: true })
  subscription!: SubscriptionPricePreviewDto | null

  @Field(() => Money, { nullable: true })
  tax!: Money | null

  @Field(() => SubscriptionPreviewTaxDetails, { nullable: true })
  taxDetails!: SubscriptionPreviewTaxDetails | null

  @Field(() => Money)
  total!: Money

  @Field(() => Money)
  totalExcludingTax!: Money
}

@ObjectType({ simpleResolvers: true, description: 'What is charged in each billing period.' })
export class SubscriptionPreviewInvoice {
  @Field(() => Money, { nullable: true })
  discount!: Money | null

  @Field(() => SubscriptionPreviewDiscount, { nullable: true })
  discountDetails!: SubscriptionPreviewDiscount | null

  @Field(() => Money)
  subTotal!: Money

  @Field(() => Money, { nullable: true })
  tax!: Money | null

  @Field(() => SubscriptionPreviewTaxDetails, { nullable: true })
  taxDetails!: SubscriptionPreviewTaxDetails | null

  @Field(() => Money)
  total!: Money

  @Field(() => Money)
  totalExcludingTax!: Money
}

@ObjectType({ simpleResolvers: true, description: 'What is charged at once.' })
export class ImmediateSubscriptionPreviewInvoice {
  @Field(() => SubscriptionPreviewCredits, { nullable: true })
  credits!: SubscriptionPreviewCredits | null

  @Field(() => Money, { nullable: true })
  discount!: Money | null

  @Field(() => SubscriptionPreviewDiscount, { nullable: true })
  discountDetails!: SubscriptionPreviewDiscount | null

  @Field(() => SubscriptionPreviewProrations, { nullable: true, description: 'Null when there is none.' })
  proration!: SubscriptionPreviewProrations | null

  @Field(() => Money)
  subTotal!: Money

  @Field(() => Money, { nullable: true })
  tax!: Money | null

  @Field(() => SubscriptionPreviewTaxDetails, { nullable: true })
  taxDetails!: SubscriptionPreviewTaxDetails | null

  @Field(() => Money)
  total!: Money

  @Field(() => Money)
  totalExcludingTax!: Money
}

@ObjectType({ simpleResolvers: true, description: 'What a subscription costs, now and in each billing period.' })
export class SubscriptionPreviewV2 {
  @Field(() => DateRange)
  billingPeriodRange!: DateRange

  @Field(() => Boolean, { nullable: true, description: 'Whether the subscription has changes that are yet to come.' })
  hasScheduledUpdates!: boolean | null

  @Field(() => ImmediateSubscriptionPreviewInvoice)
  immediateInvoice!: ImmediateSubscriptionPreviewInvoice

  @Field(() => Boolean, { nullable: true, description: 'Whether it leads to a cheaper plan.' })
  isPlanDowngrade!: boolean | null

  @Field(() => SubscriptionPreviewInvoice, { nullable: true })
  recurringInvoice!: SubscriptionPreviewInvoice | null
}
