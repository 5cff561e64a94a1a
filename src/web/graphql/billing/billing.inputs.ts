import { Field, Float, InputType } from 'type-graphql'
import { TaxExempt } from '../customer/billing-information.inputs.js'
import * as enums from '../schema/enums.js'
import { Json } from '../schema/scalars.js'

@InputType({ description: 'A postal address, passed to the billing provider and not kept.' })
export class BillingAddress {
  @Field(() => String, { nullable: true })
  city?: string | null

  @Field(() => String, { nullable: true, description: 'ISO 3166-1 alpha-2.' })
  country?: string | null

  @Field(() => String, { nullable: true })
  line1?: string | null

  @Field(() => String, { nullable: true })
  line2?: string | null

  @Field(() => String, { nullable: true })
  postalCode?: string | null

  @Field(() => String, { nullable: true })
  state?: string | null
}

@InputType({ description: 'What is agreed for the invoices of a subscription, and facts that are the billing provider’s.' })
export class SubscriptionBillingInfo {
  @Field(() => BillingAddress, { nullable: true, description: 'Told to the billing provider and not kept.' })
  billingAddress?: BillingAddress | null

  @Field(() => String, { nullable: true, description: 'The builtin billing provider has no such accounts: it is refused.' })
  chargeOnBehalfOfAccount?: string | null

  @Field(() => String, { nullable: true, description: 'The older place of appliedCoupon.billingCouponId.' })
  couponId?: string | null

  @Field(() => String, { nullable: true, description: 'Told to the billing provider; the builtin one is the only one.' })
  integrationId?: string | null

  @Field(() => Float, {
    nullable: true,
    description: 'Whole days from an invoice to its due date, with INVOICE; 30 where nothing was said.',
  })
  invoiceDaysUntilDue?: number | null

  @Field(() => Boolean, {
    nullable: true,
    description: 'Of a new subscription that began in the past: charged from then on, not from the current billing period on.',
  })
  isBackdated?: boolean | null

  @Field(() => Boolean, {
    nullable: true,
    description: 'The invoice of this change was paid elsewhere: nobody collects it or waits for it.',
  })
  isInvoicePaid?: boolean | null

  @Field(() => Json, { nullable: true, description: 'Told to the billing provider and not kept.' })
  metadata?: unknown

  @Field(() => enums.SubscriptionProrationBehavior, { nullable: true, description: 'Default INVOICE_IMMEDIATELY.' })
  prorationBehavior?: keyof typeof enums.SubscriptionProrationBehavior | null

  @Field(() => [TaxExempt], { nullable: true, description: 'Told to the billing provider and not kept.' })
  taxIds?: TaxExempt[] | null

  @Field(() => Float, { nullable: true, description: 'From 0 to 100; added to what is charged from now on.' })
  taxPercentage?: number | null

  @Field(() => [String], {
    nullable: true,
    description: 'Rates of the billing provider, in place of a percentage; they are added up. Empty: no tax any more.',
  })
  taxRateIds?: string[] | null
}

@InputType({ description: 'How the page looks on which the customer pays, and where it leads.' })
export class CheckoutOptions {
  @Field(() => Boolean, { nullable: true, description: 'For the page of the billing provider.' })
  allowPromoCodes?: boolean | null

  @Field(() => Boolean, { nullable: true })
  allowTaxIdCollection?: boolean | null

  @Field(() => String, { description: 'An http or https address.' })
  cancelUrl!: string

  @Field(() => Boolean, { nullable: true })
  collectBillingAddress?: boolean | null

  @Field(() => Boolean, { nullable: true })
  collectPhoneNumber?: boolean | null

  @Field(() => String, { nullable: true })
  referenceId?: string | null

  @Field(() => String, { description: 'An http or https address.' })
  successUrl!: string
}
