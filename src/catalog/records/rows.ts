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
/** How the catalog is kept: what is loaded, and from the loaded records to definitions and versions. */
import type { CatalogFeature, Feature } from '../model/feature.js'
import type { DefaultTrial, PackageEntitlement, PackageVersion, Price } from '../model/package.js'
import { withImplied } from '../model/units.js'
import type { VersionRow } from './versions.js'

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
type BareFeatureRow = Prisma.FeatureGetPayload<object>
type FeatureRow = Prisma.FeatureGetPayload<{ include: typeof featureContent }>
type ProductRow = Prisma.ProductGetPayload<{ include: typeof productContent }>
type CouponRow = Prisma.CouponGetPayload<object>

const decimalOrNull = (value: Prisma.Decimal | null) => (value === null ? null : decimal.fromText(value.toString()))
const decimalOf = (text: string | null) => (text === null ? null : decimal.fromText(text))

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
    basePlan: row.basePlanRefId,
    compatibleAddons: row.compatibleAddons.map(({ refId }) => refId),
    defaultTrial: toTrial(row),
  }
}

export function toAddonDefinition(row: VersionRow): AddonDefinition {
  return { ...toPackageDefinition(row), maxQuantity: row.maxQuantity, dependencies: row.dependencies }
}

function toPackageDefinition(row: VersionRow) {
  const { refId, productRefId: product, displayName, description, pricingType, additionalMetaData } = row
  return {
    refId,
    product,
    displayName,
    description,
    pricingType,
    entitlements: row.entitlements.map(
      ({ usageLimit, hasUnlimitedUsage, hasSoftLimit, enumValues, behavior, resetPeriod, ...entitlement }): EntitlementDefinition => ({
        feature: entitlement.featureRefId,
        limit: decimalOf(usageLimit),
        unlimited: hasUnlimitedUsage,
        softLimit: hasSoftLimit,
        values: enumValues,
        behavior,
        resetPeriod,
        resetRule: entitlement.resetRule,
        displayNameOverride: entitlement.displayNameOverride,
      }),
    ),
    prices: row.prices.map((price): PriceDefinition => {
      const { billingModel, billingPeriod, currency, billingCountryCode: country, amount, featureRefId: feature, ...rest } = toPrice(price)
      const { tiersMode, tiers, blockSize, minUnitQuantity: minQuantity, maxUnitQuantity: maxQuantity } = rest
      return { billingModel, billingPeriod, currency, country, amount, feature, tiersMode, tiers, blockSize, minQuantity, maxQuantity }
    }),
    additionalMetaData,
  }
}

function toTrial({ trialDuration, trialUnits, trialEndBehavior }: VersionRow): DefaultTrial | null {
  return trialDuration !== null && trialUnits && trialEndBehavior
    ? { duration: trialDuration, units: trialUnits, endBehavior: trialEndBehavior }
    : null
}

const toPrice = (row: VersionRow['prices'][number]): FrozenPrice => ({ ...row, amount: decimalOf(row.amount) })

export function toFrozenVersion(row: VersionRow): FrozenVersion {
  const { basePlanRefId, trialDuration, trialUnits, trialEndBehavior, compatibleAddons, ...version } = row
  const prices = row.prices.map(toPrice)
  const entitlements = row.entitlements.map(({ featureRefId, usageLimit, ...entitlement }) => ({
    ...entitlement,
    usageLimit: decimalOf(usageLimit),
  }))
  return {
    ...version,
    trial: toTrial(row),
    entitlements: withImplied(entitlements, prices),
    prices,
    compatibleAddonIds: compatibleAddons.map(({ id }) => id),
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
