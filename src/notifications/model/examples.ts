/** A payload of each event, as the documentation shows it. */
const customer = {
  customerId: 'acme',
  timezone: 'Europe/Berlin',
  billingCurrency: 'EUR',
  isArchived: false,
  createdAt: '2027-02-01T09:30:00.000Z',
}

const subscription = {
  subscriptionId: 'acme-team',
  customerId: 'acme',
  payingCustomerId: null,
  resourceId: null,
  productId: 'workspace',
  planId: 'team',
  planVersion: 3,
  status: 'ACTIVE',
  pricingType: 'PAID',
  billingPeriod: 'MONTHLY',
  startDate: '2027-02-15T09:30:00.000Z',
  endDate: null,
  trialEndDate: '2027-03-01T09:30:00.000Z',
  currentPeriodStart: '2027-03-01T09:30:00.000Z',
  currentPeriodEnd: '2027-04-01T09:30:00.000Z',
  cancellationDate: null,
  effectiveEndDate: null,
  cancelReason: null,
  addons: [{ addonId: 'extra-projects', quantity: 2 }],
  quantities: [{ featureId: 'seats', quantity: '5' }],
  scheduledChanges: [],
}
const inTrial = { ...subscription, status: 'IN_TRIAL', currentPeriodStart: null, currentPeriodEnd: null }
const endedNow = { cancellationDate: '2027-03-01T09:30:00.000Z', effectiveEndDate: '2027-03-01T09:30:00.000Z' }

const invoice = {
  invoiceId: '019ad0c5-3a4f-7d10-8f6e-2f3b9f1c7a55',
  billingId: 'in_019ad0c5',
  number: 'TG-000042',
  customerId: 'acme',
  subscriptionId: 'acme-team',
  status: 'OPEN',
  reason: 'BILLING_CYCLE',
  currency: 'EUR',
  total: '50',
  amountDue: '50',
  periodStart: '2027-03-01T09:30:00.000Z',
  periodEnd: '2027-04-01T09:30:00.000Z',
  dueDate: null,
  attemptCount: 0,
  errorMessage: null,
}

const crossing = {
  alertId: '019ad0c5-3a52-7d21-9b0e-7c1f2a3b4d55',
  crossingId: '019ad0c5-3a51-7c02-9d2b-0c4f6b1f2a11',
  customerId: 'acme',
  resourceId: null,
  threshold: { kind: 'SHARE', value: '80' },
  periodStart: '2027-03-01T00:00:00.000Z',
  periodEnd: '2027-04-01T00:00:00.000Z',
}
const atLimit = { ...crossing, threshold: { kind: 'SHARE', value: '100' } }
const ended = { ...crossing, crossingId: '019ad0c5-3a40-7b10-8a2c-1d3e5f7a9b22' }
const used = { featureId: 'exports', currentUsage: '80', usageLimit: '100' }
const money = { subscriptionId: 'acme-team', spent: '40', budget: '50' }
const terms = { usageLimit: '100', hasUnlimitedUsage: false, hasSoftLimit: false, resetPeriod: 'MONTH', enumValues: [] }

/** By the type of the event. */
export const examples: Readonly<Record<string, Record<string, unknown>>> = {
  'customer.created': { customer },
  'customer.updated': { customer: { ...customer, timezone: 'America/New_York' } },
  'customer.archived': { customer: { ...customer, isArchived: true } },
  'customer.unarchived': { customer },
  'subscription.created': { subscription: inTrial },
  'subscription.updated': { subscription },
  'subscription.trial_started': { subscription: inTrial },
  'subscription.trial_ending_soon': { subscription: inTrial },
  'subscription.trial_converted': { subscription },
  'subscription.trial_ended': {
    subscription: { ...inTrial, ...endedNow, cancellationDate: null, status: 'EXPIRED', cancelReason: 'TrialEnded' },
  },
  'subscription.payment_pending': { subscription: { ...subscription, status: 'PAYMENT_PENDING' } },
  'subscription.activated': { subscription },
  'subscription.change_scheduled': {
    subscription: { ...subscription, scheduledChanges: [{ type: 'Downgrade', executeAt: '2027-04-01T09:30:00.000Z' }] },
  },
  'subscription.renewed': { subscription },
  'subscription.canceled': { subscription: { ...subscription, ...endedNow, status: 'CANCELED', cancelReason: 'Immediate' } },
  'subscription.expired': {
    subscription: {
      ...subscription,
      status: 'EXPIRED',
      endDate: '2027-03-01T09:30:00.000Z',
      effectiveEndDate: '2027-03-01T09:30:00.000Z',
      cancelReason: 'Expired',
    },
  },
  'subscription.migrated': { subscription: { ...subscription, planVersion: 4 }, previousPlanVersion: 3 },
  'subscription.transferred': { subscription: { ...subscription, resourceId: 'workspace-2' }, previousResourceId: 'workspace-1' },
  'invoice.created': { invoice: { ...invoice, billingId: null, number: null } },
  'invoice.paid': { invoice: { ...invoice, status: 'PAID', attemptCount: 1 } },
  'invoice.failed': { invoice: { ...invoice, status: 'FAILED', attemptCount: 1, errorMessage: 'The card was declined.' } },
  'invoice.voided': { invoice: { ...invoice, status: 'CANCELED' } },
  'payment_method.changed': { customerId: 'acme', hasPaymentMethod: true },
  'entitlements.changed': {
    customerId: 'acme',
    resourceId: null,
    gained: [{ featureId: 'audit-log', ...terms, usageLimit: null, resetPeriod: null }],
    lost: [{ featureId: 'trial-support' }],
    changed: [{ featureId: 'exports', before: terms, after: { ...terms, usageLimit: '500' } }],
  },
  'usage.threshold_reached': { ...crossing, ...used },
  'usage.limit_reached': { ...atLimit, ...used, currentUsage: '100' },
  'usage.back_under': { ...ended, ...used, currentUsage: '70' },
  'usage.reset': { ...ended, ...used, currentUsage: '0', periodStart: '2027-04-01T00:00:00.000Z', periodEnd: '2027-05-01T00:00:00.000Z' },
  'budget.threshold_reached': { ...crossing, ...money },
  'budget.exceeded': { ...atLimit, ...money, spent: '50' },
  'budget.back_under': { ...ended, ...money, budget: '100' },
  'budget.reset': { ...ended, ...money, spent: '0', periodStart: '2027-04-01T00:00:00.000Z', periodEnd: '2027-05-01T00:00:00.000Z' },
  'package.published': { packageId: 'team', packageType: 'Plan', packageVersion: 4, migrationType: 'NEW_CUSTOMERS' },
  'import.finished': { importId: '019ad0c5-3a50-7a3e-8c0d-9a1f0b7c6d21', kind: 'CUSTOMERS', total: 250, failed: 2 },
  'webhook_endpoint.disabled': {
    endpointId: '019ad0c5-3a50-7b61-a4d2-5e8f7a6b9c33',
    url: 'https://app.example.com',
    reason: 'NO_SUCCESS',
  },
  'webhook_endpoint.tested': { endpointId: '019ad0c5-3a50-7b61-a4d2-5e8f7a6b9c33' },
}
