import { inspect } from 'node:util'
import type { Feature as HeldFeature } from '../../catalog/model/feature.js'
import type { DenialReason } from '../../entitlement/rules/denial.js'
import {
  type Amount,
  checkRequestedUsage,
  denialOf,
  type EntitlementType,
  entitlementTypeOf,
  isOver,
} from '../../entitlement/rules/evaluate.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import type { CachedState } from '../../reader/states/entry.js'
import type { Fallback } from '../../reader/states/fallback.js'
import type { Right } from '../../reader/states/rights.js'
import type { AccessDeniedReason, Check, Entitlement, Feature, MeteredEntitlement } from '../types.js'

/** From what is held to what is answered. Pure. */

export interface Question {
  featureId: string
  requestedUsage?: number
  requestedValues?: readonly string[]
}

const reasons: Readonly<Record<DenialReason, AccessDeniedReason>> = {
  Unknown: 'UNKNOWN',
  CustomerIsArchived: 'CUSTOMER_IS_ARCHIVED',
  CustomerNotFound: 'CUSTOMER_NOT_FOUND',
  CustomerResourceNotFound: 'CUSTOMER_RESOURCE_NOT_FOUND',
  FeatureNotFound: 'FEATURE_NOT_FOUND',
  NoActiveSubscription: 'NO_ACTIVE_SUBSCRIPTION',
  NoFeatureEntitlementInSubscription: 'NO_FEATURE_ENTITLEMENT_IN_SUBSCRIPTION',
  RequestedUsageExceedingLimit: 'REQUESTED_USAGE_EXCEEDING_LIMIT',
  BudgetExceeded: 'BUDGET_EXCEEDED',
  RequestedValuesMismatch: 'REQUESTED_VALUES_MISMATCH',
  FeatureTypeMismatch: 'FEATURE_TYPE_MISMATCH',
  InsufficientCredits: 'INSUFFICIENT_CREDITS',
  Revoked: 'REVOKED',
  EntitlementNotFound: 'ENTITLEMENT_NOT_FOUND',
}

export const toReason = (reason: DenialReason): AccessDeniedReason => reasons[reason]

/** What is answered of a right for all customers that have it, made once. Frozen, as it is given to many. */
interface Shown {
  type: EntitlementType
  feature: Feature
  usageLimit: number | null
  /** The right, with its limit as a double: none has to be read from text at each check. */
  decisive: Parameters<typeof denialOf>[0]
  /** Without a meter: all of the entitlement, and the answer that grants it. */
  entitlement: UnmeteredEntitlement | null
  granted: Check<UnmeteredEntitlement> | null
}

type UnmeteredEntitlement = Omit<Exclude<Entitlement, { type: 'metered' }>, 'type'>

/**
 * The answer from what the customer holds. Null: the feature is of another type, so a fallback has to answer. `pendingUsage`: is counted on top.
 * Fails with INVALID_ARGUMENT on a requested usage that is no amount.
 */
export function answerHeld(
  expectedType: EntitlementType,
  { featureId, requestedUsage, requestedValues }: Question,
  state: CachedState,
  pendingUsage: number,
  now: EpochMs,
): Check<object> | null {
  const requested = toAmount(requestedUsage)
  const position = state.deniedReason === null ? state.rights.positions.get(featureId) : undefined
  if (position === undefined) return denied(state.deniedReason ?? 'NoFeatureEntitlementInSubscription', null)
  const right = state.rights.list[position]!
  const shown = shownOf(right)
  const at = state.rights.usageAt[position]!
  if (at === -1) {
    const reason = denialOf(shown.decisive, 0, { requestedValues, expectedType })
    if (reason === 'FeatureTypeMismatch') return null
    return reason === null ? shown.granted : denied(reason, shown.entitlement)
  }
  const currentUsage = usageAt(state, right, at, pendingUsage, now)
  const reason = denialOf(shown.decisive, currentUsage, { requestedUsage: requested, expectedType })
  if (reason === 'FeatureTypeMismatch') return null
  const entitlement = new HeldMeter(state.usages, at, right, shown, currentUsage)
  return reason === null ? { hasAccess: true, isFallback: false, accessDeniedReason: null, entitlement } : denied(reason, entitlement)
}

/** Of whatever type the held feature is; null: it is not held. */
export function heldType(state: CachedState, featureId: string): EntitlementType | null {
  const position = state.deniedReason === null ? state.rights.positions.get(featureId) : undefined
  return position === undefined ? null : entitlementTypeOf(state.rights.list[position]!.feature)
}

/** All that give access. */
export function listHeld(state: CachedState, pendingUsage: (featureId: string) => number, now: EpochMs): Entitlement[] {
  if (state.deniedReason !== null) return []
  return state.rights.list.flatMap((right, position) => {
    // Revoked and used-up ones would look like access: the list has no room for a reason.
    if (right.deniedReason !== null) return []
    const shown = shownOf(right)
    const at = state.rights.usageAt[position]!
    if (at === -1) return { type: shown.type, ...shown.entitlement } as Entitlement
    const currentUsage = usageAt(state, right, at, pendingUsage(right.feature.refId), now)
    return { type: 'metered', ...new HeldMeter(state.usages, at, right, shown, currentUsage).toJSON() }
  })
}

