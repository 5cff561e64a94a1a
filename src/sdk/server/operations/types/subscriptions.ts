// Made by `npm run sdk-types` from `documents.ts` and the schema: a test compares.

import type {
  BillingPeriod,
  CreditCadence,
  CreditGrantCadence,
  EntitlementResetPeriod,
  Json,
  MonthlyAccordingTo,
  PaymentCollectionMethod,
  ProvisionSubscriptionStatus,
  ScheduleStrategy,
  SubscriptionBillingCycleAnchor,
  SubscriptionCancellationAction,
  SubscriptionCancellationTime,
  SubscriptionMigrationTime,
  WeeklyAccordingTo,
  YearlyAccordingTo,
} from './enums.js'
import type {
  BillableFeatureInput,
  ChargeInput,
  MoneyInputDto,
  SubscriptionAddonInput,
  SubscriptionBillingInfo,
  SubscriptionCouponInput,
  TrialOverrideConfigurationInput,
} from './estimates.js'
import type { SubscriptionFields } from './paywall.js'

export interface ProvisionSubscriptionInput {
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
  cancellationDate?: string | Date | null
  charges?: readonly ChargeInput[] | null
  checkoutOptions?: CheckoutOptions | null
  customerId: string
  entitlements?: readonly SubscriptionEntitlementInputV2[] | null
  minimumSpend?: SubscriptionMinimumSpendValueInput | null
  payingCustomerId?: string | null
  paymentCollectionMethod?: PaymentCollectionMethod | null
  planId: string
  priceOverrides?: readonly PriceOverrideInput[] | null
  priceUnitAmount?: number | null
  promotionCode?: string | null
  refId?: string | null
  resourceId?: string | null
  salesforceId?: string | null
  scheduleStrategy?: ScheduleStrategy | null
  skipTrial?: boolean | null
  startDate?: string | Date | null
  subscriptionEntitlements?: readonly SubscriptionEntitlementInput[] | null
  subscriptionId?: string | null
  trialOverrideConfiguration?: TrialOverrideConfigurationInput | null
  unitQuantity?: number | null
}

export interface BudgetConfigurationInput {
  hasSoftLimit: boolean
  limit: number
}

export interface CheckoutOptions {
  allowPromoCodes?: boolean | null
  allowTaxIdCollection?: boolean | null
  cancelUrl: string
  collectBillingAddress?: boolean | null
  collectPhoneNumber?: boolean | null
  referenceId?: string | null
  successUrl: string
}

export interface SubscriptionEntitlementInputV2 {
  credit?: SubscriptionCreditEntitlementInput | null
  feature?: SubscriptionFeatureEntitlementInput | null
}

export interface SubscriptionCreditEntitlementInput {
  amount: number
  cadence: CreditCadence
  customCurrencyId: string
  hasSoftLimit?: boolean | null
}

export interface SubscriptionFeatureEntitlementInput {
  enumValues?: readonly string[] | null
  featureGroupId?: string | null
  featureId: string
  hasSoftLimit?: boolean | null
  hasUnlimitedUsage?: boolean | null
  monthlyResetPeriodConfiguration?: MonthlyResetPeriodConfigInput | null
  resetPeriod?: EntitlementResetPeriod | null
  usageLimit?: number | null
  weeklyResetPeriodConfiguration?: WeeklyResetPeriodConfigInput | null
  yearlyResetPeriodConfiguration?: YearlyResetPeriodConfigInput | null
}

export interface MonthlyResetPeriodConfigInput {
  accordingTo: MonthlyAccordingTo
}

export interface WeeklyResetPeriodConfigInput {
  accordingTo: WeeklyAccordingTo
}

export interface YearlyResetPeriodConfigInput {
  accordingTo: YearlyAccordingTo
}

export interface SubscriptionMinimumSpendValueInput {
  minimum?: MoneyInputDto | null
}

export interface PriceOverrideInput {
  addonId?: string | null
  baseCharge?: boolean | null
  blockSize?: number | null
  creditGrantCadence?: CreditGrantCadence | null
  creditRate?: CreditRateInput | null
  currencyId?: string | null
  featureId?: string | null
  price?: MoneyInputDto | null
  tiers?: readonly PriceTierInput[] | null
}

