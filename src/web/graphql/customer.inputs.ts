import { Field, InputType } from 'type-graphql'
import type { ProvisionCustomer } from '../../customer/service.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as enums from './enums.js'
import { fromMetaData, sameId } from './input-fields.js'
import { DateTime, Json } from './scalars.js'
import { fromSubscriptionParams, ProvisionCustomerSubscriptionInput } from './subscription.inputs.js'

@InputType({ description: 'A postal address, passed to the billing provider and not kept.' })
export class Address {
  @Field(() => String, { nullable: true })
  addressLine1?: string | null

  @Field(() => String, { nullable: true })
  addressLine2?: string | null

  @Field(() => String, { nullable: true })
  city?: string | null

  @Field(() => String, { nullable: true, description: 'ISO 3166-1.' })
  country?: string | null

  @Field(() => String, { nullable: true })
  phoneNumber?: string | null

  @Field(() => String, { nullable: true })
  postalCode?: string | null

  @Field(() => String, { nullable: true })
  state?: string | null
}

@InputType({ description: 'A tax identifier, passed to the billing provider and not kept.' })
export class TaxExempt {
  @Field(() => String)
  type!: string

  @Field(() => String)
  value!: string
}

@InputType({
  description:
    'Facts for invoices. Currency and time zone are kept; the rest is passed to the billing provider, when the environment has one, and never kept.',
})
export class CustomerBillingInfo {
  @Field(() => Address, { nullable: true })
  billingAddress?: Address | null

  @Field(() => enums.Currency, { nullable: true })
  currency?: string | null

  @Field(() => String, { nullable: true, description: 'The name on invoices.' })
  customerName?: string | null

  @Field(() => Json, { nullable: true })
  invoiceCustomFields?: unknown

  @Field(() => String, { nullable: true, description: 'The language of invoices.' })
  language?: string | null

  @Field(() => Json, { nullable: true })
  metadata?: unknown

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

@InputType({ description: 'A customer, and optionally the subscription it starts with. What is absent stays as it is, null clears it.' })
export class ProvisionCustomerInput {
  @Field(() => Json, { nullable: true, description: 'An object of your own facts.' })
  additionalMetaData?: unknown

  @Field(() => String, { nullable: true })
  awsMarketplaceCustomerId?: string | null

  @Field(() => String, { nullable: true, description: 'Identifier at the billing provider.' })
  billingId?: string | null

  @Field(() => CustomerBillingInfo, { nullable: true })
  billingInformation?: CustomerBillingInfo | null

  @Field(() => DateTime, { nullable: true, description: 'When the host application created the customer; default now.' })
  createdAt?: EpochMs | null

  @Field(() => String, { nullable: true, description: 'Identifier in the CRM.' })
  crmId?: string | null

  @Field(() => String, { nullable: true, description: 'Your identifier of the customer, 1 to 255 characters; absent: one is made.' })
  customerId?: string | null

  @Field(() => String, { nullable: true })
  email?: string | null

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { nullable: true })
  name?: string | null

  @Field(() => String, { nullable: true, description: 'The older name of customerId; when both are sent they must be the same.' })
  refId?: string | null

  @Field(() => String, { nullable: true })
  salesforceId?: string | null

  @Field(() => ProvisionCustomerSubscriptionInput, {
    nullable: true,
    description: 'Absent: the product’s settings decide what a new customer starts with.',
  })
  subscriptionParams?: ProvisionCustomerSubscriptionInput | null
}

export function fromProvisionCustomerInput(input: ProvisionCustomerInput): ProvisionCustomer {
  const { customerId, refId, environmentId: _, billingInformation, subscriptionParams, additionalMetaData, ...fields } = input
  return {
    ...fields,
    refId: sameId({ customerId, refId }),
    timeZone: billingInformation?.timezone ?? undefined,
    billingCurrency: billingInformation?.currency ?? undefined,
    additionalMetaData: fromMetaData(additionalMetaData),
    subscription: subscriptionParams ? fromSubscriptionParams(subscriptionParams) : null,
  }
}

@InputType({ description: 'Which customer.' })
export class GetCustomerByRefIdInput {
  @Field(() => String)
  customerId!: string

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null
}
