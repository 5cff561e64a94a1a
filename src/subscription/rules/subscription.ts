/**
 * A subscription as the rules see it. Ids are ours, `refId` is the caller's; times are epoch milliseconds.
 *
 * stored status   what the record says
 * status at now   the stored status with all due transitions applied (advance.ts): what every answer is made of
 * in force        IN_TRIAL or ACTIVE: gives access
 * scheduled       a change of the subscription that waits for its instant
 */
import type { BillingPeriod, PackageVersion, PricingType } from '../../catalog/model/package.js'
import type { ProductRules } from '../../catalog/model/product.js'
import type { EpochMs } from '../../kernel/clock.js'
import type { Decimal } from '../../kernel/decimal.js'
import type { ResetPeriod, ResetRule } from '../../metering/model/usage-period.js'

export const subscriptionStatuses = ['NOT_STARTED', 'IN_TRIAL', 'ACTIVE', 'PAYMENT_PENDING', 'CANCELED', 'EXPIRED'] as const
export type SubscriptionStatus = (typeof subscriptionStatuses)[number]

export type CancelReason =
  | 'AutoCancellationRule'
  | 'CancelledByBilling'
  | 'CustomerArchived'
  | 'DetachBilling'
  | 'Expired'
  | 'Immediate'
  | 'PendingPaymentExpired'
  | 'ScheduledCancellation'
  | 'TrialConverted'
  | 'TrialEnded'
  | 'UpgradeOrDowngrade'

export type TrialEndBehavior = 'CONVERT_TO_PAID' | 'CANCEL_SUBSCRIPTION'

/** Half-open. */
export interface BillingPeriodWindow {
  start: EpochMs
  end: EpochMs
}

export interface HeldAddon {
  id: string
  version: PackageVersion
  quantity: number
}

/** An entitlement set on the subscription itself: replaces the plan's for the feature. */
export interface OwnEntitlement {
  id: string
  featureId: string
  usageLimit: Decimal | null
  hasUnlimitedUsage: boolean
  hasSoftLimit: boolean
  enumValues: string[]
  resetPeriod: ResetPeriod | null
  resetRule: ResetRule | null
}

/** What usage-based charges of the running billing period may come to. New with each period. */
export interface Budget {
  /** In whole units of the currency that the subscription is charged in; 0 is used up from the beginning. */
  limit: Decimal
  /** Only tells that it is used up, and denies nothing. */
  hasSoftLimit: boolean
}

/** How many units of a PER_UNIT feature are bought. */
export interface HeldQuantity {
  featureId: string
  featureRefId: string
  quantity: Decimal
}

/** What a plan change, or a migration, makes of a subscription. */
export interface PlanContent {
  plan: PackageVersion
  billingPeriod: BillingPeriod | null
  addons: HeldAddon[]
  quantities: HeldQuantity[]
}

/** What a plan change says beside its content. It holds from the change on; what it does not say stays as it is. */
export interface PlanAgreement {
  /** Instead of those that were agreed for the plan before. */
  ownEntitlements: OwnEntitlement[]
  budget: Budget | null
  additionalMetaData: Record<string, unknown> | null
  payingCustomerId: string | null
  salesforceId: string | null
  /** About money, as it was asked for; null: nothing. */
  billing: object | null
  /** What billing made of that, for billing to read when the change happens. */
  billingAgreement: object | null
}

/** A change that waits for its instant. Versions in it are those that are the latest at that instant, as far as is known now. */
export interface ScheduledChange {
  id: string
  executeAt: EpochMs
  change:
    | ({ type: 'Plan' | 'Downgrade'; agreed: PlanAgreement | null } & PlanContent)
    | ({ type: 'MigrateToLatest' } & PlanContent)
    | { type: 'BillingPeriod'; billingPeriod: BillingPeriod }
    | ({ type: 'UnitAmount' } & HeldQuantity)
    /** Quantity 0: the add-on goes. */
    | { type: 'Addon'; addon: HeldAddon }
}

export interface Subscription {
  id: string
  refId: string
  environmentId: string
  customerId: string
  /** Who pays, when it is another customer (our id). */
  payingCustomerId: string | null
  /** The customer's: billing periods follow it. */
  timeZone: string
  /** The resource that it is bound to; null: the customer itself. */
  resource: { id: string; refId: string } | null
  product: ProductRules
  plan: PackageVersion
  addons: HeldAddon[]
  quantities: HeldQuantity[]
  ownEntitlements: OwnEntitlement[]
  status: SubscriptionStatus
  pricingType: PricingType
  billingPeriod: BillingPeriod | null
  billingCountryCode: string | null
  startDate: EpochMs
  /** A term that was agreed at the start; exclusive. */
  endDate: EpochMs | null
  trialEndDate: EpochMs | null
  trialEndBehavior: TrialEndBehavior | null
  /** When cancellation was asked. */
  cancellationDate: EpochMs | null
  /** When access ends or ended; exclusive. */
  effectiveEndDate: EpochMs | null
  cancelReason: CancelReason | null
  billingAnchor: EpochMs
  /** Null: none was agreed. */
  budget: Budget | null
  /** The billing period that was last begun; its end is the next renewal. Null while nothing is billed. */
  currentPeriod: BillingPeriodWindow | null
  /** The anchor of SubscriptionStart usage periods; nothing before it counts in the subscription's usage series. */
  usageAnchor: EpochMs
  entitlementsRevokedAt: EpochMs | null
  /** Changes that wait for their instant, in no order. */
  scheduled: ScheduledChange[]
  /** Its first payment comes before access: when it starts, it waits for it. */
  awaitsPayment: boolean
  paymentCollection: 'NOT_REQUIRED' | 'PROCESSING' | 'ACTION_REQUIRED' | 'FAILED'
  additionalMetaData: Record<string, unknown> | null
  /** The caller's identifiers of it elsewhere; we only keep them. */
  billingId: string | null
  crmId: string | null
  salesforceId: string | null
  createdAt: EpochMs
}

export const isFinal = (status: SubscriptionStatus): boolean => status === 'CANCELED' || status === 'EXPIRED'
/**
 * When it ended, or will by what is known now: its cancellation, its end date, or a trial that does not convert; null: it goes on. An end date within a
 * trial that converts is the end of that. `endSql` in records/list-columns.ts says the same.
 */
export function knownEnd({ status, effectiveEndDate, endDate, trialEndDate, trialEndBehavior }: Subscription): EpochMs | null {
  if (isFinal(status)) return effectiveEndDate
  const trialEnd = status === 'IN_TRIAL' || status === 'NOT_STARTED' ? trialEndDate : null
  const term = trialEnd !== null && endDate !== null ? Math.max(trialEnd, endDate) : endDate
  const ends = [effectiveEndDate, trialEnd !== null && trialEndBehavior !== 'CONVERT_TO_PAID' ? trialEnd : term]
  const known = ends.filter((end) => end !== null)
  return known.length === 0 ? null : Math.min(...known)
}

export const givesAccess = (status: SubscriptionStatus): boolean => status === 'IN_TRIAL' || status === 'ACTIVE'
