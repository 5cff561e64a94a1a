import * as decimal from '../../kernel/decimal.js'
import type { FilterGroup } from '../../metering/model/meter.js'
import type { Prisma } from '../../platform/postgres.js'
import type {
  AddonDefinition,
  CouponDefinition,
  EntitlementDefinition,
  FeatureDefinition,
  MetaData,
  PlanDefinition,
  PriceDefinition,
  ProductDefinition,
} from '../document/document.js'
import type { Currency } from '../model/currency.js'
/** How the catalog is kept: what is loaded, and from the loaded records to definitions and versions. */
import type { CatalogFeature, Feature } from '../model/feature.js'
import type { DefaultTrial, PackageEntitlement, PackageVersion, Price, PriceTier } from '../model/package.js'
import { withImplied } from '../model/units.js'

/** A version as it never changes. Its features do (their names and units, for example), so they are added when it is answered. */
export type FrozenVersion = Omit<PackageVersion, 'entitlements' | 'prices'> & {
  entitlements: Omit<PackageEntitlement, 'feature'>[]
  prices: FrozenPrice[]
}
export type FrozenPrice = Omit<Price, 'unitTransformation'>

export const featureContent = { meter: true } as const satisfies Prisma.FeatureInclude
export const productContent = {
  newCustomerPlan: { select: { refId: true } },
  downgradePlan: { select: { refId: true } },
} as const satisfies Prisma.ProductInclude
export const versionContent = {
  package: { select: { refId: true, kind: true, product: { select: { id: true, refId: true } } } },
  basePlanVersion: { select: { package: { select: { refId: true } } } },
  packageEntitlements: { include: { feature: { select: { refId: true } } }, orderBy: { position: 'asc' } },
  prices: { include: { feature: { select: { refId: true } } }, orderBy: { position: 'asc' } },
  planCompatibleAddons: { include: { addon: { select: { refId: true } } }, orderBy: { addonId: 'asc' } },
  addonDependencies: { include: { requiredAddon: { select: { refId: true } } } },
} as const satisfies Prisma.PackageVersionInclude

type BareFeatureRow = Prisma.FeatureGetPayload<object>
type FeatureRow = Prisma.FeatureGetPayload<{ include: typeof featureContent }>
type ProductRow = Prisma.ProductGetPayload<{ include: typeof productContent }>
type VersionRow = Prisma.PackageVersionGetPayload<{ include: typeof versionContent }>
type CouponRow = Prisma.CouponGetPayload<object>

const decimalOrNull = (value: Prisma.Decimal | null) => (value === null ? null : decimal.fromText(value.toString()))
const numberOrNull = (value: Prisma.Decimal | null) => value?.toNumber() ?? null

export function toFeature(row: BareFeatureRow): CatalogFeature {
  const { id, refId, displayName, description, featureType, meterType, featureUnits: units, featureUnitsPlural: unitsPlural } = row
  const unitTransformation = toUnitTransformation(row)
  return {
    id,
    refId,
    displayName,
    description,
    featureType,
    meterType,
    units,
    unitsPlural,
    unitTransformation,
    isArchived: row.archivedAt !== null,
    enumValues: row.enumValues,
  }
}

function toUnitTransformation({ unitDivide, unitRounding }: BareFeatureRow): Feature['unitTransformation'] {
  return unitDivide && unitRounding ? { divide: unitDivide.toNumber(), round: unitRounding } : null
}

export function toFeatureDefinition(row: FeatureRow): FeatureDefinition {
  const { refId, displayName, description, featureType, meterType, enumValues, meter } = row
  return {
    refId,
    displayName,
    description,
    type: featureType,
    meter: meterType,
    units: row.featureUnits,
    unitsPlural: row.featureUnitsPlural,
    enumValues,
    events: meter && { aggregation: meter.aggregation, field: meter.field, filters: meter.filters as unknown as FilterGroup[] },
    unitTransformation: toUnitTransformation(row),
    additionalMetaData: row.additionalMetaData as MetaData,
  }
}

export function toProductDefinition(row: ProductRow): ProductDefinition {
  const { refId, displayName, description } = row
  return {
    refId,
    displayName,
    description,
    settings: {
      newCustomer: row.newCustomerSetting,
      newCustomerPlan: row.newCustomerPlan?.refId ?? null,
      endOfSubscription: row.endSetting,
      downgradePlan: row.downgradePlan?.refId ?? null,
      downgradeTiming: row.downgradeTiming,
      cancellationTiming: row.cancellationTiming,
      usageOnPlanChange: row.usageOnPlanChange,
      multipleSubscriptions: row.allowsMultipleSubscriptions,
    },
    additionalMetaData: row.additionalMetaData as MetaData,
  }
}

