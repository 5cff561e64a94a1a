/** What the host application is told of a subscription. Pure. */
import type { EventPayload, EventType } from '../../notifications/model/catalog.js'
import type { subscriptionStatuses } from '../../notifications/model/statuses.js'
import { isFinal, type Subscription, type SubscriptionStatus } from './subscription.js'

/** From what was to what is, by one thing that happened; `before` is null when the subscription is new. */
export interface Step {
  before: Subscription | null
  after: Subscription
}

type Told<Type extends EventType> = { type: Type; data: EventPayload<Type> }
export type SubscriptionEvent = { [Type in Extract<EventType, `subscription.${string}`>]: Told<Type> }[Extract<
  EventType,
  `subscription.${string}`
>]

const time = (at: number) => new Date(at).toISOString()
const timeOrNull = (at: number | null) => (at === null ? null : time(at))

/** `refIdOf`: what the host application calls a customer (our id). */
export function toldSubscription(subscription: Subscription, refIdOf: (customerId: string) => string) {
  const { plan, product, resource, currentPeriod, payingCustomerId } = subscription
  // The catalog names the same statuses: this does not compile otherwise.
  const status: SubscriptionStatus & (typeof subscriptionStatuses)[number] = subscription.status
  return {
    subscriptionId: subscription.refId,
    customerId: refIdOf(subscription.customerId),
    payingCustomerId: payingCustomerId && refIdOf(payingCustomerId),
    resourceId: resource?.refId ?? null,
    productId: product.refId,
    planId: plan.refId,
    planVersion: plan.versionNumber,
    status,
    pricingType: subscription.pricingType,
    billingPeriod: subscription.billingPeriod,
    startDate: time(subscription.startDate),
    endDate: timeOrNull(subscription.endDate),
    trialEndDate: timeOrNull(subscription.trialEndDate),
    currentPeriodStart: timeOrNull(currentPeriod?.start ?? null),
    currentPeriodEnd: timeOrNull(currentPeriod?.end ?? null),
    cancellationDate: timeOrNull(subscription.cancellationDate),
    effectiveEndDate: timeOrNull(subscription.effectiveEndDate),
    cancelReason: subscription.cancelReason,
    addons: subscription.addons.map(({ version, quantity }) => ({ addonId: version.refId, quantity })),
    quantities: subscription.quantities.map(({ featureRefId, quantity }) => ({ featureId: featureRefId, quantity })),
    scheduledChanges: subscription.scheduled.map(({ change, executeAt }) => ({ type: change.type, executeAt: time(executeAt) })),
  }
}

/** The events of one step, in their order. */
export function stepEvents({ before, after }: Step, refIdOf: (customerId: string) => string): SubscriptionEvent[] {
  const data = { subscription: toldSubscription(after, refIdOf) }
  const isMigrated = before !== null && before.plan.id !== after.plan.id && before.plan.packageId === after.plan.packageId
  const events: SubscriptionEvent[] = []
  if (!before) events.push({ type: 'subscription.created', data })
  events.push(...statusEvents(before?.status ?? null, after).map((type) => ({ type, data })))
  if (before && isMigrated)
    events.push({ type: 'subscription.migrated', data: { ...data, previousPlanVersion: before.plan.versionNumber } })
  if (before && before.resource?.id !== after.resource?.id)
    events.push({ type: 'subscription.transferred', data: { ...data, previousResourceId: before.resource?.refId ?? null } })
  if (before && isRenewed(before, after)) events.push({ type: 'subscription.renewed', data })
  if (before && isUpdated(before, after, { isMigrated })) events.push({ type: 'subscription.updated', data })
  if (isScheduled(before, after)) events.push({ type: 'subscription.change_scheduled', data })
  return events
}

type StatusEvent = Exclude<SubscriptionEvent['type'], 'subscription.migrated' | 'subscription.transferred'>

function statusEvents(before: SubscriptionStatus | null, { status, cancelReason }: Subscription): StatusEvent[] {
  if (before === status) return []
  switch (status) {
    case 'NOT_STARTED':
      return []
    case 'IN_TRIAL':
      return ['subscription.trial_started']
    case 'PAYMENT_PENDING':
      return ['subscription.payment_pending']
    case 'ACTIVE':
      return [before === 'IN_TRIAL' ? 'subscription.trial_converted' : 'subscription.activated']
    case 'CANCELED':
      return [...(cancelReason === 'TrialConverted' ? (['subscription.trial_converted'] as const) : []), 'subscription.canceled']
    case 'EXPIRED':
      return [...(cancelReason === 'TrialEnded' ? (['subscription.trial_ended'] as const) : []), 'subscription.expired']
  }
}

const isRenewed = (before: Subscription, { status, currentPeriod }: Subscription): boolean =>
  status === 'ACTIVE' && before.status === 'ACTIVE' && before.currentPeriod !== null && currentPeriod?.start === before.currentPeriod.end

/** What `subscription.updated` tells of. */
const contentOf = (subscription: Subscription) => ({
  plan: subscription.plan.id,
  addons: subscription.addons.map(({ version, quantity }) => [version.id, quantity]),
  quantities: subscription.quantities,
  ownEntitlements: subscription.ownEntitlements.map(({ id: _, ...terms }) => terms),
  billingPeriod: subscription.billingPeriod,
  endDate: subscription.endDate,
  trialEndDate: subscription.trialEndDate,
  payingCustomerId: subscription.payingCustomerId,
  budget: subscription.budget,
  additionalMetaData: subscription.additionalMetaData,
})

function isUpdated(before: Subscription, after: Subscription, { isMigrated }: { isMigrated: boolean }): boolean {
  if (isFinal(after.status)) return false
  const [was, is] = [contentOf(before), contentOf(after)]
  if (isMigrated) was.plan = is.plan
  const isTakenBack =
    before.scheduled.length > after.scheduled.length || (before.effectiveEndDate !== null && after.effectiveEndDate === null)
  return isTakenBack || JSON.stringify(was) !== JSON.stringify(is)
}

/** Something waits now that did not before. */
function isScheduled(before: Subscription | null, after: Subscription): boolean {
  if (isFinal(after.status)) return false
  const known = new Set(before?.scheduled.map(({ id }) => id))
  const isCancellation = after.effectiveEndDate !== null && after.effectiveEndDate !== (before?.effectiveEndDate ?? null)
  return isCancellation || after.scheduled.some(({ id }) => !known.has(id))
}
