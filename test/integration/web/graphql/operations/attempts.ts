import type { TwoEnvironments } from './two-environments.js'

/**
 * refused  errors, and nothing is answered
 * nothing  null, an empty list, or a state that says that nobody is known
 * own      answered, from what the asking environment has itself
 */
export type Outcome = 'refused' | 'nothing' | 'own'

const their = { customerId: 'their-customer' }
const our = { customerId: 'our-customer' }
const startDate = new Date(Date.now() - 86_400_000).toISOString()
const later = new Date(Date.now() + 86_400_000).toISOString()
const checkResult = { hasAccess: true }
const theirEvent = { customerId: 'their-customer', eventName: 'their-event', idempotencyKey: 'their-event-key' }
const theirGrant = [{ featureId: 'their-sso', period: 'LIFETIME' }]

/** Of every operation: variables that name what is theirs, and what comes of it. */
export const attempts: Record<string, [Outcome, (known: Pick<TwoEnvironments, 'ids' | 'theirs'>) => object][]> = {
  'Query.apiKeys': [['refused', () => ({ input: { environmentRefId: 'theirs' } })]],
  'Query.environments': [['refused', () => ({})]],
  'Query.cachedEntitlements': [
    ['nothing', () => ({ query: their })],
    ['nothing', () => ({ query: { ...our, resourceId: 'their-resource' } })],
  ],
  'Query.auditLog': [
    ['refused', () => ({ filter: { environmentRefId: 'theirs' } })],
    ['nothing', () => ({ filter: { entityId: 'their-customer' } })],
    ['own', () => ({})],
  ],
  'Query.billingCalls': [['nothing', () => ({})]],
  'Query.catalog': [['own', () => ({})]],
  'Query.coupons': [
    ['nothing', () => ({ filter: { refId: { eq: 'their-coupon' } } })],
    ['own', () => ({})],
  ],
  'Query.customers': [
    ['nothing', () => ({ filter: { customerId: { eq: 'their-customer' } } })],
    ['nothing', ({ ids, theirs }) => ({ filter: { or: [{ id: { eq: ids.customer } }, { environmentId: { eq: theirs.id } }] } })],
    ['own', () => ({ paging: { first: 50 } })],
  ],
  'Query.entitlement': [
    ['own', () => ({ query: { ...their, featureId: 'their-calls' } })],
    ['own', () => ({ query: { ...our, featureId: 'their-calls' } })],
  ],
  'Query.entitlementV2': [['own', () => ({ query: { ...their, featureId: 'their-calls' } })]],
  'Query.entitlementsState': [
    ['own', () => ({ query: their })],
    ['own', () => ({ query: { ...our, resourceId: 'their-resource' } })],
  ],
  'Query.getActiveSubscriptions': [
    ['refused', () => ({ input: their })],
    ['nothing', () => ({ input: { ...our, resourceIds: ['their-resource'] } })],
  ],
  'Query.getCustomerByRefId': [
    ['nothing', () => ({ input: their })],
    ['nothing', ({ ids }) => ({ input: { customerId: ids.customer } })],
  ],
  'Query.getPaywall': [
    ['refused', () => ({ input: { productId: 'their-product' } })],
    ['refused', () => ({ input: { productId: 'our-product', ...their } })],
  ],
  'Query.getSubscription': [
    ['refused', () => ({ input: { subscriptionId: 'their-subscription' } })],
    ['refused', ({ ids }) => ({ input: { subscriptionId: ids.subscription } })],
  ],
  'Query.importJob': [['nothing', ({ ids }) => ({ input: { id: ids.import } })]],
  'Query.packageMigrations': [['nothing', () => ({})]],
  'Query.persistentCacheWarming': [['nothing', () => ({})]],
  'Query.paywall': [
    ['refused', () => ({ input: { productId: 'their-product' } })],
    ['refused', () => ({ input: { productId: 'our-product', ...their } })],
  ],
  'Query.products': [
    ['nothing', () => ({ filter: { refId: { eq: 'their-product' } } })],
    ['own', () => ({})],
  ],
  'Query.sdkConfiguration': [['own', () => ({})]],
  'Query.subscriptions': [
    ['nothing', () => ({ filter: { subscriptionId: { eq: 'their-subscription' } } })],
    ['nothing', () => ({ filter: { customer: { customerId: { eq: 'their-customer' } } } })],
    ['nothing', ({ theirs }) => ({ filter: { environmentId: { eq: theirs.id } } })],
  ],
  'Query.taxRates': [['nothing', () => ({})]],
  'Query.testClock': [['nothing', () => ({})]],
  'Query.usageRecomputation': [['refused', ({ ids }) => ({ id: ids.recomputation })]],
  'Query.usageHistory': [
    ['refused', () => ({ usageHistoryInput: { customerRefId: 'their-customer', featureRefId: 'their-calls', startDate } })],
    ['refused', () => ({ usageHistoryInput: { customerRefId: 'our-customer', featureRefId: 'their-calls', startDate } })],
  ],
  'Query.usageHistoryV2': [
    ['refused', () => ({ input: { ...their, featureId: 'their-calls', startDate } })],
    ['refused', () => ({ input: { ...our, featureId: 'their-calls', startDate } })],
  ],
  'Query.alerts': [['own', () => ({})]],
  'Query.alertCrossings': [
    ['nothing', () => ({})],
    ['nothing', ({ ids }) => ({ filter: { alertId: ids.alert } })],
    ['nothing', () => ({ filter: { customerId: 'their-customer' } })],
  ],
  'Mutation.createAlert': [
    ['own', () => ({ input: { featureId: 'our-calls', thresholds: [{ kind: 'SHARE', value: 80 }] } })],
    ['refused', () => ({ input: { featureId: 'their-calls', thresholds: [{ kind: 'SHARE', value: 80 }] } })],
    ['refused', () => ({ input: { featureId: 'our-calls', customerId: 'their-customer', thresholds: [{ kind: 'SHARE', value: 80 }] } })],
    ['refused', () => ({ input: { featureId: 'our-calls', planId: 'their-plan', thresholds: [{ kind: 'SHARE', value: 80 }] } })],
  ],
  'Mutation.updateAlert': [['refused', ({ ids }) => ({ input: { id: ids.alert, hysteresisPercent: 5 } })]],
  'Mutation.deleteAlert': [['refused', ({ ids }) => ({ input: { id: ids.alert } })]],
  'Query.webhookEndpoints': [['own', () => ({})]],
  'Query.webhookDeliveries': [['refused', ({ ids }) => ({ input: { endpointId: ids.endpoint } })]],
  'Mutation.createWebhookEndpoint': [['own', () => ({ input: { url: 'https://ours.example.com' } })]],
  'Mutation.updateWebhookEndpoint': [['refused', ({ ids }) => ({ input: { id: ids.endpoint, url: 'https://ours.example.com' } })]],
  'Mutation.deleteWebhookEndpoint': [['refused', ({ ids }) => ({ input: { id: ids.endpoint } })]],
  'Mutation.rotateWebhookSecret': [['refused', ({ ids }) => ({ input: { id: ids.endpoint, overlapSeconds: 0 } })]],
  'Mutation.testWebhookEndpoint': [['refused', ({ ids }) => ({ input: { id: ids.endpoint } })]],
  'Mutation.resendWebhookDeliveries': [['refused', ({ ids }) => ({ input: { endpointId: ids.endpoint, since: startDate } })]],
  'Mutation.advanceTestClock': [['refused', () => ({ input: { frozenTime: later } })]],
  'Mutation.applyCatalog': [
    ['refused', () => ({ input: { plans: [{ refId: 'our-new-plan', product: 'their-product', entitlements: [] }] }, dryRun: true })],
    ['own', () => ({ input: { features: [{ refId: 'their-calls', displayName: 'Ours now', type: 'BOOLEAN' }] }, dryRun: true })],
  ],
  'Mutation.applySubscription': [
    ['refused', () => ({ input: { ...their, planId: 'our-plan' } })],
    ['refused', () => ({ input: { ...our, planId: 'their-plan' } })],
  ],
  'Mutation.archiveCustomer': [
    ['refused', () => ({ input: their })],
    ['refused', ({ ids }) => ({ input: { customerId: ids.customer } })],
  ],
  'Mutation.cancelSchedule': [['refused', () => ({ input: { subscriptionId: 'their-subscription' } })]],
  'Mutation.cancelSubscription': [
    ['refused', () => ({ input: { subscriptionRefId: 'their-subscription' } })],
    ['refused', ({ ids }) => ({ input: { subscriptionRefId: ids.subscription } })],
  ],
  'Mutation.createApiKey': [['refused', () => ({ input: { environmentRefId: 'theirs', kind: 'SERVER', name: 'Ours' } })]],
  'Mutation.enablePersistentCache': [['refused', () => ({ input: { environmentRefId: 'theirs' } })]],
  'Mutation.disablePersistentCache': [['refused', () => ({ input: { environmentRefId: 'theirs' } })]],
  'Mutation.createEnvironment': [['refused', () => ({ input: { refId: 'third' } })]],
  'Mutation.revokeApiKey': [['refused', ({ ids }) => ({ input: { id: ids.key } })]],
  'Mutation.rotateApiKey': [['refused', ({ ids }) => ({ input: { id: ids.key, overlapSeconds: 0 } })]],
  'Mutation.createOneCoupon': [['own', () => ({ input: { refId: 'their-second-coupon', name: 'Ours', percentOff: 1 } })]],
  'Mutation.createOneCustomer': [
    ['own', () => ({ input: { ...their, name: 'Ours' } })],
    ['refused', () => ({ input: { customerId: 'our-second', couponRefId: 'their-coupon' } })],
  ],
  'Mutation.createSubscription': [
    ['refused', () => ({ subscription: { customerId: 'their-imported', planId: 'our-plan' } })],
    ['refused', () => ({ subscription: { ...our, planId: 'their-plan' } })],
  ],
  'Mutation.warmPersistentCache': [['refused', () => ({})]],
  'Mutation.createTestClock': [['refused', ({ theirs }) => ({ input: { frozenTime: later, environmentId: theirs.id } })]],
  'Mutation.createUsageMeasurement': [
    ['refused', () => ({ usageMeasurement: { customerId: 'their-imported', featureId: 'our-calls', value: 1 } })],
    ['refused', () => ({ usageMeasurement: { ...our, featureId: 'their-calls', value: 1 } })],
    ['refused', () => ({ usageMeasurement: { ...our, resourceId: 'their-resource', featureId: 'our-calls', value: 1 } })],
  ],
  'Mutation.delegateSubscriptionToCustomer': [
    ['refused', () => ({ input: { subscriptionId: 'their-subscription', destinationCustomerId: 'our-customer' } })],
    ['refused', () => ({ input: { subscriptionId: 'our-subscription', destinationCustomerId: 'their-imported' } })],
  ],
  'Mutation.estimateSubscription': [['refused', () => ({ input: { ...our, planId: 'their-plan' } })]],
  'Mutation.estimateSubscriptionUpdate': [['refused', () => ({ input: { subscriptionId: 'their-subscription' } })]],
  'Mutation.grantPromotionalEntitlements': [
    [
      'refused',
      () => ({ input: { customerId: 'their-imported', promotionalEntitlements: [{ featureId: 'our-sso', period: 'LIFETIME' }] } }),
    ],
    ['refused', () => ({ input: { ...our, promotionalEntitlements: theirGrant } })],
  ],
  'Mutation.importCustomersBulk': [['own', () => ({ input: { customers: [{ ...their, name: 'Ours' }] } })]],
  'Mutation.importOneCustomer': [['own', () => ({ input: { ...their, name: 'Ours' } })]],
  'Mutation.importSubscriptionsBulk': [
    ['own', () => ({ input: { subscriptions: [{ customerId: 'their-imported', planId: 'their-plan' }] } })],
  ],
  'Mutation.markInvoiceFailed': [['refused', ({ ids }) => ({ input: { billingId: ids.invoice } })]],
  'Mutation.markInvoicePaid': [['refused', ({ ids }) => ({ input: { billingId: ids.invoice } })]],
  'Mutation.migrateSubscriptionToLatest': [['refused', () => ({ input: { subscriptionId: 'their-subscription' } })]],
  'Mutation.previewNextInvoice': [['refused', () => ({ input: { subscriptionId: 'their-subscription' } })]],
  'Mutation.previewSubscription': [['refused', () => ({ input: { ...our, planId: 'their-plan' } })]],
  'Mutation.provisionCustomer': [
    ['own', () => ({ input: { ...their, name: 'Ours' } })],
    ['refused', () => ({ input: { customerId: 'our-third', subscriptionParams: { planId: 'their-plan' } } })],
  ],
  'Mutation.provisionSubscription': [['refused', () => ({ input: { ...our, planId: 'their-plan' } })]],
  'Mutation.provisionSubscriptionV2': [
    ['refused', () => ({ input: { customerId: 'their-imported', planId: 'our-plan' } })],
    ['refused', () => ({ input: { ...our, planId: 'their-plan' } })],
    ['refused', () => ({ subscription: { ...our, planId: 'our-plan', resourceId: 'r', addons: [{ addonId: 'their-addon' }] } })],
  ],
  'Mutation.recomputeUsage': [
    ['refused', () => ({ input: { featureId: 'their-requests' } })],
    ['refused', () => ({ input: { featureId: 'our-requests', customerId: 'their-imported' } })],
  ],
  'Mutation.removeUsageEvent': [['refused', () => ({ input: theirEvent })]],
  'Mutation.removeUsageMeasurement': [
    ['refused', ({ ids }) => ({ input: { id: ids.measurement } })],
    ['refused', () => ({ input: { idempotencyKey: 'their-key' } })],
  ],
  'Mutation.replaceUsageEvent': [['refused', () => ({ input: { ...theirEvent, dimensions: { a: 1 } } })]],
  'Mutation.replaceUsageMeasurement': [
    ['refused', ({ ids }) => ({ input: { id: ids.measurement, value: 1 } })],
    ['refused', () => ({ input: { idempotencyKey: 'their-key', value: 1 } })],
  ],
  'Mutation.reportEntitlementCheckRequested': [
    ['own', () => ({ entitlementCheckRequested: { ...their, featureId: 'their-calls', entitlementCheckResult: checkResult } })],
  ],
  'Mutation.reportEvent': [
    ['refused', () => ({ events: { usageEvents: [{ customerId: 'their-imported', eventName: 'e', idempotencyKey: 'k' }] } })],
  ],
  'Mutation.reportUsage': [
    ['refused', () => ({ input: { customerId: 'their-imported', featureId: 'our-calls', value: 1 } })],
    // The key is taken in their environment only.
    ['own', () => ({ input: { ...our, featureId: 'our-calls', value: 99, idempotencyKey: 'their-key' } })],
  ],
  'Mutation.reportUsageBulk': [
    [
      'refused',
      () => ({
        input: {
          usages: [
            { ...our, featureId: 'our-calls', value: 1 },
            { ...our, featureId: 'their-calls', value: 1 },
          ],
        },
      }),
    ],
  ],
  'Mutation.requirePaymentAction': [['refused', ({ ids }) => ({ input: { billingId: ids.invoice } })]],
  'Mutation.retryBillingCalls': [['own', () => ({})]],
  'Mutation.revokePromotionalEntitlement': [
    ['refused', () => ({ input: { customerId: 'their-imported', featureId: 'their-sso' } })],
    ['refused', () => ({ input: { ...our, featureId: 'their-sso' } })],
  ],
  'Mutation.setPaymentMethod': [['refused', () => ({ input: { customerId: 'their-imported', reference: 'card' } })]],
  'Mutation.setTaxRate': [['own', () => ({ input: { id: 'their-rate', displayName: 'Ours', percentage: 1 } })]],
  'Mutation.transferSubscription': [
    ['refused', () => ({ input: { customerId: 'their-imported', sourceResourceId: 'their-resource', destinationResourceId: 'r' } })],
    ['refused', () => ({ input: { ...our, sourceResourceId: 'their-resource', destinationResourceId: 'r' } })],
  ],
  'Mutation.transferSubscriptionToResource': [
    ['refused', () => ({ input: { subscriptionId: 'their-resource-subscription', destinationResourceId: 'r' } })],
  ],
  'Mutation.unarchiveCustomer': [['refused', () => ({ input: { customerId: 'their-imported' } })]],
  'Mutation.updateOneCustomer': [
    ['refused', () => ({ input: { customerId: 'their-imported', name: 'Ours' } })],
    ['refused', () => ({ input: { ...our, couponRefId: 'their-coupon' } })],
  ],
  'Mutation.updateOneSubscription': [
    ['refused', () => ({ input: { subscriptionId: 'their-subscription', additionalMetaData: { a: 1 } } })],
    ['refused', ({ ids }) => ({ input: { refId: ids.subscription, additionalMetaData: { a: 1 } } })],
  ],
}
