import { Scope } from './scope.js'

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

/** The end of a transaction whose statements are sent by a library. */
interface Commit {
  /** Sent with it; empty: nothing is. */
  sql: string
  /** The connection that the transaction is on; null: it has not begun. */
  connection: object | null
}

const commits = new Scope<Commit>()

/** Runs `work`, which has one transaction: what it writes into `sql` until its end is sent with the COMMIT. */
export function leaving<T>(work: (commit: Commit) => T): T {
  const commit: Commit = { sql: '', connection: null }
  return commits.run(commit, () => work(commit))
}

/** For connections, of what they are about to send: what is sent before it in the same message. Null: nothing. */
export function sentBefore(connection: object, query: unknown): string | null {
  const commit = commits.value
  const text = commit && (query as { text?: unknown } | null)?.text
  if (text === 'BEGIN') commit!.connection ??= connection
  if (text !== 'COMMIT' || commit!.connection !== connection || commit!.sql === '') return null
  const { sql } = commit!
  commit!.sql = ''
  return sql
}
