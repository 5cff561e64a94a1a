// Made by `npm run sdk-types` from `documents.ts` and the schema: a test compares.

import type {
  BillingCadence,
  BillingModel,
  BillingPeriod,
  Currency,
  DateTime,
  EntitlementResetPeriod,
  FeatureType,
  Json,
  MeterType,
  PaymentCollection,
  PricingType,
  SubscriptionInvoiceStatus,
  SubscriptionStatus,
  TiersMode,
  WidgetType,
} from './enums.js'

export interface GetPaywallInput {
  billingCountryCode?: string | null
  context?: WidgetType | null
  customerId?: string | null
  environmentId?: string | null
  fetchAllCountriesPrices?: boolean | null
  includeHiddenPlans?: boolean | null
  offerId?: string | null
  productId?: string | null
  resourceId?: string | null
}

export interface PackageEntitlementFields {
  featureId: string
  usageLimit: number | null
  hasUnlimitedUsage: boolean | null
  hasSoftLimit: boolean | null
  enumValues: string[] | null
  resetPeriod: EntitlementResetPeriod | null
  isGranted: boolean
  isCustom: boolean | null
  displayNameOverride: string | null
  hiddenFromWidgets: WidgetType[] | null
  feature: {
    refId: string
    displayName: string
    description: string | null
    featureType: FeatureType
    meterType: MeterType | null
    featureUnits: string | null
    featureUnitsPlural: string | null
  }
}

export interface PriceFields {
  billingModel: BillingModel
  billingPeriod: BillingPeriod
  billingCadence: BillingCadence
  billingCountryCode: string | null
  blockSize: number | null
  minUnitQuantity: number | null
  maxUnitQuantity: number | null
  tiersMode: TiersMode | null
  price: {
    amount: number
    currency: Currency
  } | null
  tiers:
    | {
        upTo: number | null
        unitPrice: {
          amount: number
          currency: Currency
        } | null
        flatPrice: {
          amount: number
          currency: Currency
        } | null
      }[]
    | null
  feature: {
    refId: string
    displayName: string
    featureUnits: string | null
    featureUnitsPlural: string | null
  } | null
}

export interface CustomerFields {
  id: string
  refId: string
  customerId: string
  name: string | null
  email: string | null
  createdAt: DateTime | null
  updatedAt: DateTime
  billingId: string | null
  crmId: string | null
  hasPaymentMethod: boolean
  additionalMetaData: Json | null
}

export interface SubscriptionFields {
  id: string
  refId: string
  subscriptionId: string
  status: SubscriptionStatus
  pricingType: PricingType
  billingPeriod: BillingPeriod | null
  startDate: DateTime
  endDate: DateTime | null
  trialEndDate: DateTime | null
  cancellationDate: DateTime | null
  effectiveEndDate: DateTime | null
  currentBillingPeriodStart: DateTime | null
  currentBillingPeriodEnd: DateTime | null
  paymentCollection: PaymentCollection
  additionalMetaData: Json | null
  customer: {
    id: string
    refId: string
    customerId: string
  }
  resource: {
    resourceId: string
  } | null
  plan: {
    id: string
    refId: string
    displayName: string
    description: string | null
    additionalMetaData: Json | null
  }
  addons:
    | {
        quantity: number
        addon: {
          id: string
          refId: string
          displayName: string
          description: string | null
          additionalMetaData: Json | null
        }
      }[]
    | null
  prices:
    | {
        usageLimit: number | null
        price: PriceFields | null
      }[]
    | null
  totalPrice: {
    subTotal: {
      amount: number
      currency: Currency
    }
    total: {
      amount: number
      currency: Currency
    }
  } | null
  latestInvoice: {
    billingId: string
    status: SubscriptionInvoiceStatus
    createdAt: DateTime
    updatedAt: DateTime
    requiresAction: boolean
    paymentUrl: string | null
    paymentSecret: string | null
    errorMessage: string | null
  } | null
}

export type GetPaywallAnswer = {
  currency: {
    code: Currency
    symbol: string
  }
  plans:
    | {
        id: string
        refId: string
        displayName: string
        description: string | null
        pricingType: PricingType | null
        additionalMetaData: Json | null
        basePlan: {
          refId: string
          displayName: string
        } | null
        product: {
          refId: string
          displayName: string | null
          description: string | null
          additionalMetaData: Json | null
        }
        entitlements: PackageEntitlementFields[] | null
        inheritedEntitlements: PackageEntitlementFields[] | null
        prices: PriceFields[] | null
        compatibleAddons:
          | {
              id: string
              refId: string
              displayName: string
              description: string | null
              pricingType: PricingType | null
              additionalMetaData: Json | null
              entitlements: PackageEntitlementFields[] | null
              prices: PriceFields[] | null
            }[]
          | null
      }[]
    | null
  customer: CustomerFields | null
  activeSubscriptions: SubscriptionFields[] | null
  paywallCalculatedPricePoints:
    | {
        planId: string
        amount: number
        currency: Currency
        billingPeriod: BillingPeriod
        billingCountryCode: string | null
        additionalChargesMayApply: boolean | null
      }[]
    | null
}
