import { Field, Float, InputType } from 'type-graphql'
import * as enums from './enums.js'
import { Json } from './scalars.js'

@InputType({ description: 'A tax identifier, passed to the billing provider and not kept.' })
export class TaxExempt {
  @Field(() => String)
  type!: string

  @Field(() => String)
  value!: string
}

@InputType({ description: 'A postal address, passed to the billing provider and not kept.' })
export class BillingAddress {
  @Field(() => String, { nullable: true })
  city?: string | null

  @Field(() => String, { nullable: true })
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

@InputType({ description: 'Facts for the invoices of a subscription, passed to the billing provider and not kept.' })
export class SubscriptionBillingInfo {
  @Field(() => BillingAddress, { nullable: true })
  billingAddress?: BillingAddress | null

  @Field(() => String, { nullable: true })
  chargeOnBehalfOfAccount?: string | null

  @Field(() => String, { nullable: true })
  couponId?: string | null

  @Field(() => String, { nullable: true })
  integrationId?: string | null

  @Field(() => Float, { nullable: true })
  invoiceDaysUntilDue?: number | null

  @Field(() => Boolean, { nullable: true })
  isBackdated?: boolean | null

  @Field(() => Boolean, { nullable: true })
  isInvoicePaid?: boolean | null

  @Field(() => Json, { nullable: true })
  metadata?: unknown

  @Field(() => enums.SubscriptionProrationBehavior, { nullable: true })
  prorationBehavior?: keyof typeof enums.SubscriptionProrationBehavior | null

  @Field(() => [TaxExempt], { nullable: true })
  taxIds?: TaxExempt[] | null

  @Field(() => Float, { nullable: true })
  taxPercentage?: number | null

  @Field(() => [String], { nullable: true, description: 'The billing provider’s identifiers.' })
  taxRateIds?: string[] | null
}

@InputType({ description: 'How the page looks on which the customer pays, and where it leads.' })
export class CheckoutOptions {
  @Field(() => Boolean, { nullable: true })
  allowPromoCodes?: boolean | null

  @Field(() => Boolean, { nullable: true })
  allowTaxIdCollection?: boolean | null

  @Field(() => String)
  cancelUrl!: string

  @Field(() => Boolean, { nullable: true })
  collectBillingAddress?: boolean | null

  @Field(() => Boolean, { nullable: true })
  collectPhoneNumber?: boolean | null

  @Field(() => String, { nullable: true })
  referenceId?: string | null

  @Field(() => String)
  successUrl!: string
}
