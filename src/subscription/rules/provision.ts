/**
 * Provisioning: what becomes of a request to subscribe, given what the customer holds. Pure; the service loads, asks here, and saves.
 */

import { sortKeys } from '../../catalog/document/normalise.js'
import type { BillingPeriod, PackageVersion } from '../../catalog/model/package.js'
import type { ProductRules } from '../../catalog/model/product.js'
import type { EpochMs } from '../../kernel/clock.js'
import { invalidInput } from '../../kernel/problem.js'
import { type BillingCycleAnchor, effectiveAt, firstPeriod, type ScheduleStrategy } from './billing-period.js'
import { isSameSlot, replacementTrigger, usageAnchorAfter } from './coexistence.js'
import { checkContent, chooseBillingPeriod, isSameContent } from './content.js'
import { apply, type Trigger } from './lifecycle.js'
import { planChangeType } from './plan-change.js'
import { invalidCancellationDate, oneSubscriptionOnly } from './problems.js'
import { withScheduled } from './scheduled.js'
import {
  type BillingPeriodWindow,
  type Budget,
  givesAccess,
  type HeldAddon,
  type HeldQuantity,
  type OwnEntitlement,
  type PlanAgreement,
  type ScheduledChange,
  type Subscription,
  type TrialEndBehavior,
} from './subscription.js'
import { addTrial } from './trial.js'
import { decideUpdate } from './update.js'

/** The request with its references resolved. Absent and null mean the same: not asked. */
export interface SubscriptionRequest {
  id: string
  /** The caller's identifier of the subscription; `id` when none was given. */
  refId: string
  environmentId: string
  customerId: string
  /** Who pays, when it is another customer. */
  payingCustomerId: string | null
  timeZone: string
  resource: { id: string; refId: string } | null
  plan: PackageVersion
  product: ProductRules
  addons: HeldAddon[]
  quantities: HeldQuantity[]
  ownEntitlements: OwnEntitlement[]
  billingPeriod: BillingPeriod | null
  billingCountryCode: string | null
  startDate: EpochMs | null
  /** The end of a term that is agreed at the start. */
  endDate: EpochMs | null
  /** A cancellation that is asked for at the start. */
  cancellationDate: EpochMs | null
  /** Wins over the product's setting. */
  scheduleStrategy: ScheduleStrategy | null
  /** The id of the scheduled change, if there is one. */
  scheduleId: string
  skipTrial: boolean
  trialOverride: { isTrial: boolean; trialEndDate: EpochMs | null; trialEndBehavior: TrialEndBehavior | null } | null
  billingCycleAnchor: BillingCycleAnchor | null
  budget: Budget | null
  additionalMetaData: Record<string, unknown> | null
  billingId: string | null
  crmId: string | null
  salesforceId: string | null
  /** About money, where it is said of a change that waits; null: nothing. */
  billing: object | null
}

export type ProvisionDecision =
  /** The same thing is in force already, or waits for its instant (`waits`): nothing changes. */
  | { kind: 'existing'; subscription: Subscription; waits?: boolean }
  /** The one in force is changed: now (the same plan with other quantities or add-ons), or later (`waits`). */
  | { kind: 'update'; subscription: Subscription; waits: boolean }
  /** `ended` go first: the new one replaces them. */
  | { kind: 'create'; subscription: Subscription; ended: Subscription[] }

