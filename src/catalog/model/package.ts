/**
 * The catalog as it is sold: frozen versions of plans and add-ons, as the evaluation reads them.
 *
 * package            a plan or an add-on
 * published version  what a package was when it was published; it never changes, and subscriptions keep theirs until migrated
 * base plan          the plan whose entitlements another one starts from; a version names the *version* it inherits from
 *
 * Plain data. `refId` is the caller's identifier, every other `…Id` is ours. Money is exact decimal text in whole currency units.
 */
import type { EpochMs } from '../../kernel/clock.js'
import type { Decimal } from '../../kernel/decimal.js'
import type { ResetPeriod, ResetRule } from '../../metering/model/usage-period.js'
import type { Currency } from './currency.js'
import type { Feature } from './feature.js'

export type PackageKind = 'PLAN' | 'ADDON'

/** In this order a change of plan is a downgrade or an upgrade: FREE < PAID < CUSTOM. CUSTOM is priced by agreement and carries no prices. */
export const pricingTypes = ['FREE', 'PAID', 'CUSTOM'] as const
export type PricingType = (typeof pricingTypes)[number]

/**
 * How an entitlement meets the one below it (the base plan's, or the plan's when it is an add-on's): Increment adds (an add-on's value is
 * multiplied by its quantity), Override replaces.
 */
export const entitlementBehaviors = ['Increment', 'Override'] as const
export type EntitlementBehavior = (typeof entitlementBehaviors)[number]

export const trialUnits = ['DAY', 'MONTH'] as const
export const trialEndBehaviors = ['CONVERT_TO_PAID', 'CANCEL_SUBSCRIPTION'] as const

export interface DefaultTrial {
  /** Whole number of `units`. */
  duration: number
  units: (typeof trialUnits)[number]
  endBehavior: (typeof trialEndBehaviors)[number]
}

/** The value of an unmetered NUMBER travels as an int32. */
export const maxNumericValue = 2 ** 31 - 1

/** What a client can read back from the wire's Float without loss. */
export const maxLimit = Number.MAX_SAFE_INTEGER

export const billingModels = ['FLAT_FEE', 'PER_UNIT', 'USAGE_BASED'] as const
export type BillingModel = (typeof billingModels)[number]

export const billingPeriods = ['MONTHLY', 'ANNUALLY'] as const
export type BillingPeriod = (typeof billingPeriods)[number]

/** GRADUATED: each unit costs what its own tier says. VOLUME: all units cost what the tier of the last one says. */
export const tiersModes = ['GRADUATED', 'VOLUME'] as const
export type TiersMode = (typeof tiersModes)[number]

export interface PriceTier {
  /** The last quantity of the tier, included. Null in the last tier, which has no end. */
  upTo: Decimal | null
  /** Per unit. Null: the tier charges only its flat price. */
  unitPrice: Decimal | null
  /** Once, when the tier is reached. Null: none. */
  flatPrice: Decimal | null
}

export interface Price {
  id: string
  billingModel: BillingModel
  billingPeriod: BillingPeriod
  currency: Currency
  /** ISO 3166-1 alpha-2. Null: every country that has no price of its own. */
  billingCountryCode: string | null
  /** Null when tiers carry the amounts. */
  amount: Decimal | null
  /** What is counted; null for FLAT_FEE. */
  featureId: string | null
  featureRefId: string | null
  /** USAGE_BASED: of the feature as it is now, which is charged in the units that it is answered in. Null: what is counted is charged. */
  unitTransformation: Feature['unitTransformation']
  tiersMode: TiersMode | null
  /** Ascending; null when `amount` is the price. */
  tiers: PriceTier[] | null
  /** Units are sold in blocks of this size and `amount` is per block. Null: one by one. */
  blockSize: number | null
  minUnitQuantity: number | null
  maxUnitQuantity: number | null
}

export interface PackageEntitlement {
  id: string
  featureId: string
  feature: Feature
  /** Null: no limit was set, which counts as 0 and never as unlimited. The value of an unmetered NUMBER. */
  usageLimit: Decimal | null
  hasUnlimitedUsage: boolean
  hasSoftLimit: boolean
  /** ENUM: the values held. */
  enumValues: string[]
  behavior: EntitlementBehavior
  /** Null: never reset. */
  resetPeriod: ResetPeriod | null
  /** Null exactly when `resetPeriod` is. */
  resetRule: ResetRule | null
  displayNameOverride: string | null
  /** Position in the package, from 0. */
  order: number
}

export interface PackageVersion {
  id: string
  packageId: string
  refId: string
  kind: PackageKind
  /** From 1, growing by one with each publication. */
  versionNumber: number
  productId: string
  productRefId: string
  displayName: string
  description: string | null
  pricingType: PricingType
  /** Null: inherits nothing. */
  basePlanVersionId: string | null
  /** Of a plan; null: subscriptions start without a trial. */
  trial: DefaultTrial | null
  /** Of an add-on; null: as many as wanted. */
  maxQuantity: number | null
  /** Its own, not the base plan's, in `order`. */
  entitlements: PackageEntitlement[]
  prices: Price[]
  /** Null: none. */
  additionalMetaData: Record<string, unknown> | null
  /** Packages that may be added to this plan. Empty for an add-on. */
  compatibleAddonIds: string[]
  /** Add-ons (refId) without which this add-on cannot be held. Empty for a plan. */
  dependencies: string[]
}

/** What is true of a published version as long as it is, and not for ever. */
export interface VersionFacts {
  status: 'PUBLISHED' | 'ARCHIVED'
  isLatest: boolean
  /** Whether another version inherits from it. */
  isParent: boolean
  /** Whether a subscription was ever made to it. */
  hasSubscriptions: boolean
  createdAt: EpochMs
}
