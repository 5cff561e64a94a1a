/**
 * What is recorded of a change for those who hold a copy of a customer's state.
 *
 * change        something committed that makes remembered states outdated
 * outbox        changes that wait for delivery, committed with what they tell of
 * held state    an entitlement state in the memory of a process that answers reads
 * announcement  held changes sent to all such processes, and awaited (`state-bus.ts`)
 */
import type { EpochMs } from '../../kernel/clock.js'
import type { Usage } from '../../metering/model/usage.js'

/**
 * entitlements: the whole state of a customer and its resources may be another one · usage: one feature's usage changed · purge: what `entitlements`
 * is told as when the customer is archived: copies of it are to be forgotten · package: versions of the catalog changed
 */
export const changeKinds = ['entitlements', 'usage', 'purge', 'package'] as const
export type ChangeKind = (typeof changeKinds)[number]

/** The usage of one feature (refId) after a change. */
export interface FeatureUsage {
  featureId: string
  usage: Usage
}

/** One of many in a row of kind usage that names no customer itself: what was counted together is told in one row. Ids are the caller's. */
export interface ToldUsage extends FeatureUsage {
  customerId: string
  resourceId: string | null
}

export interface PublishedPackage {
  packageRefId: string
  packageType: 'Plan' | 'Addon'
  packageVersion: number
  /** Whether subscriptions of older versions move to this one. */
  migrationType: 'ALL_CUSTOMERS' | 'NEW_CUSTOMERS'
}

/** A committed change that waits for delivery. A row that tells the usage of many customers makes many of them. */
export interface PendingChange {
  /** Of its row. */
  id: string
  kind: ChangeKind
  /** The caller's identifiers; null customer: a change of the whole environment. */
  customerId: string | null
  resourceId: string | null
  version: EpochMs
  /** kind usage: what it is now. kind package: the packages that were published. */
  payload: FeatureUsage | { packages: PublishedPackage[] } | null
  createdAt: EpochMs
}

/** What a process that holds entitlement states must hear of: whose are outdated. */
export interface HeldChange {
  /** The caller's identifier; null: all customers of the environment. */
  customerId: string | null
  /** States read at this version or later know of the change. Null: every held state is outdated. */
  version: EpochMs | null
  /** Nothing else changed: a state that is held can be patched. In the units that are answered. */
  usage?: FeatureUsage & { resourceId: string | null }
}

export interface EnvironmentChange extends HeldChange {
  environmentId: string
}
