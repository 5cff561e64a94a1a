import { createUnionType, Field, Float, Int, ObjectType } from 'type-graphql'
import type * as catalog from '../../catalog/model.js'
import type { EntitledFeature } from '../../entitlement/state.js'
import * as decimal from '../../kernel/decimal.js'
import type { ResetPeriod, ResetRule } from '../../metering/usage-period.js'
import * as enums from './enums.js'
import { Json } from './scalars.js'

@ObjectType({ simpleResolvers: true, description: 'An amount in whole units of a currency: 12.5, not 1250.' })
export class Money {
  @Field(() => Float)
  amount!: number

  @Field(() => enums.Currency)
  currency!: string
}

@ObjectType({ simpleResolvers: true, description: 'Converts measured units to the coarser ones that are answered and limited.' })
export class UnitTransformation {
  @Field(() => Float)
  divide!: number

  @Field(() => enums.UnitTransformationRound)
  round!: string
}

@ObjectType({ simpleResolvers: true, description: 'A thing that customers may be entitled to.' })
export class Feature {
  @Field(() => String, { nullable: true })
  description!: string | null

  @Field(() => String)
  displayName!: string

  @Field(() => enums.FeatureType)
  featureType!: string

  @Field(() => String, { nullable: true, description: 'What one unit is called.' })
  featureUnits!: string | null

  @Field(() => String, { nullable: true })
  featureUnitsPlural!: string | null

  @Field(() => enums.MeterType, { nullable: true })
  meterType!: string | null

  @Field(() => String, { description: 'The identifier that the catalog gave it.' })
  refId!: string
}

export function toFeature({ refId, displayName, description, featureType, meterType, units, unitsPlural }: EntitledFeature): Feature {
  return { refId, displayName, description, featureType, meterType, featureUnits: units, featureUnitsPlural: unitsPlural }
}

@ObjectType({ simpleResolvers: true, description: 'What monthly usage periods begin at.' })
export class MonthlyResetPeriodConfig {
  @Field(() => enums.MonthlyAccordingTo, { nullable: true })
  monthlyAccordingTo!: string | null
}

@ObjectType({ simpleResolvers: true, description: 'What weekly usage periods begin at.' })
export class WeeklyResetPeriodConfig {
  @Field(() => enums.WeeklyAccordingTo, { nullable: true })
  weeklyAccordingTo!: string | null
}

@ObjectType({ simpleResolvers: true, description: 'What yearly usage periods begin at.' })
export class YearlyResetPeriodConfig {
  @Field(() => enums.YearlyAccordingTo, { nullable: true })
  yearlyAccordingTo!: string | null
}

type ResetConfiguration = MonthlyResetPeriodConfig | WeeklyResetPeriodConfig | YearlyResetPeriodConfig

export const ResetPeriodConfiguration = createUnionType({
  name: 'ResetPeriodConfiguration',
  description: 'What usage periods begin at. Hours and days have none.',
  types: () => [MonthlyResetPeriodConfig, WeeklyResetPeriodConfig, YearlyResetPeriodConfig] as const,
  resolveType: (value: ResetConfiguration) => {
    if ('monthlyAccordingTo' in value) return MonthlyResetPeriodConfig
    return 'weeklyAccordingTo' in value ? WeeklyResetPeriodConfig : YearlyResetPeriodConfig
  },
})

export function toResetPeriodConfiguration(period: ResetPeriod, rule: ResetRule): ResetConfiguration | null {
  if (period === 'MONTH') return { monthlyAccordingTo: rule }
  if (period === 'WEEK') return { weeklyAccordingTo: rule }
  return period === 'YEAR' ? { yearlyAccordingTo: rule } : null
}

@ObjectType({ simpleResolvers: true, description: 'What a plan or add-on entitles to.' })
export class PackageEntitlement {
  @Field(() => String, { nullable: true })
  displayNameOverride!: string | null

  @Field(() => [String], { nullable: true })
  enumValues!: string[] | null

  @Field(() => Feature)
  feature!: Feature

  @Field(() => Boolean, { nullable: true })
  hasSoftLimit!: boolean | null

  @Field(() => Boolean, { nullable: true })
  hasUnlimitedUsage!: boolean | null

  @Field(() => String, { description: 'The version of the plan or add-on that it belongs to.' })
  packageId!: string

  @Field(() => enums.EntitlementResetPeriod, { nullable: true })
  resetPeriod!: string | null

  @Field(() => Float, { nullable: true })
  usageLimit!: number | null
}

