// Made by `npm run sdk-types` from `documents.ts` and the schema: a test compares.

import type { BillingPeriod, ChargeType, Currency, DateTime, Json, SubscriptionProrationBehavior, TrialEndBehavior } from './enums.js'

export interface EstimateSubscriptionInput {
  addons?: readonly SubscriptionAddonInput[] | null
  appliedCoupon?: SubscriptionCouponInput | null
  billableFeatures?: readonly BillableFeatureInput[] | null
  billingCountryCode?: string | null
  billingInformation?: SubscriptionBillingInfo | null
  billingPeriod?: BillingPeriod | null
  charges?: readonly ChargeInput[] | null
  customerId: string
  environmentId?: string | null
  payingCustomerId?: string | null
  planId: string
  priceUnitAmount?: number | null
  promotionCode?: string | null
  resourceId?: string | null
  skipTrial?: boolean | null
  startDate?: string | Date | null
  trialOverrideConfiguration?: TrialOverrideConfigurationInput | null
  unitQuantity?: number | null
}

export interface SubscriptionAddonInput {
  addonId: string
  quantity?: number | null
}

export interface SubscriptionCouponInput {
  billingCouponId?: string | null
  configuration?: SubscriptionCouponConfigurationInput | null
  couponId?: string | null
  discount?: SubscriptionCouponDiscountInput | null
  promotionCode?: string | null
}

export interface SubscriptionCouponConfigurationInput {
  startDate?: string | Date | null
}

export interface SubscriptionCouponDiscountInput {
  amountsOff?: readonly MoneyInputDto[] | null
  description?: string | null
  durationInMonths?: number | null
  name?: string | null
  percentOff?: number | null
}

export interface MoneyInputDto {
  amount: number
  currency?: Currency | null
}

export interface BillableFeatureInput {
  featureId: string
  quantity: number
}

export interface SubscriptionBillingInfo {
  billingAddress?: BillingAddress | null
  chargeOnBehalfOfAccount?: string | null
  couponId?: string | null
  integrationId?: string | null
  invoiceDaysUntilDue?: number | null
  isBackdated?: boolean | null
  isInvoicePaid?: boolean | null
  metadata?: Json | null
  prorationBehavior?: SubscriptionProrationBehavior | null
  taxIds?: readonly TaxExempt[] | null
  taxPercentage?: number | null
  taxRateIds?: readonly string[] | null
}

export interface BillingAddress {
  city?: string | null
  country?: string | null
  line1?: string | null
  line2?: string | null
  postalCode?: string | null
  state?: string | null
}

export interface TaxExempt {
  type: string
  value: string
}

export interface ChargeInput {
  id: string
  quantity: number
  type: ChargeType
}

export interface TrialOverrideConfigurationInput {
  isTrial: boolean
  trialEndBehavior?: TrialEndBehavior | null
  trialEndDate?: string | Date | null
}

export interface EstimateFields {
  subTotal: {
    amount: number
    currency: Currency
  }
  totalExcludingTax: {
    amount: number
    currency: Currency
  }
  tax: {
    amount: number
    currency: Currency
  } | null
  total: {
    amount: number
    currency: Currency
  }
  discountAmount: {
    amount: number
    currency: Currency
  } | null
  billingPeriodRange: {
    start: DateTime | null
    end: DateTime | null
  }
  proration: {
    prorationDate: DateTime
    hasProrations: boolean | null
    credit: {
      amount: number
      currency: Currency
    }
    debit: {
      amount: number
      currency: Currency
    }
    netAmount: {
      amount: number
      currency: Currency
    }
  } | null
  isPlanDowngrade: boolean | null
  hasScheduledUpdates: boolean | null
}

export type EstimateSubscriptionAnswer = EstimateFields

export interface EstimateSubscriptionUpdateInput {
  addons?: readonly SubscriptionAddonInput[] | null
  appliedCoupon?: SubscriptionCouponInput | null
  billableFeatures?: readonly BillableFeatureInput[] | null
  charges?: readonly ChargeInput[] | null
  environmentId?: string | null
  promotionCode?: string | null
  subscriptionId: string
  unitQuantity?: number | null
}

export type EstimateSubscriptionUpdateAnswer = EstimateFields
