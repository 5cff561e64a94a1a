import type { BillingPeriod } from '../../catalog/model/package.js'
import type { EpochMs } from '../../kernel/clock.js'
import { usagePeriodAt } from '../../metering/model/usage-period.js'
import { type BillingPeriodWindow, givesAccess, type Subscription } from './subscription.js'

/** NOW: billing periods begin anew with the change. UNCHANGED: the running one goes on. */
export type BillingCycleAnchor = 'NOW' | 'UNCHANGED'

export type ScheduleStrategy = 'IMMEDIATE' | 'END_OF_BILLING_PERIOD' | 'END_OF_BILLING_MONTH'

/** The billing period that contains `at`, counted from the anchor in the customer's time zone. */
export function billingPeriodFrom(period: BillingPeriod, anchor: EpochMs, timeZone: string, at: EpochMs): BillingPeriodWindow {
  return usagePeriodAt({ period: period === 'MONTHLY' ? 'MONTH' : 'YEAR', rule: 'SubscriptionStart', anchor, timeZone, at })
}

/** The billing period that contains `at`; in a trial, the trial. Null while nothing is billed. */
export function billingPeriodAt(subscription: Subscription, at: EpochMs): BillingPeriodWindow | null {
  const { billingPeriod, billingAnchor, currentPeriod, status, timeZone } = subscription
  if (status === 'IN_TRIAL' && subscription.trialEndDate !== null) return { start: subscription.startDate, end: subscription.trialEndDate }
  if (billingPeriod === null || !givesAccess(status)) return null
  // What was begun keeps its end although the customer's time zone changed meanwhile.
  if (currentPeriod && currentPeriod.start <= at && at < currentPeriod.end) return currentPeriod
  return billingPeriodFrom(billingPeriod, billingAnchor, timeZone, at)
}

/** The billing period of a subscription with its status of now; in a trial, the trial. Null while nothing is billed. */
export function currentBillingPeriod({ status, startDate, trialEndDate, currentPeriod }: Subscription): BillingPeriodWindow | null {
  if (status === 'IN_TRIAL' && trialEndDate !== null) return { start: startDate, end: trialEndDate }
  return status === 'ACTIVE' ? currentPeriod : null
}

/** The period that an active subscription is in from `at` on, where billing begins anew or the paid life begins. Null: nothing is billed. */
export function firstPeriod(subscription: Pick<Subscription, 'billingPeriod' | 'billingAnchor' | 'timeZone'>, at: EpochMs) {
  const { billingPeriod, billingAnchor, timeZone } = subscription
  return billingPeriod === null ? null : billingPeriodFrom(billingPeriod, billingAnchor, timeZone, at)
}

/** An anchor may be on another day of the month in another zone: that moves boundaries by a day and what months differ by. No billing period is as short. */
const zoneRemainderMs = 7 * 24 * 3_600_000

/**
 * The period that begins where the current one ends. In another time zone the boundary is somewhere else: the period is as much longer or shorter, so that there
 * is never one of some hours or days that would be charged like a whole one. Null: nothing is billed any more.
 */
export function periodAfter(subscription: Subscription): BillingPeriodWindow | null {
  const { billingPeriod, currentPeriod } = subscription
  if (billingPeriod === null || !currentPeriod) return null
  const start = currentPeriod.end
  const { end } = firstPeriod(subscription, start)!
  return { start, end: end - start > zoneRemainderMs ? end : firstPeriod(subscription, end)!.end }
}

/** When a change takes effect. What is not billed has no period whose end could be waited for: at once. */
export function effectiveAt(subscription: Subscription, strategy: ScheduleStrategy, now: EpochMs): EpochMs {
  const period = billingPeriodAt(subscription, now)
  if (strategy === 'IMMEDIATE' || !period) return now
  if (strategy === 'END_OF_BILLING_PERIOD') return period.end
  const month = billingPeriodFrom('MONTHLY', subscription.billingAnchor, subscription.timeZone, now)
  return Math.min(month.end, period.end)
}
