import { Field, Float, Int, ObjectType } from 'type-graphql'
import type * as catalog from '../../../catalog/model/package.js'
import type { ProductFacts } from '../../../catalog/model/product.js'
import { AlwaysNull } from '../schema/always-null.js'
import * as enums from '../schema/enums.js'
import { Json } from '../schema/scalars.js'
import {
  PackageEntitlement,
  PackageEntitlementUnion,
  type PackageFeatureEntitlement,
  toPackageEntitlement,
  toPackageFeatureEntitlement,
} from './package-entitlement.types.js'
import { Price, toPrice } from './price.types.js'

@ObjectType({ simpleResolvers: true, description: 'How many of a group must be chosen.' })
export class PlanCompatiblePackageGroupOptions {
  @Field(() => Float, { nullable: true })
  freeItems!: number | null

  @Field(() => Float, { nullable: true })
  minItems!: number | null
}

@ObjectType({ simpleResolvers: true, description: 'What usage-based charges may come to in a trial.' })
export class BudgetConfiguration {
  @Field(() => Float)
  limit!: number
}

@ObjectType({ simpleResolvers: true, description: 'The trial that subscriptions to a plan start with.' })
export class DefaultTrialConfig {
  @AlwaysNull(() => BudgetConfiguration)
  budget?: null

  @Field(() => Float)
  duration!: number

  @Field(() => enums.TrialEndBehavior, { nullable: true, description: 'What the end of the trial does.' })
  trialEndBehavior!: keyof typeof enums.TrialEndBehavior | null

  @Field(() => enums.TrialPeriodUnits)
  units!: keyof typeof enums.TrialPeriodUnits
}

/** What plans and add-ons have in common. Not a type of the schema. */
@ObjectType({ simpleResolvers: true })
export class Package {
  /** What it was made of, for the fields that resolvers answer. Not in the schema. */
  source!: catalog.PackageVersion

  @Field(() => Json, { nullable: true })
  additionalMetaData!: unknown

  @AlwaysNull(() => String)
  billingId?: null

  @AlwaysNull(() => String)
  billingLinkUrl?: null

  @Field(() => String, { nullable: true })
  description!: string | null

  @Field(() => String)
  displayName!: string

  @Field(() => [PackageEntitlement], { nullable: true, description: 'Its own, without those of the base plan.' })
  entitlements!: () => PackageEntitlement[]

  @Field(() => String)
  environmentId!: string

  @AlwaysNull(() => [enums.WidgetType])
  hiddenFromWidgets?: null

  @Field(() => String, { description: 'Our identifier.' })
  id!: string

  @AlwaysNull(() => enums.OverageBillingPeriod)
  overageBillingPeriod?: null

  @AlwaysNull(() => [Price])
  overagePrices?: null

  @Field(() => [PackageEntitlementUnion], { nullable: true, description: 'The same as entitlements.' })
  packageEntitlements!: () => PackageFeatureEntitlement[]

  @Field(() => [Price], { nullable: true })
  prices!: () => Price[]

  @Field(() => enums.PricingType, { nullable: true })
  pricingType!: keyof typeof enums.PricingType | null

  @Field(() => String, { nullable: true, description: 'Our identifier of the product.' })
  productId!: string | null

  @Field(() => String, { description: 'The identifier that the catalog gave it.' })
  refId!: string

  @Field(() => String, { description: 'Plan or Addon.' })
  type!: string

  @Field(() => Int, { description: 'From 1, growing with each publication.' })
  versionNumber!: number
}

@ObjectType({
  simpleResolvers: true,
  description: 'A published version of a plan. It never changes; a subscription keeps the one it started with.',
})
export class Plan extends Package {
  @AlwaysNull(() => String)
  awsMarketplacePlanDimension?: null

  @AlwaysNull(() => [PlanCompatiblePackageGroups])
  compatiblePackageGroups?: null

  @Field(() => DefaultTrialConfig, { nullable: true })
  defaultTrialConfig!: DefaultTrialConfig | null
}

@ObjectType({ simpleResolvers: true, description: 'A published version of an add-on.' })
export class Addon extends Package {
  @Field(() => Float, { nullable: true, description: 'How many of it one subscription may hold.' })
  maxQuantity!: number | null
}

@ObjectType({ simpleResolvers: true, description: 'What happens by itself to subscriptions of a product.' })
export class ProductSettings {
  @Field(() => Plan, { nullable: true, description: 'The plan that follows when a subscription ends; null: none does.' })
  downgradePlan!: Plan | null
}

@ObjectType({ simpleResolvers: true, description: 'What plans and add-ons belong to.' })
export class Product {
  /** Our id of the plan, for the fields that `ProductResolver` answers. Not in the schema. */
  downgradePlanId!: string | null

  @Field(() => Json, { nullable: true })
  additionalMetaData!: unknown

  @AlwaysNull(() => String)
  awsMarketplaceProductId?: null

  @Field(() => String, { nullable: true })
  description!: string | null

  @Field(() => String, { nullable: true })
  displayName!: string | null

  @Field(() => String, { description: 'The identifier that the catalog gave it.' })
  refId!: string
}

@ObjectType({ simpleResolvers: true, description: 'Add-ons of which some must be chosen. Tollgate has no such groups.' })
export class PlanCompatiblePackageGroups {
  @Field(() => [Addon], { nullable: true })
  addons!: Addon[] | null

  @Field(() => String)
  displayName!: string

  @Field(() => PlanCompatiblePackageGroupOptions)
  options!: PlanCompatiblePackageGroupOptions

  @Field(() => String)
  packageGroupId!: string
}

/** Made when the field is resolved, which graphql-js calls it for: there may be thousands, of a hundred plans. */
function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

function toPackage(environmentId: string, version: catalog.PackageVersion): Package {
  const { id, additionalMetaData, description, displayName, pricingType, productId, refId, versionNumber } = version
  return {
    source: version,
    id,
    refId,
    environmentId,
    additionalMetaData,
    description,
    displayName,
    entitlements: once(() => version.entitlements.map((entitlement) => toPackageEntitlement(id, entitlement))),
    packageEntitlements: once(() => version.entitlements.map((entitlement) => toPackageFeatureEntitlement(id, entitlement))),
    prices: once(() => version.prices.map((price) => toPrice(environmentId, id, price))),
    pricingType,
    productId,
    type: version.kind === 'PLAN' ? 'Plan' : 'Addon',
    versionNumber,
  }
}

export function toPlan(environmentId: string, version: catalog.PackageVersion): Plan {
  const { trial } = version
  return {
    ...toPackage(environmentId, version),
    defaultTrialConfig: trial && { duration: trial.duration, units: trial.units, trialEndBehavior: trial.endBehavior },
  }
}

export function toAddon(environmentId: string, version: catalog.PackageVersion): Addon {
  return { ...toPackage(environmentId, version), maxQuantity: version.maxQuantity }
}

export function toProduct({ refId, displayName, description, additionalMetaData, downgradePlanId }: ProductFacts): Product {
  return { refId, displayName, description, additionalMetaData, downgradePlanId }
}
