/**
 * The life of a subscription: one table from (status, trigger) to the next status, read by one function; and what time alone does to the
 * subscriptions of a customer. Pure: `now` is an argument. The worker records what these functions say; every reader applies them itself, so a
 * worker that is down delays the record and not the truth.
 */
import type { PackageVersion } from '../catalog/model.js'
import type { EpochMs } from '../kernel/clock.js'
import { type CancelReason, givesAccess, isFinal, type Subscription, type SubscriptionStatus } from './model.js'

/** What moves a subscription. The first four are time's; the others are somebody's. */
export const triggers = ['start', 'trialEnd', 'cancellationDue', 'endDate', 'cancel', 'replace', 'trialReplaced', 'paid', 'paymentExpired', 'archive'] as const
export type Trigger = (typeof triggers)[number]

export interface Transition {
  to: SubscriptionStatus
  /** Set exactly when `to` is final. */
  reason?: CancelReason
}

type Row = Partial<Record<Trigger, Transition>>

/** A pair without an entry is refused. Final statuses have no row: a late trigger changes nothing. `trialEnd` of a trial that converts: see `transition`. */
const table: Record<Exclude<SubscriptionStatus, 'CANCELED' | 'EXPIRED'>, Row> = {
  NOT_STARTED: {
    start: { to: 'ACTIVE' },
    cancel: { to: 'CANCELED', reason: 'Immediate' },
    replace: { to: 'CANCELED', reason: 'UpgradeOrDowngrade' },
    archive: { to: 'CANCELED', reason: 'CustomerArchived' },
  },
  IN_TRIAL: {
    trialEnd: { to: 'EXPIRED', reason: 'TrialEnded' },
    cancellationDue: { to: 'CANCELED', reason: 'ScheduledCancellation' },
    cancel: { to: 'CANCELED', reason: 'Immediate' },
    replace: { to: 'CANCELED', reason: 'UpgradeOrDowngrade' },
    trialReplaced: { to: 'CANCELED', reason: 'TrialConverted' },
    archive: { to: 'CANCELED', reason: 'CustomerArchived' },
  },
  ACTIVE: {
    cancellationDue: { to: 'CANCELED', reason: 'ScheduledCancellation' },
    endDate: { to: 'EXPIRED', reason: 'Expired' },
    cancel: { to: 'CANCELED', reason: 'Immediate' },
    replace: { to: 'CANCELED', reason: 'UpgradeOrDowngrade' },
    archive: { to: 'CANCELED', reason: 'CustomerArchived' },
  },
  PAYMENT_PENDING: {
    paid: { to: 'ACTIVE' },
    paymentExpired: { to: 'CANCELED', reason: 'PendingPaymentExpired' },
    cancel: { to: 'CANCELED', reason: 'Immediate' },
    replace: { to: 'CANCELED', reason: 'UpgradeOrDowngrade' },
    archive: { to: 'CANCELED', reason: 'CustomerArchived' },
  },
}

/** The next status, or null when the trigger means nothing in this one. */
export function transition(subscription: Pick<Subscription, 'status' | 'trialEndBehavior' | 'trialEndDate'>, trigger: Trigger): Transition | null {
  const { status } = subscription
  if (status === 'CANCELED' || status === 'EXPIRED') return null
  if (status === 'IN_TRIAL' && trigger === 'trialEnd' && subscription.trialEndBehavior === 'CONVERT_TO_PAID') return { to: 'ACTIVE' }
  if (status === 'NOT_STARTED' && trigger === 'start' && subscription.trialEndDate !== null) return { to: 'IN_TRIAL' }
  return table[status][trigger] ?? null
}

/** The subscription after a trigger at an instant. @throws Error when the table refuses it: ask `transition` first. */
export function apply(subscription: Subscription, trigger: Trigger, at: EpochMs): Subscription {
  const next = transition(subscription, trigger)
  if (!next) throw new Error(`subscription ${subscription.refId}: no transition from ${subscription.status} by ${trigger}`)
  const moved: Subscription = { ...subscription, status: next.to }
  if (next.reason) {
    moved.cancelReason = next.reason
    moved.effectiveEndDate = at
    if (next.to === 'CANCELED') moved.cancellationDate ??= at
  }
  if (trigger === 'trialEnd' && next.to === 'ACTIVE') {
    // The paid life begins: usage starts again and billing counts from here.
    moved.billingAnchor = at
    moved.usageAnchor = at
  }
  return moved
}

/** The next instant at which time alone moves the subscription, and by which trigger; null when none. At one instant, an end comes first. */
export function nextDue(subscription: Subscription): { trigger: Trigger; at: EpochMs } | null {
  if (isFinal(subscription.status)) return null
  const { status, startDate, trialEndDate, effectiveEndDate, endDate } = subscription
  const due: { trigger: Trigger; at: EpochMs }[] = []
  if (status === 'NOT_STARTED') due.push({ trigger: 'start', at: startDate })
  if (effectiveEndDate !== null && status !== 'NOT_STARTED') due.push({ trigger: 'cancellationDue', at: effectiveEndDate })
  if (status === 'ACTIVE' && endDate !== null) due.push({ trigger: 'endDate', at: endDate })
  if (status === 'IN_TRIAL' && trialEndDate !== null) due.push({ trigger: 'trialEnd', at: trialEndDate })
  const possible = due.filter(({ trigger }) => transition(subscription, trigger))
  return possible.reduce<{ trigger: Trigger; at: EpochMs } | null>((first, next) => (first && first.at <= next.at ? first : next), null)
}

