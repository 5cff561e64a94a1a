/**
 * The catalog as one declarative document: what `applyCatalog` takes and `catalog` exports.
 *
 * definition  one item of the document: a feature, product, plan, add-on or coupon, named by its refId
 * document    complete (every default filled in, null where there is nothing) and references only what exists; see parse.ts
 *
 * The document holds what is sold *now*. It knows no versions: publishing a new one is how a changed plan is applied.
 * Decimals are canonical text, money is in whole currency units.
 */
import type { Decimal } from '../../kernel/decimal.js'
import type { Meter, MeterType } from '../../metering/model/meter.js'
import type { ResetPeriod, ResetRule } from '../../metering/model/usage-period.js'
import type { Currency } from '../model/currency.js'
import type { FeatureType } from '../model/feature.js'
import type { BillingModel, BillingPeriod, DefaultTrial, EntitlementBehavior, PriceTier, PricingType, TiersMode } from '../model/package.js'
import type { changeTimings, endSettings, usageOnPlanChangeSettings } from '../model/product.js'

/** Free data of the caller; null when there is none (an empty object counts as none). Keys are sorted. */
export type MetaData = Record<string, unknown> | null

/** Measures a feature from raw events instead of reported usage. */
export type MeterDefinition = Pick<Meter, 'aggregation' | 'field' | 'filters'>

export interface FeatureDefinition {
  refId: string
  displayName: string
  description: string | null
  /** Never changes. */
  type: FeatureType
  /** Never changes. */
  meter: MeterType
  units: string | null
  unitsPlural: string | null
  /** ENUM: the values that entitlements choose from, in display order. Empty for other types. */
  enumValues: string[]
  /** Null: usage is reported by the host application. */
  events: MeterDefinition | null
  /** Converts measured units to the coarser ones that are answered and limited. Null: none. */
  unitTransformation: { divide: number; round: 'UP' | 'DOWN' } | null
  additionalMetaData: MetaData
}

export const newCustomerSettings = ['FREE_PLAN', 'TRIAL_PERIOD', 'PLAN_SELECTION'] as const

export interface ProductSettings {
  /** What a new customer gets. PLAN_SELECTION: nothing until a plan is chosen. */
  newCustomer: (typeof newCustomerSettings)[number]
  /** The plan of FREE_PLAN or TRIAL_PERIOD; null for PLAN_SELECTION. */
  newCustomerPlan: string | null
  /** What follows the end of a subscription or trial. */
  endOfSubscription: (typeof endSettings)[number]
  /** The free plan of DOWNGRADE_TO_FREE; null for CANCEL_SUBSCRIPTION. */
  downgradePlan: string | null
  downgradeTiming: (typeof changeTimings)[number]
  cancellationTiming: (typeof changeTimings)[number]
  usageOnPlanChange: (typeof usageOnPlanChangeSettings)[number]
  /** Whether a customer may hold several subscriptions, told apart by resource. */
  multipleSubscriptions: boolean
}

export interface ProductDefinition {
  refId: string
  displayName: string
  description: string | null
  settings: ProductSettings
  additionalMetaData: MetaData
}

export interface EntitlementDefinition {
  feature: string
  /** The cap of a metered feature, the value of an unmetered NUMBER. Null with `unlimited`, and for BOOLEAN and ENUM. */
  limit: Decimal | null
  unlimited: boolean
  /** Usage beyond the limit is granted. */
  softLimit: boolean
  /** ENUM: the values held, sorted. */
  values: string[]
  behavior: EntitlementBehavior
  /** Incremental usage starts again at each reset; null: never. */
  resetPeriod: ResetPeriod | null
  /** Null exactly when `resetPeriod` is. */
  resetRule: ResetRule | null
  displayNameOverride: string | null
}

export interface PriceDefinition {
  billingModel: BillingModel
  billingPeriod: BillingPeriod
  currency: Currency
  /** ISO 3166-1 alpha-2; null: every country without a price of its own. */
  country: string | null
  /** Null when tiers carry the amounts. */
  amount: Decimal | null
  /** What is counted; null for FLAT_FEE. */
  feature: string | null
  tiersMode: TiersMode | null
  tiers: PriceTier[] | null
  blockSize: number | null
  minQuantity: number | null
  maxQuantity: number | null
}

interface PackageDefinition {
  refId: string
  /** Never changes. */
  product: string
  displayName: string
  description: string | null
  pricingType: PricingType
  /** One per feature, in display order. */
  entitlements: EntitlementDefinition[]
  prices: PriceDefinition[]
  additionalMetaData: MetaData
}

export interface PlanDefinition extends PackageDefinition {
  /** The plan whose entitlements this one inherits; null: none. */
  basePlan: string | null
  compatibleAddons: string[]
  defaultTrial: DefaultTrial | null
}

export interface AddonDefinition extends PackageDefinition {
  /** How many of it one subscription may hold; null: as many as wanted. */
  maxQuantity: number | null
  /** Add-ons that must be held as well. */
  dependencies: string[]
}

export interface CouponDefinition {
  refId: string
  name: string
  description: string | null
  /** Above 0, at most 100. Null exactly when `amountsOff` is set. */
  percentOff: Decimal | null
  /** One per currency. */
  amountsOff: { amount: Decimal; currency: Currency }[] | null
  /** Null: for ever. */
  durationInMonths: number | null
  /** How many subscriptions may be given it. Null: any number. */
  maxRedemptions: number | null
  additionalMetaData: MetaData
}

/** Plans and add-ons have separate names, so the same refId may be used once in each. */
export interface CatalogDocument {
  features: FeatureDefinition[]
  products: ProductDefinition[]
  plans: PlanDefinition[]
  addons: AddonDefinition[]
  coupons: CouponDefinition[]
}

/** Why a document was refused. `path` leads to it in the document as it was sent, as in `plans[2].entitlements[0].feature`. */
export interface CatalogProblem {
  path: string
  message: string
}
