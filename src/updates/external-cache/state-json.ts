/** The JSON of a state as the API answers it, over GraphQL and edge alike, and its translation into what the external cache holds. */

import type { FeatureType } from '../../catalog/model/feature.js'
import { type DenialReason, denialReasons } from '../../entitlement/rules/denial.js'
import type { StateDenialReason } from '../../entitlement/rules/state.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import type { MeterType } from '../../metering/model/meter.js'
import type { ResetPeriod, ResetRule } from '../../metering/model/usage-period.js'
import type { EntityId } from './keys.js'
import type { WritableEntitlement, WritableState } from './value.js'

/** Of the type Entitlement: what readers need of it. */
export const entitlementFields = `isGranted accessDeniedReason usageLimit hasUnlimitedUsage hasSoftLimit enumValues currentUsage validUntil
      resetPeriod usagePeriodAnchor usagePeriodStart usagePeriodEnd entitlementUpdatedAt usageUpdatedAt
      resetPeriodConfiguration {
        ... on MonthlyResetPeriodConfig { monthlyAccordingTo }
        ... on WeeklyResetPeriodConfig { weeklyAccordingTo }
        ... on YearlyResetPeriodConfig { yearlyAccordingTo }
      }
      feature { refId featureType meterType featureUnits featureUnitsPlural }`

export interface StateJson {
  accessDeniedReason: string | null
  entitlements: EntitlementJson[] | null
  /** Epoch milliseconds, from which on time alone may have changed what is held, also where that is nothing. Absent: not asked for. */
  validUntil?: number | null
  /** What is held from `validFrom` on, unless something happens before. Absent: not asked for. */
  next?: NextStateJson | null
}

/** Times are epoch milliseconds. */
export interface NextStateJson {
  accessDeniedReason: string | null
  entitlements: EntitlementJson[]
  unknownFeatureIds: string[]
  validFrom: number
  validUntil: number | null
}

export interface EntitlementJson {
  isGranted: boolean
  accessDeniedReason: string | null
  usageLimit: number | null
  hasUnlimitedUsage: boolean
  hasSoftLimit: boolean | null
  enumValues: string[] | null
  currentUsage: number | null
  /** Epoch milliseconds; the other times are ISO 8601. */
  validUntil: number | null
  resetPeriod: ResetPeriod | null
  resetPeriodConfiguration: { monthlyAccordingTo?: ResetRule; weeklyAccordingTo?: ResetRule; yearlyAccordingTo?: ResetRule } | null
  usagePeriodAnchor: string | null
  usagePeriodStart: string | null
  usagePeriodEnd: string | null
  entitlementUpdatedAt: string | null
  usageUpdatedAt: string | null
  feature: {
    refId: string
    featureType: FeatureType
    meterType: MeterType | null
    featureUnits: string | null
    featureUnitsPlural: string | null
  } | null
}

/** What is written of an answer. `version`: that of the change it was read for, used when the answer tells none. */
export function toWritableState({ customerId, resourceId }: EntityId, version: EpochMs, json: StateJson): WritableState {
  const held = json.entitlements ?? []
  const versions = held.flatMap(({ entitlementUpdatedAt }) => fromTime(entitlementUpdatedAt) ?? [])
  return {
    customerId,
    resourceId,
    // Without entitlements the answer tells no version, but it was read after the change with this one.
    accessVersion: versions.length > 0 ? Math.max(...versions) : version,
    deniedReason:
      json.accessDeniedReason === null ? null : (stateReasons.find((known) => known === json.accessDeniedReason) ?? 'NoActiveSubscription'),
    entitlements: held.flatMap((entitlement) => toEntitlement(entitlement) ?? []),
  }
}

/** Null for what is not a feature (credits). */
function toEntitlement(json: EntitlementJson): WritableEntitlement | null {
  const { feature, resetPeriod, resetPeriodConfiguration: configuration } = json
  if (feature === null) return null
  const meterType = feature.meterType ?? 'None'
  const anchor = fromTime(json.usagePeriodAnchor)
  const rule =
    configuration?.monthlyAccordingTo ?? configuration?.weeklyAccordingTo ?? configuration?.yearlyAccordingTo ?? 'SubscriptionStart'
  return {
    feature: {
      refId: feature.refId,
      featureType: feature.featureType,
      meterType,
      units: feature.featureUnits,
      unitsPlural: feature.featureUnitsPlural,
    },
    usageLimit: json.usageLimit === null ? null : decimal.fromNumber(json.usageLimit),
    hasUnlimitedUsage: json.hasUnlimitedUsage,
    hasSoftLimit: json.hasSoftLimit ?? false,
    enumValues: json.enumValues ?? [],
    reset: resetPeriod !== null && anchor !== null ? { period: resetPeriod, rule, anchor } : null,
    usage:
      meterType === 'None'
        ? null
        : {
            currentUsage: decimal.fromNumber(json.currentUsage ?? 0),
            periodStart: fromTime(json.usagePeriodStart),
            periodEnd: fromTime(json.usagePeriodEnd),
            updatedAt: fromTime(json.usageUpdatedAt) ?? 0,
          },
    deniedReason: json.isGranted ? null : toDenialReason(json.accessDeniedReason),
    validUntil: json.validUntil,
  }
}

export const fromTime = (iso: string | null): EpochMs | null => (iso === null ? null : Date.parse(iso))

export const stateReasons: readonly StateDenialReason[] = [
  'CustomerNotFound',
  'CustomerIsArchived',
  'CustomerResourceNotFound',
  'NoActiveSubscription',
]

/** What depends on the request is decided by the reader at each check. */
export function toDenialReason(reason: string | null): DenialReason | null {
  if (reason === 'RequestedUsageExceedingLimit' || reason === 'RequestedValuesMismatch') return null
  return denialReasons.find((known) => known === reason) ?? 'Unknown'
}
