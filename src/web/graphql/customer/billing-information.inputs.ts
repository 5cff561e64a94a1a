import { Field, InputType } from 'type-graphql'
import * as enums from '../schema/enums.js'
import { Json } from '../schema/scalars.js'

@InputType({ description: 'A tax identifier, passed to the billing provider and not kept.' })
export class TaxExempt {
  @Field(() => String)
  type!: string

  @Field(() => String)
  value!: string
}

@InputType({ description: 'A postal address, passed to the billing provider and not kept.' })
export class Address {
  @Field(() => String, { nullable: true })
  addressLine1?: string | null

  @Field(() => String, { nullable: true })
  addressLine2?: string | null

  @Field(() => String, { nullable: true })
  city?: string | null

  @Field(() => String, { nullable: true, description: 'ISO 3166-1 alpha-2.' })
  country?: string | null

  @Field(() => String, { nullable: true })
  phoneNumber?: string | null

  @Field(() => String, { nullable: true })
  postalCode?: string | null

  @Field(() => String, { nullable: true })
  state?: string | null
}

@InputType({
  description:
    'Facts for invoices. Currency and time zone are kept: absent leaves them, null clears them. The rest is passed to the billing provider, when the environment has one, and never kept: send it whole.',
})
export class CustomerBillingInfo {
  @Field(() => Address, { nullable: true })
  billingAddress?: Address | null

  @Field(() => enums.Currency, { nullable: true })
  currency?: string | null

  @Field(() => String, { nullable: true, description: 'The name on invoices.' })
  customerName?: string | null

  @Field(() => String, {
    nullable: true,
    description: 'Which integration with a billing provider: passed on with the rest. The builtin one is the only one.',
  })
  integrationId?: string | null

  @Field(() => Json, { nullable: true })
  invoiceCustomFields?: unknown

  @Field(() => String, { nullable: true, description: 'The language of invoices: a tag of BCP 47, such as de.' })
  language?: string | null

  @Field(() => Json, { nullable: true })
  metadata?: unknown

  @Field(() => String, { nullable: true, description: 'Of the billing provider.' })
  paymentMethodId?: string | null

  @Field(() => Address, { nullable: true })
  shippingAddress?: Address | null

  @Field(() => [TaxExempt], { nullable: true })
  taxIds?: TaxExempt[] | null

  @Field(() => String, {
    nullable: true,
    description: 'IANA name, such as Europe/Berlin: days and months of usage and billing periods follow it. Default UTC.',
  })
  timezone?: string | null
}
