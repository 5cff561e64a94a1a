/** What the SDKs are asked and answer, whichever way the answer comes. Times are Dates; what is absent is null. */

export type AccessDeniedReason =
  | 'UNKNOWN'
  | 'CUSTOMER_IS_ARCHIVED'
  | 'CUSTOMER_NOT_FOUND'
  | 'CUSTOMER_RESOURCE_NOT_FOUND'
  | 'FEATURE_NOT_FOUND'
  | 'NO_ACTIVE_SUBSCRIPTION'
  | 'NO_FEATURE_ENTITLEMENT_IN_SUBSCRIPTION'
  | 'REQUESTED_USAGE_EXCEEDING_LIMIT'
  | 'BUDGET_EXCEEDED'
  | 'REQUESTED_VALUES_MISMATCH'
  | 'FEATURE_TYPE_MISMATCH'
  | 'INSUFFICIENT_CREDITS'
  | 'REVOKED'
  | 'ENTITLEMENT_NOT_FOUND'

export interface Feature {
  id: string
  featureType: 'BOOLEAN' | 'NUMBER' | 'ENUM' | 'UNSPECIFIED'
  meterType: 'NONE' | 'FLUCTUATING' | 'INCREMENTAL' | 'UNSPECIFIED'
  isMetered: boolean
  units: string | null
  unitsPlural: string | null
}

/** In an answer of a fallback the feature is null: nothing is known of it. */
export interface BooleanEntitlement {
  feature: Feature | null
}

export interface NumericEntitlement extends BooleanEntitlement {
  /** Null when unlimited, or when no value was set. */
  value: number | null
  isUnlimited: boolean
}

export interface MeteredEntitlement extends BooleanEntitlement {
  /** Null: no limit was set, which counts as 0. See isUnlimited. */
  usageLimit: number | null
  isUnlimited: boolean
  /** Usage above the limit is granted too. */
  hasSoftLimit: boolean
  currentUsage: number
  resetPeriod: 'DAY' | 'HOUR' | 'MONTH' | 'WEEK' | 'YEAR' | null
  usagePeriodAnchor: Date | null
  usagePeriodStart: Date | null
  /** Exclusive. */
  usagePeriodEnd: Date | null
}

export interface EnumEntitlement extends BooleanEntitlement {
  enumValues: string[]
}

export type Entitlement =
  | ({ type: 'boolean' } & BooleanEntitlement)
  | ({ type: 'numeric' } & NumericEntitlement)
  | ({ type: 'metered' } & MeteredEntitlement)
  | ({ type: 'enum' } & EnumEntitlement)

/** A decision. A denial is an answer: it has its reason. */
export interface Check<E> {
  hasAccess: boolean
  /** The answer came from a fallback: of the call, of the client or of the sidecar. */
  isFallback: boolean
  /** Null when granted. */
  accessDeniedReason: AccessDeniedReason | null
  /** Null when the customer does not hold the feature. */
  entitlement: E | null
}

export interface Owner {
  customerId: string
  /** Absent: the customer itself. */
  resourceId?: string
}

/** Answers when nobody can be asked. It replaces the client's fallback for the feature; nothing of the two is merged. */
export interface Fallback {
  hasAccess: boolean
  usageLimit?: number
  isUnlimited?: boolean
  enumValues?: string[]
}

export interface CallOptions {
  /** Longest wait for the answer, instead of the client's. */
  timeoutMs?: number
}

/** How fresh an answer has to be. */
export interface Freshness {
  /**
   * None that was last known to be right longer ago: it is read anew then, and when that fails the fallback answers. Changes that are pushed keep an answer right.
   */
  maxStalenessMs?: number
  /** strong: read from the platform's database, whatever is cached. Default: cached. */
  consistency?: 'strong' | 'cached'
}

export interface CheckQuestion extends Owner, CallOptions, Freshness {
  featureId: string
  fallback?: Fallback
}

export interface MeteredQuestion extends CheckQuestion {
  /** What is to be used on top of the current usage; 0 when absent. */
  requestedUsage?: number
}

export interface EnumQuestion extends CheckQuestion {
  /** Granted when the customer holds all of them. */
  requestedValues?: string[]
}

export type Dimensions = Readonly<Record<string, string | number | boolean>>

export interface UsageReport extends Owner {
  featureId: string
  value: number
  /** A report that is sent again under the same key is counted once; absent: the call has one of its own, which its repeats keep. */
  idempotencyKey?: string
  /** DELTA (default) adds, SET replaces. */
  updateBehavior?: 'DELTA' | 'SET'
  dimensions?: Dimensions
  /** When it was used; absent: now. */
  timestamp?: Date
}

export interface ReportedUsage {
  measurementId: string
  customerId: string
  resourceId: string | null
  featureId: string
  /** Of the current usage period, this report included. */
  currentUsage: number | null
  usagePeriodStart: Date | null
  usagePeriodEnd: Date | null
}

/** What became of usage that was not acknowledged. */
export interface ReportedOutcome {
  /** unknown: it may have been counted, and sending it again under the same keys counts it once. */
  outcome: 'notCounted' | 'unknown'
  /** Of the reports or events of the call, in their order. */
  idempotencyKeys: readonly string[]
}

export interface UsageEvent extends Owner {
  eventName: string
  /** An event that is sent again under the same key is counted once. */
  idempotencyKey: string
  dimensions?: Dimensions
  /** When it happened; absent: now. */
  timestamp?: Date
}

export interface Entitlements {
  entitlements: Entitlement[]
  /** Why there are none. */
  accessDeniedReason: AccessDeniedReason | null
}

/** The external cache that sidecars and SDKs share. */
export interface RedisOptions {
  /** On a Redis Cluster in braces. */
  environmentPrefix: string
  /** A host, `redis+cluster://host:port,host:port`, or by Sentinel `redis+sentinel://host:port,host:port/name`. */
  host?: string
  port?: number
  db?: number
  username?: string
  password?: string
  /** What sentinels ask for, where they do. */
  sentinelUsername?: string
  sentinelPassword?: string
  /** Encrypts the connection. An authority of your own is named by NODE_EXTRA_CA_CERTS. */
  tls?: boolean
  /** Seconds. */
  ttl?: number
}
