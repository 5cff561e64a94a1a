/** Cancellation: when a subscription ends once somebody asked for it. Pure. */
import type { EpochMs } from '../kernel/clock.js'
import { billingPeriodAt } from './billing-period.js'
import { apply, transition } from './lifecycle.js'
import { isFinal, type Subscription } from './model.js'
import { alreadyEnded, invalidCancellationDate, invalidSubscriptionStatus, trialIsCanceledImmediately } from './problems.js'

export type CancellationTime = 'IMMEDIATE' | 'END_OF_BILLING_PERIOD' | 'SPECIFIC_DATE'

/**
 * The subscription after the request. Without a time the product's setting decides; trials and free plans end at once. Scheduled: it stays as it is
 * until `effectiveEndDate`.
 */
export function decideCancellation(input: {
  subscription: Subscription
  time: CancellationTime | null
  endDate: EpochMs | null
  timeZone: string
  now: EpochMs
}): Subscription {
  const { subscription, timeZone, now, endDate } = input
  const { refId, status } = subscription
  if (isFinal(status)) throw alreadyEnded(refId, status)
  const endsAtOnce = status !== 'ACTIVE' || subscription.pricingType === 'FREE'
  const time = input.time ?? (endsAtOnce ? 'IMMEDIATE' : subscription.product.cancellationTiming)
  if (time === 'IMMEDIATE') {
    if (!transition(subscription, 'cancel')) throw invalidSubscriptionStatus(refId, status, 'canceled')
    return apply(subscription, 'cancel', now)
  }
  if (status === 'IN_TRIAL') throw trialIsCanceledImmediately(refId)
  if (status !== 'ACTIVE') throw invalidSubscriptionStatus(refId, status, 'canceled at a later date')
  const effectiveEndDate = time === 'SPECIFIC_DATE' ? endDate : (billingPeriodAt(subscription, timeZone, now)?.end ?? null)
  if (effectiveEndDate === null)
    throw invalidCancellationDate(
      time === 'SPECIFIC_DATE'
        ? 'Give endDate with time SPECIFIC_DATE.'
        : 'The subscription has no billing period: cancel it with time IMMEDIATE.',
    )
  if (effectiveEndDate <= now) throw invalidCancellationDate('endDate must be in the future.')
  return { ...subscription, cancellationDate: now, effectiveEndDate }
}
