/** Changes of a subscription that wait for their instant: which come first, which exclude each other, and what each does. Pure. */
import type { EpochMs } from '../../kernel/clock.js'
import { firstPeriod } from './billing-period.js'
import { usageAnchorAfter } from './coexistence.js'
import { fittingQuantities } from './content.js'
import type { HeldAddon, PlanAgreement, PlanContent, ScheduledChange, Subscription } from './subscription.js'

const isPlanChange = ({ change }: ScheduledChange): boolean =>
  change.type === 'Plan' || change.type === 'Downgrade' || change.type === 'MigrateToLatest'

/**
 * Plan changes first: what the others name may not be sold with the new plan. Another billing period last: it is charged as what is held then. Else by id, so
 * that every reader has the same order.
 */
const rank = (scheduled: ScheduledChange): number => (isPlanChange(scheduled) ? 0 : scheduled.change.type === 'BillingPeriod' ? 2 : 1)

/** The scheduled change that comes first; null: there is none. */
export function firstScheduled({ scheduled }: Pick<Subscription, 'scheduled'>): ScheduledChange | null {
  const [first] = scheduled.toSorted((a, b) => a.executeAt - b.executeAt || rank(a) - rank(b) || (a.id < b.id ? -1 : 1))
  return first ?? null
}

/** The subscription with `added` waiting too. A plan change replaces all that waits: it names everything that is held after it. */
export function withScheduled(subscription: Subscription, added: ScheduledChange): Subscription {
  return { ...subscription, scheduled: [...subscription.scheduled.filter((other) => !isReplacedBy(other, added)), added] }
}

function isReplacedBy(other: ScheduledChange, added: ScheduledChange): boolean {
  if (added.change.type === 'Plan' || added.change.type === 'Downgrade') return true
  if (isPlanChange(added)) return isPlanChange(other)
  const [a, b] = [other.change, added.change]
  if (a.type === 'UnitAmount' && b.type === 'UnitAmount') return a.featureId === b.featureId
  if (a.type === 'Addon' && b.type === 'Addon') return a.addon.version.packageId === b.addon.version.packageId
  return a.type === b.type
}

/** The subscription after the change, which is no longer among its scheduled ones. Its status stays. */
export function execute(subscription: Subscription, { id, change }: ScheduledChange, at: EpochMs): Subscription {
  const waiting = { ...subscription, scheduled: subscription.scheduled.filter((other) => other.id !== id) }
  switch (change.type) {
    case 'Plan':
    case 'Downgrade':
      return changePlan(waiting, change, at)
    case 'MigrateToLatest':
      return withVersions(waiting, change)
    case 'BillingPeriod':
      return changeBillingPeriod(waiting, change.billingPeriod, at)
    case 'UnitAmount':
      return fitting({
        ...waiting,
        quantities: [...waiting.quantities.filter(({ featureId }) => featureId !== change.featureId), quantityOf(change)],
      })
    case 'Addon': {
      const isSame = ({ version }: HeldAddon) => version.packageId === change.addon.version.packageId
      const isHeld = change.addon.quantity > 0 && waiting.plan.compatibleAddonIds.includes(change.addon.version.packageId)
      // What was sold by it goes with it.
      if (!isHeld) return fitting({ ...waiting, addons: waiting.addons.filter((addon) => !isSame(addon)) })
      // Each stays where it is in the list, as when they are read again: invoices list them so.
      if (waiting.addons.some(isSame)) return { ...waiting, addons: waiting.addons.map((addon) => (isSame(addon) ? change.addon : addon)) }
      return { ...waiting, addons: [...waiting.addons, change.addon] }
    }
  }
}

const quantityOf = ({ featureId, featureRefId, quantity }: Subscription['quantities'][number]) => ({ featureId, featureRefId, quantity })

/** The subscription with other versions of what it holds. What is bought stays, as far as they sell it. */
export function withVersions(subscription: Subscription, { plan, addons }: Pick<PlanContent, 'plan' | 'addons'>): Subscription {
  return fitting({ ...subscription, plan, addons, pricingType: plan.pricingType })
}

const fitting = (subscription: Subscription): Subscription => ({ ...subscription, quantities: fittingQuantities(subscription) })

/** Another plan in the same subscription. It begins with what the change names: entitlements that were agreed for the old plan go with it. */
function changePlan(
  subscription: Subscription,
  { plan, billingPeriod, addons, quantities, agreed }: PlanContent & { agreed: PlanAgreement | null },
  at: EpochMs,
): Subscription {
  const changed: Subscription = {
    ...subscription,
    plan,
    addons,
    // They were chosen when another version was the latest one.
    quantities: fittingQuantities({ plan, addons, quantities }),
    ownEntitlements: agreed?.ownEntitlements ?? [],
    budget: agreed?.budget ?? subscription.budget,
    additionalMetaData: agreed?.additionalMetaData ?? subscription.additionalMetaData,
    payingCustomerId: agreed?.payingCustomerId ?? subscription.payingCustomerId,
    salesforceId: agreed?.salesforceId ?? subscription.salesforceId,
    pricingType: plan.pricingType,
    usageAnchor: usageAnchorAfter(subscription, billingPeriod, at),
  }
  return changeBillingPeriod(changed, billingPeriod, at)
}

/** Billing begins anew where the period is another one, and goes on from its anchor where it is the same. */
export function changeBillingPeriod(subscription: Subscription, billingPeriod: Subscription['billingPeriod'], at: EpochMs): Subscription {
  return subscription.billingPeriod === billingPeriod ? subscription : restartBillingPeriod({ ...subscription, billingPeriod }, at)
}

/** A billing period begins at the instant, and the later ones are counted from it. */
export function restartBillingPeriod(subscription: Subscription, at: EpochMs): Subscription {
  const restarted = { ...subscription, billingAnchor: at }
  return { ...restarted, currentPeriod: firstPeriod(restarted, at) }
}