export function decideProvision(input: {
  request: SubscriptionRequest
  /** Of the customer, not final, with all due transitions applied. */
  held: readonly Subscription[]
  /** Whether the customer ever trialed or paid for the product. */
  isTrialUsed: boolean
  now: EpochMs
}): ProvisionDecision {
  const { held, now } = input
  const request = startsNow(input.request.startDate, now) ? { ...input.request, startDate: null } : input.request
  const { product, plan } = request
  checkContent(request)
  const ofProduct = held.filter((other) => other.product.id === product.id)
  if (
    !product.allowsMultipleSubscriptions &&
    ofProduct.some((other) => givesAccess(other.status) && other.resource?.id !== request.resource?.id)
  )
    throw oneSubscriptionOnly(product.refId)

  const billingPeriod = chooseBillingPeriod(plan, request.billingPeriod)
  const slot = ofProduct.filter((other) => isSameSlot(other, request))
  const same = slot.filter((other) => isSamePlan(other, request, billingPeriod) && isSameStart(other, request))
  const active = same.find(({ status }) => status === 'ACTIVE')
  if (active) {
    if (isSameContent(active, request)) return { kind: 'existing', subscription: active }
    const { addons, quantities, scheduleStrategy, billingCycleAnchor } = request
    const updated = decideUpdate({ subscription: active, update: { addons, quantities, scheduleStrategy, billingCycleAnchor }, now })
    const waits = updated.scheduled.some((waiting) => !active.scheduled.includes(waiting))
    return waits || !isSameContent(updated, active) || updated.scheduled.length !== active.scheduled.length
      ? { kind: 'update', subscription: updated, waits }
      : { kind: 'existing', subscription: active }
  }
  const upcoming = same.find((other) => other.status === 'NOT_STARTED' && isSameContent(other, request))
  if (upcoming) return { kind: 'existing', subscription: upcoming }

  const startDate = request.startDate ?? now
  const trial = chooseTrial(request, { startDate, isTrialUsed: input.isTrialUsed, now })
  // A running trial that is asked for again as a trial is the same thing; asked for plainly it becomes paid.
  const sameTrial = trial && same.find((other) => other.status === 'IN_TRIAL' && isSameContent(other, request))
  if (sameTrial) return { kind: 'existing', subscription: sameTrial }
  if (trial && slot.some((other) => other.status === 'ACTIVE' && other.plan.packageId === plan.packageId)) {
    throw invalidInput(`Plan "${plan.refId}" is active already: it cannot be tried beside itself.`, {
      path: 'trialOverrideConfiguration.isTrial',
    })
  }
  const current = slot.find(({ status }) => status === 'ACTIVE')
  const later = current && !trial && request.startDate === null ? schedulePlanChange(current, request, billingPeriod, now) : null
  if (later) return later

  const isTrialOver = trial !== null && trial.endDate <= now
  const status = startDate > now ? 'NOT_STARTED' : trial && !isTrialOver ? 'IN_TRIAL' : 'ACTIVE'
  const replaced = slot.flatMap((other) => {
    const trigger = provisionTrigger(other, request, status)
    return trigger ? [{ other, trigger, ended: apply(other, trigger, now) }] : []
  })
  const inForce = replaced.find(({ other, trigger }) => givesAccess(other.status) && trigger === 'replace')?.other
  const kept = keptPeriod(request, { inForce, billingPeriod, status })
  const billingAnchor = kept?.anchor ?? (isTrialOver ? trial.endDate : startDate)
  const subscription: Subscription = {
    id: request.id,
    refId: request.refId,
    environmentId: request.environmentId,
    customerId: request.customerId,
    payingCustomerId: request.payingCustomerId,
    timeZone: request.timeZone,
    resource: request.resource,
    product,
    plan,
    addons: request.addons,
    quantities: request.quantities,
    ownEntitlements: request.ownEntitlements,
    status,
    pricingType: plan.pricingType,
    billingPeriod,
    billingCountryCode: request.billingCountryCode,
    startDate,
    endDate: request.endDate,
    trialEndDate: trial?.endDate ?? null,
    trialEndBehavior: trial?.endBehavior ?? null,
    cancellationDate: request.cancellationDate === null ? null : now,
    effectiveEndDate: request.cancellationDate,
    cancelReason: null,
    billingAnchor,
    // A start in the past keeps its date as anchor; what is charged begins with the period of now.
    currentPeriod:
      kept?.period ?? (status === 'ACTIVE' ? firstPeriod({ billingPeriod, billingAnchor, timeZone: request.timeZone }, now) : null),
    usageAnchor: usageAnchorAfter(inForce, billingPeriod, kept ? startDate : billingAnchor),
    budget: request.budget,
    entitlementsRevokedAt: null,
    scheduled: [],
    // Whether there is something to wait for is billing's to say; see payment.ts.
    awaitsPayment: false,
    paymentCollection: 'NOT_REQUIRED',
    additionalMetaData: request.additionalMetaData,
    billingId: request.billingId,
    crmId: request.crmId,
    salesforceId: request.salesforceId,
    createdAt: now,
  }
  checkEnds(subscription, now)
  return { kind: 'create', subscription, ended: replaced.map(({ ended }) => ended) }
}

