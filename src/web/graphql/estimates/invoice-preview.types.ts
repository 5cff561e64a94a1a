import { Field, Float, Int, ObjectType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import { Money, Price } from '../catalog/price.types.js'
import * as enums from '../schema/enums.js'
import { DateTime } from '../schema/scalars.js'
import { SubscriptionPreviewCredits, SubscriptionPreviewDiscount, SubscriptionPreviewTaxDetails } from './estimate.types.js'

@ObjectType({ simpleResolvers: true, description: 'What a line charges for; the end is exclusive.' })
export class SubscriptionInvoicePreviewLineItemPeriod {
  @Field(() => DateTime)
  end!: EpochMs

  @Field(() => DateTime)
  start!: EpochMs
}

@ObjectType({ simpleResolvers: true, description: 'A part of a line.' })
export class SubscriptionInvoicePreviewLineItemData {
  @Field(() => String)
  costDescription!: string

  @Field(() => String)
  description!: string

  @Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' })
  hasSoftLimit!: boolean | null

  @Field(() => Boolean, { description: 'Whether it is for a part of a billing period.' })
  proration!: boolean

  @Field(() => Int, { nullable: true })
  quantity!: number | null

  @Field(() => enums.InvoiceLineItemType)
  type!: keyof typeof enums.InvoiceLineItemType

  @Field(() => Float, { nullable: true })
  usageLimit!: number | null
}

@ObjectType({ simpleResolvers: true, description: 'A line of an invoice.' })
export class SubscriptionInvoicePreviewLineItem {
  @Field(() => Money)
  amount!: Money

  @Field(() => String)
  costDescription!: string

  @Field(() => String)
  description!: string

  @Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' })
  hasSoftLimit!: boolean | null

  @Field(() => [SubscriptionInvoicePreviewLineItemData], {
    nullable: true,
    description: 'How the quantity falls on the tiers of the price.',
  })
  lines!: SubscriptionInvoicePreviewLineItemData[] | null

  @Field(() => SubscriptionInvoicePreviewLineItemPeriod)
  period!: SubscriptionInvoicePreviewLineItemPeriod

  @Field(() => Price, { nullable: true })
  price!: Price | null

  @Field(() => Boolean, { description: 'Whether it is for a part of a billing period.' })
  proration!: boolean

  @Field(() => Int, { nullable: true })
  quantity!: number | null

  @Field(() => enums.InvoiceLineItemType)
  type!: keyof typeof enums.InvoiceLineItemType

  @Field(() => Money, { nullable: true })
  unitPrice!: Money | null

  @Field(() => Float, { nullable: true })
  usageLimit!: number | null
}

@ObjectType({ simpleResolvers: true, description: 'The invoice that comes next, as of now.' })
export class SubscriptionInvoicePreview {
  @Field(() => Money, { description: 'What is still to be paid.' })
  amountDue!: Money

  @Field(() => SubscriptionPreviewCredits, { nullable: true })
  credits!: SubscriptionPreviewCredits | null

  @Field(() => Money, { nullable: true })
  discount!: Money | null

  @Field(() => SubscriptionPreviewDiscount, { nullable: true })
  discountDetails!: SubscriptionPreviewDiscount | null

  @Field(() => DateTime)
  lastUpdatedAt!: EpochMs

  @Field(() => [SubscriptionInvoicePreviewLineItem], { nullable: true })
  lines!: SubscriptionInvoicePreviewLineItem[] | null

  @Field(() => Money)
  minimumSpendAdjustment!: Money

  @Field(() => Money)
  subTotal!: Money

  @Field(() => Money)
  subTotalExcludingTax!: Money

  @Field(() => Money, { nullable: true })
  tax!: Money | null

  @Field(() => SubscriptionPreviewTaxDetails, { nullable: true })
  taxDetails!: SubscriptionPreviewTaxDetails | null

  @Field(() => Money)
  total!: Money

  @Field(() => Money)
  totalExcludingTax!: Money
}
