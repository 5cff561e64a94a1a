/** The operations of the API that the SDK offers besides checks and usage. Their types in `types/` are made from these texts and the schema: `npm run sdk-types`. */

const money = 'amount currency'

const customerFields = `fragment CustomerFields on Customer {
  id refId customerId name email createdAt updatedAt billingId crmId hasPaymentMethod additionalMetaData
}`

const couponFields = `fragment CouponFields on Coupon {
  id refId name description type discountValue percentOff amountsOff { ${money} } durationInMonths status additionalMetaData
  billingId billingLinkUrl createdAt updatedAt
}`

const promotionalFields = `fragment PromotionalFields on PromotionalEntitlement {
  id featureId status usageLimit hasUnlimitedUsage hasSoftLimit enumValues resetPeriod period startDate endDate isVisible description
  feature { refId displayName description }
}`

const priceFields = `fragment PriceFields on Price {
  billingModel billingPeriod billingCadence billingCountryCode blockSize minUnitQuantity maxUnitQuantity tiersMode
  price { ${money} }
  tiers { upTo unitPrice { ${money} } flatPrice { ${money} } }
  feature { refId displayName featureUnits featureUnitsPlural }
}`

const subscriptionFields = `fragment SubscriptionFields on CustomerSubscription {
  id refId subscriptionId status pricingType billingPeriod startDate endDate trialEndDate cancellationDate effectiveEndDate
  currentBillingPeriodStart currentBillingPeriodEnd paymentCollection additionalMetaData
  customer { id refId customerId }
  resource { resourceId }
  plan { id refId displayName description additionalMetaData }
  addons { quantity addon { id refId displayName description additionalMetaData } }
  prices { usageLimit price { ...PriceFields } }
  totalPrice { subTotal { ${money} } total { ${money} } }
  latestInvoice { billingId status createdAt updatedAt requiresAction paymentUrl paymentSecret errorMessage }
}
${priceFields}`

const estimateFields = `fragment EstimateFields on SubscriptionPreview {
  subTotal { ${money} }
  totalExcludingTax { ${money} }
  tax { ${money} }
  total { ${money} }
  discountAmount { ${money} }
  billingPeriodRange { start end }
  proration { prorationDate hasProrations credit { ${money} } debit { ${money} } netAmount { ${money} } }
  isPlanDowngrade hasScheduledUpdates
}`

const packageEntitlementFields = `fragment PackageEntitlementFields on PackageEntitlement {
  featureId usageLimit hasUnlimitedUsage hasSoftLimit enumValues resetPeriod isGranted isCustom displayNameOverride hiddenFromWidgets
  feature { refId displayName description featureType meterType featureUnits featureUnitsPlural }
}`

/** By the name that the SDK's method has. */
export const documents = {
  provisionCustomer: `mutation ProvisionCustomer($input: ProvisionCustomerInput!) {
  provisionCustomer(input: $input) { subscriptionDecisionStrategy customer { ...CustomerFields } subscription { ...SubscriptionFields } }
}
${customerFields}
${subscriptionFields}`,

  updateCustomer: `mutation UpdateCustomer($input: UpdateCustomerInput!) { updateOneCustomer(input: $input) { ...CustomerFields } }
${customerFields}`,

  getCustomer: `query GetCustomer($input: GetCustomerByRefIdInput!) {
  getCustomerByRefId(input: $input) { ...CustomerFields coupon { ...CouponFields } promotionalEntitlements { ...PromotionalFields } }
}
${customerFields}
${couponFields}
${promotionalFields}`,

  archiveCustomer: `mutation ArchiveCustomer($input: ArchiveCustomerInput!) { archiveCustomer(input: $input) { ...CustomerFields } }
${customerFields}`,

  unarchiveCustomer: `mutation UnarchiveCustomer($input: UnarchiveCustomerInput!) { unarchiveCustomer(input: $input) { ...CustomerFields } }
${customerFields}`,

  provisionSubscription: `mutation ProvisionSubscription($input: ProvisionSubscriptionInput!) {
  provisionSubscriptionV2(input: $input) { id status isScheduled checkoutUrl checkoutBillingId subscription { ...SubscriptionFields } }
}
${subscriptionFields}`,

  updateSubscription: `mutation UpdateSubscription($input: UpdateSubscriptionInput!) { updateOneSubscription(input: $input) { ...SubscriptionFields } }
${subscriptionFields}`,

  cancelSubscription: `mutation CancelSubscription($input: SubscriptionCancellationInput!) { cancelSubscription(input: $input) { ...SubscriptionFields } }
${subscriptionFields}`,

  migrateSubscriptionToLatest: `mutation MigrateSubscriptionToLatest($input: SubscriptionMigrationInput!) {
  migrateSubscriptionToLatest(input: $input) { ...SubscriptionFields }
}
${subscriptionFields}`,

  getSubscription: `query GetSubscription($input: GetSubscriptionInput!) { getSubscription(input: $input) { ...SubscriptionFields } }
${subscriptionFields}`,

  getActiveSubscriptions: `query GetActiveSubscriptions($input: GetActiveSubscriptionsInput!) {
  getActiveSubscriptions(input: $input) { ...SubscriptionFields }
}
${subscriptionFields}`,

  estimateSubscription: `mutation EstimateSubscription($input: EstimateSubscriptionInput!) { estimateSubscription(input: $input) { ...EstimateFields } }
${estimateFields}`,

  estimateSubscriptionUpdate: `mutation EstimateSubscriptionUpdate($input: EstimateSubscriptionUpdateInput!) {
  estimateSubscriptionUpdate(input: $input) { ...EstimateFields }
}
${estimateFields}`,

  grantPromotionalEntitlements: `mutation GrantPromotionalEntitlements($input: GrantPromotionalEntitlementsInput!) {
  grantPromotionalEntitlements(input: $input) { ...PromotionalFields }
}
${promotionalFields}`,

  revokePromotionalEntitlement: `mutation RevokePromotionalEntitlement($input: RevokePromotionalEntitlementInput!) {
  revokePromotionalEntitlement(input: $input) { ...PromotionalFields }
}
${promotionalFields}`,

  getCoupons: `query GetCoupons($filter: CouponFilter, $paging: CursorPaging, $sorting: [CouponSort!]) {
  coupons(filter: $filter, paging: $paging, sorting: $sorting) {
    totalCount
    pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
    edges { cursor node { ...CouponFields } }
  }
}
${couponFields}`,

  getPaywall: `query GetPaywall($input: GetPaywallInput!) {
  paywall(input: $input) {
    currency { code symbol }
    plans {
      id refId displayName description pricingType additionalMetaData
      basePlan { refId displayName }
      product { refId displayName description additionalMetaData }
      entitlements { ...PackageEntitlementFields }
      inheritedEntitlements { ...PackageEntitlementFields }
      prices { ...PriceFields }
      compatibleAddons { id refId displayName description pricingType additionalMetaData entitlements { ...PackageEntitlementFields } prices { ...PriceFields } }
    }
    customer { ...CustomerFields }
    activeSubscriptions { ...SubscriptionFields }
    paywallCalculatedPricePoints { planId amount currency billingPeriod billingCountryCode additionalChargesMayApply }
  }
}
${customerFields}
${packageEntitlementFields}
${subscriptionFields}`,
} as const

export type OperationName = keyof typeof documents
