import type { Feature } from '../../../src/catalog/model/feature.js'
import type { ChangeKind } from '../../../src/changes/model/change.js'
import type { Entitlement, EntitlementState } from '../../../src/entitlement/rules/state.js'
import * as decimal from '../../../src/kernel/decimal.js'
import type { Usage } from '../../../src/metering/model/usage.js'
import type { ChangeMessage } from '../../../src/updates/wire/change-message.js'

/** States and messages for tests: each function fills in what the case at hand does not say. */

const feature = (refId: string, differing: Partial<Feature>): Feature => ({
  id: `our-${refId}`,
  refId,
  displayName: `The ${refId}`,
  description: null,
  featureType: 'BOOLEAN',
  meterType: 'None',
  units: null,
  unitsPlural: null,
  unitTransformation: null,
  ...differing,
})

function entitlement(entitled: Feature, differing: Partial<Entitlement>): Entitlement {
  return {
    feature: entitled,
    usageLimit: null,
    hasUnlimitedUsage: false,
    hasSoftLimit: false,
    enumValues: [],
    reset: null,
    usage: null,
    usageRestartsAt: null,
    deniedReason: null,
    validUntil: null,
    ...differing,
  }
}

export const usage = (value: number, updatedAt: number, differing: Partial<Usage> = {}): Usage => ({
  currentUsage: decimal.fromNumber(value),
  periodStart: 1_000,
  periodEnd: 2_000,
  updatedAt,
  ...differing,
})

export const boolean = (refId: string, differing: Partial<Entitlement> = {}) => entitlement(feature(refId, {}), differing)

export const numeric = (refId: string, value: number, differing: Partial<Entitlement> = {}) =>
  entitlement(feature(refId, { featureType: 'NUMBER' }), { usageLimit: decimal.fromNumber(value), ...differing })

export const enumerated = (refId: string, ...enumValues: string[]) => entitlement(feature(refId, { featureType: 'ENUM' }), { enumValues })

export const metered = (refId: string, held: Usage, differing: Partial<Entitlement> = {}) =>
  entitlement(feature(refId, { featureType: 'NUMBER', meterType: 'Incremental', units: 'call', unitsPlural: 'calls' }), {
    usageLimit: decimal.fromNumber(10),
    reset: { period: 'MONTH', rule: 'StartOfTheMonth', anchor: 1_000, timeZone: 'UTC' },
    usage: held,
    ...differing,
  })

/** The state of customer `acme`. */
export const state = (accessVersion: number, entitlements: Entitlement[], differing: Partial<EntitlementState> = {}): EntitlementState => ({
  environmentId: 'environment',
  customerId: 'acme',
  resourceId: null,
  version: accessVersion,
  accessVersion,
  deniedReason: null,
  entitlements,
  ...differing,
})

export const message = (kind: ChangeKind, version: number, differing: Partial<ChangeMessage> = {}): ChangeMessage => ({
  v: 1,
  id: `message-${version}`,
  environmentId: 'environment',
  customerId: 'acme',
  kind,
  version,
  timestamp: version,
  ...differing,
})

export const stateMessage = (held: EntitlementState): ChangeMessage =>
  message('entitlements', held.version, { customerId: held.customerId, ...resourceOf(held.resourceId), state: held })

export const usageMessage = (featureId: string, held: Usage, resourceId: string | null = null): ChangeMessage =>
  message('usage', held.updatedAt, { ...resourceOf(resourceId), usage: { featureId, usage: held } })

const resourceOf = (resourceId: string | null) => (resourceId === null ? {} : { resourceId })
