/** Changes that are recorded while an operation is under way, for the door that answers it. */
import { Scope } from '../platform/context/scope.js'
import type { EnvironmentChange } from './model/change.js'

const noted = new Scope<EnvironmentChange[]>()

/**
 * Runs `work` and puts the changes that are recorded until it is done into `changes`, also those that were rolled back later: announcing too much is
 * harmless.
 */
export function collectChanges<T>(changes: EnvironmentChange[], work: () => T): T {
  return noted.run(changes, work)
}

/**
 * Tells the door that answers for the current operation, if there is one; it announces the change before it answers. For the functions of this
 * folder that record changes, and for nobody else: who records a change cannot forget to note it.
 */
export function noteChange(change: EnvironmentChange): void {
  noted.value?.push(change)
}
