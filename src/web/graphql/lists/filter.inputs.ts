import type { ClassType } from 'type-graphql'
import {
  BooleanFieldComparison,
  CouponSourceFilterComparison,
  CouponStatusFilterComparison,
  CouponTypeFilterComparison,
  CustomerSearchQueryFilterComparison,
  DateFieldComparison,
  IntFieldComparison,
  inputType,
  PackageStatusFilterComparison,
  PaymentCollectionFilterComparison,
  PricingTypeFilterComparison,
  PromotionalEntitlementStatusFilterComparison,
  StringFieldComparison,
  SubscriptionCancelReasonFilterComparison,
  SubscriptionStatusFilterComparison,
  UUIDFilterComparison,
} from './comparison.inputs.js'

/** All fields of a filter that are compared with the same input. */
const each = (type: ClassType, fields: string) => Object.fromEntries(fields.split(' ').map((field) => [field, () => type]))

/** A filter on these fields, and groups of such filters: all, or one, of which must hold. */
function filter(name: string, description: string, fields: Readonly<Record<string, () => ClassType>>): ClassType {
  const Filter: ClassType = inputType(name, `${description} All that is given must hold.`, {
    ...fields,
    and: () => [Filter],
    or: () => [Filter],
  })
  return Filter
}

const customerFields = {
  ...each(
    StringFieldComparison,
    'awsMarketplaceCustomerId billingId crmHubspotCompanyId crmHubspotCompanyUrl crmId customerId email name refId salesforceId',
  ),
  ...each(DateFieldComparison, 'createdAt deletedAt updatedAt'),
  ...each(UUIDFilterComparison, 'environmentId id'),
  ...each(CustomerSearchQueryFilterComparison, 'searchQuery'),
}

const CouponFilterCustomerFilter = filter('CouponFilterCustomerFilter', 'Coupons that one of these customers has.', customerFields)

export const CouponFilter = filter('CouponFilter', 'Which coupons.', {
  ...each(StringFieldComparison, 'billingId description name refId'),
  ...each(DateFieldComparison, 'createdAt updatedAt'),
  ...each(CouponFilterCustomerFilter, 'customers'),
  ...each(UUIDFilterComparison, 'environmentId id'),
  ...each(CouponSourceFilterComparison, 'source'),
  ...each(CouponStatusFilterComparison, 'status'),
  ...each(CouponTypeFilterComparison, 'type'),
})

const CustomerFilterCustomerSubscriptionFilter = filter(
  'CustomerFilterCustomerSubscriptionFilter',
  'Customers that have one of these subscriptions.',
  {
    ...each(
      DateFieldComparison,
      'billingCycleAnchor cancellationDate createdAt currentBillingPeriodEnd currentBillingPeriodStart effectiveEndDate endDate startDate trialEndDate',
    ),
    ...each(StringFieldComparison, 'billingId crmId crmLinkUrl oldBillingId refId salesforceId subscriptionId'),
    ...each(SubscriptionCancelReasonFilterComparison, 'cancelReason'),
    ...each(UUIDFilterComparison, 'customerId environmentId id payingCustomerId resourceId'),
    ...each(PaymentCollectionFilterComparison, 'paymentCollection'),
    ...each(PricingTypeFilterComparison, 'pricingType'),
    ...each(SubscriptionStatusFilterComparison, 'status'),
  },
)

const CustomerFilterPromotionalEntitlementFilter = filter(
  'CustomerFilterPromotionalEntitlementFilter',
  'Customers that have one of these promotional entitlements.',
  {
    ...each(DateFieldComparison, 'createdAt updatedAt'),
    ...each(UUIDFilterComparison, 'environmentId id'),
    ...each(PromotionalEntitlementStatusFilterComparison, 'status'),
  },
)

export const CustomerFilter = filter('CustomerFilter', 'Which customers.', {
  ...customerFields,
  ...each(CustomerFilterPromotionalEntitlementFilter, 'promotionalEntitlements'),
  ...each(CustomerFilterCustomerSubscriptionFilter, 'subscriptions'),
})

const SubscriptionQueryFilterCustomerFilter = filter(
  'SubscriptionQueryFilterCustomerFilter',
  'Subscriptions of one of these customers.',
  customerFields,
)

const SubscriptionQueryFilterCustomerResourceFilter = filter(
  'SubscriptionQueryFilterCustomerResourceFilter',
  'Subscriptions of one of these resources.',
  {
    ...each(DateFieldComparison, 'createdAt'),
    ...each(UUIDFilterComparison, 'environmentId'),
    ...each(StringFieldComparison, 'resourceId'),
  },
)

const SubscriptionQueryFilterPlanFilter = filter('SubscriptionQueryFilterPlanFilter', 'Subscriptions to one of these plans.', {
  ...each(StringFieldComparison, 'billingId description displayName productId refId'),
  ...each(DateFieldComparison, 'createdAt updatedAt'),
  ...each(UUIDFilterComparison, 'environmentId id'),
  ...each(BooleanFieldComparison, 'isLatest'),
  ...each(PricingTypeFilterComparison, 'pricingType'),
  ...each(PackageStatusFilterComparison, 'status'),
  ...each(IntFieldComparison, 'versionNumber'),
})

export const SubscriptionQueryFilter = filter('SubscriptionQueryFilter', 'Which subscriptions.', {
  ...each(StringFieldComparison, 'billingId customerId productId resourceId salesforceId subscriptionId'),
  ...each(DateFieldComparison, 'cancellationDate createdAt endDate startDate'),
  ...each(SubscriptionQueryFilterCustomerFilter, 'customer'),
  ...each(UUIDFilterComparison, 'environmentId'),
  ...each(PaymentCollectionFilterComparison, 'paymentCollection'),
  ...each(SubscriptionQueryFilterPlanFilter, 'plan'),
  ...each(PricingTypeFilterComparison, 'pricingType'),
  ...each(SubscriptionQueryFilterCustomerResourceFilter, 'resource'),
  ...each(SubscriptionStatusFilterComparison, 'status'),
})
