import { createUnionType, Field, Float, ObjectType } from 'type-graphql'
import type * as catalog from '../../../catalog/model/package.js'
import { AlwaysNull } from '../schema/always-null.js'
import * as enums from '../schema/enums.js'
import { Feature, toFeature } from './feature.types.js'
import { CustomCurrency, toNumber } from './price.types.js'

@ObjectType({ simpleResolvers: true, description: 'What a plan or add-on entitles to.' })
export class PackageEntitlement {
  @Field(() => String, { nullable: true })
  displayNameOverride!: string | null

  @Field(() => [String], { nullable: true, description: 'ENUM: the values held.' })
  enumValues!: string[] | null

  @Field(() => Feature)
  feature!: Feature

  @Field(() => String, { description: 'Our identifier of the feature.' })
  featureId!: string

  @Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' })
  hasSoftLimit!: boolean | null

  @Field(() => Boolean, { nullable: true })
  hasUnlimitedUsage!: boolean | null

  @AlwaysNull(() => [enums.WidgetType])
  hiddenFromWidgets?: null

  @Field(() => Boolean, { nullable: true, description: 'Whether the amount is agreed on with each customer; always false.' })
  isCustom!: boolean | null

  @Field(() => Boolean, { description: 'Always true: what a package does not entitle to is not in the list.' })
  isGranted!: boolean

  @Field(() => String, { description: 'The version of the plan or add-on that it belongs to.' })
  packageId!: string

  @Field(() => enums.EntitlementResetPeriod, { nullable: true })
  resetPeriod!: keyof typeof enums.EntitlementResetPeriod | null

  @Field(() => Float, { nullable: true })
  usageLimit!: number | null
}

@ObjectType({ simpleResolvers: true, description: 'What a plan or add-on entitles to.' })
export class PackageFeatureEntitlement {
  @Field(() => enums.EntitlementBehavior)
  behavior!: keyof typeof enums.EntitlementBehavior

  @AlwaysNull(() => String)
  description?: null

  @Field(() => String, { nullable: true })
  displayNameOverride!: string | null

  @Field(() => [String], { nullable: true, description: 'ENUM: the values held.' })
  enumValues!: string[] | null

  @Field(() => Feature)
  feature!: Feature

  @Field(() => String, { description: 'Our identifier of the feature.' })
  featureId!: string

  @Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' })
  hasSoftLimit!: boolean | null

  @Field(() => Boolean, { nullable: true })
  hasUnlimitedUsage!: boolean | null

  @AlwaysNull(() => [enums.WidgetType])
  hiddenFromWidgets?: null

  @Field(() => String, { description: 'Our identifier.' })
  id!: string

  @Field(() => Boolean, { nullable: true, description: 'Whether the amount is agreed on with each customer; always false.' })
  isCustom!: boolean | null

  @Field(() => Boolean, { description: 'Always true: what a package does not entitle to is not in the list.' })
  isGranted!: boolean

  @Field(() => Float, { nullable: true })
  order!: number | null

  @Field(() => enums.EntitlementResetPeriod, { nullable: true })
  resetPeriod!: keyof typeof enums.EntitlementResetPeriod | null

  @Field(() => Float, { nullable: true })
  usageLimit!: number | null
}

@ObjectType({ simpleResolvers: true, description: 'Credits that a plan or add-on gives. There are no credits in Tollgate.' })
export class PackageCreditEntitlement {
  @Field(() => Float, { nullable: true })
  amount!: number | null

  @Field(() => enums.EntitlementBehavior)
  behavior!: keyof typeof enums.EntitlementBehavior

  @Field(() => enums.CreditCadence)
  cadence!: keyof typeof enums.CreditCadence

  @Field(() => CustomCurrency)
  customCurrency!: CustomCurrency

  @Field(() => String)
  customCurrencyId!: string

  @Field(() => Feature, { nullable: true })
  dependencyFeature!: Feature | null

  @Field(() => String, { nullable: true })
  description!: string | null

  @Field(() => String, { nullable: true })
  displayNameOverride!: string | null

  @Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' })
  hasSoftLimit!: boolean | null

  @AlwaysNull(() => [enums.WidgetType])
  hiddenFromWidgets?: null

  @Field(() => String, { description: 'Our identifier.' })
  id!: string

  @Field(() => Boolean, { nullable: true, description: 'Whether the amount is agreed on with each customer; always false.' })
  isCustom!: boolean | null

  @Field(() => Boolean, { description: 'Always true: what a package does not entitle to is not in the list.' })
  isGranted!: boolean

  @Field(() => Float, { nullable: true })
  order!: number | null
}

export const PackageEntitlementUnion = createUnionType({
  name: 'PackageEntitlementUnion',
  description: 'What a plan or add-on entitles to. There are no credits in Tollgate, so each is a PackageFeatureEntitlement.',
  types: () => [PackageCreditEntitlement, PackageFeatureEntitlement] as const,
  resolveType: () => PackageFeatureEntitlement,
})

type Entitlement = Omit<catalog.PackageEntitlement, 'order'> & { order?: number }

export function toPackageEntitlement(packageId: string, entitlement: Entitlement): PackageEntitlement {
  const { displayNameOverride, enumValues, feature, featureId, hasSoftLimit, hasUnlimitedUsage, resetPeriod, usageLimit } = entitlement
  return {
    displayNameOverride,
    enumValues: feature.featureType === 'ENUM' ? enumValues : null,
    feature: toFeature(feature),
    featureId,
    hasSoftLimit,
    hasUnlimitedUsage,
    isCustom: false,
    isGranted: true,
    packageId,
    resetPeriod,
    usageLimit: toNumber(usageLimit),
  }
}

export function toPackageFeatureEntitlement(packageId: string, entitlement: Entitlement): PackageFeatureEntitlement {
  const { packageId: _, ...facts } = toPackageEntitlement(packageId, entitlement)
  return { ...facts, id: entitlement.id, behavior: entitlement.behavior, order: entitlement.order ?? null }
}
