import { defineEnum } from '../schema/define-enum.js'

export const CouponSortFields = defineEnum('CouponSortFields', 'What coupons can be ordered by.', [
  'billingId',
  'createdAt',
  'description',
  'environmentId',
  'id',
  'name',
  'refId',
  'source',
  'status',
  'type',
  'updatedAt',
])

export const CustomerSortFields = defineEnum('CustomerSortFields', 'What customers can be ordered by.', [
  'awsMarketplaceCustomerId',
  'billingId',
  'createdAt',
  'crmHubspotCompanyId',
  'crmHubspotCompanyUrl',
  'crmId',
  'customerId',
  'deletedAt',
  'email',
  'environmentId',
  'id',
  'name',
  'refId',
  'salesforceId',
  'searchQuery',
  'updatedAt',
])

export const SortDirection = defineEnum('SortDirection', 'Ascending or descending.', ['ASC', 'DESC'])

export const SortNulls = defineEnum('SortNulls', 'Where rows without a value stand. Default: last when ascending, first when descending.', [
  'NULLS_FIRST',
  'NULLS_LAST',
])

export const SubscriptionQuerySortFields = defineEnum('SubscriptionQuerySortFields', 'What subscriptions can be ordered by.', [
  'billingId',
  'cancellationDate',
  'createdAt',
  'customerId',
  'endDate',
  'environmentId',
  'paymentCollection',
  'pricingType',
  'productId',
  'resourceId',
  'salesforceId',
  'startDate',
  'status',
  'subscriptionId',
])
