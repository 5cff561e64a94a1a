import { fileURLToPath } from 'node:url'
import { loadSync, type ServiceDefinition } from '@grpc/proto-loader'
import { Problem } from '../../kernel/problem.js'
import { checkFreshness } from '../freshness.js'
import type {
  AccessDeniedReason,
  BooleanEntitlement,
  Dimensions,
  Entitlement,
  EnumEntitlement,
  Fallback,
  Feature,
  Freshness,
  MeteredEntitlement,
  NumericEntitlement,
  ReportedUsage,
  UsageEvent,
  UsageReport,
} from '../types.js'
import { SidecarError } from './error.js'

/** Between the SDK's words and the messages as proto-loader has them: camel case, enums by name, absent fields undefined. */

const protoFolder = fileURLToPath(new URL('../../../../proto', import.meta.url))

export const service = loadSync('service/sidecar/v1/sidecar.proto', {
  includeDirs: [protoFolder],
  longs: Number,
  enums: String,
  defaults: true,
  oneofs: true,
})['service.sidecar.v1.SidecarService'] as ServiceDefinition

interface TimestampMessage {
  seconds: number
  nanos: number
}

interface FeatureMessage extends Omit<Feature, 'units' | 'unitsPlural'> {
  units?: string
  unitsPlural?: string
}

export interface EntitlementMessage {
  feature?: FeatureMessage
  value?: number
  isUnlimited?: boolean
  usageLimit?: number
  currentUsage?: number
  resetPeriod?: string
  usagePeriodAnchor?: TimestampMessage
  usagePeriodStart?: TimestampMessage
  usagePeriodEnd?: TimestampMessage
  hasSoftLimit?: boolean
  enumValues?: string[]
}

export interface CheckMessage {
  hasAccess: boolean
  isFallback: boolean
  accessDeniedReason?: string
  entitlement?: EntitlementMessage | null
  boolean?: EntitlementMessage
  numeric?: EntitlementMessage
  metered?: EntitlementMessage
  enum?: EntitlementMessage
}

const entitlementTypes = ['boolean', 'numeric', 'metered', 'enum'] as const
export type EntitlementType = (typeof entitlementTypes)[number]

/** `ACCESS_DENIED_REASON_REVOKED` as `REVOKED`. */
const shortName = <Name extends string>(prefix: string, name: string) => name.replace(`${prefix}_`, '') as Name

export function toReason(name: string | undefined): AccessDeniedReason | null {
  const reason = name === undefined ? 'UNSPECIFIED' : shortName<AccessDeniedReason | 'UNSPECIFIED'>('ACCESS_DENIED_REASON', name)
  return reason === 'UNSPECIFIED' ? null : reason
}

const toDate = (timestamp: TimestampMessage | undefined | null): Date | null =>
  timestamp ? new Date(timestamp.seconds * 1_000 + timestamp.nanos / 1_000_000) : null

const fromDate = (date: Date | undefined): TimestampMessage | undefined => {
  if (date === undefined) return undefined
  const seconds = Math.floor(date.getTime() / 1_000)
  return { seconds, nanos: (date.getTime() - seconds * 1_000) * 1_000_000 }
}

function toFeature(feature: FeatureMessage | undefined | null): Feature | null {
  if (!feature) return null
  return {
    id: feature.id,
    featureType: shortName('FEATURE_TYPE', feature.featureType),
    meterType: shortName('METER_TYPE', feature.meterType),
    isMetered: feature.isMetered,
    units: feature.units ?? null,
    unitsPlural: feature.unitsPlural ?? null,
  }
}

export const toBoolean = ({ feature }: EntitlementMessage): BooleanEntitlement => ({ feature: toFeature(feature) })

export const toNumeric = ({ feature, value, isUnlimited }: EntitlementMessage): NumericEntitlement => ({
  feature: toFeature(feature),
  value: value ?? null,
  isUnlimited: isUnlimited ?? false,
})

