/** Changes of a subscription that keep its plan. Pure but for the ids that it gives to what it schedules. */
import type { BillingPeriod, PackageVersion } from '../../catalog/model/package.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { newId } from '../../kernel/id.js'
import { invalidInput } from '../../kernel/problem.js'
import { type BillingCycleAnchor, effectiveAt, type ScheduleStrategy } from './billing-period.js'
import { decideCancellation, undoCancellation } from './cancel.js'
import { boughtQuantity, checkContent, chooseBillingPeriod, fittingQuantities } from './content.js'
import { apply, refusal } from './lifecycle.js'
import { alreadyOnLatestPlan, invalidSubscriptionStatus } from './problems.js'
import { changeBillingPeriod, execute, restartBillingPeriod, withScheduled } from './scheduled.js'
import type { Budget, HeldAddon, HeldQuantity, OwnEntitlement, ScheduledChange, Subscription } from './subscription.js'

/** Absent: unchanged. */
export interface SubscriptionUpdate {
  /** The whole list. */
  addons?: HeldAddon[]
  /** Those that change; the others stay. */
  quantities?: HeldQuantity[]
  /** The whole list. */
  ownEntitlements?: OwnEntitlement[]
  additionalMetaData?: Record<string, unknown> | null
  salesforceId?: string | null
  trialEndDate?: EpochMs
  billingPeriod?: BillingPeriod
  /** Null takes a scheduled cancellation back. */
  cancellationDate?: EpochMs | null
  /** Wins over the product's setting; null: the setting. */
  scheduleStrategy?: ScheduleStrategy | null
  /** NOW: the billing period begins anew, with everything that changes. Default UNCHANGED. */
  billingCycleAnchor?: BillingCycleAnchor | null
  /** Null: no budget any more. */
  budget?: Budget | null
}

/**
 * The subscription after the update: at once, or with changes that wait. What takes less of something than there was follows the product's downgrade
 * setting; all else is at once unless `scheduleStrategy` says otherwise.
 */
export function decideUpdate({
  subscription,
  update,
  now,
}: {
  subscription: Subscription
  update: SubscriptionUpdate
  now: EpochMs
}): Subscription {
  const refused = refusal(subscription, 'update', 'changed')
  if (refused) throw refused
  let updated = apply(subscription, 'update', now)
  if (update.additionalMetaData !== undefined) updated = { ...updated, additionalMetaData: update.additionalMetaData }
  if (update.salesforceId !== undefined) updated = { ...updated, salesforceId: update.salesforceId }
  if (update.budget !== undefined) updated = { ...updated, budget: update.budget }
  if (update.ownEntitlements) updated = { ...updated, ownEntitlements: update.ownEntitlements }
  if (update.trialEndDate !== undefined) updated = moveTrialEnd(updated, update.trialEndDate, now)
  if (update.cancellationDate === null) updated = undoCancellation(updated)
  else if (update.cancellationDate !== undefined)
    updated = decideCancellation({ subscription: updated, time: 'SPECIFIC_DATE', endDate: update.cancellationDate, now })
  const restarts = update.billingCycleAnchor === 'NOW'
  if (restarts && update.scheduleStrategy && update.scheduleStrategy !== 'IMMEDIATE')
    throw invalidInput('billingCycleAnchor NOW is for a change at once: leave scheduleStrategy out.', { path: 'billingCycleAnchor' })
  const when = (isLess: boolean): EpochMs => {
    if (updated.status !== 'ACTIVE' || restarts) return now
    return effectiveAt(updated, update.scheduleStrategy ?? (isLess ? updated.product.downgradeTiming : 'IMMEDIATE'), now)
  }
  // As if all of it took effect now: what is refused is refused before anything is scheduled.
  const addons = update.addons ?? updated.addons
  // What an add-on sold goes with it.
  const kept = fittingQuantities({ plan: updated.plan, addons, quantities: updated.quantities })
  checkContent({ plan: updated.plan, addons, quantities: merged(kept, update.quantities ?? []) })
  if (update.addons) updated = changeAddons(updated, update.addons, when, now)
  for (const wanted of update.quantities ?? []) updated = changeQuantity(updated, wanted, when, now)
  if (update.billingPeriod !== undefined && update.billingPeriod !== updated.billingPeriod) {
    const billingPeriod = chooseBillingPeriod(updated.plan, update.billingPeriod)!
    const executeAt = when(false)
    if (executeAt > now) updated = withScheduled(updated, { id: newId(), executeAt, change: { type: 'BillingPeriod', billingPeriod } })
    else if (updated.status === 'ACTIVE') updated = changeBillingPeriod(updated, billingPeriod, now)
    else updated = { ...updated, billingPeriod }
  }
  return restarts && updated.status === 'ACTIVE' ? restartBillingPeriod(updated, now) : updated
}

function merged(quantities: HeldQuantity[], changed: HeldQuantity[]): HeldQuantity[] {
  const isChanged = new Set(changed.map(({ featureId }) => featureId))
  return [...quantities.filter(({ featureId }) => !isChanged.has(featureId)), ...changed]
}

