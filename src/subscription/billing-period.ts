import type { EpochMs } from '../kernel/clock.js'
import { usagePeriodAt } from '../metering/usage-period.js'
import { givesAccess, type Subscription } from './model.js'

/** The billing period that contains `at`, computed from the billing anchor in the customer's time zone; null while nothing is billed. */
export function billingPeriodAt(subscription: Subscription, timeZone: string, at: EpochMs): { start: EpochMs; end: EpochMs } | null {
  const { billingPeriod, billingAnchor, status } = subscription
  if (status === 'IN_TRIAL' && subscription.trialEndDate !== null) return { start: subscription.startDate, end: subscription.trialEndDate }
  if (billingPeriod === null || !givesAccess(status)) return null
  return usagePeriodAt({
    period: billingPeriod === 'MONTHLY' ? 'MONTH' : 'YEAR',
    rule: 'SubscriptionStart',
    anchor: billingAnchor,
    timeZone,
    at,
  })
}
