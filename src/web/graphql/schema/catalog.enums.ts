import { defineEnum } from './define-enum.js'

export const Alignment = defineEnum('Alignment', 'Where the plans of a paywall stand.', ['CENTER', 'LEFT', 'RIGHT'])

export const EntitlementBehavior = defineEnum(
  'EntitlementBehavior',
  'How an entitlement meets the one below it: Increment adds to it, Override replaces it.',
  ['Increment', 'Override'],
)

export const EntitlementType = defineEnum('EntitlementType', 'What an entitlement is to. CREDIT is refused: Tollgate has no credits.', [
  'CREDIT',
  'FEATURE',
])

export const FontWeight = defineEnum('FontWeight', 'How heavy a paywall’s letters are.', ['BOLD', 'NORMAL'])

export const OverageBillingPeriod = defineEnum('OverageBillingPeriod', 'When usage beyond the included amount is charged.', [
  'MONTHLY',
  'ON_SUBSCRIPTION_RENEWAL',
])

export const PackageStatus = defineEnum('PackageStatus', 'Of a version of a plan or add-on: subscriptions are made to PUBLISHED ones.', [
  'ARCHIVED',
  'DRAFT',
  'PUBLISHED',
])

export const PublishMigrationType = defineEnum(
  'PublishMigrationType',
  'Whether a new version is for NEW_CUSTOMERS only, or existing subscriptions move to it too.',
  ['ALL_CUSTOMERS', 'NEW_CUSTOMERS'],
)

export const WidgetType = defineEnum('WidgetType', 'A ready-made widget of client SDKs.', ['CHECKOUT', 'CUSTOMER_PORTAL', 'PAYWALL'])
