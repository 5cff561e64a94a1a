import type pg from 'pg'
import type { MutatedCustomer } from '../changes/mutation-customer.js'
import type { Scenario } from '../changes/mutation-scenarios.js'

interface OwnScenario extends Scenario {
  variables(customer: MutatedCustomer): object | Promise<object>
}

const paid = { customerId: 'acme', planId: 'paid', subscriptionId: 'sub' }
const buy = (customer: MutatedCustomer, more: object = {}) => customer.mutate('provisionSubscription', { input: { ...paid, ...more } })
const environmentOf = ({ name }: MutatedCustomer) => ({ input: { environmentRefId: name } })
const unpaid = async (customer: MutatedCustomer) => {
  const { subscription } = await buy(customer, { paymentCollectionMethod: 'CHARGE' })
  return { input: { billingId: subscription.latestInvoice.billingId as string } }
}
const keyOf = async (customer: MutatedCustomer) =>
  (await customer.mutate('createApiKey', { input: { environmentRefId: customer.name, kind: 'CLIENT', name: 'browser' } })).apiKey
    .id as string

const hooks = (url = 'https://example.com/hooks?token=t') => ({ input: { url } })
const endpointOf = async (customer: MutatedCustomer) => (await customer.mutate('createWebhookEndpoint', hooks())).endpoint.id as string

const alert = { input: { featureId: 'calls', thresholds: [{ kind: 'SHARE', value: 80 }] } }
const alertOf = async (customer: MutatedCustomer) => (await customer.mutate('createAlert', alert)).id as string

/** What the rest of the mutations of the schema is tried with. */
export const further: Record<string, OwnScenario> = {
  createAlert: { variables: () => alert },
  createApiKey: { variables: ({ name }) => ({ input: { environmentRefId: name, kind: 'CLIENT', name: 'browser' } }) },
  createEnvironment: { variables: ({ name }) => ({ input: { refId: `${name}-other` } }) },
  createOneCoupon: { variables: () => ({ input: { refId: 'ten', name: 'Ten', percentOff: 10 } }) },
  createWebhookEndpoint: { variables: () => hooks() },
  delegateSubscriptionToCustomer: {
    variables: async (customer) => {
      await customer.mutate('provisionCustomer', { input: { customerId: 'parent' } })
      await buy(customer)
      return { input: { subscriptionId: 'sub', destinationCustomerId: 'parent' } }
    },
  },
  deleteAlert: { variables: async (customer) => ({ input: { id: await alertOf(customer) } }) },
  deleteWebhookEndpoint: { variables: async (customer) => ({ input: { id: await endpointOf(customer) } }) },
  disablePersistentCache: {
    variables: async (customer) => {
      await customer.mutate('enablePersistentCache', environmentOf(customer))
      return environmentOf(customer)
    },
  },
  enablePersistentCache: { variables: environmentOf },
  estimateSubscription: { variables: () => ({ input: { customerId: 'acme', planId: 'paid' } }) },
  estimateSubscriptionUpdate: {
    variables: async (customer) => {
      await buy(customer)
      return { input: { subscriptionId: 'sub', addons: [{ addonId: 'more', quantity: 2 }] } }
    },
  },
  importCustomersBulk: {
    variables: () => ({ input: { customers: [{ customerId: 'globex', name: 'Globex', email: 'it@globex.example' }] } }),
  },
  importSubscriptionsBulk: { variables: () => ({ input: { subscriptions: [{ customerId: 'acme', planId: 'paid' }] } }) },
  markInvoiceFailed: { variables: unpaid },
  previewNextInvoice: {
    variables: async (customer) => {
      await buy(customer)
      return { input: { subscriptionId: 'sub' } }
    },
  },
  previewSubscription: { variables: () => ({ input: { customerId: 'acme', planId: 'paid' } }) },
  recomputeUsage: { variables: () => ({ input: { featureId: 'tokens' } }) },
  reportEntitlementCheckRequested: {
    variables: () => ({
      entitlementCheckRequested: { customerId: 'acme', featureId: 'sso', entitlementCheckResult: { hasAccess: true } },
    }),
  },
  reportEvent: { variables: () => ({ events: { usageEvents: [{ customerId: 'acme', eventName: 'request', idempotencyKey: 'e' }] } }) },
  requirePaymentAction: { variables: unpaid },
  resendWebhookDeliveries: {
    variables: async (customer) => ({ input: { endpointId: await endpointOf(customer), since: '2030-01-01T00:00:00Z' } }),
  },
  retryBillingCalls: {
    variables: async (customer) => {
      await buy(customer)
      await customer.sql("UPDATE billing_intent SET state = 'GIVEN_UP' WHERE environment_id = $1::uuid")
      return {}
    },
  },
  revokeApiKey: { variables: async (customer) => ({ input: { id: await keyOf(customer) } }) },
  rotateApiKey: { variables: async (customer) => ({ input: { id: await keyOf(customer), overlapSeconds: 60 } }) },
  rotateWebhookSecret: { variables: async (customer) => ({ input: { id: await endpointOf(customer), overlapSeconds: 60 } }) },
  setPaymentMethod: { variables: () => ({ input: { customerId: 'acme', reference: 'pm_secret' } }) },
  setTaxRate: { variables: () => ({ input: { id: 'vat', displayName: 'VAT', percentage: 19 } }) },
  testWebhookEndpoint: { variables: async (customer) => ({ input: { id: await endpointOf(customer) } }) },
  updateAlert: { variables: async (customer) => ({ input: { id: await alertOf(customer), hysteresisPercent: 10 } }) },
  updateWebhookEndpoint: {
    variables: async (customer) => ({
      input: { id: await endpointOf(customer), isPaused: true, ...hooks('https://example.com/hooks?token=u').input },
    }),
  },
  warmPersistentCache: {
    variables: async (customer) => {
      await customer.mutate('enablePersistentCache', environmentOf(customer))
      return {}
    },
  },
}

