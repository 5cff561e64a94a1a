import { defineEnum } from './define-enum.js'

export const ChargeType = defineEnum('ChargeType', 'What a charge counts. CREDIT is refused: Tollgate has no credits.', [
  'CREDIT',
  'FEATURE',
])

export const CouponSource = defineEnum(
  'CouponSource',
  'Where a coupon was made: STIGG is the catalog, STIGG_ADHOC a discount agreed for one subscription, STRIPE the billing provider.',
  ['STIGG', 'STIGG_ADHOC', 'STRIPE'],
)

export const CouponStatus = defineEnum('CouponStatus', 'An ARCHIVED coupon is given to nobody else.', ['ACTIVE', 'ARCHIVED'])

export const CouponType = defineEnum('CouponType', 'PERCENTAGE of the total, or a FIXED amount in each currency.', ['FIXED', 'PERCENTAGE'])

export const CreditCadence = defineEnum('CreditCadence', 'How often credits are given. Tollgate has none.', ['MONTH', 'YEAR'])

export const CreditGrantCadence = defineEnum('CreditGrantCadence', 'When credits are given. Tollgate has none.', [
  'BEGINNING_OF_BILLING_PERIOD',
  'MONTHLY',
])

export const DiscountDurationType = defineEnum('DiscountDurationType', 'How long a discount lasts.', ['FOREVER', 'ONCE', 'REPEATING'])

export const DiscountType = defineEnum('DiscountType', 'PERCENTAGE of the total, or a FIXED amount.', ['FIXED', 'PERCENTAGE'])

export const InvoiceLineItemType = defineEnum('InvoiceLineItemType', 'What a line of an invoice charges for.', [
  'AddonCharge',
  'BaseCharge',
  'InAdvanceCommitmentCharge',
  'MinimumSpendAdjustmentCharge',
  'MinimumSpendCharge',
  'Other',
  'OverageCharge',
  'PayAsYouGoCharge',
  'TierCharge',
  'ZeroAmountBaseCharge',
])

export const PaymentCollectionMethod = defineEnum('PaymentCollectionMethod', 'CHARGE a payment method, send an INVOICE, or NONE.', [
  'CHARGE',
  'INVOICE',
  'NONE',
])

export const PaymentMethodType = defineEnum('PaymentMethodType', 'What the billing provider charges.', ['BANK', 'CARD', 'CASH_APP'])

export const SubscriptionInvoiceBillingReason = defineEnum('SubscriptionInvoiceBillingReason', 'Why an invoice was made.', [
  'BILLING_CYCLE',
  'MANUAL',
  'MINIMUM_INVOICE_AMOUNT_EXCEEDED',
  'OTHER',
  'SUBSCRIPTION_CREATION',
  'SUBSCRIPTION_UPDATE',
])

export const SubscriptionInvoiceStatus = defineEnum('SubscriptionInvoiceStatus', 'Where an invoice stands.', [
  'CANCELED',
  'FAILED',
  'OPEN',
  'PAID',
])

export const SubscriptionProrationBehavior = defineEnum(
  'SubscriptionProrationBehavior',
  'What happens to amounts of a partial period: invoiced with the next invoice, at once, or not at all. A change that begins a new period is invoiced at once; NONE leaves out the credit for the old one.',
  ['CREATE_PRORATIONS', 'INVOICE_IMMEDIATELY', 'NONE'],
)

export const SyncStatus = defineEnum('SyncStatus', 'Where the copy of a record at another vendor stands.', [
  'ERROR',
  'NO_SYNC_REQUIRED',
  'PENDING',
  'SUCCESS',
])

export const VendorIdentifier = defineEnum('VendorIdentifier', 'Another vendor that records can be copied to.', [
  'AIRWALLEX',
  'APP_STORE',
  'AUTH0',
  'AWS_MARKETPLACE',
  'BIG_QUERY',
  'HUBSPOT',
  'OPEN_FGA',
  'PREQUEL',
  'RECEIVED',
  'SALESFORCE',
  'SNOWFLAKE',
  'STRIPE',
  'STRIPE_INVOICING',
  'ZUORA',
])
