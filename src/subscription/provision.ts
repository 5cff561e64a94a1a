/**
 * Provisioning: what becomes of a request to subscribe, given what the customer holds. Pure; the service loads, asks here, and saves.
 */
import type { BillingPeriod, PackageVersion } from '../catalog/model.js'
import type { EpochMs } from '../kernel/clock.js'
import * as decimal from '../kernel/decimal.js'
import { invalidInput } from '../kernel/problem.js'
import { apply, isSameSlot, replacementTrigger, type Trigger, usageAnchorAfter } from './lifecycle.js'
import { givesAccess, type HeldAddon, type ProductRules, type Subscription, type TrialEndBehavior } from './model.js'
import { addonRequires, incompatibleAddon, oneSubscriptionOnly } from './problems.js'
import { addTrial } from './trial.js'

/** The request with its references resolved. Absent and null mean the same: not asked. */
export interface SubscriptionRequest {
  id: string
  /** The caller's identifier of the subscription; `id` when none was given. */
  refId: string
  environmentId: string
  customerId: string
  timeZone: string
  resource: { id: string; refId: string } | null
  plan: PackageVersion
  product: ProductRules
  addons: HeldAddon[]
  quantities: { featureId: string; featureRefId: string; quantity: decimal.Decimal }[]
  billingPeriod: BillingPeriod | null
  billingCountryCode: string | null
  startDate: EpochMs | null
  skipTrial: boolean
  trialOverride: { isTrial: boolean; trialEndDate: EpochMs | null; trialEndBehavior: TrialEndBehavior | null } | null
  additionalMetaData: Record<string, unknown> | null
}

export type ProvisionDecision =
  /** The same thing is in force already: nothing changes. */
  | { kind: 'existing'; subscription: Subscription }
  /** The same plan with other quantities or add-ons: the one in force is changed. */
  | { kind: 'update'; subscription: Subscription }
  /** `ended` go first: the new one takes their place. */
  | { kind: 'create'; subscription: Subscription; ended: Subscription[] }

