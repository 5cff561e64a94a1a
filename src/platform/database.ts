import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { isTransient, storeErrorOf } from '../kernel/store-errors.js'
import { StartError } from './health.js'

/** What can be said of a database URL in a log or a message: everything but the password. */
export interface DatabaseTarget {
  database: string
  user: string
  /** Host and port. */
  server: string
  hasPassword: boolean
}

export function targetOf(databaseUrl: string): DatabaseTarget {
  const { database, user, host, port, password } = new pg.Client({ connectionString: databaseUrl })
  return { database: database ?? '', user: user ?? '', server: `${host}:${port}`, hasPassword: Boolean(password) }
}

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code ?? '')

/** Nobody answers (yet): wrong address, a server that is starting or stopping, a network in between. ENOENT: no socket there. */
const isUnreachable = (error: unknown): boolean => storeErrorOf(error) === 'away' || codeOf(error) === 'ENOENT'

/**
 * A failure of PostgreSQL that an operator can mend, as one sentence that says how; anything else as it is.
 * The sentence never contains the password.
 */
export function explainDatabaseError(error: unknown, databaseUrl: string): unknown {
  if (error instanceof StartError) return error
  const { database, user, server, hasPassword } = targetOf(databaseUrl)
  const message = (error as Error).message || codeOf(error)
  const sentence = (text: string) => new StartError(text, { cause: error })
  if (/unsupported startup parameter/.test(message))
    return sentence(
      `what answers at ${server} is a PgBouncer (${message}): set DATABASE_DIRECT_URL to the address of the PostgreSQL itself, besides DATABASE_URL`,
    )
  if (isUnreachable(error)) return sentence(`no PostgreSQL answers at ${server} (${message}): start it or correct DATABASE_URL`)
  if (!hasPassword && (codeOf(error) === '28P01' || /client password must be/.test(message))) {
    return sentence(`PostgreSQL at ${server} asks user "${user}" for a password: add it to DATABASE_URL`)
  }
  if (/does not support SSL/.test(message))
    return sentence(`PostgreSQL at ${server} does not speak TLS: take sslmode out of DATABASE_URL or turn TLS on there`)
  if (/certificate|altnames/i.test(message))
    return sentence(`the certificate of PostgreSQL at ${server} is not trusted (${message}): add sslrootcert to DATABASE_URL`)
  switch (codeOf(error)) {
    case '28P01':
      return sentence(`PostgreSQL at ${server} refused the password of user "${user}": correct DATABASE_URL`)
    case '28000':
      return sentence(`PostgreSQL at ${server} refused user "${user}" (${message}): correct DATABASE_URL, or allow the user in pg_hba.conf`)
    case '3D000':
      return sentence(
        `database "${database}" does not exist at ${server}: run \`npm run release\` (node dist/src/migrate.js), which creates it`,
      )
    case '42501':
      return sentence(
        `user "${user}" has no permission in database "${database}" at ${server} (${message}): grant it, or connect as the owner`,
      )
    case '25006':
      return sentence(`database "${database}" at ${server} is read-only: point DATABASE_URL to the primary server`)
    case '53300':
      return sentence(`PostgreSQL at ${server} has no free connection (${message}): raise max_connections or run fewer processes`)
    default:
      return error
  }
}

/** Lost connection, shutdown, deadlock, lock timeout: the same transaction can pass next time. */
export function isPassing(error: unknown): boolean {
  const { code } = error as { code?: string }
  // A server that is read-only wants somebody to point to another one.
  return !(error instanceof StartError) && code !== '25006' && (code === undefined || isTransient(error))
}

/** A lock was not to be had in the time that was allowed for it. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03'

/** Of a transaction that was undone by a passing failure. */
export const interrupted = (what: string, error: Error): StartError =>
  new StartError(`${what} interrupted (${error.message}) and undone: release again`, { cause: error })

export interface ConnectOptions {
  databaseUrl: string
  /** How long a server may take to start answering. */
  waitSeconds: number
  onWait: (reason: string) => void
  /** Aborts when it is not to be waited for any more: what is thrown is its reason. */
  signal: AbortSignal
}

/**
 * One connection, to be ended by the caller. Waits for a server that is starting; creates the database when there is none.
 * @throws StartError that says what to do
 */
