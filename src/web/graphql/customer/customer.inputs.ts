import { Field, InputType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import { invalidInput, Problem } from '../../../kernel/problem.js'
import type { ImportCustomer } from '../../../provisioning/customers.js'
import { fromCountry } from '../catalog/country-code.js'
import { fromMetaData, sameValue } from '../schema/input-fields.js'
import { DateTime, Json } from '../schema/scalars.js'
import { type Address, CustomerBillingInfo } from './billing-information.inputs.js'

/** How an input names its customer. Not a type of the schema. */
@InputType()
class NamedCustomer {
  @Field(() => String, { nullable: true, description: 'Your identifier of the customer, 1 to 255 characters.' })
  customerId?: string | null

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { nullable: true, description: 'The older name of customerId; when both are sent they must be the same.' })
  refId?: string | null
}

/** What every way to write a customer may set. Not a type of the schema. */
@InputType()
class CustomerFacts extends NamedCustomer {
  @Field(() => Json, {
    nullable: true,
    description:
      'An object of your own facts. A key that is sent replaces its value, a key sent as null goes, the others stay; null clears all.',
  })
  additionalMetaData?: unknown

  @Field(() => String, { nullable: true, description: 'Identifier at the billing provider.' })
  billingId?: string | null

  @Field(() => String, { nullable: true, description: 'The billing email.' })
  email?: string | null

  @Field(() => String, { nullable: true })
  name?: string | null

  @Field(() => String, { nullable: true })
  salesforceId?: string | null
}

/** Not a type of the schema. */
@InputType()
class CustomerChangeFacts extends CustomerFacts {
  @Field(() => String, { nullable: true })
  awsMarketplaceCustomerId?: string | null

  @Field(() => CustomerBillingInfo, { nullable: true })
  billingInformation?: CustomerBillingInfo | null

  @Field(() => String, {
    nullable: true,
    description: 'A coupon of the catalog for everything that the customer pays; null takes it away.',
  })
  couponRefId?: string | null

  @Field(() => String, { nullable: true, description: 'Identifier in the CRM.' })
  crmId?: string | null
}

@InputType({ description: 'A new customer, without a subscription. Without customerId, one is made.' })
export class CustomerInput extends CustomerChangeFacts {
  @Field(() => DateTime, { nullable: true, description: 'When the host application created the customer; default now.' })
  createdAt?: EpochMs | null

  @Field(() => Boolean, { nullable: true, description: 'Whether the billing provider is told of a customer that pays nothing.' })
  shouldSyncFree?: boolean | null
}

@InputType({ description: 'What changes of a customer. What is absent stays as it is, null clears it.' })
export class UpdateCustomerInput extends CustomerChangeFacts {
  @Field(() => Boolean, { nullable: true, description: 'Whether the answer waits for the billing provider; it always does.' })
  shouldWaitSync?: boolean | null
}

@InputType({
  description: 'A customer as it comes from elsewhere: made, without a subscription, or changed. Without customerId, one is made.',
})
export class ImportCustomerInput extends CustomerFacts {
  @Field(() => String, {
    nullable: true,
    description: 'What is charged of the customer from now on: the billing provider’s reference. Not with importCustomersBulk.',
  })
  paymentMethodId?: string | null

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the customer last changed where it comes from: an import that is older than the last one changes nothing.',
  })
  updatedAt?: EpochMs | null
}

@InputType({ description: 'Customers to import, in the background, each on its own; records of one customer in this order.' })
export class ImportCustomerBulkInput {
  @Field(() => [ImportCustomerInput], { description: 'At most 1,000.' })
  customers!: ImportCustomerInput[]

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, {
    nullable: true,
    description: 'Where the customers come from. There is one billing provider, so any value is fine.',
  })
  integrationId?: string | null
}

@InputType({ description: 'Which customer.' })
export class ArchiveCustomerInput {
  @Field(() => String)
  customerId!: string

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null
}

@InputType({ description: 'Which customer.' })
export class UnarchiveCustomerInput extends ArchiveCustomerInput {}

@InputType({ description: 'Which customer.' })
export class GetCustomerByRefIdInput extends ArchiveCustomerInput {}

function fromFacts({ additionalMetaData, billingId, email, name, salesforceId }: CustomerFacts) {
  return { additionalMetaData: fromMetaData(additionalMetaData), billingId, email, name, salesforceId }
}

/** Of the billing information only time zone and currency are kept; the billing provider is told all of it. */
function fromChangeFacts(input: CustomerChangeFacts) {
  const { awsMarketplaceCustomerId, billingInformation, couponRefId, crmId } = input
  return {
    ...fromFacts(input),
    awsMarketplaceCustomerId,
    couponRefId,
    crmId,
    timeZone: billingInformation?.timezone,
    billingCurrency: billingInformation?.currency,
    billingInformation: billingInformation && fromBillingInformation(billingInformation),
  }
}

function fromBillingInformation({ billingAddress, shippingAddress, language, ...info }: CustomerBillingInfo) {
  return {
    ...info,
    ...(language && { language: fromLanguage(language) }),
    ...(billingAddress && { billingAddress: fromAddress(billingAddress, 'billingAddress') }),
    ...(shippingAddress && { shippingAddress: fromAddress(shippingAddress, 'shippingAddress') }),
  }
}

const fromAddress = ({ country, ...address }: Address, name: string) => ({
  ...address,
  country: fromCountry(country, `billingInformation.${name}.country`),
})

function fromLanguage(language: string): string {
  try {
    return Intl.getCanonicalLocales(language)[0]!
  } catch {
    throw invalidInput(`"${language}" is not a language: send a tag of BCP 47, such as de or pt-BR.`, {
      path: 'billingInformation.language',
    })
  }
}

export function fromCustomerInput({ createdAt, ...input }: CustomerInput) {
  return { ...fromChangeFacts(input), refId: idOf(input), createdAt }
}

/** @throws Problem BAD_USER_INPUT when no customer is named */
export function fromUpdateCustomerInput(input: UpdateCustomerInput) {
  const refId = idOf(input)
  if (refId === null) throw invalidInput('customerId is required: which customer is to be changed?', { path: 'customerId' })
  return { refId, change: fromChangeFacts(input) }
}

export function fromImportCustomerInput({
  updatedAt,
  paymentMethodId,
  ...input
}: ImportCustomerInput): ImportCustomer & { paymentMethodId?: string | null } {
  return { ...fromFacts(input), refId: idOf(input), updatedAt, paymentMethodId }
}

/** The first one that can be refused by reading it refuses them all: nothing was accepted yet. */
export function fromImportCustomerBulkInput({ customers }: ImportCustomerBulkInput): ImportCustomer[] {
  return customers.map((customer, index) => {
    try {
      const { paymentMethodId, ...record } = fromImportCustomerInput(customer)
      // What waits to be imported is in a table, where nothing of the provider's is kept.
      if (paymentMethodId) throw invalidInput('send paymentMethodId with importOneCustomer or updateOneCustomer, not in bulk.')
      return record
    } catch (error) {
      throw error instanceof Problem ? invalidInput(`customers[${index}]: ${error.message}`, { path: `customers[${index}]` }) : error
    }
  })
}

const idOf = ({ customerId, refId }: NamedCustomer): string | null => sameValue({ customerId, refId })