const asks = 'answers what would be, and changes nothing'
const reported = 'is a report: usage is counted, and kept as it was reported'

/** Mutations that write nothing, and why. */
export const notAudited: Record<string, string> = {
  createUsageMeasurement: reported,
  estimateSubscription: asks,
  estimateSubscriptionUpdate: asks,
  previewNextInvoice: asks,
  previewSubscription: asks,
  reportEntitlementCheckRequested: 'counts a check in a metric',
  reportEvent: reported,
  reportUsage: reported,
  reportUsageBulk: reported,
  resendWebhookDeliveries: 'has what was told already told once more',
  testWebhookEndpoint: 'has an event sent that tells of no change',
  warmPersistentCache: 'tells a cache again what it should know already',
}

/** What all others write, in this order: who, what, and which fields. ENV is the environment, and the name of its key. */
export const expected: Record<string, string[]> = {
  advanceTestClock: [
    'KEY ENV: ENVIRONMENT ENV testClock',
    'SYSTEM cancellationDue: SUBSCRIPTION sub cancelReason status',
    'KEY ENV: ENVIRONMENT ENV testClock',
  ],
  applyCatalog: ['KEY ENV: FEATURE calls displayName'],
  applySubscription: [
    'KEY ENV: SUBSCRIPTION … cancelReason cancellationDate effectiveEndDate status',
    'KEY ENV: SUBSCRIPTION … made',
    'KEY ENV: INVOICE … made',
    'SYSTEM billingCall: INVOICE … billingId number',
  ],
  archiveCustomer: ['KEY ENV: SUBSCRIPTION … cancelReason cancellationDate effectiveEndDate status', 'KEY ENV: CUSTOMER acme deletedAt'],
  cancelSchedule: ['KEY ENV: SUBSCRIPTION sub cancellationDate effectiveEndDate'],
  cancelSubscription: ['KEY ENV: SUBSCRIPTION sub cancelReason cancellationDate effectiveEndDate status'],
  createAlert: ['KEY ENV: ALERT … made'],
  createApiKey: ['OPERATOR operator: API_KEY … made'],
  createEnvironment: ['OPERATOR operator: ENVIRONMENT ENV-other made'],
  createOneCoupon: ['KEY ENV: COUPON ten made'],
  createOneCustomer: ['KEY ENV: CUSTOMER acme made'],
  createSubscription: [
    'KEY ENV: SUBSCRIPTION … cancelReason cancellationDate effectiveEndDate status',
    'KEY ENV: SUBSCRIPTION sub made',
    'KEY ENV: INVOICE … made',
    'SYSTEM billingCall: INVOICE … billingId number',
  ],
  createTestClock: [
    'KEY ENV: ENVIRONMENT ENV testClock',
    'KEY ENV: ENVIRONMENT ENV testClock',
    'SYSTEM cancellationDue: SUBSCRIPTION sub cancelReason status',
    'KEY ENV: ENVIRONMENT ENV testClock',
  ],
  createWebhookEndpoint: ['KEY ENV: WEBHOOK_ENDPOINT … made'],
  delegateSubscriptionToCustomer: ['KEY ENV: SUBSCRIPTION sub payingCustomer'],
  deleteAlert: ['KEY ENV: ALERT … gone'],
  deleteWebhookEndpoint: ['KEY ENV: WEBHOOK_ENDPOINT … gone'],
  disablePersistentCache: ['OPERATOR operator: ENVIRONMENT ENV hasPersistentCache'],
  enablePersistentCache: ['OPERATOR operator: ENVIRONMENT ENV hasPersistentCache'],
  grantPromotionalEntitlements: ['KEY ENV: PROMOTIONAL_ENTITLEMENT … made'],
  importCustomersBulk: ['KEY ENV: IMPORT … made'],
  importOneCustomer: ['KEY ENV: CUSTOMER acme made'],
  importSubscriptionsBulk: ['KEY ENV: IMPORT … made'],
  markInvoiceFailed: [
    'OPERATOR operator: INVOICE … errorMessage status',
    'OPERATOR operator: SUBSCRIPTION sub paymentCollection',
    'SYSTEM billingCall: INVOICE … status',
    'SYSTEM billingCall: SUBSCRIPTION sub cancelReason cancellationDate effectiveEndDate status',
  ],
  markInvoicePaid: [
    'OPERATOR operator: INVOICE … status',
    'OPERATOR operator: SUBSCRIPTION … cancelReason cancellationDate effectiveEndDate status',
    'OPERATOR operator: SUBSCRIPTION sub currentBillingPeriodEnd currentBillingPeriodStart paymentCollection status',
  ],
  migrateSubscriptionToLatest: [
    'KEY ENV: SUBSCRIPTION sub plan',
    'KEY ENV: BALANCE_ENTRY … made',
    'KEY ENV: BALANCE_ENTRY … made',
    'KEY ENV: INVOICE … made',
    'SYSTEM billingCall: INVOICE … billingId number status',
  ],
  provisionCustomer: ['KEY ENV: CUSTOMER acme made', 'KEY ENV: SUBSCRIPTION … made'],
  provisionSubscription: ['KEY ENV: SUBSCRIPTION sub made', 'KEY ENV: INVOICE … made', 'SYSTEM billingCall: INVOICE … billingId number'],
  provisionSubscriptionV2: [
    'KEY ENV: SUBSCRIPTION … cancelReason cancellationDate effectiveEndDate status',
    'KEY ENV: SUBSCRIPTION sub made',
    'KEY ENV: INVOICE … made',
    'SYSTEM billingCall: INVOICE … billingId number',
  ],
  recomputeUsage: ['KEY ENV: USAGE_RECOMPUTATION … made'],
  removeUsageEvent: ['KEY ENV: USAGE_EVENT event-1 gone'],
  removeUsageMeasurement: ['KEY ENV: USAGE_MEASUREMENT … gone'],
  replaceUsageEvent: ['KEY ENV: USAGE_EVENT event-1 dimensions'],
  replaceUsageMeasurement: ['KEY ENV: USAGE_MEASUREMENT … value'],
  requirePaymentAction: ['OPERATOR operator: INVOICE … requiresAction'],
  retryBillingCalls: ['OPERATOR operator: BILLING_CALL … isGivenUp'],
  revokeApiKey: ['OPERATOR operator: API_KEY … revokedAt'],
  revokePromotionalEntitlement: ['KEY ENV: PROMOTIONAL_ENTITLEMENT … gone'],
  rotateApiKey: ['OPERATOR operator: API_KEY … expiresAt', 'OPERATOR operator: API_KEY … made'],
  rotateWebhookSecret: ['KEY ENV: WEBHOOK_ENDPOINT … previousSecretExpiresAt secret'],
  setPaymentMethod: ['OPERATOR operator: PAYMENT_METHOD acme defaultPaymentMethodId hasPaymentMethod'],
  setTaxRate: ['OPERATOR operator: TAX_RATE vat made'],
  transferSubscription: ['KEY ENV: SUBSCRIPTION sub resourceId'],
  transferSubscriptionToResource: ['KEY ENV: SUBSCRIPTION sub resourceId'],
  unarchiveCustomer: ['KEY ENV: CUSTOMER acme deletedAt'],
  updateOneCustomer: ['KEY ENV: CUSTOMER acme timezone'],
  updateAlert: ['KEY ENV: ALERT … hysteresisPercent'],
  updateWebhookEndpoint: ['KEY ENV: WEBHOOK_ENDPOINT … status urlRest'],
  updateOneSubscription: [
    'KEY ENV: SUBSCRIPTION sub addons',
    'KEY ENV: BALANCE_ENTRY … made',
    'KEY ENV: BALANCE_ENTRY … made',
    'KEY ENV: INVOICE … made',
    'SYSTEM billingCall: INVOICE … billingId number',
  ],
}

interface Written {
  text: string
  operation: string
  traceId: string | null
  address: string | null
}

/** All that was written and is not among `known`, in the order in which it was: who, what, and which fields. */
export async function entriesOf(pool: pg.Pool, known: readonly string[]): Promise<Written[]> {
  const { rows } = await pool.query<Record<string, string | null> & { before: object | null; after: object | null }>(
    'SELECT * FROM audit_entry WHERE id <> ALL($1::uuid[]) ORDER BY at, id',
    [known],
  )
  return rows.map((row) => {
    const { before, after } = row
    const id = /^[0-9a-f]{8}-/.test(row.entity_id!) ? '…' : row.entity_id
    const fields = before && after ? Object.keys(after).sort().join(' ') : before ? 'gone' : 'made'
    return {
      text: `${row.actor_kind} ${row.actor_name}: ${row.entity_kind} ${id} ${fields}`,
      operation: row.operation!,
      traceId: row.trace_id!,
      address: row.address!,
    }
  })
}
