import type { UsageEvent } from '../../../src/metering/model/report.js'
import { event } from '../metering/fixture.js'

/** The customer acme in a test environment of its own, through the first of the web processes. */
export interface Customer {
  environmentId: string
  // biome-ignore lint/suspicious/noExplicitAny: answers are read as JSON
  mutate(mutation: string, variables: object): Promise<any>
  /** What each web process answers of the customer (null) and its resources. */
  statesThrough(holders: readonly (string | null)[]): Promise<unknown[][]>
  countEvents(events: UsageEvent[]): Promise<void>
}

export interface Scenario {
  /** The customer does not exist before. */
  isNew?: true
  /** Whose states are looked at beside the customer's own. */
  resources?: string[]
  /** Brings the customer to where the mutation changes something, and answers what it is asked for with. */
  variables(customer: Customer): object | Promise<object>
}

const day = 86_400_000
const counted = (refId: string, displayName: string) => ({
  refId,
  displayName,
  type: 'NUMBER',
  meter: 'Incremental',
  units: 'unit',
  unitsPlural: 'units',
})
const flat = { billingModel: 'FLAT_FEE', billingPeriod: 'MONTHLY', currency: 'USD' }

export const catalog = ({ limit = 10, calls = 'Calls' } = {}) => ({
  features: [
    counted('calls', calls),
    {
      ...counted('tokens', 'Tokens'),
      events: { aggregation: 'SUM', field: 'tokens', filters: [[{ field: 'eventName', operation: 'EQUALS', value: 'request' }]] },
    },
    { refId: 'sso', displayName: 'Single sign-on', type: 'BOOLEAN' },
  ],
  products: [
    {
      refId: 'cloud',
      settings: { newCustomer: 'FREE_PLAN', newCustomerPlan: 'free', multipleSubscriptions: true },
    },
  ],
  plans: [
    {
      refId: 'free',
      product: 'cloud',
      pricingType: 'FREE',
      entitlements: [
        { feature: 'calls', limit, resetPeriod: 'MONTH' },
        { feature: 'tokens', limit: 100, resetPeriod: 'MONTH' },
      ],
    },
    {
      refId: 'paid',
      product: 'cloud',
      compatibleAddons: ['more'],
      entitlements: [{ feature: 'calls', limit: 70 * limit, resetPeriod: 'MONTH' }],
      prices: [{ ...flat, amount: 20 }],
    },
  ],
  addons: [
    {
      refId: 'more',
      product: 'cloud',
      entitlements: [{ feature: 'calls', limit: 5, behavior: 'Increment', resetPeriod: 'MONTH' }],
      prices: [{ ...flat, amount: 1 }],
    },
  ],
})

const acme = { customerId: 'acme' }
const paid = { ...acme, planId: 'paid', subscriptionId: 'sub' }
const buy = (customer: Customer, more: object = {}) => customer.mutate('provisionSubscription', { input: { ...paid, ...more } })
const anEvent = event('acme', 'event-1', { dimensions: { tokens: 7 } })
const { dimensions: _, ...eventName } = anEvent
const report = async (customer: Customer) => {
  const { id } = await customer.mutate('reportUsage', { input: { ...acme, featureId: 'calls', value: 4 } })
  return { id }
}
/** A subscription that waits for its payment; answers its invoice. */
const waiting = async (customer: Customer) => {
  const { subscription } = await buy(customer, { paymentCollectionMethod: 'CHARGE' })
  return { billingId: subscription.latestInvoice.billingId as string }
}
const grant = { input: { ...acme, promotionalEntitlements: [{ featureId: 'sso', period: 'ONE_MONTH' }] } }