/** A subscription to the free plan that an ending one leaves behind. The service gives it its ids. */
export interface FreeFollowUp {
  endedId: string
  plan: PackageVersion
  startDate: EpochMs
}

export interface Moved {
  before: Subscription
  after: Subscription
  trigger: Trigger
  at: EpochMs
}

/**
 * The free plan that follows the end of a subscription, by its product's end setting. Only when nothing else of the product gives access, never
 * after the free plan itself, and not when the end was a replacement or an archive.
 */
export function freeFollowUp(ended: Subscription, others: readonly Subscription[]): FreeFollowUp | null {
  const { product, cancelReason } = ended
  if (product.endSetting !== 'DOWNGRADE_TO_FREE' || !product.downgradePlan) return null
  if (ended.plan.packageId === product.downgradePlan.packageId) return null
  if (cancelReason === 'UpgradeOrDowngrade' || cancelReason === 'TrialConverted' || cancelReason === 'CustomerArchived') return null
  const isCovered = others.some(
    (other) => other.id !== ended.id && other.product.id === product.id && other.resource?.id === ended.resource?.id && givesAccess(other.status),
  )
  if (isCovered || ended.effectiveEndDate === null) return null
  return { endedId: ended.id, plan: product.downgradePlan, startDate: ended.effectiveEndDate }
}

/** The subscription that a follow-up starts; `id` doubles as its refId. */
export function startFollowUp(followUp: FreeFollowUp, ended: Subscription, id: string): Subscription {
  return {
    ...ended,
    id,
    refId: id,
    plan: followUp.plan,
    addons: [],
    quantities: [],
    ownEntitlements: [],
    status: 'ACTIVE',
    pricingType: 'FREE',
    billingPeriod: null,
    startDate: followUp.startDate,
    endDate: null,
    trialEndDate: null,
    trialEndBehavior: null,
    cancellationDate: null,
    effectiveEndDate: null,
    cancelReason: null,
    billingAnchor: followUp.startDate,
    usageAnchor: ended.product.usageOnPlanChange === 'NEVER_RESET' ? ended.usageAnchor : followUp.startDate,
    entitlementsRevokedAt: null,
    paymentCollection: 'NOT_REQUIRED',
    additionalMetaData: null,
    createdAt: followUp.startDate,
  }
}

/**
 * Applies everything that time has made due until `now`, in order of instants, to all subscriptions of one customer.
 * `nameFollowUp` gives the id of a free subscription that follows; for answers that are not saved any stable text will do.
 */
export function advance(
  subscriptions: readonly Subscription[],
  now: EpochMs,
  nameFollowUp: (ended: Subscription) => string = (ended) => `${ended.id}-free`,
): { subscriptions: Subscription[]; moved: Moved[]; started: Subscription[] } {
  const current = [...subscriptions]
  const moved: Moved[] = []
  const started: Subscription[] = []
  const move = (index: number, trigger: Trigger, at: EpochMs): Subscription => {
    const before = current[index]!
    const after = apply(before, trigger, at)
    current[index] = after
    moved.push({ before, after, trigger, at })
    return after
  }
  for (;;) {
    const due = current
      .map((subscription, index) => ({ index, next: nextDue(subscription) }))
      .filter(({ next }) => next !== null && next.at <= now)
      .reduce<{ index: number; trigger: Trigger; at: EpochMs } | null>((first, { index, next }) => (first && first.at <= next!.at ? first : { index, ...next! }), null)
    if (!due) return { subscriptions: current, moved, started }

    const isStartOfPaidLife = due.trigger === 'trialEnd' || due.trigger === 'start'
    const subscription = current[due.index]!
    if (isStartOfPaidLife && transition(subscription, due.trigger)?.to === 'ACTIVE') {
      for (const index of replacedIndexes(current, subscription)) move(index, current[index]!.status === 'IN_TRIAL' ? 'trialReplaced' : 'replace', due.at)
    }
    const after = move(due.index, due.trigger, due.at)
    const followUp = isFinal(after.status) ? freeFollowUp(after, current) : null
    if (followUp) {
      const free = startFollowUp(followUp, after, nameFollowUp(after))
      current.push(free)
      started.push(free)
    }
  }
}

/** Other subscriptions of the product and resource that end when this one becomes ACTIVE: the non-trial one, and a trial of the same plan. */
function replacedIndexes(subscriptions: readonly Subscription[], starting: Subscription): number[] {
  return subscriptions.flatMap((other, index) => {
    const isSameSlot = other.id !== starting.id && other.product.id === starting.product.id && other.resource?.id === starting.resource?.id
    const isReplaced = other.status === 'ACTIVE' || (other.status === 'IN_TRIAL' && other.plan.packageId === starting.plan.packageId)
    return isSameSlot && isReplaced ? [index] : []
  })
}
