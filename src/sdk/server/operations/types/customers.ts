// Made by `npm run sdk-types` from `documents.ts` and the schema: a test compares.

import type { CouponFields } from './coupons.js'
import type {
  BillingPeriod,
  Currency,
  DateTime,
  EntitlementResetPeriod,
  Json,
  PaymentCollectionMethod,
  PromotionalEntitlementPeriod,
  PromotionalEntitlementStatus,
  SubscriptionBillingCycleAnchor,
  SubscriptionDecisionStrategy,
} from './enums.js'
import type {
  BillableFeatureInput,
  ChargeInput,
  SubscriptionAddonInput,
  SubscriptionBillingInfo,
  SubscriptionCouponInput,
  TaxExempt,
  TrialOverrideConfigurationInput,
} from './estimates.js'
import type { CustomerFields, SubscriptionFields } from './paywall.js'
import type {
  BudgetConfigurationInput,
  MonthlyResetPeriodConfigInput,
  PriceOverrideInput,
  SubscriptionEntitlementInput,
  SubscriptionEntitlementInputV2,
  SubscriptionMinimumSpendValueInput,
  WeeklyResetPeriodConfigInput,
  YearlyResetPeriodConfigInput,
} from './subscriptions.js'

export interface ProvisionCustomerInput {
  additionalMetaData?: Json | null
  awsMarketplaceCustomerId?: string | null
  billingId?: string | null
  billingInformation?: CustomerBillingInfo | null
  couponRefId?: string | null
  createdAt?: string | Date | null
  crmId?: string | null
  customerId?: string | null
  email?: string | null
  environmentId?: string | null
  excludeFromExperiment?: boolean | null
  name?: string | null
  refId?: string | null
  salesforceId?: string | null
  shouldSyncFree?: boolean | null
  subscriptionParams?: ProvisionCustomerSubscriptionInput | null
}

export interface CustomerBillingInfo {
  billingAddress?: Address | null
  currency?: Currency | null
  customerName?: string | null
  integrationId?: string | null
  invoiceCustomFields?: Json | null
  language?: string | null
  metadata?: Json | null
  paymentMethodId?: string | null
  shippingAddress?: Address | null
  taxIds?: readonly TaxExempt[] | null
  timezone?: string | null
}

export interface Address {
  addressLine1?: string | null
  addressLine2?: string | null
  city?: string | null
  country?: string | null
  phoneNumber?: string | null
  postalCode?: string | null
  state?: string | null
}

export interface ProvisionCustomerSubscriptionInput {
  additionalMetaData?: Json | null
  addons?: readonly SubscriptionAddonInput[] | null
  appliedCoupon?: SubscriptionCouponInput | null
  awaitPaymentConfirmation?: boolean | null
  billableFeatures?: readonly BillableFeatureInput[] | null
  billingCountryCode?: string | null
  billingCycleAnchor?: SubscriptionBillingCycleAnchor | null
  billingId?: string | null
  billingInformation?: SubscriptionBillingInfo | null
  billingPeriod?: BillingPeriod | null
  budget?: BudgetConfigurationInput | null
  charges?: readonly ChargeInput[] | null
  entitlements?: readonly SubscriptionEntitlementInputV2[] | null
  minimumSpend?: SubscriptionMinimumSpendValueInput | null
  paymentCollectionMethod?: PaymentCollectionMethod | null
  planId: string
  priceOverrides?: readonly PriceOverrideInput[] | null
  priceUnitAmount?: number | null
  promotionCode?: string | null
  refId?: string | null
  resourceId?: string | null
  salesforceId?: string | null
  startDate?: string | Date | null
  subscriptionEntitlements?: readonly SubscriptionEntitlementInput[] | null
  subscriptionId?: string | null
  trialOverrideConfiguration?: TrialOverrideConfigurationInput | null
  unitQuantity?: number | null
}

export type ProvisionCustomerAnswer = {
  subscriptionDecisionStrategy: SubscriptionDecisionStrategy
  customer: CustomerFields
  subscription: SubscriptionFields | null
}

export interface UpdateCustomerInput {
  additionalMetaData?: Json | null
  awsMarketplaceCustomerId?: string | null
  billingId?: string | null
  billingInformation?: CustomerBillingInfo | null
  couponRefId?: string | null
  crmId?: string | null
  customerId?: string | null
  email?: string | null
  environmentId?: string | null
  name?: string | null
  refId?: string | null
  salesforceId?: string | null
  shouldWaitSync?: boolean | null
}

export type UpdateCustomerAnswer = CustomerFields

export interface GetCustomerByRefIdInput {
  customerId: string
  environmentId?: string | null
}

export interface PromotionalFields {
  id: string
  featureId: string
  status: PromotionalEntitlementStatus
  usageLimit: number | null
  hasUnlimitedUsage: boolean | null
  hasSoftLimit: boolean | null
  enumValues: string[] | null
  resetPeriod: EntitlementResetPeriod | null
  period: PromotionalEntitlementPeriod
  startDate: DateTime
  endDate: DateTime | null
  isVisible: boolean
  description: string | null
  feature: {
    refId: string
    displayName: string
    description: string | null
  }
}

export type GetCustomerAnswer =
  | (CustomerFields & {
      coupon: CouponFields | null
      promotionalEntitlements: PromotionalFields[] | null
    })
  | null

export interface ArchiveCustomerInput {
  customerId: string
  environmentId?: string | null
}

export type ArchiveCustomerAnswer = CustomerFields

export interface UnarchiveCustomerInput {
  customerId: string
  environmentId?: string | null
}

export type UnarchiveCustomerAnswer = CustomerFields

export interface GrantPromotionalEntitlementsInput {
  customerId: string
  environmentId?: string | null
  promotionalEntitlements: readonly GrantPromotionalEntitlementInput[]
}

export interface GrantPromotionalEntitlementInput {
  customEndDate?: string | Date | null
  enumValues?: readonly string[] | null
  featureId: string
  hasSoftLimit?: boolean | null
  hasUnlimitedUsage?: boolean | null
  isVisible?: boolean | null
  monthlyResetPeriodConfiguration?: MonthlyResetPeriodConfigInput | null
  period: PromotionalEntitlementPeriod
  resetPeriod?: EntitlementResetPeriod | null
  usageLimit?: number | null
  weeklyResetPeriodConfiguration?: WeeklyResetPeriodConfigInput | null
  yearlyResetPeriodConfiguration?: YearlyResetPeriodConfigInput | null
}

export type GrantPromotionalEntitlementsAnswer = PromotionalFields[] | null

export interface RevokePromotionalEntitlementInput {
  customerId: string
  environmentId?: string | null
  featureId: string
}

export type RevokePromotionalEntitlementAnswer = PromotionalFields
