import { Field, Float, ObjectType } from 'type-graphql'
import type * as domain from '../../../customer/model/customer.js'
import type { EpochMs } from '../../../kernel/clock.js'
import { AlwaysNull, ExperimentInfo } from '../schema/always-null.js'
import * as enums from '../schema/enums.js'
import { DateTime, Json } from '../schema/scalars.js'

@ObjectType({ description: 'Whom the host application provisions.' })
export class Customer {
  /** Ours; not in the schema. */
  couponId!: string | null

  @Field(() => Json, { nullable: true, simple: true })
  additionalMetaData!: Record<string, unknown> | null

  @Field(() => String, { nullable: true, simple: true })
  awsMarketplaceCustomerId!: string | null

  @Field(() => enums.Currency, { nullable: true, simple: true })
  billingCurrency!: string | null

  @Field(() => String, { nullable: true, simple: true })
  billingId!: string | null

  @AlwaysNull(() => String)
  billingLinkUrl?: null

  @Field(() => DateTime, { nullable: true, simple: true })
  createdAt!: EpochMs | null

  @AlwaysNull(() => String)
  crmHubspotCompanyId?: null

  @AlwaysNull(() => String)
  crmHubspotCompanyUrl?: null

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

  @AlwaysNull(() => Boolean)
  excludeFromExperiment?: null

  @AlwaysNull(() => ExperimentInfo)
  experimentInfo?: null

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

@ObjectType({ simpleResolvers: true, description: 'How many subscriptions are in force, by what they cost.' })
export class SubscriptionPricingTypeStatistics {
  @Field(() => enums.PricingType)
  pricingType!: keyof typeof enums.PricingType

  @Field(() => Float)
  totalCount!: number
}

@ObjectType({ simpleResolvers: true, description: 'Numbers about a customer.' })
export class CustomerStatistics {
  @Field(() => [SubscriptionPricingTypeStatistics], { nullable: true, description: 'Those that occur.' })
  activeSubscriptionsByPricingType!: SubscriptionPricingTypeStatistics[] | null
}

@ObjectType({ simpleResolvers: true, description: 'Whether a customer would get a trial of a product: once, and not after it paid.' })
export class EligibleForTrial {
  @Field(() => Boolean)
  eligible!: boolean

  @Field(() => String, { nullable: true, description: 'Our identifier.' })
  productId!: string | null

  @Field(() => String, { nullable: true, description: 'The identifier that the catalog gave it.' })
  productRefId!: string | null
}

@ObjectType({ simpleResolvers: true, description: 'A plan that a customer has had a trial of.' })
export class TrialedPlan {
  @Field(() => String, { nullable: true, description: 'Our identifier.' })
  planId!: string | null

  @Field(() => String, { nullable: true, description: 'The identifier that the catalog gave it.' })
  planRefId!: string | null

  @Field(() => String, { nullable: true, description: 'Our identifier.' })
  productId!: string | null

  @Field(() => String, { nullable: true, description: 'The identifier that the catalog gave it.' })
  productRefId!: string | null
}

/** Without what is loaded only when it is asked for; `CustomerResolver` answers that. */
export function toCustomer({ archivedAt, timeZone: _, ...customer }: domain.Customer): Customer {
  return { ...customer, customerId: customer.refId, deletedAt: archivedAt }
}
