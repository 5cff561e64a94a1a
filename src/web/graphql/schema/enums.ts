import { currencies } from '../../../catalog/model/currency.js'
import { denialReasons } from '../../../entitlement/rules/denial.js'
import { subscriptionStatuses } from '../../../subscription/rules/subscription.js'
import { defineEnum } from './define-enum.js'

export * from './billing.enums.js'
export * from './catalog.enums.js'
export * from './subscription.enums.js'

/** The contract's enums, with all its values: a client that knows one may send it, and one that we do not honour is refused by name. */

export const AccessDeniedReason = defineEnum('AccessDeniedReason', 'Why a check was denied.', denialReasons)

export const BillingCadence = defineEnum('BillingCadence', 'Whether a price is charged once or in every billing period.', [
  'ONE_OFF',
  'RECURRING',
])

export const BillingModel = defineEnum('BillingModel', 'How a price is charged.', [
  'CREDIT_BASED',
  'FLAT_FEE',
  'MINIMUM_SPEND',
  'PER_UNIT',
  'USAGE_BASED',
])

export const BillingPeriod = defineEnum('BillingPeriod', 'The window of a price.', ['ANNUALLY', 'MONTHLY'])

export const Currency = defineEnum('Currency', 'An ISO 4217 currency code.', currencies)

export const EntitlementResetPeriod = defineEnum('EntitlementResetPeriod', 'The length of a usage period.', [
  'DAY',
  'HOUR',
  'MONTH',
  'WEEK',
  'YEAR',
])

export const EntitlementsStateAccessDeniedReason = defineEnum(
  'EntitlementsStateAccessDeniedReason',
  'Why a customer or resource has no entitlements at all.',
  // CustomerResourceNotFound is an addition of ours: without it an unknown resource could not be told from one without a subscription.
  ['CustomerIsArchived', 'CustomerNotFound', 'CustomerResourceNotFound', 'NoActiveSubscription'],
)

export const FeatureType = defineEnum('FeatureType', 'What an entitlement to the feature holds: access, a number, or values of a list.', [
  'BOOLEAN',
  'ENUM',
  'NUMBER',
])

export const MeterType = defineEnum(
  'MeterType',
  'How the usage of a feature is counted: not at all, up and down (seats), or adding up until it is reset.',
  ['Fluctuating', 'Incremental', 'None'],
)

export const MonthlyAccordingTo = defineEnum('MonthlyAccordingTo', 'What monthly usage periods begin at.', [
  'StartOfTheMonth',
  'SubscriptionStart',
])

export const PaymentCollection = defineEnum('PaymentCollection', 'Where the payment of a subscription stands.', [
  'ACTION_REQUIRED',
  'FAILED',
  'NOT_REQUIRED',
  'PROCESSING',
])

export const PricingType = defineEnum('PricingType', 'Whether a plan costs nothing, has prices, or is priced by agreement.', [
  'CUSTOM',
  'FREE',
  'PAID',
])

export const ProvisionSubscriptionStatus = defineEnum(
  'ProvisionSubscriptionStatus',
  'Whether the subscription was provisioned or has to be paid first.',
  ['PAYMENT_REQUIRED', 'SUCCESS'],
)

export const SubscriptionCancelReason = defineEnum('SubscriptionCancelReason', 'Why a subscription ended.', [
  'AutoCancellationRule',
  'CancelledByBilling',
  'CustomerArchived',
  'DetachBilling',
  'Expired',
  'Immediate',
  'PendingPaymentExpired',
  'ScheduledCancellation',
  'TrialConverted',
  'TrialEnded',
  'UpgradeOrDowngrade',
])

export const SubscriptionCancellationTime = defineEnum('SubscriptionCancellationTime', 'When a cancellation takes effect.', [
  'END_OF_BILLING_PERIOD',
  'IMMEDIATE',
  'SPECIFIC_DATE',
])

export const SubscriptionDecisionStrategy = defineEnum(
  'SubscriptionDecisionStrategy',
  'Which rule decided about the subscription of a provisioned customer.',
  ['PREDEFINED_FREE_PLAN', 'PREDEFINED_TRIAL_PLAN', 'REQUESTED_PLAN', 'SKIPPED_SUBSCRIPTION_CREATION'],
)

export const SubscriptionStatus = defineEnum(
  'SubscriptionStatus',
  'IN_TRIAL and ACTIVE give access; CANCELED and EXPIRED are final.',
  subscriptionStatuses,
)

export const TiersMode = defineEnum(
  'TiersMode',
  'GRADUATED: each unit costs what its tier says. VOLUME: all units cost what the last one’s tier says.',
  ['GRADUATED', 'VOLUME'],
)

export const TrialEndBehavior = defineEnum('TrialEndBehavior', 'What the end of a trial does.', ['CANCEL_SUBSCRIPTION', 'CONVERT_TO_PAID'])

export const TrialPeriodUnits = defineEnum('TrialPeriodUnits', 'The unit of a trial’s duration.', ['DAY', 'MONTH'])

export const UnitTransformationRound = defineEnum('UnitTransformationRound', 'Which way a converted unit is rounded.', ['DOWN', 'UP'])

export const UsageUpdateBehavior = defineEnum('UsageUpdateBehavior', 'DELTA adds the value to the usage, SET replaces it.', [
  'DELTA',
  'SET',
])

export const WeeklyAccordingTo = defineEnum('WeeklyAccordingTo', 'What weekly usage periods begin at.', [
  'EveryFriday',
  'EveryMonday',
  'EverySaturday',
  'EverySunday',
  'EveryThursday',
  'EveryTuesday',
  'EveryWednesday',
  'SubscriptionStart',
])

export const YearlyAccordingTo = defineEnum('YearlyAccordingTo', 'What yearly usage periods begin at.', ['SubscriptionStart'])

export const ApiKeyKind = defineEnum(
  'ApiKeyKind',
  'What an API key may: SERVER everything in its environment, CLIENT reads of one customer.',
  ['CLIENT', 'SERVER'],
)

export const ApiKeyStatus = defineEnum('ApiKeyStatus', 'Whether an API key is accepted.', ['EXPIRED', 'REVOKED', 'VALID'])

export const CatalogKind = defineEnum('CatalogKind', 'What a change of the catalog is about.', [
  'addon',
  'coupon',
  'feature',
  'meter',
  'plan',
  'product',
])

export const CatalogAction = defineEnum(
  'CatalogAction',
  'What applying a catalog document does to one item; publish: it gets a new version.',
  ['archive', 'create', 'publish', 'update'],
)

export const ImportItemStatus = defineEnum('ImportItemStatus', 'What became of a record of an import: DONE and FAILED are final.', [
  'DONE',
  'FAILED',
  'PENDING',
])
