import { type Columns, column, nothing, nullable } from '../../platform/list/columns.js'

/** See `knownEnd` in rules/subscription.ts. */
const endSql = `CASE
  WHEN subscription.status IN ('CANCELED', 'EXPIRED') THEN subscription.effective_end_date
  WHEN subscription.status NOT IN ('IN_TRIAL', 'NOT_STARTED') OR subscription.trial_end_date IS NULL
    THEN least(subscription.effective_end_date, subscription.end_date)
  WHEN subscription.trial_end_behavior = 'CONVERT_TO_PAID'
    THEN least(subscription.effective_end_date, CASE WHEN subscription.end_date IS NOT NULL THEN greatest(subscription.end_date, subscription.trial_end_date) END)
  ELSE least(subscription.effective_end_date, subscription.trial_end_date)
END`

const own: Columns = {
  billingId: nullable('text', 'subscription.billing_id'),
  cancellationDate: nullable('time', 'subscription.cancellation_date'),
  createdAt: column('time', 'subscription.created_at'),
  endDate: nullable('time', 'subscription.end_date'),
  environmentId: column('uuid', 'subscription.environment_id'),
  paymentCollection: column('text', 'subscription.payment_collection::text'),
  pricingType: column('text', 'subscription.pricing_type::text'),
  salesforceId: nullable('text', 'subscription.salesforce_id'),
  startDate: column('time', 'subscription.start_date'),
  status: column('text', 'subscription.status::text'),
  subscriptionId: column('text', 'subscription.ref_id'),
}

/** What subscriptions, called `subscription` in the statement, are filtered by as what a customer has. Identifiers of others are ours here. */
export const subscriptionColumns: Columns = {
  ...own,
  billingCycleAnchor: column('time', 'subscription.billing_anchor'),
  cancelReason: nullable('text', 'subscription.cancel_reason::text'),
  crmId: nullable('text', 'subscription.crm_id'),
  crmLinkUrl: nothing,
  currentBillingPeriodEnd: nullable('time', 'subscription.current_period_end'),
  currentBillingPeriodStart: nullable('time', 'subscription.current_period_start'),
  customerId: column('uuid', 'subscription.customer_id'),
  effectiveEndDate: nullable('time', endSql),
  id: column('uuid', 'subscription.id'),
  oldBillingId: nothing,
  payingCustomerId: nullable('uuid', 'subscription.paying_customer_id'),
  refId: column('text', 'subscription.ref_id'),
  resourceId: nullable('uuid', 'subscription.resource_id'),
  trialEndDate: nullable('time', 'subscription.trial_end_date'),
}

/** What the list of subscriptions is filtered and sorted by. Identifiers of others are the caller's. */
export const listedSubscriptionColumns: Columns = {
  ...own,
  customerId: column('text', 'customer.ref_id'),
  productId: column('text', 'product.ref_id'),
  resourceId: nullable('text', 'customer_resource.ref_id'),
}