/** The running billing period that goes on in the one that replaces it, where that was asked for; null: periods begin anew. */
function keptPeriod(
  { billingCycleAnchor, startDate }: SubscriptionRequest,
  context: { inForce: Subscription | undefined; billingPeriod: BillingPeriod | null; status: Subscription['status'] },
): { anchor: EpochMs; period: BillingPeriodWindow } | null {
  if (billingCycleAnchor !== 'UNCHANGED') return null
  const { inForce, billingPeriod, status } = context
  if (status !== 'ACTIVE' || !inForce?.currentPeriod || inForce.billingPeriod !== billingPeriod) return null
  if (startDate !== null)
    throw invalidInput('billingCycleAnchor UNCHANGED is for a change at once: leave startDate out.', { path: 'billingCycleAnchor' })
  return { anchor: inForce.billingAnchor, period: inForce.currentPeriod }
}

function checkEnds({ startDate, endDate, effectiveEndDate }: Subscription, now: EpochMs): void {
  const begins = Math.max(startDate, now)
  if (endDate !== null && endDate <= begins)
    throw invalidInput('endDate must be in the future and after the start date.', { path: 'endDate' })
  if (effectiveEndDate !== null && effectiveEndDate <= begins)
    throw invalidCancellationDate('cancellationDate must be in the future and after the start date.')
}

/** Another plan that takes effect at the end of a period: a change that waits on the current subscription. Null: it takes effect now. */
function schedulePlanChange(
  current: Subscription,
  request: SubscriptionRequest,
  billingPeriod: BillingPeriod | null,
  now: EpochMs,
): ProvisionDecision | null {
  const { plan, addons, quantities } = request
  const { ownEntitlements, budget, additionalMetaData, payingCustomerId, salesforceId, billing } = request
  const agreed = { ownEntitlements, budget, additionalMetaData, payingCustomerId, salesforceId, billing, billingAgreement: null }
  const content = { plan, billingPeriod, addons, quantities }
  const isDowngrade = planChangeType(current, content) === 'DOWNGRADE'
  const strategy = request.scheduleStrategy ?? (isDowngrade ? current.product.downgradeTiming : 'IMMEDIATE')
  const executeAt = effectiveAt(current, strategy, now)
  if (executeAt <= now) return null
  for (const [path, asked] of Object.entries({ endDate: request.endDate, cancellationDate: request.cancellationDate }))
    if (asked !== null)
      throw invalidInput(
        `${path} is for a subscription that begins, and this change waits: cancel the subscription, or give a startDate.`,
        { path },
      )
  if (request.billingCountryCode !== null && request.billingCountryCode !== current.billingCountryCode)
    throw invalidInput('A change that waits keeps the billing country: ask for it IMMEDIATE, or give a startDate.', {
      path: 'billingCountryCode',
    })
  const change: PlanChange = { type: isDowngrade ? 'Downgrade' : 'Plan', ...content, agreed }
  const waiting = current.scheduled.find((other) => other.executeAt === executeAt && isSamePlanChange(other.change, change))
  if (waiting) return { kind: 'existing', subscription: current, waits: true }
  return { kind: 'update', waits: true, subscription: withScheduled(current, { id: request.scheduleId, executeAt, change }) }
}

type PlanChange = Extract<ScheduledChange['change'], { type: 'Plan' | 'Downgrade' }>

function isSamePlanChange(a: ScheduledChange['change'], b: PlanChange): boolean {
  if (!('agreed' in a) || a.type !== b.type) return false
  if (a.plan.packageId !== b.plan.packageId || a.billingPeriod !== b.billingPeriod || !isSameContent(a, b)) return false
  return agreement(a.agreed) === agreement(b.agreed)
}

