import { Field, Float, ObjectType } from 'type-graphql'
import type * as domain from '../../customer/model.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as enums from './enums.js'
import { DateTime, Json } from './scalars.js'

@ObjectType({ description: 'Whom the host application provisions.' })
export class Customer {
  @Field(() => Json, { nullable: true, simple: true })
  additionalMetaData!: Record<string, unknown> | null

  @Field(() => String, { nullable: true, simple: true })
  awsMarketplaceCustomerId!: string | null

  @Field(() => enums.Currency, { nullable: true, simple: true })
  billingCurrency!: string | null

  @Field(() => String, { nullable: true, simple: true })
  billingId!: string | null

  @Field(() => DateTime, { nullable: true, simple: true })
  createdAt!: EpochMs | null

  @Field(() => String, { nullable: true, simple: true })
  crmId!: string | null

  @Field(() => String, { simple: true, description: 'The identifier that the host application gave.' })
  customerId!: string

  @Field(() => DateTime, { nullable: true, simple: true, description: 'When the customer was archived.' })
  deletedAt!: EpochMs | null

  @Field(() => String, { nullable: true, simple: true })
  email!: string | null

  @Field(() => String, { simple: true })
  environmentId!: string

  @Field(() => Boolean, { simple: true, description: 'Whether the billing provider has one that can be charged.' })
  hasPaymentMethod!: boolean

  @Field(() => String, { simple: true, description: 'Our identifier.' })
  id!: string

  @Field(() => String, { nullable: true, simple: true })
  name!: string | null

  @Field(() => String, { simple: true, description: 'The older name of customerId.' })
  refId!: string

  @Field(() => String, { nullable: true, simple: true })
  salesforceId!: string | null

  @Field(() => DateTime, { simple: true })
  updatedAt!: EpochMs
}

/** Counted from the subscriptions when they are asked for; `CustomerResolver` answers them. */
export const subscriptionCounts = {
  hasActiveResource: { type: () => Boolean, description: 'Whether a resource of the customer has a subscription in force.' },
  hasActiveSubscription: { type: () => Boolean, description: 'Whether the customer or a resource has a subscription in force.' },
  totalActiveSubscription: { type: () => Float, description: 'How many subscriptions of the customer and its resources are in force.' },
} as const

export function toCustomer({ archivedAt, timeZone: _, ...customer }: domain.Customer): Customer {
  // There is no provider yet that could hold a payment method.
  return { ...customer, customerId: customer.refId, deletedAt: archivedAt, hasPaymentMethod: false }
}
