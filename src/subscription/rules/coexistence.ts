/** What the subscriptions of one customer mean to each other. Pure. */
import type { EpochMs } from '../../kernel/clock.js'
import type { Trigger } from './lifecycle.js'
import type { Subscription, SubscriptionStatus } from './subscription.js'

/** Of one product, and of the same resource or both of the customer itself. */
export function isSameSlot(a: Pick<Subscription, 'product' | 'resource'>, b: Pick<Subscription, 'product' | 'resource'>): boolean {
  return a.product.id === b.product.id && a.resource?.id === b.resource?.id
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

/**
 * Where the usage series begin of a subscription that starts at `startsAt`: there, or where those of the one began that it replaces, as the
 * product says. `replaced` is as it was in force; absent: it replaces none.
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
