/** What the edge API answers, as GraphQL documents: so its fields, types and rights are those of the GraphQL API. */

const feature = '{ __typename refId displayName description featureType meterType featureUnits featureUnitsPlural }'

const entitlement = `{
  __typename isGranted accessDeniedReason requestedUsage requestedValues usageLimit hasUnlimitedUsage hasSoftLimit enumValues currentUsage
  customerId resourceId resetPeriod nextResetDate usagePeriodAnchor usagePeriodStart usagePeriodEnd validUntil entitlementUpdatedAt usageUpdatedAt
  resetPeriodConfiguration {
    __typename
    ... on MonthlyResetPeriodConfig { monthlyAccordingTo }
    ... on WeeklyResetPeriodConfig { weeklyAccordingTo }
    ... on YearlyResetPeriodConfig { yearlyAccordingTo }
  }
  feature ${feature}
}`

const featureEntitlement = `{
  __typename
  ... on FeatureEntitlement {
    isGranted accessDeniedReason usageLimit hasUnlimitedUsage hasSoftLimit enumValues currentUsage resetPeriod usagePeriodAnchor usagePeriodStart
    usagePeriodEnd validUntil entitlementUpdatedAt usageUpdatedAt
    resetPeriodConfiguration {
      __typename
      ... on MonthlyResetPeriodConfig { monthlyAccordingTo }
      ... on WeeklyResetPeriodConfig { weeklyAccordingTo }
      ... on YearlyResetPeriodConfig { yearlyAccordingTo }
    }
    feature ${feature}
  }
}`

const money = '{ __typename amount currency }'

const price = `{
  __typename billingModel billingPeriod billingCadence billingCountryCode blockSize minUnitQuantity maxUnitQuantity tiersMode featureId
  price ${money}
  tiers { __typename upTo unitPrice ${money} flatPrice ${money} }
  feature { __typename refId displayName featureUnits featureUnitsPlural }
}`

const subscriptionFields = `
  __typename id refId subscriptionId status pricingType billingPeriod billingId billingSyncError crmId environmentId additionalMetaData
  startDate endDate trialEndDate cancellationDate effectiveEndDate cancelReason currentBillingPeriodStart currentBillingPeriodEnd billingCycleAnchor
  paymentCollection paymentCollectionMethod budgetExceeded wasInTrial
  customer { __typename id refId customerId }
  resource { __typename resourceId }
  plan { __typename id refId displayName description versionNumber additionalMetaData product { __typename id refId displayName } }
  addons { __typename id quantity addon { __typename id refId displayName description additionalMetaData } }
  prices { __typename usageLimit price ${price} }
  totalPrice { __typename subTotal ${money} total ${money} }
  latestInvoice {
    __typename billingId status createdAt updatedAt requiresAction paymentUrl paymentSecret errorMessage
  }`

const packageFields = `
  __typename id refId displayName description billingId versionNumber status pricingType hiddenFromWidgets additionalMetaData
  entitlements {
    __typename usageLimit hasUnlimitedUsage hasSoftLimit enumValues resetPeriod displayNameOverride hiddenFromWidgets
    feature { __typename refId displayName description featureType meterType featureUnits featureUnitsPlural additionalMetaData }
  }
  prices ${price}`

const plan = `{
  ${packageFields}
  product { __typename id refId displayName description additionalMetaData }
  basePlan { __typename refId displayName }
  defaultTrialConfig { __typename duration units trialEndBehavior }
  compatibleAddons { ${packageFields} maxQuantity }
}`

export const edgeDocuments = {
  entitlements: `query Entitlements($query: FetchEntitlementsQuery!) { entitlements: cachedEntitlements(query: $query) ${entitlement} }`,
  entitlementsState: `query EntitlementsState($query: FetchEntitlementsQuery!) {
    entitlementsState(query: $query) { __typename accessDeniedReason validUntil entitlements ${entitlement} entitlementsV2 ${featureEntitlement}
      next { __typename accessDeniedReason validFrom validUntil unknownFeatureIds entitlements ${entitlement} } }
  }`,
  activeSubscriptions: `query ActiveSubscriptions($input: GetActiveSubscriptionsInput!) { getActiveSubscriptions(input: $input) { ${subscriptionFields} } }`,
  paywall: `query Paywall($input: GetPaywallInput!) {
    paywall(input: $input) {
      __typename
      plans ${plan}
      currency { __typename code symbol }
      configuration {
        __typename
        customCss
        palette { __typename primary textColor backgroundColor borderColor currentPlanBackground }
        layout { __typename alignment planWidth planMargin planPadding }
      }
      paywallCalculatedPricePoints { __typename planId additionalChargesMayApply billingPeriod amount currency billingCountryCode feature { __typename refId displayName } }
    }
  }`,
  sdkConfiguration: 'query SdkConfiguration { sdkConfiguration { __typename isWidgetWatermarkEnabled showWatermark sentryDsn } }',
} as const

export type EdgeDocument = keyof typeof edgeDocuments
