import type { AuditedChange, Fields } from '../../audit/model/entry.js'
import type { PackageVersion } from '../../catalog/model/package.js'
import { isoOrNull } from '../../kernel/iso-time.js'
import type { ScheduledChange, Subscription } from './subscription.js'

/** A change of a subscription for the audit log; null before: it begins. */
export const auditedSubscription = (before: Subscription | null, after: Subscription): AuditedChange => ({
  environmentId: after.environmentId,
  kind: 'SUBSCRIPTION',
  id: after.refId,
  before: before && fieldsOf(before),
  after: fieldsOf(after),
})

const fieldsOf = (subscription: Subscription): Fields => ({
  subscriptionId: subscription.refId,
  customer: { id: subscription.customerId },
  payingCustomer: subscription.payingCustomerId && { id: subscription.payingCustomerId },
  resourceId: subscription.resource?.refId ?? null,
  plan: versionOf(subscription.plan),
  addons: subscription.addons.map(({ version, quantity }) => ({ addon: versionOf(version), quantity })),
  unitQuantities: subscription.quantities.map(({ featureRefId, quantity }) => ({ featureId: featureRefId, quantity })),
  entitlements: subscription.ownEntitlements.map(({ id: _, ...own }) => own),
  budget: subscription.budget,
  status: subscription.status,
  pricingType: subscription.pricingType,
  billingPeriod: subscription.billingPeriod,
  billingCountryCode: subscription.billingCountryCode,
  startDate: isoOrNull(subscription.startDate),
  endDate: isoOrNull(subscription.endDate),
  trialEndDate: isoOrNull(subscription.trialEndDate),
  cancellationDate: isoOrNull(subscription.cancellationDate),
  effectiveEndDate: isoOrNull(subscription.effectiveEndDate),
  cancelReason: subscription.cancelReason,
  billingCycleAnchor: isoOrNull(subscription.billingAnchor),
  currentBillingPeriodStart: isoOrNull(subscription.currentPeriod?.start ?? null),
  currentBillingPeriodEnd: isoOrNull(subscription.currentPeriod?.end ?? null),
  scheduledUpdates: subscription.scheduled.map(scheduledOf),
  paymentCollection: subscription.paymentCollection,
  additionalMetaData: subscription.additionalMetaData,
  billingId: subscription.billingId,
  crmId: subscription.crmId,
  salesforceId: subscription.salesforceId,
})

const versionOf = ({ refId, versionNumber }: PackageVersion) => ({ refId, versionNumber })

const scheduledOf = ({ executeAt, change }: ScheduledChange) => ({
  subscriptionScheduleType: change.type,
  scheduledExecutionTime: isoOrNull(executeAt),
  ...('plan' in change && { targetPackage: versionOf(change.plan) }),
})