/** An entitlement as a fallback tells it. */
export function entitlementOfFallback(type: EntitlementType, { usageLimit, isUnlimited, enumValues }: Fallback): object {
  if (type === 'boolean') return { feature: null }
  if (type === 'numeric') return { feature: null, value: usageLimit, isUnlimited }
  if (type === 'enum') return { feature: null, enumValues: [...enumValues] }
  const noPeriod = { resetPeriod: null, usagePeriodAnchor: null, usagePeriodStart: null, usagePeriodEnd: null }
  return { feature: null, usageLimit, isUnlimited, hasSoftLimit: false, currentUsage: 0, ...noPeriod }
}

const denied = (reason: DenialReason, entitlement: object | null): Check<object> => ({
  hasAccess: false,
  isFallback: false,
  accessDeniedReason: reasons[reason],
  entitlement,
})

/** Whole numbers are amounts as they are: most are, and no text is made of them. */
function toAmount(requested: number | undefined): Amount {
  if (requested === undefined) return 0
  return Number.isSafeInteger(requested) && requested >= 0 ? requested : checkRequestedUsage(requested)
}

function usageAt({ usages }: CachedState, { feature }: Right, at: number, pendingUsage: number, now: EpochMs): number {
  const used = isOver(feature, usages[at + 2]!, now) ? 0 : Math.max(0, usages[at]!)
  return pendingUsage === 0 ? used : Math.max(0, used + pendingUsage)
}

/**
 * What is held of a metered feature. Its dates are made when they are read: three of them cost as much as all else of a check. So they are no fields of the
 * object itself, and what copies fields (a spread, structuredClone) has to copy `toJSON()`.
 */
export class HeldMeter implements MeteredEntitlement {
  readonly feature: Feature
  readonly usageLimit: number | null
  readonly isUnlimited: boolean
  readonly hasSoftLimit: boolean
  readonly currentUsage: number
  readonly resetPeriod: MeteredEntitlement['resetPeriod']
  readonly #usages: readonly number[]
  readonly #at: number

  constructor(usages: readonly number[], at: number, right: Right, { feature, usageLimit }: Shown, currentUsage: number) {
    this.feature = feature
    this.usageLimit = usageLimit
    this.isUnlimited = right.hasUnlimitedUsage
    this.hasSoftLimit = right.hasSoftLimit
    this.currentUsage = currentUsage
    this.resetPeriod = right.resetPeriod
    this.#usages = usages
    this.#at = at
  }

  get usagePeriodAnchor(): Date | null {
    return toDate(this.#usages[this.#at + 4]!)
  }

  get usagePeriodStart(): Date | null {
    return toDate(this.#usages[this.#at + 1]!)
  }

  get usagePeriodEnd(): Date | null {
    return toDate(this.#usages[this.#at + 2]!)
  }

  /** All of it as fields. */
  toJSON(): MeteredEntitlement {
    const { usagePeriodAnchor, usagePeriodStart, usagePeriodEnd } = this
    return { ...this, usagePeriodAnchor, usagePeriodStart, usagePeriodEnd }
  }

  [inspect.custom](): MeteredEntitlement {
    return this.toJSON()
  }
}

const toDate = (at: number): Date | null => (Number.isNaN(at) ? null : new Date(at))

const shownOf = (right: Right): Shown => (right.shown as Shown | undefined) ?? show(right)

function show(right: Right): Shown {
  const type = entitlementTypeOf(right.feature)
  const feature = toFeature(right.feature)
  const limit = right.usageLimit === null ? null : decimal.toNumber(right.usageLimit)
  const usageLimit = right.hasUnlimitedUsage ? null : limit
  const entitlement =
    type === 'metered'
      ? null
      : Object.freeze({
          feature,
          ...(type === 'numeric' ? { value: usageLimit, isUnlimited: right.hasUnlimitedUsage } : {}),
          ...(type === 'enum' ? { enumValues: Object.freeze([...right.enumValues]) as string[] } : {}),
        })
  const granted = entitlement && Object.freeze({ hasAccess: true, isFallback: false, accessDeniedReason: null, entitlement })
  const shown: Shown = { type, feature, usageLimit, decisive: { ...right, usageLimit: limit }, entitlement, granted }
  right.shown = shown
  return shown
}

const toFeature = ({ refId, featureType, meterType, units, unitsPlural }: HeldFeature): Feature =>
  Object.freeze({
    id: refId,
    featureType,
    meterType: meterType === 'None' ? 'NONE' : meterType === 'Fluctuating' ? 'FLUCTUATING' : 'INCREMENTAL',
    isMetered: meterType !== 'None',
    units,
    unitsPlural,
  })