export interface CreditRateInput {
  amount: number
  costFormula?: string | null
  currencyId: string
  customCurrencyId?: string | null
}

export interface PriceTierInput {
  flatPrice?: MoneyInputDto | null
  unitPrice?: MoneyInputDto | null
  upTo?: number | null
}

export interface SubscriptionEntitlementInput {
  description?: string | null
  featureId: string
  hasSoftLimit?: boolean | null
  hasUnlimitedUsage?: boolean | null
  monthlyResetPeriodConfiguration?: MonthlyResetPeriodConfigInput | null
  resetPeriod?: EntitlementResetPeriod | null
  usageLimit?: number | null
  weeklyResetPeriodConfiguration?: WeeklyResetPeriodConfigInput | null
  yearlyResetPeriodConfiguration?: YearlyResetPeriodConfigInput | null
}

export type ProvisionSubscriptionAnswer = {
  id: string | null
  status: ProvisionSubscriptionStatus
  isScheduled: boolean | null
  checkoutUrl: string | null
  checkoutBillingId: string | null
  subscription: SubscriptionFields | null
}

export interface UpdateSubscriptionInput {
  additionalMetaData?: Json | null
  addons?: readonly SubscriptionAddonInput[] | null
  appliedCoupon?: SubscriptionCouponInput | null
  awaitPaymentConfirmation?: boolean | null
  billableFeatures?: readonly BillableFeatureInput[] | null
  billingCycleAnchor?: SubscriptionBillingCycleAnchor | null
  billingInformation?: SubscriptionBillingInfo | null
  billingPeriod?: BillingPeriod | null
  budget?: BudgetConfigurationInput | null
  cancellationDate?: string | Date | null
  charges?: readonly ChargeInput[] | null
  entitlements?: readonly SubscriptionEntitlementInputV2[] | null
  environmentId?: string | null
  minimumSpend?: SubscriptionMinimumSpendValueInput | null
  priceOverrides?: readonly PriceOverrideInput[] | null
  promotionCode?: string | null
  refId?: string | null
  salesforceId?: string | null
  scheduleStrategy?: ScheduleStrategy | null
  subscriptionEntitlements?: readonly UpdateSubscriptionEntitlementInput[] | null
  subscriptionId?: string | null
  trialEndDate?: string | Date | null
  unitQuantity?: number | null
}

export interface UpdateSubscriptionEntitlementInput {
  featureId?: string | null
  hasSoftLimit?: boolean | null
  hasUnlimitedUsage?: boolean | null
  id?: string | null
  monthlyResetPeriodConfiguration?: MonthlyResetPeriodConfigInput | null
  resetPeriod?: EntitlementResetPeriod | null
  usageLimit?: number | null
  weeklyResetPeriodConfiguration?: WeeklyResetPeriodConfigInput | null
  yearlyResetPeriodConfiguration?: YearlyResetPeriodConfigInput | null
}

export type UpdateSubscriptionAnswer = SubscriptionFields

export interface SubscriptionCancellationInput {
  awaitSubscriptionCancellation?: boolean | null
  endDate?: string | Date | null
  environmentId?: string | null
  prorate?: boolean | null
  subscriptionCancellationAction?: SubscriptionCancellationAction | null
  subscriptionCancellationTime?: SubscriptionCancellationTime | null
  subscriptionRefId: string
}

export type CancelSubscriptionAnswer = SubscriptionFields

export interface SubscriptionMigrationInput {
  environmentId?: string | null
  subscriptionId: string
  subscriptionMigrationTime?: SubscriptionMigrationTime | null
}

export type MigrateSubscriptionToLatestAnswer = SubscriptionFields

export interface GetSubscriptionInput {
  environmentId?: string | null
  subscriptionId: string
}

export type GetSubscriptionAnswer = SubscriptionFields

export interface GetActiveSubscriptionsInput {
  customerId: string
  environmentId?: string | null
  resourceId?: string | null
  resourceIds?: readonly string[] | null
}

export type GetActiveSubscriptionsAnswer = SubscriptionFields[] | null
