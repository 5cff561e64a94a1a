/**
 * What events say of the things that they are about. Everything is named by the identifiers of the host application; times are ISO 8601 in UTC, amounts
 * and quantities decimals as text. Names, e-mail addresses and metadata are not among it: an event is kept for a while after a customer was archived.
 */
import { z } from 'zod'
import { subscriptionStatuses } from './statuses.js'

const id = z.string().meta({ description: 'The identifier of the host application.' })
const time = z.iso.datetime({ precision: 3 })
const decimal = z.string().regex(/^-?\d+(\.\d+)?$/)

export const customerPayload = z.strictObject({
  customerId: id,
  timezone: z.string().nullable().meta({ description: 'IANA name; null: UTC.' }),
  billingCurrency: z.string().nullable(),
  isArchived: z.boolean(),
  createdAt: time,
})

export const subscriptionPayload = z.strictObject({
  subscriptionId: id,
  customerId: id,
  payingCustomerId: id.nullable().meta({ description: 'Who pays, when it is another customer.' }),
  resourceId: id.nullable().meta({ description: 'The resource that it is bound to; null: the customer itself.' }),
  productId: id,
  planId: id,
  planVersion: z.int(),
  status: z.enum(subscriptionStatuses),
  pricingType: z.enum(['FREE', 'PAID', 'CUSTOM']),
  billingPeriod: z.enum(['MONTHLY', 'ANNUALLY']).nullable(),
  startDate: time,
  endDate: time.nullable(),
  trialEndDate: time.nullable(),
  currentPeriodStart: time.nullable(),
  currentPeriodEnd: time.nullable(),
  cancellationDate: time.nullable().meta({ description: 'When cancellation was asked.' }),
  effectiveEndDate: time.nullable().meta({ description: 'When access ends or ended.' }),
  cancelReason: z.string().nullable(),
  addons: z.array(z.strictObject({ addonId: id, quantity: z.int() })),
  quantities: z.array(z.strictObject({ featureId: id, quantity: decimal })),
  scheduledChanges: z.array(z.strictObject({ type: z.string(), executeAt: time })),
})

export const invoicePayload = z.strictObject({
  invoiceId: z.string().meta({ description: 'The identifier of Tollgate.' }),
  billingId: z.string().nullable().meta({ description: 'That of the billing provider; null: it has not made it yet.' }),
  number: z.string().nullable(),
  customerId: id.meta({ description: 'Who pays.' }),
  subscriptionId: id,
  status: z.enum(['OPEN', 'PAID', 'CANCELED', 'FAILED']),
  reason: z.string(),
  currency: z.string(),
  total: decimal,
  amountDue: decimal.meta({ description: 'What is left of the total after credit.' }),
  periodStart: time,
  periodEnd: time,
  dueDate: time.nullable(),
  attemptCount: z.int(),
  errorMessage: z.string().nullable().meta({ description: 'What the billing provider says of a payment that failed.' }),
})

export const ofCustomer = z.strictObject({ customer: customerPayload })
export const ofSubscription = z.strictObject({ subscription: subscriptionPayload })
export const ofMovedSubscription = z.strictObject({
  subscription: subscriptionPayload,
  previousResourceId: id.nullable().meta({ description: 'Where it was; null: the customer itself.' }),
})
export const ofMigratedSubscription = z.strictObject({ subscription: subscriptionPayload, previousPlanVersion: z.int() })
export const ofInvoice = z.strictObject({ invoice: invoicePayload })
export const ofPaymentMethod = z.strictObject({
  customerId: id,
  hasPaymentMethod: z.boolean().meta({ description: 'False: it was taken away.' }),
})
export const ofPackage = z.strictObject({
  packageId: id,
  packageType: z.enum(['Plan', 'Addon']),
  packageVersion: z.int(),
  migrationType: z
    .enum(['ALL_CUSTOMERS', 'NEW_CUSTOMERS'])
    .meta({ description: 'Whether subscriptions of older versions move to this one.' }),
})
export const ofImport = z.strictObject({
  importId: z.string(),
  kind: z.enum(['CUSTOMERS', 'SUBSCRIPTIONS']),
  total: z.int(),
  failed: z.int(),
})
export const ofEndpoint = z.strictObject({
  endpointId: z.string(),
  url: z.string().meta({ description: 'Scheme, host and port; what stands behind them is left out, for it may be a secret.' }),
  reason: z.string().meta({ description: 'GONE: it answered 410. NO_SUCCESS: it answered nothing right for 5 days.' }),
})
export const ofTest = z.strictObject({ endpointId: z.string() })

const ofCrossing = {
  alertId: z.string(),
  crossingId: z.string().meta({ description: 'The threshold as it was reached this time: the id of the event that told so.' }),
  customerId: id,
  resourceId: id.nullable(),
  threshold: z.strictObject({
    kind: z.enum(['SHARE', 'AMOUNT']).meta({ description: 'SHARE: per cent of the limit.' }),
    value: decimal,
  }),
  periodStart: time.nullable().meta({ description: 'Null: it has no beginning.' }),
  periodEnd: time.nullable().meta({ description: 'Exclusive; null: it is never reset.' }),
}
export const ofUsage = z.strictObject({
  ...ofCrossing,
  featureId: id,
  currentUsage: decimal,
  usageLimit: decimal.nullable().meta({ description: 'Null: unlimited.' }),
})
export const ofBudget = z.strictObject({
  ...ofCrossing,
  subscriptionId: id,
  spent: decimal.meta({ description: 'What usage-based charges come to in the billing period, before discounts and tax.' }),
  budget: decimal,
})

const entitlement = {
  usageLimit: decimal.nullable(),
  hasUnlimitedUsage: z.boolean(),
  hasSoftLimit: z.boolean(),
  resetPeriod: z.string().nullable(),
  enumValues: z.array(z.string()),
}
export const ofEntitlements = z.strictObject({
  customerId: id,
  resourceId: id.nullable(),
  gained: z.array(z.strictObject({ featureId: id, ...entitlement })),
  lost: z.array(z.strictObject({ featureId: id })),
  changed: z.array(z.strictObject({ featureId: id, before: z.strictObject(entitlement), after: z.strictObject(entitlement) })),
})
