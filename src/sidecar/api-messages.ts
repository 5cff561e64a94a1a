import { LRUCache } from 'lru-cache'
import { type DenialReason, denialReasons } from '../entitlement/denial.js'
import type { EntitledFeature, FeatureType, MeterType, StateDenialReason, Usage } from '../entitlement/state.js'
import type { EpochMs } from '../kernel/clock.js'
import * as decimal from '../kernel/decimal.js'
import type { ResetPeriod } from '../metering/usage-period.js'
import type { CachedEntitlement, CachedState } from './cache/cache.js'

/** The GraphQL documents that the sidecar sends, the JSON that comes back, and its translation into cached states. */

const entitlementFields = `
  isGranted accessDeniedReason usageLimit hasUnlimitedUsage hasSoftLimit enumValues currentUsage resetPeriod
  usagePeriodAnchor usagePeriodStart usagePeriodEnd validUntil entitlementUpdatedAt usageUpdatedAt
  feature { refId featureType meterType featureUnits featureUnitsPlural }`

export const documents = {
  entitlementsState: `query EntitlementsState($query: FetchEntitlementsQuery!) {
  entitlementsState(query: $query) { accessDeniedReason entitlements {${entitlementFields} } }
}`,
  reportUsage: `mutation ReportUsage($input: ReportUsageInput!) {
  reportUsage(input: $input) { id customerId resourceId featureId currentUsage timestamp usagePeriodStart usagePeriodEnd }
}`,
  reportEvent: `mutation ReportEvent($events: UsageEventsReportInput!) { reportEvent(events: $events) }`,
  entitlementsUpdated: `subscription EntitlementsUpdated {
  entitlementsUpdated { customerId resourceId accessDeniedReason entitlements {${entitlementFields} } }
}`,
  usageUpdated: `subscription UsageUpdated {
  usageUpdated {
    usage { customerId resourceId featureId currentUsage usagePeriodStart usagePeriodEnd }
    entitlement { usageUpdatedAt }
  }
}`,
} as const

export interface EntitlementJson {
  isGranted: boolean
  accessDeniedReason: string | null
  usageLimit: number | null
  hasUnlimitedUsage: boolean
  hasSoftLimit: boolean | null
  enumValues: string[] | null
  currentUsage: number | null
  resetPeriod: ResetPeriod | null
  usagePeriodAnchor: string | null
  usagePeriodStart: string | null
  usagePeriodEnd: string | null
  /** Epoch milliseconds. */
  validUntil: number | null
  entitlementUpdatedAt: string | null
  usageUpdatedAt: string | null
  /** Null for what is not a feature (credits). */
  feature: {
    refId: string
    featureType: FeatureType
    meterType: MeterType | null
    featureUnits: string | null
    featureUnitsPlural: string | null
  } | null
}

export interface EntitlementsStateJson {
  accessDeniedReason: string | null
  entitlements: EntitlementJson[] | null
}

export interface EntitlementsUpdatedJson extends EntitlementsStateJson {
  customerId: string
  resourceId: string | null
}

export interface UsageUpdatedJson {
  usage: {
    customerId: string
    resourceId: string | null
    featureId: string
    currentUsage: number
    /** Epoch milliseconds, unlike in an entitlement. */
    usagePeriodStart: number | null
    usagePeriodEnd: number | null
  }
  entitlement: { usageUpdatedAt: string | null }
}

export interface ReportUsageJson {
  id: string
  customerId: string
  resourceId: string | null
  featureId: string
  currentUsage: number | null
  timestamp: string
  usagePeriodStart: string | null
  usagePeriodEnd: string | null
}

export interface Owner {
  customerId: string
  /** Null: the customer itself. */
  resourceId: string | null
}

/** A usage of one feature that the API told. */
export interface UsageChange extends Owner {
  featureId: string
  usage: Usage
}

/** An environment has few features and many customers: their entitlements share one object per feature. */
const mostSharedFeatures = 10_000

/** Translates the API's JSON into cached states. */
export class StateReader {
  readonly #features = new LRUCache<string, EntitledFeature>({ max: mostSharedFeatures })

