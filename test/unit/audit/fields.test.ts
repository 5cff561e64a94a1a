import { expect } from 'chai'
import { isInputObjectType, isObjectType } from 'graphql'
import type { AuditedChange } from '../../../src/audit/model/entry.js'
import {
  auditedInvoice,
  auditedPaymentMethod,
  auditedTaxRate,
  auditedTerms,
  invoiceState,
  newInvoice,
} from '../../../src/billing/rules/audited.js'
import type { Invoice, Terms } from '../../../src/billing/rules/billing.js'
import { auditedCustomer } from '../../../src/customer/model/audited.js'
import type { Customer } from '../../../src/customer/model/customer.js'
import { auditedPromotional, type PromotionalFacts } from '../../../src/entitlement/rules/audited.js'
import { auditedEnvironment, auditedKey } from '../../../src/environment/model/audited.js'
import type { ApiKey, Environment } from '../../../src/environment/model/environment.js'
import { zero } from '../../../src/kernel/decimal.js'
import { auditedEndpoint, auditedSecret } from '../../../src/notifications/webhooks/rules/audited.js'
import type { WebhookEndpoint } from '../../../src/notifications/webhooks/rules/endpoint.js'
import { auditedSubscription } from '../../../src/subscription/rules/audited.js'
import type { Subscription } from '../../../src/subscription/rules/subscription.js'
import { createSchema } from '../../../src/web/graphql/schema.js'

const schema = createSchema()

/** Names of fields of the API's type, and of inputs by which what the type does not show is set. */
function namesOf(...types: string[]): string[] {
  return types.flatMap((name) => {
    const type = schema.getType(name)
    return isObjectType(type) || isInputObjectType(type) ? Object.keys(type.getFields()) : []
  })
}

const period = { start: 0, end: 1 }
const lists = { addons: [], quantities: [], ownEntitlements: [], scheduled: [] }
const version = { refId: 'free', versionNumber: 1 }
const dates = { startDate: 0, billingAnchor: 0, endDate: null, trialEndDate: null, cancellationDate: null, effectiveEndDate: null }
const subscription = { ...lists, ...dates, plan: version, currentPeriod: null } as unknown as Subscription
const endpoint = { url: 'https://example.com/?q', disabledAt: null, previousSecretExpiresAt: null } as WebhookEndpoint
const none = { endDate: null, startDate: 0, resetPeriod: null }

/** What there is no word for in the API, and why it is told all the same. */
const cases: [name: string, change: AuditedChange, api: string[], beside: string[]][] = [
  [
    'a customer',
    auditedCustomer(null, { archivedAt: null } as Customer),
    namesOf('Customer', 'CustomerBillingInfo', 'BillingInfo'),
    ['timezone'],
  ],
  [
    'a subscription',
    auditedSubscription(null, subscription),
    namesOf('CustomerSubscription', 'ProvisionSubscription', 'ProvisionSubscriptionInput', 'UpdateSubscriptionInput'),
    ['entitlements', 'unitQuantities'],
  ],
  [
    'terms of a subscription',
    auditedTerms(subscription, null, { priceOverrides: [] } as unknown as Terms),
    namesOf('CustomerSubscription', 'ProvisionSubscriptionInput', 'SubscriptionBillingInfo'),
    ['currency', 'discount', 'priceOverrides', 'taxPercentage', 'daysUntilDue'],
  ],
  [
    'a promotional entitlement',
    auditedPromotional(null, { ...none } as unknown as PromotionalFacts),
    namesOf('PromotionalEntitlement', 'PromotionalEntitlementGrantInput'),
    ['customer'],
  ],
  [
    'an invoice',
    auditedInvoice('e', 'i', null, { ...newInvoice({} as Invoice, { period } as never), ...invoiceState({} as Invoice) }),
    namesOf('SubscriptionInvoice'),
    ['subscription', 'customer', 'discount', 'creditApplied', 'collectionMethod', 'periodStart', 'periodEnd', 'number', 'refundedAmount'],
  ],
  ['a tax rate', auditedTaxRate('e', null, { id: 'vat', displayName: 'VAT', percentage: zero }), namesOf('TaxRate'), []],
  ['a payment method', auditedPaymentMethod('e', 'acme', null, 'pm'), namesOf('Customer'), []],
  ['a webhook endpoint', auditedEndpoint(null, endpoint), namesOf('WebhookEndpoint'), ['urlRest']],
  ['the secret of a webhook endpoint', auditedSecret(endpoint, endpoint), namesOf('WebhookEndpoint', 'WebhookEndpointWithSecret'), []],
  ['an API key', auditedKey(null, { expiresAt: null, revokedAt: null } as ApiKey), namesOf('ApiKey'), []],
  [
    'an environment',
    auditedEnvironment(null, {
      id: 'e',
      refId: 'production',
      displayName: 'Production',
      isTest: false,
      hasPersistentCache: false,
      persistentCacheQueueUrl: null,
      allowsUnsignedClientReads: false,
      createdAt: 0,
    } satisfies Environment),
    namesOf('Environment'),
    [],
  ],
]

describe('fields of the audit log', () => {
  for (const [name, { after }, api, beside] of cases)
    it(`are called of ${name} as the API calls them`, () => {
      expect(Object.keys(after!).filter((field) => !api.includes(field) && !beside.includes(field))).to.deep.equal([])
      expect(
        beside.filter((field) => !(field in after!)),
        'is not told',
      ).to.deep.equal([])
    })
})
