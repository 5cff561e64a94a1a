/**
 * What a committed change tells the rest of the platform: one contract for the push channel, the WebSocket and an environment's queue.
 * A message may arrive twice and out of order; `version` decides, and an older one never overwrites a newer one.
 */
import type { Entitlement, EntitlementState, Usage } from '../../entitlement/rules/state.js'
import type { EpochMs } from '../../kernel/clock.js'

/**
 * entitlements: the whole state of a customer or resource is replaced · usage: one feature's usage changed · purge: the customer is to be
 * forgotten · package: versions of the catalog changed
 */
export const changeKinds = ['entitlements', 'usage', 'purge', 'package'] as const
export type ChangeKind = (typeof changeKinds)[number]

export interface ChangeMessage {
  /** Version of this shape. */
  v: 1
  id: string
  /** Where it stands in the change stream of its environment; given when it is published. */
  position?: string
  environmentId: string
  /** The caller's identifiers. */
  customerId: string
  resourceId?: string
  kind: ChangeKind
  version: EpochMs
  /** When the message was made. */
  timestamp: EpochMs
  /** kind entitlements: what the customer or resource holds now. Absent: fetch it. */
  state?: EntitlementState
  /** kind usage: the entitlement whose usage changed, with its new usage. */
  usage?: UsageChange
  /** kind package: a version that was published. Absent: something else of the catalog changed. */
  package?: PublishedPackage
}

export interface PublishedPackage {
  packageRefId: string
  packageType: 'Plan' | 'Addon'
  packageVersion: number
  /** Whether subscriptions of older versions move to this one. */
  migrationType: 'ALL_CUSTOMERS' | 'NEW_CUSTOMERS'
}

export interface UsageChange {
  /** The feature's refId. */
  featureId: string
  usage: Usage
  /** The entitlement with that usage; filled in on the way to the sockets. */
  entitlement?: Entitlement
  /** Version of the last change of the holder's state that was more than usage; filled in with it. */
  accessVersion?: EpochMs
}

/** The Redis channel that carries the changes of one environment to its web processes. */
export const changeChannel = (prefix: string, environmentId: string): string => `${prefix}:changes:${environmentId}`