/** As a text that is the same for the same agreement; what entitlements are called here does not count, nor what billing made of a request. */
function agreement(agreed: PlanAgreement | null): string {
  const ownEntitlements = (agreed?.ownEntitlements ?? []).map(({ id: _, ...own }) => own)
  return JSON.stringify(sortKeys(JSON.parse(JSON.stringify({ ...agreed, ownEntitlements, billingAgreement: null }))))
}

/** What the new subscription, with its first status, does to another one in its slot; null: nothing, the two coexist. */
function provisionTrigger(other: Subscription, request: SubscriptionRequest, status: Subscription['status']): Trigger | null {
  // A payment that nobody waits for any more, and a start that was thought over.
  if (other.status === 'PAYMENT_PENDING' || (other.status === 'NOT_STARTED' && status === 'NOT_STARTED')) return 'replace'
  return replacementTrigger(other, request, status)
}

/** The trial that the subscription begins with, perhaps one that is over already (a start in the past); null: none. */
function chooseTrial(
  { plan, trialOverride, timeZone, skipTrial }: SubscriptionRequest,
  { startDate, isTrialUsed, now }: { startDate: EpochMs; isTrialUsed: boolean; now: EpochMs },
): { endDate: EpochMs; endBehavior: TrialEndBehavior } | null {
  if (skipTrial || trialOverride?.isTrial === false) return null
  if (!trialOverride && (!plan.trial || isTrialUsed)) return null
  const endDate = trialOverride?.trialEndDate ?? (plan.trial ? addTrial(startDate, plan.trial, timeZone) : null)
  const path = 'trialOverrideConfiguration.trialEndDate'
  if (endDate === null) throw invalidInput(`Plan "${plan.refId}" has no default trial: give trialEndDate.`, { path })
  if (endDate <= startDate) throw invalidInput('trialEndDate must be after the start date.', { path })
  const endBehavior = trialOverride?.trialEndBehavior ?? plan.trial?.endBehavior ?? 'CONVERT_TO_PAID'
  // A trial that would have ended the subscription before it was asked for is not what the caller means.
  return endDate <= now && endBehavior === 'CANCEL_SUBSCRIPTION' ? null : { endDate, endBehavior }
}

const isSamePlan = (other: Subscription, request: SubscriptionRequest, billingPeriod: BillingPeriod | null): boolean =>
  other.plan.packageId === request.plan.packageId && other.billingPeriod === billingPeriod

/** Callers' clocks run ahead by that much: a start within it is meant to be now. */
const clockSkewMs = 60_000

const startsNow = (startDate: EpochMs | null, now: EpochMs): boolean =>
  startDate !== null && startDate > now && startDate - now <= clockSkewMs

/** A request without a start date means what is there, whenever it started. One that is sent again may name a start that was ahead then, and was taken for now. */
function isSameStart(other: Subscription, { startDate }: SubscriptionRequest): boolean {
  if (startDate === null) return other.status !== 'NOT_STARTED'
  return other.startDate === startDate || (other.startDate === other.createdAt && startsNow(startDate, other.createdAt))
}

/** Whether what was asked for is yet to come. */
export const isScheduled = (decision: ProvisionDecision): boolean =>
  decision.subscription.status === 'NOT_STARTED' || (decision.kind !== 'create' && (decision.waits ?? false))

/** The decision as changes in the order in which they happen; the asked subscription comes last. None: everything stays as it is. */
export function changesOf(
  decision: ProvisionDecision,
  held: readonly Subscription[],
  at: EpochMs,
): { before: Subscription | null; after: Subscription; at: EpochMs; isRenewal: boolean }[] {
  if (decision.kind === 'existing') return []
  const before = (id: string) => held.find((other) => other.id === id) ?? null
  const ended = decision.kind === 'create' ? decision.ended : []
  return [...ended, decision.subscription].map((after) => ({ before: before(after.id), after, at, isRenewal: false }))
}
