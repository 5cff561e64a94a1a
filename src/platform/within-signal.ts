import { Scope } from './context/scope.js'

/** Has a signal, which may be made when it is asked for: most work sends no statement. */
export interface Abortable {
  readonly signal: AbortSignal
}

const current = new Scope<Abortable>()

/**
 * Runs `work` so that its statements are given up when the signal aborts: what runs is canceled in PostgreSQL, what comes later is not sent. A
 * transaction is rolled back by that, unless its commit was on its way.
 */
export function withinSignal<T>(abortable: Abortable, work: () => T): T {
  return current.run(abortable, work)
}

/** For work that others wait for too: it goes on when the one that began it gives up. */
export function beyondSignal<T>(work: () => T): T {
  return current.exit(work)
}

export const currentSignal = (): AbortSignal | undefined => current.value?.signal