export function toPlanDefinition(row: VersionRow): PlanDefinition {
  return {
    ...toPackageDefinition(row),
    basePlan: row.basePlanVersion?.package.refId ?? null,
    compatibleAddons: row.planCompatibleAddons.map(({ addon }) => addon.refId),
    defaultTrial: toTrial(row),
  }
}

export function toAddonDefinition(row: VersionRow): AddonDefinition {
  return {
    ...toPackageDefinition(row),
    maxQuantity: row.maxQuantity,
    dependencies: row.addonDependencies.map(({ requiredAddon }) => requiredAddon.refId),
  }
}

function toPackageDefinition(row: VersionRow) {
  return {
    refId: row.package.refId,
    product: row.package.product.refId,
    displayName: row.displayName,
    description: row.description,
    pricingType: row.pricingType,
    entitlements: row.packageEntitlements.map(
      (entitlement): EntitlementDefinition => ({
        feature: entitlement.feature.refId,
        limit: decimalOrNull(entitlement.usageLimit),
        unlimited: entitlement.hasUnlimitedUsage,
        softLimit: entitlement.hasSoftLimit,
        values: entitlement.enumValues,
        behavior: entitlement.behavior,
        resetPeriod: entitlement.resetPeriod,
        resetRule: entitlement.resetRule,
        displayNameOverride: entitlement.displayNameOverride,
      }),
    ),
    prices: row.prices.map((price): PriceDefinition => {
      const { billingModel, billingPeriod, currency, billingCountryCode: country, amount, featureRefId: feature, ...rest } = toPrice(price)
      const { tiersMode, tiers, blockSize, minUnitQuantity: minQuantity, maxUnitQuantity: maxQuantity } = rest
      return { billingModel, billingPeriod, currency, country, amount, feature, tiersMode, tiers, blockSize, minQuantity, maxQuantity }
    }),
    additionalMetaData: row.additionalMetaData as MetaData,
  }
}

function toTrial({ trialDuration, trialUnits, trialEndBehavior }: VersionRow): DefaultTrial | null {
  return trialDuration !== null && trialUnits && trialEndBehavior
    ? { duration: trialDuration, units: trialUnits, endBehavior: trialEndBehavior }
    : null
}

function toPrice(row: VersionRow['prices'][number]): FrozenPrice {
  const { id, billingModel, billingPeriod, billingCountryCode, featureId, tiersMode } = row
  return {
    id,
    billingModel,
    billingPeriod,
    currency: row.currency as Currency,
    billingCountryCode,
    amount: decimalOrNull(row.amount),
    featureId,
    featureRefId: row.feature?.refId ?? null,
    tiersMode,
    tiers: row.tiers as unknown as PriceTier[] | null,
    blockSize: numberOrNull(row.blockSize),
    minUnitQuantity: numberOrNull(row.minUnitQuantity),
    maxUnitQuantity: numberOrNull(row.maxUnitQuantity),
  }
}

function toEntitlement(row: VersionRow['packageEntitlements'][number]): Omit<PackageEntitlement, 'feature'> {
  const { id, featureId, usageLimit, hasUnlimitedUsage, hasSoftLimit, enumValues, behavior, resetPeriod, resetRule, position } = row
  return {
    id,
    featureId,
    usageLimit: decimalOrNull(usageLimit),
    hasUnlimitedUsage,
    hasSoftLimit,
    enumValues,
    behavior,
    resetPeriod,
    resetRule,
    displayNameOverride: row.displayNameOverride,
    order: position,
  }
}

export function toFrozenVersion(row: VersionRow): FrozenVersion {
  const { id, packageId, versionNumber, displayName, description, pricingType, basePlanVersionId, maxQuantity } = row
  const { refId, kind, product } = row.package
  const prices = row.prices.map(toPrice)
  return {
    id,
    packageId,
    refId,
    kind,
    versionNumber,
    productId: product.id,
    productRefId: product.refId,
    displayName,
    description,
    pricingType,
    basePlanVersionId,
    trial: toTrial(row),
    maxQuantity,
    entitlements: withImplied(row.packageEntitlements.map(toEntitlement), prices),
    prices,
    additionalMetaData: row.additionalMetaData as MetaData,
    compatibleAddonIds: row.planCompatibleAddons.map(({ addonId }) => addonId),
    dependencies: row.addonDependencies.map(({ requiredAddon }) => requiredAddon.refId),
  }
}

export function toCouponDefinition(row: CouponRow): CouponDefinition {
  const { refId, name, description, percentOff, durationInMonths, maxRedemptions } = row
  return {
    refId,
    name,
    description,
    percentOff: decimalOrNull(percentOff),
    amountsOff: row.amountsOff as unknown as CouponDefinition['amountsOff'],
    durationInMonths,
    maxRedemptions,
    additionalMetaData: row.additionalMetaData as MetaData,
  }
}
