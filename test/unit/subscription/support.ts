import type { Feature } from '../../../src/catalog/model/feature.js'
import type { PackageEntitlement, PackageVersion, Price } from '../../../src/catalog/model/package.js'
import type { ProductRules } from '../../../src/catalog/model/product.js'
import * as decimal from '../../../src/kernel/decimal.js'
import type { SubscriptionRequest } from '../../../src/subscription/rules/provision.js'
import type { HeldAddon, Subscription } from '../../../src/subscription/rules/subscription.js'

export const hour = 3_600_000
export const day = 24 * hour
/** Where the tests begin: 2026-03-01T00:00:00Z. */
export const t0 = Date.parse('2026-03-01T00:00:00Z')

export function feature(refId: string, fields: Partial<Feature> = {}): Feature {
  return {
    id: `feature-${refId}`,
    refId,
    displayName: refId,
    description: null,
    featureType: 'NUMBER',
    meterType: 'None',
    units: null,
    unitsPlural: null,
    unitTransformation: null,
    ...fields,
  }
}

export function entitled(to: Feature, { limit, ...fields }: Partial<PackageEntitlement> & { limit?: number } = {}): PackageEntitlement {
  return {
    id: `entitlement-${to.id}`,
    featureId: to.id,
    feature: to,
    usageLimit: limit === undefined ? null : decimal.fromNumber(limit),
    hasUnlimitedUsage: false,
    hasSoftLimit: false,
    enumValues: [],
    behavior: 'Override',
    resetPeriod: null,
    resetRule: null,
    displayNameOverride: null,
    order: 0,
    ...fields,
  }
}

/** A flat fee, monthly unless said otherwise. */
export function price(fields: Partial<Price> = {}): Price {
  return {
    id: 'price',
    billingModel: 'FLAT_FEE',
    billingPeriod: 'MONTHLY',
    currency: 'USD',
    billingCountryCode: null,
    amount: decimal.fromNumber(10),
    featureId: null,
    featureRefId: null,
    unitTransformation: null,
    tiersMode: null,
    tiers: null,
    blockSize: null,
    minUnitQuantity: null,
    maxUnitQuantity: null,
    ...fields,
  }
}

/** A paid plan with a monthly price. */
export function plan(refId: string, fields: Partial<PackageVersion> = {}): PackageVersion {
  return {
    id: `${refId}-v1`,
    packageId: refId,
    refId,
    kind: 'PLAN',
    versionNumber: 1,
    productId: 'product',
    productRefId: 'product',
    displayName: refId,
    description: null,
    pricingType: 'PAID',
    basePlanVersionId: null,
    trial: null,
    maxQuantity: null,
    entitlements: [],
    prices: [price()],
    additionalMetaData: null,
    compatibleAddonIds: [],
    dependencies: [],
    ...fields,
  }
}

export const addon = (refId: string, fields: Partial<PackageVersion> = {}): PackageVersion =>
  plan(refId, { kind: 'ADDON', prices: [], ...fields })

export const held = (version: PackageVersion, quantity = 1): HeldAddon => ({ id: `held-${version.refId}`, version, quantity })

export const freePlan = plan('free', { pricingType: 'FREE', prices: [] })
export const basic = plan('basic')
export const top = plan('top')

/** Everything at once, and nothing after the end. */
export function product(fields: Partial<ProductRules> = {}): ProductRules {
  return {
    id: 'product',
    refId: 'product',
    endSetting: 'CANCEL_SUBSCRIPTION',
    downgradePlan: null,
    cancellationTiming: 'IMMEDIATE',
    downgradeTiming: 'IMMEDIATE',
    usageOnPlanChange: 'ALWAYS_RESET',
    allowsMultipleSubscriptions: false,
    ...fields,
  }
}

/** A product whose subscriptions fall back to the free plan. */
export const downgrading = product({ endSetting: 'DOWNGRADE_TO_FREE', downgradePlan: freePlan })

/** Active and monthly since `t0`. */
export function subscription(fields: Partial<Subscription> = {}): Subscription {
  const id = fields.id ?? 'subscription'
  const startDate = fields.startDate ?? t0
  const ofPlan = fields.plan ?? basic
  return {
    id,
    refId: id,
    environmentId: 'environment',
    customerId: 'customer',
    payingCustomerId: null,
    timeZone: 'UTC',
    resource: null,
    product: product(),
    plan: ofPlan,
    addons: [],
    quantities: [],
    ownEntitlements: [],
    status: 'ACTIVE',
    pricingType: ofPlan.pricingType,
    billingPeriod: ofPlan.prices[0]?.billingPeriod ?? null,
    billingCountryCode: null,
    startDate,
    endDate: null,
    trialEndDate: null,
    trialEndBehavior: null,
    cancellationDate: null,
    effectiveEndDate: null,
    cancelReason: null,
    billingAnchor: startDate,
    budget: null,
    currentPeriod: null,
    usageAnchor: startDate,
    entitlementsRevokedAt: null,
    scheduled: [],
    awaitsPayment: false,
    paymentCollection: 'NOT_REQUIRED',
    additionalMetaData: null,
    billingId: null,
    crmId: null,
    salesforceId: null,
    createdAt: startDate,
    ...fields,
  }
}

/** In trial since `t0` for two weeks. */
export const trial = (fields: Partial<Subscription> = {}): Subscription =>
  subscription({ id: 'trial', status: 'IN_TRIAL', trialEndDate: t0 + 14 * day, trialEndBehavior: 'CONVERT_TO_PAID', ...fields })

/** For the basic plan, now. */
export function request(fields: Partial<SubscriptionRequest> = {}): SubscriptionRequest {
  return {
    id: 'new',
    refId: 'new',
    environmentId: 'environment',
    customerId: 'customer',
    payingCustomerId: null,
    timeZone: 'UTC',
    resource: null,
    plan: basic,
    product: product(),
    addons: [],
    quantities: [],
    ownEntitlements: [],
    billingPeriod: null,
    billingCountryCode: null,
    startDate: null,
    endDate: null,
    cancellationDate: null,
    scheduleStrategy: null,
    scheduleId: 'scheduled',
    skipTrial: false,
    trialOverride: null,
    billingCycleAnchor: null,
    budget: null,
    additionalMetaData: null,
    billingId: null,
    crmId: null,
    salesforceId: null,
    billing: null,
    ...fields,
  }
}
