// Made by `npm run sdk-types` from `documents.ts` and the schema: a test compares.

export type Json = Record<string, unknown>

/** ISO 8601. */
export type DateTime = string

export type Currency =
  | 'AED'
  | 'ALL'
  | 'AMD'
  | 'ANG'
  | 'AUD'
  | 'AWG'
  | 'AZN'
  | 'BAM'
  | 'BBD'
  | 'BDT'
  | 'BGN'
  | 'BIF'
  | 'BMD'
  | 'BND'
  | 'BRL'
  | 'BSD'
  | 'BWP'
  | 'BYN'
  | 'BZD'
  | 'CAD'
  | 'CDF'
  | 'CHF'
  | 'CLP'
  | 'CNY'
  | 'CZK'
  | 'DJF'
  | 'DKK'
  | 'DOP'
  | 'DZD'
  | 'EGP'
  | 'ETB'
  | 'EUR'
  | 'FJD'
  | 'GBP'
  | 'GEL'
  | 'GIP'
  | 'GMD'
  | 'GNF'
  | 'GYD'
  | 'HKD'
  | 'HRK'
  | 'HTG'
  | 'IDR'
  | 'ILS'
  | 'INR'
  | 'ISK'
  | 'JMD'
  | 'JPY'
  | 'KES'
  | 'KGS'
  | 'KHR'
  | 'KMF'
  | 'KRW'
  | 'KYD'
  | 'KZT'
  | 'LBP'
  | 'LKR'
  | 'LRD'
  | 'LSL'
  | 'MAD'
  | 'MDL'
  | 'MGA'
  | 'MKD'
  | 'MMK'
  | 'MNT'
  | 'MOP'
  | 'MRO'
  | 'MVR'
  | 'MWK'
  | 'MXN'
  | 'MYR'
  | 'MZN'
  | 'NAD'
  | 'NGN'
  | 'NOK'
  | 'NPR'
  | 'NZD'
  | 'PGK'
  | 'PHP'
  | 'PKR'
  | 'PLN'
  | 'PYG'
  | 'QAR'
  | 'RON'
  | 'RSD'
  | 'RUB'
  | 'RWF'
  | 'SAR'
  | 'SBD'
  | 'SCR'
  | 'SEK'
  | 'SGD'
  | 'SLE'
  | 'SLL'
  | 'SOS'
  | 'SZL'
  | 'THB'
  | 'TJS'
  | 'TOP'
  | 'TRY'
  | 'TTD'
  | 'TZS'
  | 'UAH'
  | 'UGX'
  | 'USD'
  | 'UZS'
  | 'VND'
  | 'VUV'
  | 'WST'
  | 'XAF'
  | 'XCD'
  | 'XOF'
  | 'XPF'
  | 'YER'
  | 'ZAR'
  | 'ZMW'

export type SubscriptionProrationBehavior = 'CREATE_PRORATIONS' | 'INVOICE_IMMEDIATELY' | 'NONE'

export type BillingPeriod = 'ANNUALLY' | 'MONTHLY'

export type ChargeType = 'CREDIT' | 'FEATURE'

export type TrialEndBehavior = 'CANCEL_SUBSCRIPTION' | 'CONVERT_TO_PAID'

export type WidgetType = 'CHECKOUT' | 'CUSTOMER_PORTAL' | 'PAYWALL'

export type PricingType = 'CUSTOM' | 'FREE' | 'PAID'

export type EntitlementResetPeriod = 'DAY' | 'HOUR' | 'MONTH' | 'WEEK' | 'YEAR'

export type FeatureType = 'BOOLEAN' | 'ENUM' | 'NUMBER'

export type MeterType = 'Fluctuating' | 'Incremental' | 'None'

export type BillingModel = 'CREDIT_BASED' | 'FLAT_FEE' | 'MINIMUM_SPEND' | 'PER_UNIT' | 'USAGE_BASED'

export type BillingCadence = 'ONE_OFF' | 'RECURRING'

export type TiersMode = 'GRADUATED' | 'VOLUME'

export type SubscriptionStatus = 'ACTIVE' | 'CANCELED' | 'EXPIRED' | 'IN_TRIAL' | 'NOT_STARTED' | 'PAYMENT_PENDING'

export type PaymentCollection = 'ACTION_REQUIRED' | 'FAILED' | 'NOT_REQUIRED' | 'PROCESSING'

export type SubscriptionInvoiceStatus = 'CANCELED' | 'FAILED' | 'OPEN' | 'PAID'

export type SubscriptionBillingCycleAnchor = 'NOW' | 'UNCHANGED'

export type CreditCadence = 'MONTH' | 'YEAR'

export type MonthlyAccordingTo = 'StartOfTheMonth' | 'SubscriptionStart'

export type WeeklyAccordingTo =
  | 'EveryFriday'
  | 'EveryMonday'
  | 'EverySaturday'
  | 'EverySunday'
  | 'EveryThursday'
  | 'EveryTuesday'
  | 'EveryWednesday'
  | 'SubscriptionStart'

export type YearlyAccordingTo = 'SubscriptionStart'

export type PaymentCollectionMethod = 'CHARGE' | 'INVOICE' | 'NONE'

export type CreditGrantCadence = 'BEGINNING_OF_BILLING_PERIOD' | 'MONTHLY'

export type ScheduleStrategy = 'END_OF_BILLING_MONTH' | 'END_OF_BILLING_PERIOD' | 'IMMEDIATE'

export type ProvisionSubscriptionStatus = 'PAYMENT_REQUIRED' | 'SUCCESS'

export type SubscriptionCancellationAction = 'DEFAULT' | 'REVOKE_ENTITLEMENTS'

export type SubscriptionCancellationTime = 'END_OF_BILLING_PERIOD' | 'IMMEDIATE' | 'SPECIFIC_DATE'

export type SubscriptionMigrationTime = 'END_OF_BILLING_PERIOD' | 'IMMEDIATE'

export type CouponSource = 'STIGG' | 'STIGG_ADHOC' | 'STRIPE'

export type CouponStatus = 'ACTIVE' | 'ARCHIVED'

export type CouponType = 'FIXED' | 'PERCENTAGE'

export type SortDirection = 'ASC' | 'DESC'

export type CouponSortFields =
  | 'billingId'
  | 'createdAt'
  | 'description'
  | 'environmentId'
  | 'id'
  | 'name'
  | 'refId'
  | 'source'
  | 'status'
  | 'type'
  | 'updatedAt'

export type SortNulls = 'NULLS_FIRST' | 'NULLS_LAST'

export type SubscriptionDecisionStrategy =
  | 'PREDEFINED_FREE_PLAN'
  | 'PREDEFINED_TRIAL_PLAN'
  | 'REQUESTED_PLAN'
  | 'SKIPPED_SUBSCRIPTION_CREATION'

export type PromotionalEntitlementStatus = 'Active' | 'Expired' | 'Paused'

export type PromotionalEntitlementPeriod = 'CUSTOM' | 'LIFETIME' | 'ONE_MONTH' | 'ONE_WEEK' | 'ONE_YEAR' | 'SIX_MONTH'
