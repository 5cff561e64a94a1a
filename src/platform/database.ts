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

/** Of a transaction that was undone by a passing failure. */
export const interrupted = (what: string, error: Error): StartError =>
  new StartError(`${what} interrupted (${error.message}) and undone: release again`, { cause: error })

export interface ConnectOptions {
  databaseUrl: string
  /** How long a server may take to start answering. */
  waitSeconds: number
  onWait: (reason: string) => void
}

/**
 * One connection, to be ended by the caller. Waits for a server that is starting; creates the database when there is none.
 * @throws StartError that says what to do
 */
export async function connectOrCreate({ databaseUrl, waitSeconds, onWait }: ConnectOptions): Promise<pg.Client> {
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
        await sleep(pauseMs)
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
