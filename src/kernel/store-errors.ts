/**
 * What an error of PostgreSQL, of Prisma, of Redis or of a connection to them says about the same work sent again. An error that is not here is about the work
 * itself: sent again, it fails again.
 *
 * away       nobody answers, or whoever did is going or coming
 * busy       it is there and cannot do this now: read-only, full, out of connections, locked, stopped for taking too long
 * lost race  given up for the sake of another transaction: it may run again at once
 * taken      a unique key was there first: a race that was lost, if it was not there before
 */
export type StoreError = 'away' | 'busy' | 'lost race' | 'taken'

/** By SQLSTATE, or its beginning; the longest that fits counts. */
const ofSqlState: Readonly<Record<string, StoreError>> = {
  // Connection exceptions. Whether the transaction was committed may not be known.
  '08': 'away',
  // Shutting down, crashed, starting, dropped, idle for too long. A commit may have been under way.
  '57P': 'away',
  // A transaction that stood still, or went on, for too long: the server has ended the connection.
  '25P03': 'away',
  '25P04': 'away',
  // Read-only: a server that was demoted, or that its operator holds.
  '25006': 'busy',
  // Out of disk, memory or connections.
  '53': 'busy',
  // In use by another session.
  '55006': 'busy',
  // A lock that was not to be waited for.
  '55P03': 'busy',
  // Canceled: the statement, or the wait for a lock, took too long.
  '57014': 'busy',
  // The system below it: input and output.
  '58000': 'busy',
  '58030': 'busy',
  // Serialization failure, deadlock, and their kin; but for a statement of which it is not known whether it was completed.
  '40': 'lost race',
  '40003': 'away',
  '23505': 'taken',
}

/** Of Prisma and of the system. */
const ofCode: Readonly<Record<string, StoreError>> = {
  P1001: 'away',
  P1002: 'away',
  P1008: 'away',
  P1017: 'away',
  P2024: 'busy',
  P2028: 'busy',
  P2037: 'busy',
  P2034: 'lost race',
  P2002: 'taken',
  EAI_AGAIN: 'away',
  ECONNREFUSED: 'away',
  ECONNRESET: 'away',
  EHOSTUNREACH: 'away',
  ENETUNREACH: 'away',
  ENOTFOUND: 'away',
  EPIPE: 'away',
  ETIMEDOUT: 'away',
}

/** Where the libraries give no code, or their own. */
const ofText: readonly (readonly [text: RegExp, kind: StoreError])[] = [
  [/Can't reach database server|Unable to start a transaction in the given time/, 'away'],
  // Of pg and its pool.
  [/^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout)/, 'away'],
  [/has encountered a connection error|Client was closed and is not queryable|^Cannot use a pool after calling end/, 'away'],
  // Of ioredis.
  [/^(Connection is closed|Stream isn't writeable|Command timed out|Reached the max retries per request limit)/, 'away'],
  // Of ioredis about a cluster: none of its nodes answers, or they do not agree yet on who has what.
  [
    /^(Cluster isn't ready and enableOfflineQueue|Too many Cluster redirections|None of startup nodes is available|Cluster is disconnect|Failed to refresh slots cache)/,
    'away',
  ],
  // Of Redis: not the one that takes writes, not ready, or full.
  [/^(LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN) /, 'away'],
  [/^(READONLY|OOM|MISCONF|NOREPLICAS|BUSY) /, 'busy'],
]

/** Null: not an error of a store, or one that sending the same again does not mend. */
export function storeErrorOf(thrown: unknown): StoreError | null {
  if (!(thrown instanceof Error)) return null
  for (const code of codesOf(thrown)) {
    const kind = ofCode[code] ?? bySqlState(code)
    if (kind) return kind
  }
  return ofText.find(([text]) => text.test(thrown.message))?.[1] ?? null
}

/** The same work is expected to pass later. A unique key that is taken stays so. */
export function isTransient(thrown: unknown): boolean {
  const kind = storeErrorOf(thrown)
  return kind !== null && kind !== 'taken'
}

/** Whether the server has ended a statement for the time it took: the same statement may take as long each time, or have waited for others. */
export const tookTooLong = (thrown: unknown): boolean => thrown instanceof Error && codesOf(thrown).includes('57014')

function bySqlState(code: string): StoreError | undefined {
  if (!/^[0-9A-Z]{5}$/.test(code)) return undefined
  for (let length = code.length; length >= 2; length--) {
    const kind = ofSqlState[code.slice(0, length)]
    if (kind) return kind
  }
  return undefined
}

/** The error's own code, and PostgreSQL's where Prisma has wrapped it, sometimes only in its text. */
function codesOf(error: Error): string[] {
  const { code, cause, meta } = error as { code?: unknown; cause?: { originalCode?: unknown }; meta?: { code?: unknown } }
  const inText = /\bCode: `(\w{5})`/.exec(error.message)?.[1]
  return [cause?.originalCode, meta?.code, inText, code].filter((found) => typeof found === 'string')
}