function toPackageEntitlement(packageId: string, entitlement: catalog.PackageEntitlement): PackageEntitlement {
  const { displayNameOverride, enumValues, feature, hasSoftLimit, hasUnlimitedUsage, resetPeriod, usageLimit } = entitlement
  return {
    displayNameOverride,
    enumValues: feature.featureType === 'ENUM' ? enumValues : null,
    feature: toFeature(feature),
    hasSoftLimit,
    hasUnlimitedUsage,
    packageId,
    resetPeriod,
    usageLimit: toNumber(usageLimit),
  }
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

@ObjectType({ simpleResolvers: true, description: 'What a plan or add-on costs in one billing period, currency and country.' })
export class Price {
  @Field(() => enums.BillingCadence)
  billingCadence!: string

  @Field(() => String, { nullable: true, description: 'ISO 3166-1 alpha-2; null: every country without a price of its own.' })
  billingCountryCode!: string | null

  @Field(() => enums.BillingModel)
  billingModel!: string

  @Field(() => enums.BillingPeriod)
  billingPeriod!: string

  @Field(() => Float, { nullable: true, description: 'Units are sold in blocks of this size.' })
  blockSize!: number | null

  @Field(() => String)
  id!: string

  @Field(() => Boolean, { description: 'Whether the price was agreed for one subscription only.' })
  isOverridePrice!: boolean

  @Field(() => Float, { nullable: true })
  maxUnitQuantity!: number | null

  @Field(() => Float, { nullable: true })
  minUnitQuantity!: number | null

  @Field(() => String, { nullable: true })
  packageId!: string | null

  @Field(() => Money, { nullable: true, description: 'Per period, unit or block; null when tiers carry the amounts.' })
  price!: Money | null

  @Field(() => [PriceTier], { nullable: true })
  tiers!: PriceTier[] | null

  @Field(() => enums.TiersMode, { nullable: true })
  tiersMode!: string | null
}

function toPrice(packageId: string, price: catalog.Price): Price {
  const { id, billingCountryCode, billingModel, billingPeriod, blockSize, currency, maxUnitQuantity, minUnitQuantity, tiersMode } = price
  const money = (amount: decimal.Decimal | null) => (amount === null ? null : { amount: decimal.toNumber(amount), currency })
  return {
    id,
    billingCadence: 'RECURRING',
    billingCountryCode,
    billingModel,
    billingPeriod,
    blockSize,
    isOverridePrice: false,
    maxUnitQuantity,
    minUnitQuantity,
    packageId,
    price: money(price.amount),
    tiers:
      price.tiers?.map((tier) => ({ flatPrice: money(tier.flatPrice), unitPrice: money(tier.unitPrice), upTo: toNumber(tier.upTo) })) ??
      null,
    tiersMode,
  }
}

@ObjectType({ simpleResolvers: true, description: 'What plans and add-ons belong to.' })
export class Product {
  @Field(() => String)
  refId!: string
}

@ObjectType({ simpleResolvers: true, description: 'The trial that subscriptions to a plan start with.' })
export class DefaultTrialConfig {
  @Field(() => Float)
  duration!: number

  @Field(() => enums.TrialEndBehavior, { nullable: true })
  trialEndBehavior!: string | null

  @Field(() => enums.TrialPeriodUnits)
  units!: string
}

/** What plans and add-ons have in common. Not a type of the schema. */
@ObjectType({ simpleResolvers: true })
class Package {
  @Field(() => Json, { nullable: true })
  additionalMetaData!: Record<string, unknown> | null

  @Field(() => String, { nullable: true })
  description!: string | null

  @Field(() => String)
  displayName!: string

  @Field(() => [PackageEntitlement], { nullable: true, description: 'Its own, without those of the base plan.' })
  entitlements!: PackageEntitlement[] | null

  @Field(() => String)
  environmentId!: string

  @Field(() => String)
  id!: string

  @Field(() => [Price], { nullable: true })
  prices!: Price[] | null

  @Field(() => enums.PricingType, { nullable: true })
  pricingType!: string | null

  @Field(() => String, { nullable: true })
  productId!: string | null

  @Field(() => String, { description: 'The identifier that the catalog gave it.' })
  refId!: string

  @Field(() => Int)
  versionNumber!: number
}

@ObjectType({
  simpleResolvers: true,
  description: 'A published version of a plan. It never changes; a subscription keeps the one it started with.',
})
export class Plan extends Package {
  @Field(() => DefaultTrialConfig, { nullable: true })
  defaultTrialConfig!: DefaultTrialConfig | null

  @Field(() => Product)
  product!: Product
}

@ObjectType({ simpleResolvers: true, description: 'A published version of an add-on.' })
export class Addon extends Package {
  @Field(() => Float, { nullable: true, description: 'How many of it one subscription may hold.' })
  maxQuantity!: number | null
}

function toPackage(environmentId: string, version: catalog.PackageVersion): Package {
  const { id, additionalMetaData, description, displayName, pricingType, productId, refId, versionNumber } = version
  return {
    id,
    refId,
    environmentId,
    additionalMetaData,
    description,
    displayName,
    entitlements: version.entitlements.map((entitlement) => toPackageEntitlement(id, entitlement)),
    prices: version.prices.map((price) => toPrice(id, price)),
    pricingType,
    productId,
    versionNumber,
  }
}

export function toPlan(environmentId: string, version: catalog.PackageVersion): Plan {
  const { trial } = version
  return {
    ...toPackage(environmentId, version),
    defaultTrialConfig: trial && { duration: trial.duration, units: trial.units, trialEndBehavior: trial.endBehavior },
    product: { refId: version.productRefId },
  }
}

export function toAddon(environmentId: string, version: catalog.PackageVersion): Addon {
  return { ...toPackage(environmentId, version), maxQuantity: version.maxQuantity }
}

/** Null stays null. */
export const toNumber = (value: decimal.Decimal | null): number | null => (value === null ? null : decimal.toNumber(value))

@ObjectType({ simpleResolvers: true, description: 'One field that applying a catalog document changes.' })
export class CatalogFieldChange {
  @Field(() => Json, { nullable: true, description: 'Null: there was nothing.' })
  from!: unknown

  @Field(() => String, { description: 'The place in the definition, such as entitlements["seats"].limit.' })
  path!: string

  @Field(() => Json, { nullable: true, description: 'Null: there is nothing any more.' })
  to!: unknown
}

@ObjectType({ simpleResolvers: true, description: 'What applying a catalog document does, or would do, to one item.' })
export class CatalogChange {
  @Field(() => enums.CatalogAction)
  action!: string

  @Field(() => [CatalogFieldChange], { description: 'What is different; empty for create and archive.' })
  fields!: CatalogFieldChange[]

  @Field(() => enums.CatalogKind)
  kind!: string

  @Field(() => String)
  refId!: string
}
