/** What billing remembers of a subscription: its terms, and what it was charged so far. Pure. */
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { lateMs } from '../../metering/model/windows.js'
import { firstPeriod } from '../../subscription/rules/billing-period.js'
import { isSameSlot } from '../../subscription/rules/coexistence.js'
import { givesAccess, isFinal, type Subscription } from '../../subscription/rules/subscription.js'
import type { BegunPeriod, Credit, Discount, Line, Period, Standing, Terms, UsageCharged } from './billing.js'
import { chargesOf } from './charges.js'
import { firstHolding } from './coupon.js'

/**
 * Amounts of a partial period: invoiced at once, with the next invoice, or not at all. A change that begins a new period is invoiced at once in any
 * case: with NONE it carries no credit for the old one.
 */
export type ProrationBehavior = 'INVOICE_IMMEDIATELY' | 'CREATE_PRORATIONS' | 'NONE'

export interface Account {
  terms: Terms
  standing: Standing | null
  /** What was charged in advance for the running period, changes included, less discounts. */
  fixedCharged: decimal.Decimal
  /** Of periods in which late usage may still come. */
  usageCharged: UsageCharged[]
  /** Usage before it is of what it replaced, or was, in the instant in which its period began; absent: all of the period is its own. */
  usageFrom?: EpochMs
  /** Waits for the next invoice. */
  pending: { lines: Line[]; discount: decimal.Decimal; tax: decimal.Decimal; credits?: Credit[] } | null
  /** Of what stood of the other one, what the first invoice has credited already, before the other ended; null: nothing. */
  credited: (Pick<Standing, 'chargedBy'> & { periodStart: EpochMs }) | null
  /** Unused time was asked back for an end that is yet to come. */
  creditsUnusedAtEnd: boolean
  /** In order: what the months of a coupon are counted by. */
  begun: BegunPeriod[]
}

export const newAccount = (terms: Terms): Account => ({
  terms,
  standing: null,
  fixedCharged: decimal.zero,
  usageCharged: [],
  pending: null,
  credited: null,
  creditsUnusedAtEnd: false,
  begun: [],
})

/**
 * What discounts an invoice at `at` that charges for the period: the subscription's own discount while it holds, else the customer's as it is then,
 * never both. Null: nothing.
 */
export function discountAt(
  { begun, terms }: Pick<Account, 'begun' | 'terms'>,
  { customerDiscount, period, at }: { customerDiscount: Discount | null; period: Pick<Period, 'start'>; at: EpochMs },
): Discount | null {
  const chargedFrom = begun.find(({ start }) => start === period.start)?.chargedFrom ?? at
  return firstHolding([terms.discount, customerDiscount], { at, chargedFrom, begun })
}

export interface BilledChange {
  /** Null: it begins. */
  before: Subscription | null
  after: Subscription
  at: EpochMs
  isRenewal: boolean
  proration: ProrationBehavior
  /** It ends, and the customer gets back what it does not use. */
  creditsUnused: boolean
  /** It ends, and its successor is charged for the rest of the period: with credit for what stands, or by what stands. Absent: no. */
  goesToSuccessor?: boolean
  /** It begins with a start in the past, and is charged from then on. Absent: from the current period on. */
  isBackdated?: boolean
  /** In one instant usage comes before the change: what it closes has the usage before this, see `placeInTime`. Absent: before `at`. */
  usageUntil?: EpochMs
}

/** Whether it is charged in its status: from the beginning of its paid life, also while the first payment is waited for. */
export function isCharged({ status, pricingType, billingPeriod }: Subscription): boolean {
  return (status === 'ACTIVE' || status === 'PAYMENT_PENDING') && pricingType === 'PAID' && billingPeriod !== null
}

export interface UsageAsked {
  priceId: string
  featureId: string
  period: Period
  /** Earlier than the period: usage since then has to be known too, because the units of the whole are charged in parts. */
  since: EpochMs
}