export async function connectOrCreate({ databaseUrl, waitSeconds, onWait, signal }: ConnectOptions): Promise<pg.Client> {
  const deadline = performance.now() + waitSeconds * 1000
  let pauseMs = 100
  for (let isCreated = false; ; ) {
    try {
      return await connect(databaseUrl)
    } catch (error) {
      if (codeOf(error) === '3D000' && !isCreated) {
        await createDatabase(databaseUrl)
        isCreated = true
      } else {
        if (!isUnreachable(error) || performance.now() + pauseMs > deadline) throw explainDatabaseError(error, databaseUrl)
        if (pauseMs === 100) onWait((error as Error).message || codeOf(error))
        await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted())
        pauseMs = Math.min(pauseMs * 2, 1_000)
      }
    }
  }
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000, keepAlive: true, application_name: 'tollgate release' })
  client.on('error', () => undefined) // a lost connection fails the query that needs it
  try {
    await client.connect()
    return client
  } catch (error) {
    await client.end().catch(() => undefined)
    throw error
  }
}

/** Does nothing when another host was faster. */
async function createDatabase(databaseUrl: string): Promise<void> {
  const { database, server, user } = targetOf(databaseUrl)
  const url = new URL(databaseUrl)
  url.pathname = '/postgres'
  try {
    const client = await connect(url.href)
    try {
      await client.query(`create database ${client.escapeIdentifier(database)}`)
    } finally {
      await client.end()
    }
  } catch (error) {
    // The loser of a race sees either the name or the unique index of pg_database taken.
    if (codeOf(error) === '42P04' || codeOf(error) === '23505') return
    const reason = (error as Error).message
    throw new StartError(
      `database "${database}" does not exist at ${server} and user "${user}" can't create it (${reason}): create it, or use another user`,
      {
        cause: error,
      },
    )
  }
}

/** On one connection, outside of a pool. */
export async function allOrNothing(client: pg.Client, work: () => Promise<void>): Promise<void> {
  try {
    await client.query('begin')
    await work()
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/** Whoever waits for the lock of a table holds up all that come after, readers too. */
const lockTimeoutMs = 1_000
/** They have their turn in between. */
const pauseMs = 2_000

export interface LockPatience {
  /** `level: 'warn'` among the fields makes it a warning. */
  log: (message: string, fields: { level?: 'warn'; [field: string]: unknown }) => void
  /** How long locks may be asked for. */
  waitSeconds: number
  /** Aborts when no more is to be tried: what is thrown is its reason. */
  signal: AbortSignal
}

/**
 * Does what takes locks of tables, which others may hold for long (a dump, a forgotten session): it waits for a lock for a second only, is undone, and tried
 * again. `work` must leave nothing behind when it fails.
 * @throws StartError that says who is in the way, when the time is over
 */
export async function withBriefLocks<T>(
  client: pg.Client,
  what: string,
  { log, waitSeconds, signal }: LockPatience,
  work: () => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + waitSeconds * 1_000
  for (let isTold = false; ; isTold = true) {
    await client.query(`set lock_timeout = ${lockTimeoutMs}`)
    try {
      return await work()
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      const holders = await findHolders(client)
      if (performance.now() + pauseMs > deadline)
        throw new StartError(
          `${what} needs a lock that others have not given up for ${waitSeconds} s (${holders}), and was undone: let them finish or end them, then release again`,
          { cause: error },
        )
      if (!isTold) log('waiting for a lock that others hold, trying again every few seconds', { level: 'warn', what, holders })
      await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted())
    } finally {
      await client.query('set lock_timeout = 0').catch(() => undefined)
    }
  }
}

/** Those that have been using tables of ours for the longest, for whoever reads a log. */
async function findHolders(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ pid: number; name: string; seconds: number }>(
    `select pid, coalesce(nullif(application_name, ''), usename::text) as name, extract(epoch from clock_timestamp() - xact_start)::int as seconds
     from pg_stat_activity as activity
     where pid <> pg_backend_pid() and xact_start is not null and exists (
       select from pg_locks join pg_class on pg_class.oid = relation
       where pg_locks.pid = activity.pid and granted and relnamespace = current_schema()::regnamespace)
     order by xact_start limit 3`,
  )
  return rows.map(({ pid, name, seconds }) => `${name}, pid ${pid}, for ${seconds} s`).join('; ') || 'nobody any more'
}