export const toMetered = (message: EntitlementMessage): MeteredEntitlement => ({
  feature: toFeature(message.feature),
  usageLimit: message.usageLimit ?? null,
  isUnlimited: message.isUnlimited ?? false,
  hasSoftLimit: message.hasSoftLimit ?? false,
  currentUsage: message.currentUsage ?? 0,
  resetPeriod: message.resetPeriod === undefined ? null : shortName('ENTITLEMENT_RESET_PERIOD', message.resetPeriod),
  usagePeriodAnchor: toDate(message.usagePeriodAnchor),
  usagePeriodStart: toDate(message.usagePeriodStart),
  usagePeriodEnd: toDate(message.usagePeriodEnd),
})

export const toEnum = ({ feature, enumValues }: EntitlementMessage): EnumEntitlement => ({
  feature: toFeature(feature),
  enumValues: enumValues ?? [],
})

/** Of whichever type is there; null when none is. */
export function toEntitlement(message: Partial<Record<EntitlementType, EntitlementMessage>>): Entitlement | null {
  if (message.boolean) return { type: 'boolean', ...toBoolean(message.boolean) }
  if (message.numeric) return { type: 'numeric', ...toNumeric(message.numeric) }
  if (message.metered) return { type: 'metered', ...toMetered(message.metered) }
  return message.enum ? { type: 'enum', ...toEnum(message.enum) } : null
}

/** An entitlement as a fallback tells it. */
export const fromFallback = ({ usageLimit, isUnlimited, enumValues }: Fallback): EntitlementMessage => ({
  value: usageLimit,
  usageLimit,
  isUnlimited,
  enumValues,
})

/** @throws SidecarError with INVALID_ARGUMENT for what is none: an enum that is not known would be sent as if nothing had been said */
export function fromFreshness({ consistency, maxStalenessMs }: Freshness): object {
  try {
    checkFreshness({ consistency, maxStalenessMs })
  } catch (error) {
    const { code, message } = Problem.from(error)
    throw new SidecarError(code, message, error)
  }
  return {
    ...(consistency === undefined ? {} : { consistency: `CONSISTENCY_${consistency.toUpperCase()}` }),
    // Infinite: as good as not said.
    ...(maxStalenessMs === undefined || maxStalenessMs > Number.MAX_SAFE_INTEGER ? {} : { maxStalenessMs: Math.floor(maxStalenessMs) }),
  }
}

const fromDimensions = (dimensions: Dimensions = {}) =>
  Object.fromEntries(
    Object.entries(dimensions).map(([name, value]) => {
      if (typeof value === 'string') return [name, { stringValue: value }]
      return [name, typeof value === 'number' ? { numberValue: value } : { booleanValue: value }]
    }),
  )

export const fromReport = ({ dimensions, timestamp, updateBehavior, ...report }: UsageReport) => ({
  ...report,
  ...(updateBehavior === undefined ? {} : { updateBehavior: `USAGE_UPDATE_BEHAVIOR_${updateBehavior}` }),
  dimensions: fromDimensions(dimensions),
  timestamp: fromDate(timestamp),
})

export const fromEvent = ({ dimensions, timestamp, ...event }: UsageEvent) => ({
  ...event,
  dimensions: fromDimensions(dimensions),
  timestamp: fromDate(timestamp),
})

export interface ReportedMessage {
  measurementId: string
  customerId: string
  resourceId?: string
  featureId: string
  currentUsage?: number
  usagePeriodStart?: TimestampMessage | null
  usagePeriodEnd?: TimestampMessage | null
}

export const toReported = (message: ReportedMessage): ReportedUsage => ({
  measurementId: message.measurementId,
  customerId: message.customerId,
  resourceId: message.resourceId ?? null,
  featureId: message.featureId,
  currentUsage: message.currentUsage ?? null,
  usagePeriodStart: toDate(message.usagePeriodStart),
  usagePeriodEnd: toDate(message.usagePeriodEnd),
})
