/** What a first payment makes of the subscription that waited for it, and of what it replaces. Pure. */
import type { EpochMs } from '../../kernel/clock.js'
import { firstPeriod } from './billing-period.js'
import { replacementTrigger, usageAnchorAfter } from './coexistence.js'
import { apply } from './lifecycle.js'
import type { Subscription } from './subscription.js'

/** Instead of beginning at once it waits for its payment; what it would have ended goes on until then. */
export function awaitingPayment(subscription: Subscription): Subscription {
  return { ...subscription, status: 'PAYMENT_PENDING', currentPeriod: null, paymentCollection: 'PROCESSING' }
}

/** The subscription becomes active at the instant; `ended`: those that it replaces. */
export function decidePaid(
  subscription: Subscription,
  held: readonly Subscription[],
  at: EpochMs,
): { subscription: Subscription; ended: Subscription[] } {
  const replaced = held.flatMap((other) => {
    // Itself it does not replace: it waits for its payment, and only what is in force is replaced.
    const trigger = replacementTrigger(other, subscription, 'ACTIVE')
    return trigger ? [{ other, trigger, ended: apply(other, trigger, at) }] : []
  })
  const inForce = replaced.find(({ trigger }) => trigger === 'replace')?.other
  const paid = apply(subscription, 'paid', at)
  // Where it goes on in a running billing period, the anchor of that is older than it is.
  const usageAnchor = usageAnchorAfter(inForce, paid.billingPeriod, Math.max(paid.billingAnchor, paid.startDate))
  return { subscription: { ...paid, usageAnchor, currentPeriod: firstPeriod(paid, at) }, ended: replaced.map(({ ended }) => ended) }
}