/**
 * Against the original quantity: less waits (or replaces what waits), the same takes back what waits, more takes it back and applies at once.
 */
function changeQuantity(subscription: Subscription, wanted: HeldQuantity, when: (isLess: boolean) => EpochMs, now: EpochMs): Subscription {
  const original = boughtQuantity(subscription, wanted.featureId) ?? decimal.zero
  const isWaiting = ({ change }: ScheduledChange) => change.type === 'UnitAmount' && change.featureId === wanted.featureId
  const settled = { ...subscription, scheduled: subscription.scheduled.filter((scheduled) => !isWaiting(scheduled)) }
  const difference = decimal.compare(wanted.quantity, original)
  const isChosen = settled.quantities.some(({ featureId }) => featureId === wanted.featureId)
  if (difference === 0) return isChosen ? settled : { ...settled, quantities: merged(settled.quantities, [wanted]) }
  const executeAt = when(difference < 0)
  const scheduled: ScheduledChange = { id: newId(), executeAt, change: { type: 'UnitAmount', ...wanted } }
  return executeAt > now ? withScheduled(settled, scheduled) : { ...settled, quantities: merged(settled.quantities, [wanted]) }
}

/** The list replaces. An add-on that goes, or becomes less, is like a smaller quantity. */
function changeAddons(subscription: Subscription, wanted: HeldAddon[], when: (isLess: boolean) => EpochMs, now: EpochMs): Subscription {
  const packageIds = new Set([...subscription.addons, ...wanted].map(({ version }) => version.packageId))
  let changed = subscription
  for (const packageId of packageIds) {
    const held = subscription.addons.find(({ version }) => version.packageId === packageId)
    const asked = wanted.find(({ version }) => version.packageId === packageId)
    const isWaiting = ({ change }: ScheduledChange) => change.type === 'Addon' && change.addon.version.packageId === packageId
    changed = { ...changed, scheduled: changed.scheduled.filter((scheduled) => !isWaiting(scheduled)) }
    if (held && asked && held.quantity === asked.quantity) continue
    // What is held keeps its version: another quantity is no migration.
    const addon = held ? { ...held, quantity: asked?.quantity ?? 0 } : asked!
    const scheduled: ScheduledChange = {
      id: newId(),
      executeAt: when(addon.quantity < (held?.quantity ?? 0)),
      change: { type: 'Addon', addon },
    }
    changed = scheduled.executeAt > now ? withScheduled(changed, scheduled) : execute(changed, scheduled, now)
  }
  return changed
}

function moveTrialEnd(subscription: Subscription, trialEndDate: EpochMs, now: EpochMs): Subscription {
  const hasTrial = subscription.status === 'IN_TRIAL' || (subscription.status === 'NOT_STARTED' && subscription.trialEndDate !== null)
  if (!hasTrial) throw invalidSubscriptionStatus(subscription.refId, subscription.status, 'given another trial end')
  if (trialEndDate <= Math.max(now, subscription.startDate))
    throw invalidInput('trialEndDate must be in the future and after the start date.', { path: 'trialEndDate' })
  return { ...subscription, trialEndDate }
}

/** Takes back what waits, and a scheduled cancellation too. */
export function cancelSchedule(subscription: Subscription, now: EpochMs): Subscription {
  const refused = refusal(subscription, 'update', 'changed')
  if (refused) throw refused
  return { ...undoCancellation(apply(subscription, 'update', now)), scheduled: [] }
}

/** The latest versions of what the subscription holds. */
export interface LatestVersions {
  plan: PackageVersion
  /** By package id; an add-on without an entry stays as it is. */
  addons: ReadonlyMap<string, PackageVersion>
}

/** From the versions that it was sold with to the latest ones. @throws Problem when it holds them already */
export function decideMigration(input: {
  subscription: Subscription
  latest: LatestVersions
  time: 'IMMEDIATE' | 'END_OF_BILLING_PERIOD'
  now: EpochMs
}): Subscription {
  const { subscription, latest, time, now } = input
  const refused = refusal(subscription, 'update', 'migrated')
  if (refused) throw refused
  const addons = latestAddons(subscription, latest)
  const isLatest =
    latest.plan.id === subscription.plan.id && addons.every((addon, index) => addon.version.id === subscription.addons[index]!.version.id)
  if (isLatest) throw alreadyOnLatestPlan(subscription.refId)
  const { billingPeriod, quantities } = subscription
  const executeAt = subscription.status === 'ACTIVE' ? effectiveAt(subscription, time, now) : now
  const change = { type: 'MigrateToLatest' as const, plan: latest.plan, billingPeriod, addons, quantities }
  const scheduled: ScheduledChange = { id: newId(), executeAt, change }
  return executeAt > now
    ? withScheduled(apply(subscription, 'update', now), scheduled)
    : execute(apply(subscription, 'update', now), scheduled, now)
}

export function latestAddons({ addons }: Pick<Subscription, 'addons'>, latest: Pick<LatestVersions, 'addons'>): HeldAddon[] {
  return addons.map((addon) => ({ ...addon, version: latest.addons.get(addon.version.packageId) ?? addon.version }))
}
