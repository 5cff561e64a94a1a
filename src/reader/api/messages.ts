import type { ToldUsage } from '../../changes/model/change.js'
import * as decimal from '../../kernel/decimal.js'
import {
  type EntitlementJson,
  entitlementFields,
  fromTime,
  type NextStateJson,
  type StateJson,
  stateReasons,
  toDenialReason,
} from '../../updates/external-cache/state-json.js'
import type { CachedState, Owner } from '../states/entry.js'
import { type HeldUsage, packUsages, type RightsPool, type ToldRight, toEntitledFeature } from '../states/rights.js'
import type { ApiError } from './errors.js'

/** The GraphQL documents that the sidecar sends, the JSON that comes back, and its translation into cached states. */

export type { EntitlementJson, StateJson }
export { fromTime }

const reportedFields = 'id customerId resourceId featureId currentUsage timestamp usagePeriodStart usagePeriodEnd'
const heldFields = `accessDeniedReason validUntil entitlements { ${entitlementFields} }
    next { accessDeniedReason validFrom validUntil unknownFeatureIds entitlements { ${entitlementFields} } }`
const changeFields = `id kind customerId resourceId version ${heldFields}
    usage { featureId currentUsage usagePeriodStart usagePeriodEnd updatedAt }`

export const documents = {
  entitlementsState: `query EntitlementsState($query: FetchEntitlementsQuery!) {
  entitlementsState(query: $query) { ${heldFields} }
}`,
  reportUsage: `mutation ReportUsage($input: ReportUsageInput!) { reportUsage(input: $input) { ${reportedFields} } }`,
  reportUsageBulk: `mutation ReportUsageBulk($input: ReportUsageBulkInput!) { reportUsageBulk(input: $input) { ${reportedFields} } }`,
  reportEvent: `mutation ReportEvent($events: UsageEventsReportInput!) { reportEvent(events: $events) }`,
  stateChanges: `subscription StateChanges { stateChanges { ${changeFields} } }`,
  missedChanges: `subscription MissedChanges($after: String!) { stateChanges(after: $after) { ${changeFields} } }`,
} as const

export interface StateChangeJson {
  /** Its place among the changes of the environment. */
  id: string
  /** A newer API may tell more kinds. */
  kind: 'STATE' | 'USAGE' | 'PURGE' | 'PACKAGE' | 'CAUGHT_UP' | 'GAP'
  customerId: string | null
  resourceId: string | null
  /** Of the state that the change made. */
  version?: number | null
  accessDeniedReason: string | null
  validUntil?: number | null
  next?: NextStateJson | null
  /** Null when the change was missed: what is held now is to be fetched. */
  entitlements: EntitlementJson[] | null
  usage: {
    featureId: string
    currentUsage: number
    /** These are epoch milliseconds, unlike in an entitlement. */
    usagePeriodStart: number | null
    usagePeriodEnd: number | null
    updatedAt: number
  } | null
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

/** Null: not an answer of the API, such as a proxy's error page. */
export function parseAnswer<Data>(text: string): { data?: Data | null; errors?: ApiError[] } | null {
  try {
    const answer: unknown = JSON.parse(text)
    return typeof answer === 'object' && answer !== null ? answer : null
  } catch {
    return null
  }
}

/** Translates the API's JSON into cached states, which share what they have in common. */
export class StateReader {
  constructor(private readonly pool: RightsPool) {}

  /** `toldVersion`: of the change that told it, for a state without entitlements, which tell theirs; 0: not told. */
  state({ customerId, resourceId }: Owner, json: StateJson, toldVersion = 0): CachedState {
    let accessVersion = json.entitlements?.length ? 0 : toldVersion
    let version = accessVersion
    let validUntil: number | null = json.validUntil ?? null
    const rights: ToldRight[] = []
    const usages: HeldUsage[] = []
    for (const entitlement of json.entitlements ?? []) {
      // Credits are no feature.
      if (entitlement.feature === null) continue
      const updatedAt = fromTime(entitlement.entitlementUpdatedAt) ?? 0
      accessVersion = Math.max(accessVersion, updatedAt)
      version = Math.max(version, updatedAt, fromTime(entitlement.usageUpdatedAt) ?? 0)
      if (entitlement.validUntil !== null) validUntil = Math.min(validUntil ?? Number.POSITIVE_INFINITY, entitlement.validUntil)
      const held = toRight(entitlement, entitlement.feature)
      rights.push(held)
      if (held.feature.featureType === 'NUMBER' && held.feature.meterType !== 'None') usages.push(toUsage(entitlement))
    }
    const deniedReason =
      json.accessDeniedReason === null
        ? null
        : // A reason that a newer API may give still means that nothing is held.
          (stateReasons.find((known) => known === json.accessDeniedReason) ?? 'NoActiveSubscription')
    return {
      customerId,
      resourceId,
      version,
      accessVersion,
      deniedReason,
      rights: this.pool.list(rights),
      usages: packUsages(usages),
      validUntil,
      next: json.next ? this.#next({ customerId, resourceId }, json.next) : null,
    }
  }

  #next(owner: Owner, json: NextStateJson): NonNullable<CachedState['next']> {
    const state = this.state(owner, json)
    const isWhole = json.unknownFeatureIds.length === 0
    return { validFrom: json.validFrom, state: isWhole ? state : { ...state, unknownFeatureIds: new Set(json.unknownFeatureIds) } }
  }
}

function toRight(json: EntitlementJson, feature: NonNullable<EntitlementJson['feature']>): ToldRight {
  const { refId, featureType, meterType, featureUnits, featureUnitsPlural } = feature
  return {
    feature: toEntitledFeature({
      refId,
      featureType,
      meterType: meterType ?? 'None',
      units: featureUnits,
      unitsPlural: featureUnitsPlural,
    }),
    usageLimit: json.usageLimit === null ? null : decimal.fromNumber(json.usageLimit),
    hasUnlimitedUsage: json.hasUnlimitedUsage,
    hasSoftLimit: json.hasSoftLimit ?? false,
    enumValues: json.enumValues ?? [],
    deniedReason: json.isGranted ? null : toDenialReason(json.accessDeniedReason),
    resetPeriod: json.resetPeriod,
  }
}

const toUsage = (json: EntitlementJson): HeldUsage => ({
  currentUsage: decimal.fromNumber(json.currentUsage ?? 0),
  periodStart: fromTime(json.usagePeriodStart),
  periodEnd: fromTime(json.usagePeriodEnd),
  updatedAt: fromTime(json.usageUpdatedAt) ?? 0,
  anchor: fromTime(json.usagePeriodAnchor),
})

/** The usage that a change tells; null when it tells none. */
export function fromStateChange({ customerId, resourceId, usage }: StateChangeJson): ToldUsage | null {
  if (customerId === null || usage === null) return null
  const { featureId, currentUsage, usagePeriodStart, usagePeriodEnd, updatedAt } = usage
  return {
    customerId,
    resourceId,
    featureId,
    usage: { currentUsage: decimal.fromNumber(currentUsage), periodStart: usagePeriodStart, periodEnd: usagePeriodEnd, updatedAt },
  }
}

/** The current usage that the answer of a report tells. */
export function fromReportUsage(json: ReportUsageJson): ToldUsage {
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