/** Mutations that change what may be read of usage and holdings. */
export const scenarios: Record<string, Scenario> = {
  advanceTestClock: {
    variables: async (customer) => {
      const now = Date.now()
      await customer.mutate('createTestClock', { input: { frozenTime: now + day } })
      await buy(customer, { cancellationDate: now + 3 * day })
      return { input: { frozenTime: now + 4 * day } }
    },
  },
  applyCatalog: { variables: () => ({ input: catalog({ calls: 'Requests' }) }) },
  applySubscription: { variables: () => ({ input: { ...acme, planId: 'paid' } }) },
  archiveCustomer: { variables: () => ({ input: acme }) },
  cancelSchedule: {
    variables: async (customer) => {
      await buy(customer)
      await customer.mutate('cancelSubscription', {
        input: { subscriptionRefId: 'sub', subscriptionCancellationTime: 'END_OF_BILLING_PERIOD' },
      })
      return { input: { subscriptionId: 'sub' } }
    },
  },
  cancelSubscription: {
    variables: async (customer) => {
      await buy(customer)
      return { input: { subscriptionRefId: 'sub', subscriptionCancellationTime: 'IMMEDIATE' } }
    },
  },
  createOneCustomer: { isNew: true, variables: () => ({ input: acme }) },
  createSubscription: { variables: () => ({ subscription: paid }) },
  createTestClock: {
    variables: async (customer) => {
      await buy(customer, { cancellationDate: Date.now() + 3 * day })
      return { input: { frozenTime: Date.now() + 5 * day } }
    },
  },
  createUsageMeasurement: { variables: () => ({ usageMeasurement: { ...acme, featureId: 'calls', value: 3 } }) },
  grantPromotionalEntitlements: { variables: () => grant },
  importOneCustomer: { isNew: true, variables: () => ({ input: acme }) },
  markInvoicePaid: { variables: async (customer) => ({ input: await waiting(customer) }) },
  migrateSubscriptionToLatest: {
    variables: async (customer) => {
      await buy(customer)
      await customer.mutate('applyCatalog', { input: catalog({ limit: 11 }) })
      return { input: { subscriptionId: 'sub', subscriptionMigrationTime: 'IMMEDIATE' } }
    },
  },
  provisionCustomer: { isNew: true, variables: () => ({ input: acme }) },
  provisionSubscription: { resources: ['site'], variables: () => ({ input: { ...paid, resourceId: 'site' } }) },
  provisionSubscriptionV2: { variables: () => ({ subscription: paid }) },
  removeUsageEvent: {
    variables: async (customer) => {
      await customer.countEvents([anEvent])
      return { input: eventName }
    },
  },
  removeUsageMeasurement: { variables: async (customer) => ({ input: await report(customer) }) },
  replaceUsageEvent: {
    variables: async (customer) => {
      await customer.countEvents([anEvent])
      return { input: { ...eventName, dimensions: { tokens: 2 } } }
    },
  },
  replaceUsageMeasurement: { variables: async (customer) => ({ input: { ...(await report(customer)), value: 9 } }) },
  reportUsage: { variables: () => ({ input: { ...acme, featureId: 'calls', value: 8 } }) },
  reportUsageBulk: {
    variables: () => ({ input: { usages: [2, 5].map((value) => ({ ...acme, featureId: 'calls', value })) } }),
  },
  revokePromotionalEntitlement: {
    variables: async (customer) => {
      await customer.mutate('grantPromotionalEntitlements', grant)
      return { input: { ...acme, featureId: 'sso' } }
    },
  },
  transferSubscription: {
    resources: ['site', 'other'],
    variables: async (customer) => {
      await buy(customer, { resourceId: 'site' })
      return { input: { ...acme, sourceResourceId: 'site', destinationResourceId: 'other' } }
    },
  },
  transferSubscriptionToResource: {
    resources: ['site'],
    variables: async (customer) => {
      await buy(customer)
      return { input: { subscriptionId: 'sub', destinationResourceId: 'site' } }
    },
  },
  unarchiveCustomer: {
    variables: async (customer) => {
      await customer.mutate('archiveCustomer', { input: acme })
      return { input: acme }
    },
  },
  updateOneCustomer: {
    variables: async (customer) => {
      await customer.mutate('reportUsage', { input: { ...acme, featureId: 'calls', value: 1 } })
      return { input: { ...acme, billingInformation: { timezone: 'Pacific/Auckland' } } }
    },
  },
  updateOneSubscription: {
    variables: async (customer) => {
      await buy(customer)
      return { input: { subscriptionId: 'sub', addons: [{ addonId: 'more', quantity: 2 }] } }
    },
  },
}

const asks = 'answers what would be, and changes nothing'
const later = 'is answered before it is done: workers do it, and deliver it'
const webhooks = 'is about who hears of events, and changes none of what they tell'
const alerts = 'is about what is told of usage, and changes none of it'
const operators = 'is the operator’s, about no customer'
const money = 'is about money: access follows when it is paid, or when time makes its end due'

/** Those that change nothing that is read of usage and holdings when they have answered, and why. */
export const unchanging: Record<string, string> = {
  createAlert: alerts,
  createApiKey: operators,
  createEnvironment: operators,
  createOneCoupon: money,
  createWebhookEndpoint: webhooks,
  delegateSubscriptionToCustomer: money,
  deleteAlert: alerts,
  deleteWebhookEndpoint: webhooks,
  disablePersistentCache: operators,
  enablePersistentCache: operators,
  estimateSubscription: asks,
  estimateSubscriptionUpdate: asks,
  importCustomersBulk: later,
  importSubscriptionsBulk: later,
  markInvoiceFailed: money,
  previewNextInvoice: asks,
  previewSubscription: asks,
  recomputeUsage: later,
  reportEntitlementCheckRequested: 'counts a check in a metric',
  reportEvent: later,
  requirePaymentAction: money,
  resendWebhookDeliveries: webhooks,
  retryBillingCalls: later,
  revokeApiKey: operators,
  rotateApiKey: operators,
  rotateWebhookSecret: webhooks,
  setPaymentMethod: money,
  setTaxRate: money,
  testWebhookEndpoint: webhooks,
  updateAlert: alerts,
  updateWebhookEndpoint: webhooks,
  warmPersistentCache: 'tells a cache again what it should know already',
}
