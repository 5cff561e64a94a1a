/**
 * A subscription as the rules see it. Ids are ours, `refId` is the caller's; times are epoch milliseconds.
 *
 * stored status   what the record says
 * status at now   the stored status with all due transitions applied (lifecycle.ts): what every answer is made of
 * in force        IN_TRIAL or ACTIVE: gives access
 */
import type { BillingPeriod, PackageVersion, PricingType } from '../catalog/model.js'
import type { EpochMs } from '../kernel/clock.js'
import type { Decimal } from '../kernel/decimal.js'
import type { ResetPeriod, ResetRule } from '../metering/usage-period.js'

export const subscriptionStatuses = ['NOT_STARTED', 'IN_TRIAL', 'ACTIVE', 'PAYMENT_PENDING', 'CANCELED', 'EXPIRED'] as const
export type SubscriptionStatus = (typeof subscriptionStatuses)[number]

export type CancelReason =
  | 'AutoCancellationRule'
  | 'CancelledByBilling'
  | 'CustomerArchived'
  | 'DetachBilling'
  | 'Expired'
  | 'Immediate'
  | 'PendingPaymentExpired'
  | 'ScheduledCancellation'
  | 'TrialConverted'
  | 'TrialEnded'
  | 'UpgradeOrDowngrade'

export type TrialEndBehavior = 'CONVERT_TO_PAID' | 'CANCEL_SUBSCRIPTION'
export type UsageOnPlanChange = 'ALWAYS_RESET' | 'NEVER_RESET' | 'BILLING_PERIOD_CHANGE'

/** What a product says about its subscriptions. */
export interface ProductRules {
  id: string
  refId: string
  endSetting: 'CANCEL_SUBSCRIPTION' | 'DOWNGRADE_TO_FREE'
  /** The latest published version of the plan that DOWNGRADE_TO_FREE leads to. */
  downgradePlan: PackageVersion | null
  cancellationTiming: 'IMMEDIATE' | 'END_OF_BILLING_PERIOD'
  downgradeTiming: 'IMMEDIATE' | 'END_OF_BILLING_PERIOD'
  usageOnPlanChange: UsageOnPlanChange
  allowsMultipleSubscriptions: boolean
}

export interface HeldAddon {
  id: string
  version: PackageVersion
  quantity: number
}

/** An entitlement set on the subscription itself: replaces the plan's for the feature. */
export interface OwnEntitlement {
  id: string
  featureId: string
  usageLimit: Decimal | null
  hasUnlimitedUsage: boolean
  hasSoftLimit: boolean
  enumValues: string[]
  resetPeriod: ResetPeriod | null
  resetRule: ResetRule | null
}

export interface Subscription {
  id: string
  refId: string
  environmentId: string
  customerId: string
  /** The resource that it is bound to; null: the customer itself. */
  resource: { id: string; refId: string } | null
  product: ProductRules
  plan: PackageVersion
  addons: HeldAddon[]
  /** Units bought of PER_UNIT features. */
  quantities: { featureId: string; featureRefId: string; quantity: Decimal }[]
  ownEntitlements: OwnEntitlement[]
  status: SubscriptionStatus
  pricingType: PricingType
  billingPeriod: BillingPeriod | null
  billingCountryCode: string | null
  startDate: EpochMs
  /** A term that was agreed at the start; exclusive. */
  endDate: EpochMs | null
  trialEndDate: EpochMs | null
  trialEndBehavior: TrialEndBehavior | null
  /** When cancellation was asked. */
  cancellationDate: EpochMs | null
  /** When access ends or ended; exclusive. */
  effectiveEndDate: EpochMs | null
  cancelReason: CancelReason | null
  billingAnchor: EpochMs
  /** The anchor of SubscriptionStart usage periods; nothing before it counts in the subscription's usage series. */
  usageAnchor: EpochMs
  entitlementsRevokedAt: EpochMs | null
  paymentCollection: 'NOT_REQUIRED' | 'PROCESSING' | 'ACTION_REQUIRED' | 'FAILED'
  additionalMetaData: Record<string, unknown> | null
  createdAt: EpochMs
}

export const isFinal = (status: SubscriptionStatus): boolean => status === 'CANCELED' || status === 'EXPIRED'
export const givesAccess = (status: SubscriptionStatus): boolean => status === 'IN_TRIAL' || status === 'ACTIVE'
