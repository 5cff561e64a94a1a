/**
 * The life of a subscription: one table from (status, trigger) to the next status, read by one function; and what time alone does to the
 * subscriptions of a customer. Pure: `now` is an argument. The worker records what these functions say; every reader applies them itself, so a
 * worker that is down delays the record and not the truth.
 */
import { v5 } from 'uuid'
import type { EpochMs } from '../kernel/clock.js'
import { type CancelReason, givesAccess, isFinal, type Subscription, type SubscriptionStatus } from './model.js'

/** What moves a subscription. The first four are time's; the others are somebody's. */
export const triggers = [
  'start',
  'trialEnd',
  'cancellationDue',
  'endDate',
  'cancel',
  'replace',
  'trialReplaced',
  'paid',
  'paymentExpired',
  'archive',
] as const
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
export function transition(
  subscription: Pick<Subscription, 'status' | 'trialEndBehavior' | 'trialEndDate'>,
  trigger: Trigger,
): Transition | null {
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

export interface Moved {
  before: Subscription
  after: Subscription
  trigger: Trigger
  at: EpochMs
}

/** When the trial becomes a paid subscription without anybody doing anything; null when it does not. */
export function convertsAt(subscription: Subscription): EpochMs | null {
  const due = nextDue(subscription)
  return due?.trigger === 'trialEnd' && transition(subscription, 'trialEnd')?.to === 'ACTIVE' ? due.at : null
}

/**
 * What the beginning of a subscription, with the status that it gets, does to another one; null: the two coexist. Of one product a customer (or
 * resource) holds one non-trial and one trial at most, to different plans.
 */
export function replacementTrigger(
  other: Subscription,
  starting: Pick<Subscription, 'product' | 'resource' | 'plan'>,
  to: SubscriptionStatus,
): Trigger | null {
  if (!isSameSlot(other, starting)) return null
  if (to === 'IN_TRIAL') return other.status === 'IN_TRIAL' ? 'replace' : null
  if (to !== 'ACTIVE') return null
  if (other.status === 'IN_TRIAL') return other.plan.packageId === starting.plan.packageId ? 'trialReplaced' : null
  return other.status === 'ACTIVE' ? 'replace' : null
}

/** Of one product, and of the same resource or both of the customer itself. */
export function isSameSlot(a: Pick<Subscription, 'product' | 'resource'>, b: Pick<Subscription, 'product' | 'resource'>): boolean {
  return a.product.id === b.product.id && a.resource?.id === b.resource?.id
}

/**
 * Where the usage series begin of a subscription that starts at `startsAt`: there, or where those of the one began whose place it takes, as the
 * product says. `replaced` is as it was in force; absent: it takes nobody's place.
 */
export function usageAnchorAfter(
  replaced: Subscription | undefined,
  billingPeriod: Subscription['billingPeriod'],
  startsAt: EpochMs,
): EpochMs {
  if (!replaced) return startsAt
  const { usageOnPlanChange } = replaced.product
  const isKept =
    usageOnPlanChange === 'NEVER_RESET' || (usageOnPlanChange === 'BILLING_PERIOD_CHANGE' && replaced.billingPeriod === billingPeriod)
  return isKept ? replaced.usageAnchor : startsAt
}

/**
 * The free subscription that follows the end of another one by its product's end setting, or null. Only when nothing else of the product gives
 * access, never after the free plan itself, and not when the end was a replacement, an archive or a payment that never came.
 */
export function freeFollowUp({ before, after: ended }: Pick<Moved, 'before' | 'after'>, all: readonly Subscription[]): Subscription | null {
  const { product, cancelReason, effectiveEndDate } = ended
  if (product.endSetting !== 'DOWNGRADE_TO_FREE' || !product.downgradePlan || effectiveEndDate === null) return null
  if (ended.plan.packageId === product.downgradePlan.packageId || before.status === 'PAYMENT_PENDING') return null
  if (cancelReason === 'UpgradeOrDowngrade' || cancelReason === 'TrialConverted' || cancelReason === 'CustomerArchived') return null
  const isCovered = all.some((other) => {
    // What the customer itself holds serves its resources too.
    const serves =
      other.id !== ended.id && other.product.id === product.id && (other.resource === null || other.resource.id === ended.resource?.id)
    return serves && (givesAccess(other.status) || (other.status === 'NOT_STARTED' && other.startDate <= effectiveEndDate))
  })
  return isCovered ? null : startFollowUp(ended, product.downgradePlan, effectiveEndDate)
}

const followUpNamespace = '7ed36ce0-f723-459a-9a97-e19b23bc26dc'

/**
 * The id comes from that of the ended one: what is derived before it is recorded has the id that it will have, and recording it twice is a
 * conflict of keys. It doubles as the refId.
 */
function startFollowUp(ended: Subscription, plan: Subscription['plan'], startDate: EpochMs): Subscription {
  const id = v5(ended.id, followUpNamespace)
  return {
    ...ended,
    id,
    refId: id,
    plan,
    addons: [],
    quantities: [],
    ownEntitlements: [],
    status: 'ACTIVE',
    pricingType: 'FREE',
    billingPeriod: null,
    startDate,
    endDate: null,
    trialEndDate: null,
    trialEndBehavior: null,
    cancellationDate: null,
    effectiveEndDate: null,
    cancelReason: null,
    billingAnchor: startDate,
    usageAnchor: usageAnchorAfter(ended, null, startDate),
    entitlementsRevokedAt: null,
    paymentCollection: 'NOT_REQUIRED',
    additionalMetaData: null,
    createdAt: startDate,
  }
}

interface Due {
  index: number
  trigger: Trigger
  at: EpochMs
  next: Transition
}

/** Applies everything that time has made due until `now`, in order of instants, to all subscriptions of one customer. */
export function advance(
  subscriptions: readonly Subscription[],
  now: EpochMs,
): { subscriptions: Subscription[]; moved: Moved[]; started: Subscription[] } {
  const current = [...subscriptions]
  const moved: Moved[] = []
  const started: Subscription[] = []
  const move = (index: number, trigger: Trigger, at: EpochMs, changes: Partial<Subscription> = {}): Moved => {
    const before = current[index]!
    const after = { ...apply(before, trigger, at), ...changes }
    current[index] = after
    moved.push({ before, after, trigger, at })
    return moved.at(-1)!
  }
  for (;;) {
    const due = firstDue(current, now)
    if (!due) return { subscriptions: current, moved, started }
    const { index, trigger, at, next } = due
    const beginning = current[index]!
    let replaced: Subscription | undefined
    if (trigger === 'start' || trigger === 'trialEnd') {
      for (const [otherIndex, other] of current.entries()) {
        const replacement = otherIndex === index ? null : replacementTrigger(other, beginning, next.to)
        if (replacement) move(otherIndex, replacement, at)
        if (replacement === 'replace') replaced = other
      }
    }
    // A trial that converts begins its usage anew, whatever it replaces; see `apply`.
    const end = move(
      index,
      trigger,
      at,
      trigger === 'start' ? { usageAnchor: usageAnchorAfter(replaced, beginning.billingPeriod, at) } : {},
    )
    const free = isFinal(end.after.status) ? freeFollowUp(end, current) : null
    if (free) {
      current.push(free)
      started.push(free)
    }
  }
}

/** What is due first. At one instant ends come before beginnings, and a trial that converts before what was asked to start then. */
function firstDue(subscriptions: readonly Subscription[], now: EpochMs): Due | null {
  const rank = ({ trigger, next }: Due) => (isFinal(next.to) ? 0 : trigger === 'trialEnd' ? 1 : 2)
  const all = subscriptions.flatMap((subscription, index): Due[] => {
    const due = nextDue(subscription)
    return due && due.at <= now ? [{ index, ...due, next: transition(subscription, due.trigger)! }] : []
  })
  return all.reduce<Due | null>((first, due) => (first && (first.at - due.at || rank(first) - rank(due)) <= 0 ? first : due), null)
}
