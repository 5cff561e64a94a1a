/** The values of the external cache: JSON with doubles and epoch milliseconds, as deployed readers expect it. */
import type { Feature } from '../../catalog/model/feature.js'
import type { DenialReason } from '../../entitlement/rules/denial.js'
import type { Entitlement, EntitlementState } from '../../entitlement/rules/state.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import type { Usage } from '../../metering/model/usage.js'
import type { ResetPeriod, ResetRule } from '../../metering/model/usage-period.js'

/** What is written of a state. A message carries a whole one, an answer of the API this much. */
export interface WritableState extends Pick<EntitlementState, 'customerId' | 'resourceId' | 'accessVersion' | 'deniedReason'> {
  entitlements: WritableEntitlement[]
}

export interface WritableEntitlement extends Omit<Entitlement, 'feature' | 'reset' | 'usageRestartsAt'> {
  feature: Pick<Feature, 'refId' | 'featureType' | 'meterType' | 'units' | 'unitsPlural'>
  reset: Omit<NonNullable<Entitlement['reset']>, 'timeZone'> | null
}

/** One feature of an entity's entry. */
export interface CachedFeature {
  calculatedEntitlement: {
    /** `id` is the caller's identifier: the only one that readers know. */
    feature: { id: string } & Pick<Feature, 'featureType' | 'meterType' | 'units' | 'unitsPlural'>
    /** Absent in a customer's own entry. */
    resourceId?: string
    /** Null: unlimited, or no limit was set. */
    usageLimit: number | null
    hasUnlimitedUsage: boolean
    hasSoftLimit: boolean
    /** Held, but denied whatever is requested. Absent otherwise. */
    accessDeniedReason?: DenialReason
    /** Null but for ENUM. */
    enumValues: string[] | null
    validUntil?: EpochMs
  }
  /** All null for features without a meter. The usage key overrides the usage here. */
  featureUsage: {
    resetPeriod: ResetPeriod | null
    resetPeriodConfiguration: ResetPeriodConfiguration | null
    currentUsage: number | null
    usagePeriodAnchor: EpochMs | null
    usagePeriodStart: EpochMs | null
    usagePeriodEnd: EpochMs | null
  }
}

/** What the periods begin at, as GraphQL tells it. Hours and days have none. */
export type ResetPeriodConfiguration =
  | { monthlyAccordingTo: ResetRule }
  | { weeklyAccordingTo: ResetRule }
  | { yearlyAccordingTo: ResetRule }

export interface CachedUsage {
  currentUsage: number
  /** Null: never reset. */
  usagePeriodStart: EpochMs | null
  usagePeriodEnd: EpochMs | null
}

/** By the feature's refId. Empty when nothing is held; the metadata say why. */
export function toEntry({ entitlements, resourceId }: WritableState): Record<string, CachedFeature> {
  return Object.fromEntries(entitlements.map((entitlement) => [entitlement.feature.refId, toFeature(entitlement, resourceId)]))
}

export const toMetadata = ({ deniedReason }: WritableState) => (deniedReason === null ? null : { accessDeniedReason: deniedReason })

/** Below zero is told as zero. */
export function toUsage({ currentUsage, periodStart, periodEnd }: Usage): CachedUsage {
  return {
    currentUsage: decimal.toNumber(decimal.max(currentUsage, decimal.zero)),
    usagePeriodStart: periodStart,
    usagePeriodEnd: periodEnd,
  }
}

function toFeature(entitlement: WritableEntitlement, resourceId: string | null): CachedFeature {
  const { feature, usageLimit, hasUnlimitedUsage, hasSoftLimit, enumValues, deniedReason, validUntil, reset, usage } = entitlement
  const { refId, featureType, meterType, units, unitsPlural } = feature
  return {
    calculatedEntitlement: {
      feature: { id: refId, featureType, meterType, units, unitsPlural },
      ...(resourceId === null ? {} : { resourceId }),
      usageLimit: hasUnlimitedUsage || usageLimit === null ? null : decimal.toNumber(usageLimit),
      hasUnlimitedUsage,
      hasSoftLimit,
      ...(deniedReason === null ? {} : { accessDeniedReason: deniedReason }),
      enumValues: featureType === 'ENUM' ? enumValues : null,
      ...(validUntil === null ? {} : { validUntil }),
    },
    featureUsage: {
      resetPeriod: reset?.period ?? null,
      resetPeriodConfiguration: reset && toResetPeriodConfiguration(reset.period, reset.rule),
      usagePeriodAnchor: reset?.anchor ?? null,
      ...(usage === null ? { currentUsage: null, usagePeriodStart: null, usagePeriodEnd: null } : toUsage(usage)),
    },
  }
}

function toResetPeriodConfiguration(period: ResetPeriod, rule: ResetRule): ResetPeriodConfiguration | null {
  if (period === 'MONTH') return { monthlyAccordingTo: rule }
  if (period === 'WEEK') return { weeklyAccordingTo: rule }
  return period === 'YEAR' ? { yearlyAccordingTo: rule } : null
}
