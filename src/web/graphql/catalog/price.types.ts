import { Field, Float, ObjectType } from 'type-graphql'
import type * as catalog from '../../../catalog/model/package.js'
import * as decimal from '../../../kernel/decimal.js'
import { AlwaysNull } from '../schema/always-null.js'
import * as enums from '../schema/enums.js'

@ObjectType({ simpleResolvers: true, description: 'An amount in whole units of a currency: 12.5, not 1250.' })
export class Money {
  @Field(() => Float)
  amount!: number

  @Field(() => enums.Currency)
  currency!: keyof typeof enums.Currency
}

@ObjectType({ simpleResolvers: true, description: 'A step of a tiered price.' })
export class PriceTier {
  @Field(() => Money, { nullable: true, description: 'Charged once, when the tier is reached.' })
  flatPrice!: Money | null

  @Field(() => Money, { nullable: true })
  unitPrice!: Money | null

  @Field(() => Float, { nullable: true, description: 'The last quantity of the tier, included; null in the last tier.' })
  upTo!: number | null
}

@ObjectType({ simpleResolvers: true, description: 'What units are called.' })
export class Units {
  @Field(() => String, { nullable: true })
  plural!: string | null

  @Field(() => String, { nullable: true })
  singular!: string | null
}

@ObjectType({ simpleResolvers: true, description: 'A currency of credits. There are no credits in Tollgate.' })
export class CustomCurrency {
  @Field(() => String)
  currencyId!: string

  @Field(() => String)
  displayName!: string

  @Field(() => String, { nullable: true })
  symbol!: string | null

  @Field(() => Units, { nullable: true })
  units!: Units | null
}

@ObjectType({ simpleResolvers: true, description: 'What a unit costs in credits. There are no credits in Tollgate.' })
export class CreditRate {
  @Field(() => Float)
  amount!: number

  @Field(() => String)
  currencyId!: string

  @Field(() => String, { nullable: true })
  customCurrencyId!: string | null
}

@ObjectType({ simpleResolvers: true, description: 'What a plan or add-on costs in one billing period, currency and country.' })
export class Price {
  /** Of the version that it belongs to, for the fields that `PriceResolver` answers. Not in the schema. */
  versionId!: string
  featureRefId!: string | null

  @Field(() => enums.BillingCadence)
  billingCadence!: keyof typeof enums.BillingCadence

  @Field(() => String, { nullable: true, description: 'ISO 3166-1 alpha-2; null: every country without a price of its own.' })
  billingCountryCode!: string | null

  @AlwaysNull(() => String)
  billingId?: null

  @Field(() => enums.BillingModel)
  billingModel!: keyof typeof enums.BillingModel

  @Field(() => enums.BillingPeriod)
  billingPeriod!: keyof typeof enums.BillingPeriod

  @Field(() => Float, { nullable: true, description: 'Units are sold in blocks of this size.' })
  blockSize!: number | null

  @AlwaysNull(() => enums.CreditGrantCadence)
  creditGrantCadence?: null

  @AlwaysNull(() => CreditRate)
  creditRate?: null

  @AlwaysNull(() => String)
  crmId?: null

  @AlwaysNull(() => String)
  crmLinkUrl?: null

  @AlwaysNull(() => CustomCurrency)
  customCurrency?: null

  @Field(() => String, { nullable: true })
  environmentId!: string | null

  @Field(() => String, { nullable: true, description: 'Our identifier of the feature.' })
  featureId!: string | null

  @Field(() => String, { description: 'Our identifier.' })
  id!: string

  @Field(() => Boolean, { description: 'Whether the price was agreed for one subscription only.' })
  isOverridePrice!: boolean

  @Field(() => Float, { nullable: true })
  maxUnitQuantity!: number | null

  @Field(() => Float, { nullable: true })
  minUnitQuantity!: number | null

  @Field(() => String, { nullable: true, description: 'The version of the plan or add-on that it belongs to.' })
  packageId!: string | null

  @Field(() => Money, { nullable: true, description: 'Per period, unit or block; with tiers, what the first one says.' })
  price!: Money | null

  @AlwaysNull(() => enums.EntitlementResetPeriod)
  resetPeriod?: null

  @Field(() => [PriceTier], { nullable: true })
  tiers!: PriceTier[] | null

  @Field(() => enums.TiersMode, { nullable: true })
  tiersMode!: keyof typeof enums.TiersMode | null

  @AlwaysNull(() => String)
  topUpCustomCurrencyId?: null
}

/** Null stays null. */
export const toNumber = (value: decimal.Decimal | null): number | null => (value === null ? null : decimal.toNumber(value))

/** Older clients read the amount of a price without asking whether it has tiers. */
function firstTierAmount({ tiers }: catalog.Price): decimal.Decimal | null {
  const first = tiers?.[0]
  return first ? (first.unitPrice ?? first.flatPrice) : null
}

export function toPrice(environmentId: string, versionId: string, price: catalog.Price): Price {
  const {
    id,
    billingCountryCode,
    billingModel,
    billingPeriod,
    blockSize,
    currency,
    featureId,
    maxUnitQuantity,
    minUnitQuantity,
    tiersMode,
  } = price
  const money = (amount: decimal.Decimal | null) => (amount === null ? null : { amount: decimal.toNumber(amount), currency })
  return {
    id,
    versionId,
    environmentId,
    packageId: versionId,
    billingCadence: 'RECURRING',
    billingCountryCode,
    billingModel,
    billingPeriod,
    blockSize,
    featureId,
    featureRefId: price.featureRefId,
    isOverridePrice: false,
    maxUnitQuantity,
    minUnitQuantity,
    price: money(price.amount ?? firstTierAmount(price)),
    tiers:
      price.tiers?.map((tier) => ({ flatPrice: money(tier.flatPrice), unitPrice: money(tier.unitPrice), upTo: toNumber(tier.upTo) })) ??
      null,
    tiersMode,
  }
}
