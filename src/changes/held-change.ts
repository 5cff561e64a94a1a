/**
 * What a process that holds entitlement states must hear of: whose states are outdated.
 *
 * held state    an entitlement state in the memory of a process that answers reads (`held-states.ts`)
 * announcement  held changes sent to all such processes, and awaited (`state-bus.ts`)
 */
import type { Usage } from '../entitlement/rules/state.js'
import type { EpochMs } from '../kernel/clock.js'
import { Scope } from '../platform/scope.js'

export interface HeldChange {
  /** The caller's identifier; null: all customers of the environment. */
  customerId: string | null
  /** States read at this version or later know of the change. Null: every held state is outdated. */
  version: EpochMs | null
  /** Nothing else changed: a state that is held can be patched. In the units that are answered. */
  usage?: ChangedUsage
}

export interface ChangedUsage {
  resourceId: string | null
  featureId: string
  usage: Usage
}

export interface EnvironmentChange extends HeldChange {
  environmentId: string
}

const noted = new Scope<EnvironmentChange[]>()

/**
 * Runs `work` and puts the changes that it notes, until it is done, into `changes`, also those that were rolled back later: announcing too much is
 * harmless.
 */
export function collectChanges<T>(changes: EnvironmentChange[], work: () => T): T {
  return noted.run(changes, work)
}

/** Tells the door that answers for the current operation, if there is one; it announces the change before it answers. */
export function noteChange(change: EnvironmentChange): void {
  noted.value?.push(change)
}