/** The periods in which usage has to be known for the change; none: it is charged for none. */
export function usageAsked(account: Account, change: BilledChange): UsageAsked[] {
  const { standing, usageCharged, usageFrom, terms } = account
  const { before, at, usageUntil } = change
  // What waits for its payment is not used.
  if (!before || !standing || before.status === 'PAYMENT_PENDING' || !closesPeriod(standing, change)) return []
  const part = endedPart(standing.period, before, at)
  const ended = { start: Math.max(part.start, usageFrom ?? part.start), end: part.end < at ? part.end : (usageUntil ?? part.end) }
  // In the currency of the period, which may be another one from its end on.
  const prices = chargesOf(before, { ...terms, currency: standing.currency }).usage.map(({ price }) => price)
  const byId = new Map(prices.map((price) => [price.id, price]))
  const late = usageCharged.flatMap(({ priceId, charge, period, since }) => {
    const price = charge?.price ?? byId.get(priceId)
    return price?.currency === standing.currency ? [{ price, period, since: since ?? period.start }] : []
  })
  const isShared = part.start > standing.period.start
  const running = prices.map((price) => {
    return { price, period: ended, since: isShared && price.unitTransformation ? standing.period.start : ended.start }
  })
  return [...late, ...running].map(({ price, period, since }) => ({ priceId: price.id, featureId: price.featureId!, period, since }))
}

/** Whether the period that stands is over with the change, so that its usage is charged. */
export function closesPeriod({ period }: Standing, { after, at, isRenewal }: BilledChange): boolean {
  return isRenewal || !isCharged(after) || at >= period.end || !isSamePeriod(period, chargedPeriod(after, at))
}

/**
 * Whether usage before the change is not its own: of another, which it replaces at that instant, of nobody, or of its own period that the change has closed.
 * `all`: what happens with it, the change included.
 */
export function beginsUsage(
  { standing }: Account,
  change: BilledChange,
  all: readonly Pick<BilledChange, 'before' | 'after' | 'at'>[],
): boolean {
  const { before, after, at, isRenewal } = change
  if (isRenewal) return false
  // What waits for its first payment is not used yet.
  if (before?.status === 'PAYMENT_PENDING') return true
  if (standing && before) return closesPeriod(standing, change)
  if (!before) return after.startDate >= at
  return all.some(
    (other) =>
      other.at === at && other.before && givesAccess(other.before.status) && isFinal(other.after.status) && isSameSlot(other.after, after),
  )
}

/**
 * When nothing can come any more that would be charged late: of what goes on for the first of its periods, of what has ended for any. Null: there is no usage
 * to look for.
 */
export function lateUsageDueAt({ standing, usageCharged }: Account): EpochMs | null {
  if (usageCharged.length === 0) return null
  const ends = usageCharged.map(({ period }) => period.end)
  return (standing ? Math.min(...ends) : Math.max(...ends)) + lateMs
}

/** What was charged for periods in which late usage may still come. */
export const stillOpen = (charged: readonly UsageCharged[], at: EpochMs): UsageCharged[] =>
  charged.filter(({ period }) => period.end + lateMs > at)

/** Names the price and the period that it charges. */
export const usageKey = ({ priceId, period }: Pick<UsageCharged, 'priceId' | 'period'>): string =>
  `${priceId} ${period.start} ${period.end}`

/** The billing period that a charged subscription is in at an instant. */
export function chargedPeriod(subscription: Subscription, at: EpochMs): Period | null {
  return subscription.currentPeriod ?? firstPeriod(subscription, at)
}

/** What of the period the subscription was in force; one that took over a running period began within it. */
export const endedPart = ({ start, end }: Period, { startDate }: Subscription, at: EpochMs): Period => ({
  start: Math.max(start, Math.min(startDate, end)),
  end: Math.min(at, end),
})

export const isSamePeriod = (a: Period, b: Period | null): boolean => a.start === b?.start && a.end === b.end

/** Whether a subscription that ended did so because another replaced it. */
export const isReplaced = ({ status, cancelReason }: Subscription): boolean =>
  isFinal(status) && (cancelReason === 'UpgradeOrDowngrade' || cancelReason === 'TrialConverted')

/** The invoices whose payment decides about what is given back: of what waits, and where what stands is changed or ends, of that. */
export const chargesIn = ({ standing, pending }: Account, { isCredited }: { isCredited: boolean }): string[] => [
  ...(isCredited && standing?.chargedBy ? [standing.chargedBy] : []),
  ...(pending?.credits ?? []).flatMap(({ chargeId }) => chargeId ?? []),
]