  state({ customerId, resourceId }: Owner, json: EntitlementsStateJson): CachedState {
    let accessVersion = 0
    let version = 0
    const entitlements: CachedEntitlement[] = []
    for (const entitlement of json.entitlements ?? []) {
      if (entitlement.feature === null) continue
      const updatedAt = fromTime(entitlement.entitlementUpdatedAt) ?? 0
      accessVersion = Math.max(accessVersion, updatedAt)
      version = Math.max(version, updatedAt, fromTime(entitlement.usageUpdatedAt) ?? 0)
      entitlements.push(this.#entitlement(entitlement, entitlement.feature))
    }
    return { customerId, resourceId, version, accessVersion, deniedReason: fromStateReason(json.accessDeniedReason), entitlements }
  }

  #entitlement(json: EntitlementJson, feature: NonNullable<EntitlementJson['feature']>): CachedEntitlement {
    const isMetered = feature.featureType === 'NUMBER' && (feature.meterType ?? 'None') !== 'None'
    return {
      feature: this.#feature(feature),
      usageLimit: json.usageLimit === null ? null : decimal.fromNumber(json.usageLimit),
      hasUnlimitedUsage: json.hasUnlimitedUsage,
      hasSoftLimit: json.hasSoftLimit ?? false,
      enumValues: json.enumValues ?? [],
      reset: null,
      usage: isMetered
        ? {
            currentUsage: decimal.fromNumber(json.currentUsage ?? 0),
            periodStart: fromTime(json.usagePeriodStart),
            periodEnd: fromTime(json.usagePeriodEnd),
            updatedAt: fromTime(json.usageUpdatedAt) ?? 0,
          }
        : null,
      usageRestartsAt: null,
      deniedReason: json.isGranted ? null : fromDenialReason(json.accessDeniedReason),
      validUntil: json.validUntil,
      resetPeriod: json.resetPeriod,
      usagePeriodAnchor: fromTime(json.usagePeriodAnchor),
      encoded: undefined,
    }
  }

  #feature(json: NonNullable<EntitlementJson['feature']>): EntitledFeature {
    const { refId, featureType, meterType, featureUnits, featureUnitsPlural } = json
    const key = JSON.stringify([refId, featureType, meterType, featureUnits, featureUnitsPlural])
    const known = this.#features.get(key)
    if (known) return known
    const feature: EntitledFeature = {
      // Our own identifier, the texts and the unit transformation are not asked for: no answer of the sidecar carries them.
      id: '',
      refId,
      displayName: '',
      description: null,
      featureType,
      meterType: meterType ?? 'None',
      units: featureUnits,
      unitsPlural: featureUnitsPlural,
      unitTransformation: null,
    }
    this.#features.set(key, feature)
    return feature
  }
}

export function fromUsageUpdated({ usage, entitlement }: UsageUpdatedJson): UsageChange {
  return {
    customerId: usage.customerId,
    resourceId: usage.resourceId,
    featureId: usage.featureId,
    usage: {
      currentUsage: decimal.fromNumber(usage.currentUsage),
      periodStart: usage.usagePeriodStart,
      periodEnd: usage.usagePeriodEnd,
      updatedAt: fromTime(entitlement.usageUpdatedAt) ?? 0,
    },
  }
}

/** The current usage that the answer of a report tells. */
export function fromReportUsage(json: ReportUsageJson): UsageChange {
  return {
    customerId: json.customerId,
    resourceId: json.resourceId,
    featureId: json.featureId,
    usage: {
      currentUsage: decimal.fromNumber(json.currentUsage ?? 0),
      periodStart: fromTime(json.usagePeriodStart),
      periodEnd: fromTime(json.usagePeriodEnd),
      updatedAt: fromTime(json.timestamp) ?? 0,
    },
  }
}

export const fromTime = (iso: string | null): EpochMs | null => (iso === null ? null : Date.parse(iso))

/** Reasons that depend on what is requested: decided here at each check, not remembered. */
const decidedPerCheck: readonly string[] = ['RequestedUsageExceedingLimit', 'RequestedValuesMismatch']

function fromDenialReason(reason: string | null): DenialReason | null {
  if (reason !== null && decidedPerCheck.includes(reason)) return null
  return denialReasons.find((known) => known === reason) ?? 'Unknown'
}

const stateReasons: readonly StateDenialReason[] = [
  'CustomerNotFound',
  'CustomerIsArchived',
  'CustomerResourceNotFound',
  'NoActiveSubscription',
]

/** A reason that a newer API may give still means that nothing is held. */
function fromStateReason(reason: string | null): StateDenialReason | null {
  return reason === null ? null : (stateReasons.find((known) => known === reason) ?? 'NoActiveSubscription')
}
