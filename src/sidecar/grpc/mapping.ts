import type { Feature, FeatureType } from '../../catalog/model/feature.js'
import type { DenialReason } from '../../entitlement/rules/denial.js'
import { type EntitlementType, entitlementTypeOf } from '../../entitlement/rules/evaluate.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { invalidInput } from '../../kernel/problem.js'
import type { MeterType } from '../../metering/model/meter.js'
import type { Dimensions } from '../../metering/model/report.js'
import type { ResetPeriod } from '../../metering/model/usage-period.js'
import type { Fallback } from '../../reader/states/fallback.js'
import type { HeldEntitlement, Right } from '../../reader/states/rights.js'
import { encodeMeteredEntitlement } from './encoding.js'
import type { DimensionMessage, FallbackMessage, QuestionRequest, Timestamp } from './messages.js'
import { encodeEntitlement } from './proto.js'

/** Between our words and the messages of `service.sidecar.v1`. */

/** Numbers of AccessDeniedReason. */
export const reasonNumber: Readonly<Record<DenialReason, number>> = {
  Unknown: 1,
  CustomerIsArchived: 2,
  CustomerNotFound: 3,
  CustomerResourceNotFound: 4,
  FeatureNotFound: 5,
  NoActiveSubscription: 6,
  NoFeatureEntitlementInSubscription: 7,
  RequestedUsageExceedingLimit: 8,
  BudgetExceeded: 9,
  RequestedValuesMismatch: 10,
  FeatureTypeMismatch: 11,
  InsufficientCredits: 12,
  Revoked: 13,
  EntitlementNotFound: 14,
}

const featureTypeNumber: Readonly<Record<FeatureType, number>> = { BOOLEAN: 1, NUMBER: 2, ENUM: 3 }
const meterTypeNumber: Readonly<Record<MeterType, number>> = { None: 1, Fluctuating: 2, Incremental: 3 }
const resetPeriodNumber: Readonly<Record<ResetPeriod, number>> = { DAY: 1, HOUR: 2, MONTH: 3, WEEK: 4, YEAR: 5 }
const updateBehaviors = [null, 'DELTA', 'SET'] as const
/** Numbers of Consistency. */
const consistencies: readonly AskedFreshness[] = [{ isStrong: false }, { isStrong: false }, { isStrong: true }]

/** How fresh an answer has to be. `maxAgeMs`: nothing that was last known to be right longer ago; absent: as the configuration has it. */
interface AskedFreshness {
  readonly isStrong: boolean
  readonly maxAgeMs?: number
}

/** @throws INVALID_ARGUMENT for a consistency that is not known and for an age below 0 */
export function toFreshness({ consistency = 0, max_staleness_ms: maxAgeMs }: QuestionRequest): AskedFreshness {
  const asked = consistencies[consistency]
  if (asked === undefined) throw invalidInput(`consistency ${consistency} is not known`, { path: 'consistency' })
  if (maxAgeMs === undefined) return asked
  if (maxAgeMs < 0) throw invalidInput('max_staleness_ms is below 0', { path: 'max_staleness_ms' })
  return { ...asked, maxAgeMs }
}

/** The message of a held entitlement, of the type that its feature has. */
export function encodeHeld({ right, usage, usagePeriodAnchor }: HeldEntitlement): Uint8Array {
  right.encoded ??= encodeRight(right)
  const { before, after } = right.encoded
  if (usage === null) return before
  return encodeMeteredEntitlement({
    before,
    after,
    currentUsage: Math.max(0, decimal.toNumber(usage.currentUsage)),
    resetPeriod: right.resetPeriod === null ? 0 : resetPeriodNumber[right.resetPeriod],
    anchor: usagePeriodAnchor,
    periodStart: usage.periodStart,
    periodEnd: usage.periodEnd,
  })
}

const nothing = new Uint8Array()

