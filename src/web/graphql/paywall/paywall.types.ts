import { Field, Float, ObjectType } from 'type-graphql'
import { Feature } from '../catalog/feature.types.js'
import { Plan } from '../catalog/package.types.js'
import { Customer } from '../customer/customer.types.js'
import { AlwaysNull } from '../schema/always-null.js'
import * as enums from '../schema/enums.js'
import { CustomerResource, CustomerSubscription } from '../subscription/subscription.types.js'

@ObjectType({ simpleResolvers: true, description: 'A size and weight of letters.' })
export class FontVariant {
  @Field(() => Float, { nullable: true })
  fontSize!: number | null

  @Field(() => enums.FontWeight, { nullable: true })
  fontWeight!: keyof typeof enums.FontWeight | null
}

@ObjectType({ simpleResolvers: true, description: 'Letters of a paywall widget.' })
export class TypographyConfiguration {
  @Field(() => FontVariant, { nullable: true })
  body!: FontVariant | null

  @Field(() => String, { nullable: true })
  fontFamily!: string | null

  @Field(() => FontVariant, { nullable: true })
  h1!: FontVariant | null

  @Field(() => FontVariant, { nullable: true })
  h2!: FontVariant | null

  @Field(() => FontVariant, { nullable: true })
  h3!: FontVariant | null
}

@ObjectType({ simpleResolvers: true, description: 'Sizes of a paywall widget.' })
export class PaywallLayoutConfiguration {
  @Field(() => enums.Alignment, { nullable: true })
  alignment!: keyof typeof enums.Alignment | null

  @Field(() => Float, { nullable: true })
  planMargin!: number | null

  @Field(() => Float, { nullable: true })
  planPadding!: number | null

  @Field(() => Float, { nullable: true })
  planWidth!: number | null
}

@ObjectType({ simpleResolvers: true, description: 'Colors of a paywall widget.' })
export class PaywallColorsPalette {
  @Field(() => String, { nullable: true })
  backgroundColor!: string | null

  @Field(() => String, { nullable: true })
  borderColor!: string | null

  @Field(() => String, { nullable: true })
  currentPlanBackground!: string | null

  @Field(() => String, { nullable: true })
  primary!: string | null

  @Field(() => String, { nullable: true })
  textColor!: string | null
}

@ObjectType({ simpleResolvers: true, description: 'How a paywall widget looks. Tollgate keeps no such settings.' })
export class PaywallConfiguration {
  @Field(() => String, { nullable: true })
  customCss!: string | null

  @Field(() => PaywallLayoutConfiguration, { nullable: true })
  layout!: PaywallLayoutConfiguration | null

  @Field(() => PaywallColorsPalette, { nullable: true })
  palette!: PaywallColorsPalette | null

  @Field(() => TypographyConfiguration, { nullable: true })
  typography!: TypographyConfiguration | null
}

@ObjectType({ simpleResolvers: true, description: 'The currency that prices are shown in.' })
export class PaywallCurrency {
  @Field(() => enums.Currency, { description: 'ISO 4217.' })
  code!: keyof typeof enums.Currency

  @Field(() => String)
  symbol!: string
}

@ObjectType({ simpleResolvers: true, description: 'What a plan costs at least, per month, in one billing period.' })
export class PaywallPricePoint {
  @Field(() => Boolean, { nullable: true, description: 'Whether usage or further units cost more.' })
  additionalChargesMayApply!: boolean | null

  @Field(() => Float, { description: 'Per month, with the fewest units that can be bought.' })
  amount!: number

  @Field(() => String, { nullable: true, description: 'The country that it is quoted for; null: any.' })
  billingCountryCode!: string | null

  @Field(() => enums.BillingPeriod)
  billingPeriod!: keyof typeof enums.BillingPeriod

  @Field(() => enums.Currency)
  currency!: keyof typeof enums.Currency

  @Field(() => Feature, { nullable: true, description: 'Of a price per unit: what is counted.' })
  feature!: Feature | null

  @Field(() => String, { description: 'The identifier that the catalog gave the plan.' })
  planId!: string
}

@ObjectType({ simpleResolvers: true, description: 'What a customer, or anybody, can be offered.' })
export class Paywall {
  @Field(() => [CustomerSubscription], { nullable: true, description: 'Of the customer or resource: those that give access now.' })
  activeSubscriptions!: CustomerSubscription[] | null

  @AlwaysNull(() => PaywallConfiguration)
  configuration?: null

  @Field(() => PaywallCurrency)
  currency!: PaywallCurrency

  @Field(() => Customer, { nullable: true })
  customer!: Customer | null

  @Field(() => [PaywallPricePoint], { nullable: true, description: 'Of each plan, for each billing period.' })
  paywallCalculatedPricePoints!: PaywallPricePoint[] | null

  @Field(() => [Plan], { nullable: true, description: 'Those that are sold now, the cheapest first.' })
  plans!: Plan[] | null

  @Field(() => CustomerResource, { nullable: true })
  resource!: CustomerResource | null
}
