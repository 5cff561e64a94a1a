import { column, nothing, nullable } from '../../platform/list/columns.js';
const own = {
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
};
/** What subscriptions, called `subscription` in the statement, are filtered by as what a customer has. Identifiers of others are ours here. */
export const subscriptionColumns = {
    ...own,
    billingCycleAnchor: column('time', 'subscription.billing_anchor'),
    cancelReason: nullable('text', 'subscription.cancel_reason::text'),
    crmId: nullable('text', 'subscription.crm_id'),
    crmLinkUrl: nothing,
    currentBillingPeriodEnd: nullable('time', 'subscription.current_period_end'),
    currentBillingPeriodStart: nullable('time', 'subscription.current_period_start'),
    customerId: column('uuid', 'subscription.customer_id'),
    effectiveEndDate: nullable('time', 'subscription.effective_end_date'),
    id: column('uuid', 'subscription.id'),
    oldBillingId: nothing,
    payingCustomerId: nullable('uuid', 'subscription.paying_customer_id'),
    refId: column('text', 'subscription.ref_id'),
    resourceId: nullable('uuid', 'subscription.resource_id'),
    trialEndDate: nullable('time', 'subscription.trial_end_date'),
};
/** What the list of subscriptions is filtered and sorted by. Identifiers of others are the caller's. */
export const listedSubscriptionColumns = {
    ...own,
    customerId: column('text', 'customer.ref_id'),
    productId: column('text', 'product.ref_id'),
    resourceId: nullable('text', 'customer_resource.ref_id'),
};
//# sourceMappingURL=list-columns.js.map