import { Field, Float, ObjectType } from 'type-graphql'
import type { Invoice } from '../../../billing/rules/billing.js'
import type { EpochMs } from '../../../kernel/clock.js'
import * as decimal from '../../../kernel/decimal.js'
import * as enums from '../schema/enums.js'
import { DateTime } from '../schema/scalars.js'

@ObjectType({ simpleResolvers: true, description: 'An invoice as the billing provider has it.' })
export class SubscriptionInvoice {
  @Field(() => Float, { nullable: true, description: 'What is still to be paid.' })
  amountDue!: number | null

  @Field(() => Float, { nullable: true })
  attemptCount!: number | null

  @Field(() => String, { description: 'The billing provider’s identifier.' })
  billingId!: string

  @Field(() => enums.SubscriptionInvoiceBillingReason, { nullable: true })
  billingReason!: keyof typeof enums.SubscriptionInvoiceBillingReason | null

  @Field(() => DateTime)
  createdAt!: EpochMs

  @Field(() => String, { nullable: true })
  currency!: string | null

  @Field(() => DateTime, { nullable: true })
  dueDate!: EpochMs | null

  @Field(() => String, { nullable: true, description: 'Why the payment failed, also of an invoice that was taken back for it.' })
  errorMessage!: string | null

  @Field(() => String, { nullable: true })
  paymentSecret!: string | null

  @Field(() => String, { nullable: true, description: 'Where the customer pays.' })
  paymentUrl!: string | null

  @Field(() => String, { nullable: true })
  pdfUrl!: string | null

  @Field(() => Boolean, { description: 'Whether the customer has to confirm the payment.' })
  requiresAction!: boolean

  @Field(() => enums.SubscriptionInvoiceStatus)
  status!: keyof typeof enums.SubscriptionInvoiceStatus

  @Field(() => Float, { nullable: true })
  subTotal!: number | null

  @Field(() => Float, { nullable: true })
  subTotalExcludingTax!: number | null

  @Field(() => Float, { nullable: true })
  tax!: number | null

  @Field(() => Float, { nullable: true })
  total!: number | null

  @Field(() => Float, { nullable: true })
  totalExcludingTax!: number | null

  @Field(() => DateTime, { description: 'When its status last changed.' })
  updatedAt!: EpochMs
}

export function toInvoice(invoice: Invoice): SubscriptionInvoice {
  const { subTotal, discount, tax, total, status } = invoice
  const withoutTax = decimal.subtract(subTotal, discount)
  return {
    amountDue: status === 'OPEN' || status === 'FAILED' ? decimal.toNumber(invoice.amountDue) : 0,
    attemptCount: invoice.attemptCount,
    billingId: invoice.billingId!,
    billingReason: invoice.reason,
    createdAt: invoice.createdAt,
    currency: invoice.currency,
    dueDate: invoice.dueDate,
    errorMessage: invoice.errorMessage,
    paymentSecret: invoice.paymentSecret,
    paymentUrl: invoice.paymentUrl,
    pdfUrl: null,
    requiresAction: invoice.requiresAction,
    status,
    subTotal: decimal.toNumber(subTotal),
    subTotalExcludingTax: decimal.toNumber(subTotal),
    tax: decimal.toNumber(tax),
    total: decimal.toNumber(total),
    totalExcludingTax: decimal.toNumber(withoutTax),
    updatedAt: invoice.updatedAt,
  }
}