export function decideProvision(input: {
  request: SubscriptionRequest
  /** Of the customer, not final, with all due transitions applied. */
  held: readonly Subscription[]
  /** Whether the customer ever trialed or paid for the product. */
  isTrialUsed: boolean
  now: EpochMs
}): ProvisionDecision {
  const { request, held, now } = input
  const { product, plan } = request
  checkAddons(request)
  const ofProduct = held.filter((other) => other.product.id === product.id)
  if (
    !product.allowsMultipleSubscriptions &&
    ofProduct.some((other) => givesAccess(other.status) && other.resource?.id !== request.resource?.id)
  )
    throw oneSubscriptionOnly(product.refId)

  const billingPeriod = chooseBillingPeriod(request)
  const slot = ofProduct.filter((other) => isSameSlot(other, request))
  const same = slot.filter((other) => isSamePlan(other, request, billingPeriod) && isSameStart(other, request))
  const active = same.find(({ status }) => status === 'ACTIVE')
  if (active) {
    if (isSameContent(active, request)) return { kind: 'existing', subscription: active }
    return { kind: 'update', subscription: { ...active, addons: request.addons, quantities: request.quantities } }
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

  const isTrialOver = trial !== null && trial.endDate <= now
  const status = startDate > now ? 'NOT_STARTED' : trial && !isTrialOver ? 'IN_TRIAL' : 'ACTIVE'
  const replaced = slot.flatMap((other) => {
    const trigger = provisionTrigger(other, request, status)
    return trigger ? [{ other, trigger, ended: apply(other, trigger, now) }] : []
  })
  const inForce = replaced.find(({ other, trigger }) => givesAccess(other.status) && trigger === 'replace')?.other
  const billingAnchor = isTrialOver ? trial.endDate : startDate
  const subscription: Subscription = {
    id: request.id,
    refId: request.refId,
    environmentId: request.environmentId,
    customerId: request.customerId,
    resource: request.resource,
    product,
    plan,
    addons: request.addons,
    quantities: request.quantities,
    ownEntitlements: [],
    status,
    pricingType: plan.pricingType,
    billingPeriod,
    billingCountryCode: request.billingCountryCode,
    startDate,
    endDate: null,
    trialEndDate: trial?.endDate ?? null,
    trialEndBehavior: trial?.endBehavior ?? null,
    cancellationDate: null,
    effectiveEndDate: null,
    cancelReason: null,
    billingAnchor,
    usageAnchor: usageAnchorAfter(inForce, billingPeriod, billingAnchor),
    entitlementsRevokedAt: null,
    // No billing provider collects yet, so there is nothing to wait for.
    paymentCollection: 'NOT_REQUIRED',
    additionalMetaData: request.additionalMetaData,
    createdAt: now,
  }
  return { kind: 'create', subscription, ended: replaced.map(({ ended }) => ended) }
}

/** What the new subscription, with its first status, does to another one in its place; null: nothing, the two coexist. */
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

/** The asked billing period, else the one that the plan is sold for (monthly when there are both). Null for a plan without prices. */
function chooseBillingPeriod({ plan, billingPeriod }: SubscriptionRequest): BillingPeriod | null {
  const sold = [...new Set(plan.prices.map((price) => price.billingPeriod))]
  if (sold.length === 0) return null
  if (billingPeriod === null) return sold.includes('MONTHLY') ? 'MONTHLY' : sold[0]!
  if (!sold.includes(billingPeriod))
    throw invalidInput(`Plan "${plan.refId}" is not sold ${billingPeriod}: choose ${sold.join(' or ')}.`, { path: 'billingPeriod' })
  return billingPeriod
}

function checkAddons({ addons, plan, quantities }: SubscriptionRequest): void {
  for (const { version, quantity } of addons) {
    if (!plan.compatibleAddonIds.includes(version.packageId)) throw incompatibleAddon(version.refId, plan.refId)
    if (!Number.isInteger(quantity) || quantity < 1)
      throw invalidInput(`The quantity of add-on "${version.refId}" must be a whole number above 0.`, { addonId: version.refId })
    if (version.maxQuantity !== null && quantity > version.maxQuantity)
      throw invalidInput(`Add-on "${version.refId}" can be held ${version.maxQuantity} times at most.`, {
        addonId: version.refId,
        maxQuantity: version.maxQuantity,
      })
  }
  for (const { version } of addons) {
    const missing = version.dependencies.find((refId) => !addons.some((other) => other.version.refId === refId))
    if (missing !== undefined) throw addonRequires(version.refId, missing)
  }
  const prices = [plan, ...addons.map(({ version }) => version)]
    .flatMap((version) => version.prices)
    .filter((price) => price.billingModel === 'PER_UNIT')
  for (const { featureId, featureRefId, quantity } of quantities) {
    const price = prices.find((candidate) => candidate.featureId === featureId)
    if (!price) throw invalidInput(`Feature "${featureRefId}" is not sold per unit in plan "${plan.refId}".`, { featureId: featureRefId })
    const units = decimal.toNumber(quantity)
    if (units < (price.minUnitQuantity ?? 0) || units > (price.maxUnitQuantity ?? Number.POSITIVE_INFINITY))
      throw invalidInput(
        `The quantity of "${featureRefId}" must be from ${price.minUnitQuantity ?? 0} to ${price.maxUnitQuantity ?? 'any'}.`,
        { featureId: featureRefId },
      )
  }
}

const isSamePlan = (other: Subscription, request: SubscriptionRequest, billingPeriod: BillingPeriod | null): boolean =>
  other.plan.packageId === request.plan.packageId && other.billingPeriod === billingPeriod

/** A request without a start date means what is there, whenever it started. */
const isSameStart = (other: Subscription, { startDate }: SubscriptionRequest): boolean =>
  startDate === null ? other.status !== 'NOT_STARTED' : other.startDate === startDate

/** Whether add-ons and quantities are the same, in any order. */
function isSameContent(a: Pick<Subscription, 'addons' | 'quantities'>, b: Pick<Subscription, 'addons' | 'quantities'>): boolean {
  const content = ({ addons, quantities }: Pick<Subscription, 'addons' | 'quantities'>) =>
    [
      ...addons.map(({ version, quantity }) => `${version.packageId}:${quantity}`),
      ...quantities.map(({ featureId, quantity }) => `${featureId}:${quantity}`),
    ]
      .sort()
      .join()
  return content(a) === content(b)
}
