/**
 * What time alone does to the subscriptions of a customer. Pure: `now` is an argument. The worker records what these functions say; every reader
 * applies them itself, so a worker that is down delays the record and not the truth.
 */
import type { EpochMs } from '../../kernel/clock.js'
import { firstPeriod, periodAfter } from './billing-period.js'
import { replacementTrigger, usageAnchorAfter } from './coexistence.js'
import { freeFollowUp } from './follow-up.js'
import { apply, type Transition, type Trigger, transition } from './lifecycle.js'
import { awaitingPayment } from './payment.js'
import { execute, firstScheduled } from './scheduled.js'
import { type BillingPeriodWindow, isFinal, type ScheduledChange, type Subscription } from './subscription.js'

interface DueTrigger {
  trigger: Trigger
  at: EpochMs
}

/** The order at one instant: cancellation and other ends, conversion, start, plan and other changes, renewal. */
const order: readonly Trigger[] = [
  'cancellationDue',
  'endDate',
  'trialEnd',
  'trialConverts',
  'start',
  'startTrial',
  'startUnpaid',
  'scheduledUpdate',
  'renewal',
]

/** What time will do to the subscription by itself, first things first. */
function dueTriggers(subscription: Subscription): DueTrigger[] {
  const { status, startDate, awaitsPayment, trialEndDate, trialEndBehavior, effectiveEndDate, endDate, currentPeriod } = subscription
  if (isFinal(status)) return []
  const due: DueTrigger[] = []
  const add = (trigger: Trigger, at: EpochMs | null | undefined) => {
    if (at !== null && at !== undefined && transition(subscription, trigger)) due.push({ trigger, at })
  }
  add('cancellationDue', effectiveEndDate)
  add('endDate', endDate)
  add(trialEndBehavior === 'CONVERT_TO_PAID' ? 'trialConverts' : 'trialEnd', trialEndDate)
  add(trialEndDate !== null ? 'startTrial' : awaitsPayment ? 'startUnpaid' : 'start', startDate)
  add('scheduledUpdate', firstScheduled(subscription)?.executeAt)
  add('renewal', currentPeriod?.end)
  // At one instant in `order`, in which they are added.
  return due.sort((a, b) => a.at - b.at)
}

/** The next instant at which time alone moves the subscription, and by which trigger; null when none. */
export const nextDue = (subscription: Subscription): DueTrigger | null => dueTriggers(subscription)[0] ?? null

/** The same without renewals, which are recorded and change nothing about what is held. */
export const nextChange = (subscription: Subscription): DueTrigger | null =>
  dueTriggers(subscription).find(({ trigger }) => trigger !== 'renewal') ?? null

/** When the trial becomes a paid subscription without anybody doing anything; null when it does not. */
export function convertsAt(subscription: Subscription): EpochMs | null {
  const due = nextDue(subscription)
  return due?.trigger === 'trialConverts' ? due.at : null
}

export interface Moved {
  before: Subscription
  after: Subscription
  trigger: Trigger
  at: EpochMs
  /** What waited until then; absent: nothing did. */
  executed?: ScheduledChange
}

/** A billing period that began where the one before it ended. */
export interface Renewal extends BillingPeriodWindow {
  subscriptionId: string
}

export interface Advanced {
  subscriptions: Subscription[]
  /** In the order in which it happened. */
  moved: Moved[]
  started: Subscription[]
  renewals: Renewal[]
  executed: ScheduledChange[]
}

/** Applies everything that time has made due until `now`, in order of instants, to all subscriptions of one customer. */
export function advance(subscriptions: readonly Subscription[], now: EpochMs): Advanced {
  const result: Advanced = { subscriptions: [...subscriptions], moved: [], started: [], renewals: [], executed: [] }
  const current = result.subscriptions
  const move = (index: number, trigger: Trigger, at: EpochMs, change = (moved: Subscription) => moved): Moved => {
    const before = current[index]!
    const after = change(apply(before, trigger, at))
    current[index] = after
    result.moved.push({ before, after, trigger, at })
    return result.moved.at(-1)!
  }
  for (;;) {
    const due = firstDue(current, now)
    if (!due) return result
    const { index, trigger, at, next } = due
    const subject = current[index]!
    if (trigger === 'renewal') {
      const period = periodAfter(subject)
      if (period) result.renewals.push({ subscriptionId: subject.id, ...period })
      move(index, trigger, at, (moved) => ({ ...moved, currentPeriod: period }))
    } else if (trigger === 'scheduledUpdate') {
      const scheduled = firstScheduled(subject)!
      result.executed.push(scheduled)
      const executed = move(index, trigger, at, (moved) => execute(moved, scheduled, at))
      executed.executed = scheduled
      const { after } = executed
      // Its plan may be in trial beside it: the two are never of one plan.
      for (const [otherIndex, other] of current.entries())
        if (replacementTrigger(other, after, 'ACTIVE') === 'trialReplaced') move(otherIndex, 'trialReplaced', at)
    } else if (next.reason) {
      const free = freeFollowUp(move(index, trigger, at), current)
      if (free) {
        current.push(free)
        result.started.push(free)
      }
    } else {
      begin(current, move, { index, trigger, at, next })
    }
  }
}

/** A start or a conversion: what it replaces goes first. */
function begin(
  current: Subscription[],
  move: (index: number, trigger: Trigger, at: EpochMs, change?: (moved: Subscription) => Subscription) => Moved,
  { index, trigger, at, next }: Due,
): void {
  const beginning = current[index]!
  let replaced: Subscription | undefined
  for (const [otherIndex, other] of current.entries()) {
    const replacement = otherIndex === index ? null : replacementTrigger(other, beginning, next.to)
    if (replacement) move(otherIndex, replacement, at)
    if (replacement === 'replace') replaced = other
  }
  move(index, trigger, at, (moved) => {
    // The paid life of a trial begins its usage and its billing anew, whatever it replaces.
    const begun = trigger === 'trialConverts' ? { ...moved, billingAnchor: at, usageAnchor: at } : moved
    if (trigger !== 'trialConverts') begun.usageAnchor = usageAnchorAfter(replaced, beginning.billingPeriod, at)
    if (begun.status === 'PAYMENT_PENDING') return awaitingPayment(begun)
    return begun.status === 'ACTIVE' ? { ...begun, currentPeriod: firstPeriod(begun, at) } : begun
  })
}

interface Due extends DueTrigger {
  index: number
  next: Transition
}

/** What is due first of all subscriptions. */
function firstDue(subscriptions: readonly Subscription[], now: EpochMs): Due | null {
  let first: Due | null = null
  for (const [index, subscription] of subscriptions.entries()) {
    const due = nextDue(subscription)
    if (!due || due.at > now) continue
    const isFirst = !first || due.at - first.at || order.indexOf(due.trigger) - order.indexOf(first.trigger)
    if (isFirst === true || isFirst < 0) first = { index, ...due, next: transition(subscription, due.trigger)! }
  }
  return first
}
