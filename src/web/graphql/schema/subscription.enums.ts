import { defineEnum } from './define-enum.js'

export const ExperimentGroupType = defineEnum('ExperimentGroupType', 'The group of an experiment. There are no experiments in Tollgate.', [
  'CONTROL',
  'VARIANT',
])

export const PlanChangeType = defineEnum('PlanChangeType', 'Whether a change of plan is to a dearer or a cheaper one.', [
  'DOWNGRADE',
  'NONE',
  'UPGRADE',
])

export const PromotionalEntitlementPeriod = defineEnum(
  'PromotionalEntitlementPeriod',
  'How long a promotional entitlement lasts. CUSTOM: until a date.',
  ['CUSTOM', 'LIFETIME', 'ONE_MONTH', 'ONE_WEEK', 'ONE_YEAR', 'SIX_MONTH'],
)

export const PromotionalEntitlementStatus = defineEnum('PromotionalEntitlementStatus', 'Whether a promotional entitlement counts now.', [
  'Active',
  'Expired',
  'Paused',
])

export const ScheduleStrategy = defineEnum('ScheduleStrategy', 'When a change takes effect.', [
  'END_OF_BILLING_MONTH',
  'END_OF_BILLING_PERIOD',
  'IMMEDIATE',
])

export const SubscriptionBillingCycleAnchor = defineEnum(
  'SubscriptionBillingCycleAnchor',
  'Whether billing periods start anew with the change or stay as they are.',
  ['NOW', 'UNCHANGED'],
)

export const SubscriptionCancellationAction = defineEnum(
  'SubscriptionCancellationAction',
  'REVOKE_ENTITLEMENTS ends access now though the subscription stays to its date.',
  ['DEFAULT', 'REVOKE_ENTITLEMENTS'],
)

export const SubscriptionMigrationTime = defineEnum(
  'SubscriptionMigrationTime',
  'When a subscription moves to the latest version of its plan.',
  ['END_OF_BILLING_PERIOD', 'IMMEDIATE'],
)

export const SubscriptionScheduleStatus = defineEnum('SubscriptionScheduleStatus', 'Where a scheduled update stands.', [
  'Canceled',
  'Done',
  'Failed',
  'PendingPayment',
  'Scheduled',
])

export const SubscriptionScheduleType = defineEnum('SubscriptionScheduleType', 'What a scheduled update changes.', [
  'AdditionalMetaData',
  'Addon',
  'BillingInfoMetadata',
  'BillingPeriod',
  'Coupon',
  'Downgrade',
  'MigrateToLatest',
  'Plan',
  'PriceOverride',
  'RecurringCredits',
  'UnitAmount',
])

export const UsageMarkerType = defineEnum('UsageMarkerType', 'Why usage was reset at an instant.', [
  'PERIODIC_RESET',
  'SUBSCRIPTION_CHANGE_RESET',
])