/** The message without usage; of a metered entitlement in two parts, between which the usage goes. */
function encodeRight(right: Right): { before: Uint8Array; after: Uint8Array } {
  const feature = toFeature(right.feature)
  // What is left out is as good as zero, and shorter.
  const is_unlimited = right.hasUnlimitedUsage || undefined
  const limit = right.hasUnlimitedUsage || right.usageLimit === null ? undefined : decimal.toNumber(right.usageLimit)
  switch (entitlementTypeOf(right.feature)) {
    case 'boolean':
      return { before: encodeEntitlement.boolean({ feature }), after: nothing }
    case 'enum':
      return { before: encodeEntitlement.enum({ feature, enum_values: right.enumValues }), after: nothing }
    case 'numeric':
      return { before: encodeEntitlement.numeric({ feature, value: toInt32(limit), is_unlimited }), after: nothing }
    case 'metered':
      return {
        before: encodeEntitlement.metered({ feature, usage_limit: limit, is_unlimited }),
        after: right.hasSoftLimit ? encodeEntitlement.metered({ has_soft_limit: true }) : nothing,
      }
  }
}

function toFeature({ refId, featureType, meterType, units, unitsPlural }: Feature): object {
  return {
    id: refId,
    feature_type: featureTypeNumber[featureType],
    units: units ?? undefined,
    units_plural: unitsPlural ?? undefined,
    meter_type: meterTypeNumber[meterType],
    is_metered: meterType !== 'None' || undefined,
  }
}

/** The message of a fallback: what it says, without a feature, of which nothing is known. */
export function encodeFallback(type: EntitlementType, fallback: Fallback): Uint8Array {
  return encodeEntitlement[type](toFallbackMessage(type, fallback))
}

function toFallbackMessage(type: EntitlementType, { usageLimit, isUnlimited, enumValues }: Fallback): object {
  const limit = usageLimit ?? undefined
  switch (type) {
    case 'boolean':
      return {}
    case 'numeric':
      return { value: toInt32(limit), is_unlimited: isUnlimited }
    case 'metered':
      return { usage_limit: limit, is_unlimited: isUnlimited }
    case 'enum':
      return { enum_values: enumValues }
  }
}

export function fromFallback({ has_access, value, usage_limit, is_unlimited, enum_values }: FallbackMessage): Fallback {
  return {
    hasAccess: has_access,
    usageLimit: usage_limit ?? value ?? null,
    isUnlimited: is_unlimited ?? false,
    enumValues: enum_values ?? [],
  }
}

/** Values of unmetered features are checked on saving to be an int32; a value that is none all the same must not wrap around. */
const toInt32 = (value: number | undefined) =>
  value === undefined ? undefined : Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, Math.trunc(value)))

/** Undefined for null, as fields with presence are left out. */
export function toTimestamp(at: EpochMs | null): Timestamp | undefined {
  if (at === null) return undefined
  const seconds = Math.floor(at / 1000)
  return { seconds, nanos: Math.round((at - seconds * 1000) * 1_000_000) }
}

/**
 * As the API takes it; null when absent. The API decides what is too old or too new.
 * @throws INVALID_ARGUMENT for what is no time of our calendar
 */
export function fromTimestamp(timestamp: Timestamp | undefined, path: string): string | null {
  if (timestamp === undefined) return null
  const at = new Date(timestamp.seconds * 1000 + Math.floor(timestamp.nanos / 1_000_000))
  if (Number.isNaN(at.getTime()) || at.getUTCFullYear() > 9999 || at.getUTCFullYear() < 1)
    throw invalidInput(`${path} is not a time`, { path })
  return at.toISOString()
}

/** @throws INVALID_ARGUMENT on NaN and infinities, which the API's JSON can't carry */
export function fromDimensions(dimensions: Record<string, DimensionMessage>, path: string): Dimensions {
  return Object.fromEntries(
    Object.entries(dimensions).map(([name, { string_value, number_value, boolean_value }]) => {
      if (number_value !== undefined && !Number.isFinite(number_value))
        throw invalidInput(`${path}.${name} is not a finite number`, { path: `${path}.${name}` })
      return [name, string_value ?? number_value ?? boolean_value ?? null]
    }),
  )
}

/** Null: not said. */
export function fromUpdateBehavior(number: number | undefined): 'DELTA' | 'SET' | null {
  const behavior = updateBehaviors[number ?? 0]
  if (behavior === undefined) throw invalidInput(`update_behavior ${number} is not known`, { path: 'update_behavior' })
  return behavior
}
