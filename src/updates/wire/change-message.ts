/**
 * What a committed change tells the rest of the platform: one contract for the push channel, the WebSocket and an environment's queue.
 * A message may arrive twice and out of order; `version` decides, and an older one never overwrites a newer one.
 */
import type { ChangeKind, FeatureUsage, PublishedPackage } from '../../changes/model/change.js'
import type { Entitlement, EntitlementState } from '../../entitlement/rules/state.js'
import type { EpochMs } from '../../kernel/clock.js'

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

export interface UsageChange extends FeatureUsage {
  /** The entitlement with that usage; filled in on the way to the sockets. */
  entitlement?: Entitlement
  /** Version of the last change of the holder's state that was more than usage; filled in with it. */
  accessVersion?: EpochMs
}

/** The Redis channel that carries the changes of one environment to its web processes. */
export const changeChannel = (prefix: string, environmentId: string): string => `${prefix}:changes:${environmentId}`
