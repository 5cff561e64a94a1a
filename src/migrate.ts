/**
 * The release process: applies prisma/migrations by Prisma Migrate's rules (its ledger, its checksums, its lock), then the functions in src, then exits.
 * Prisma's CLI and this runner can take turns on one database. Several hosts may run it at once: one applies, the others wait.
 */
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type pg from 'pg'
import {
  type Config,
  ConfigError,
  type ConfigSpec,
  databaseVariables,
  positive,
  processVariables,
  readConfig,
  variableTable,
} from './platform/config.js'
import { connectOrCreate, explainDatabaseError, targetOf } from './platform/database.js'
import { outdatedFunctions, removedFunctions } from './platform/database-functions.js'
import { StartError } from './platform/health.js'
import { createLogger } from './platform/logger.js'
import { isUnchanged, type Migration } from './platform/migrations.js'
import { applyPending, type Released } from './platform/release/apply-migrations.js'
import { Stopper } from './platform/release/stopper.js'
import {
  readSchema,
  readWanted,
  refuseUnusable,
  type Schema,
  type SchemaFolders,
  schemaFolders,
  type WantedSchema,
} from './platform/schema.js'

/** One fact a line. `level: 'warn'` among the fields makes it a warning. */
export type MigrationLog = (message: string, fields?: { level?: 'warn'; [field: string]: unknown }) => void

export interface MigrateOptions {
  databaseUrl: string
  /** Those of this checkout when left out. */
  folders?: SchemaFolders
  log: MigrationLog
  /** How long a server may take to start answering. */
  databaseWaitSeconds?: number
  /** How long another host may take to finish its migrations, and others to leave a table that is to be changed. */
  lockWaitSeconds?: number
  /** A pooler may stand before the database, as it is known to keep a session together. */
  mayBePooled?: boolean
  /** Aborts when it is to stop: a migration that runs statement by statement still ends, any other is undone. */
  signal?: AbortSignal
}

/**
 * Brings a database up to date; creates it when it does not exist. Safe to repeat, and safe to run from many hosts at once.
 * A migration runs in a transaction of its own unless its head says `-- no transaction`; one that fails is recorded, and nothing more is
 * applied until somebody has resolved it. Functions follow, all in one transaction.
 * @throws StartError that says what to do
 */
export async function migrate({ signal = new AbortController().signal, ...options }: MigrateOptions): Promise<Released> {
  try {
    return await migrateUntil(signal, options)
  } catch (error) {
    // What else failed meanwhile says what to do.
    if (!signal.aborted || (error !== signal.reason && !isCanceled(error))) throw explainDatabaseError(error, options.databaseUrl)
    throw new StartError(`${(signal.reason as Error).message} before the database was up to date: release again`, { cause: error })
  }
}

const isCanceled = (error: unknown) => (error as { code?: unknown }).code === '57014'

async function migrateUntil(
  signal: AbortSignal,
  { databaseUrl, folders = schemaFolders, log, databaseWaitSeconds = 30, lockWaitSeconds = 600, mayBePooled = false }: MigrateOptions,
): Promise<Released> {
  const wanted = await readWanted(folders)
  const target = targetOf(databaseUrl)
  const client = await connectOrCreate({
    databaseUrl,
    waitSeconds: databaseWaitSeconds,
    onWait: (reason) => log('waiting for the database', { level: 'warn', database: target.database, server: target.server, reason }),
    signal,
  })
  let stopper: Stopper | undefined
  try {
    const pid = await prepareSession(client, target, mayBePooled)
    stopper = new Stopper({ databaseUrl, pid, signal })
    signal.throwIfAborted()
    const schema = await readSchema(client)
    refuseUnusable(schema, wanted.migrations)
    reportDifferences(schema, wanted.migrations, log)
    // The usual case at a start: nothing to do, hence no lock and nothing that needs more than the right to read.
    if (isCurrent(schema, wanted)) return { applied: [], made: [], dropped: [] }
    await lock(client, lockWaitSeconds, log)
    return await applyPending(client, wanted, { log, waitSeconds: lockWaitSeconds, signal, stopper })
  } finally {
    await stopper?.close()
    await client.end().catch(() => undefined) // lets the lock go
  }
}

/** Answers what the connection is called in the database. */
async function prepareSession(client: pg.Client, { server }: { server: string }, mayBePooled: boolean): Promise<number> {
  const { rows } = await client.query<{ version: number; pid: number }>(
    `select current_setting('server_version_num')::int as version, pg_backend_pid() as pid`,
  )
  const { version, pid } = rows[0]!
  // What is set here, and the lock, would be on whichever connection a pooler has taken, and stay there.
  const { processID } = client as unknown as { processID: number | null }
  if (!mayBePooled && processID !== null && processID !== pid)
    throw new StartError(
      `what answers at ${server} is a pooler such as PgBouncer, and migrations need a session: set DATABASE_DIRECT_URL to the address of the PostgreSQL itself`,
    )
  if (version < 150_000) throw new StartError(`PostgreSQL at ${server} is older than 15 (${version}): upgrade it`)
  // Limits that suit requests would cut a long migration short. For locks there is one where they are taken.
  await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set lock_timeout = 0')
  return pid
}

/** Marks are compared too, because Prisma's CLI applies breaking migrations without recording them. */
function isCurrent({ applied, unfinished, breaking, functions }: Schema, wanted: WantedSchema): boolean {
  return (
    unfinished.length === 0 &&
    wanted.migrations.every(({ name, breakingReason }) => applied.has(name) && (!breakingReason || breaking.has(name))) &&
    outdatedFunctions(wanted.functions, functions).length + removedFunctions(wanted.functions, functions).length === 0
  )
}

function reportDifferences({ applied }: Schema, migrations: Migration[], log: MigrationLog): void {
  for (const { name, script } of migrations) {
    const checksum = applied.get(name)
    if (checksum === undefined || isUnchanged(script, checksum)) continue
    log('migration was edited after it was applied: put the change into a new one', { level: 'warn', migration: name })
  }
  const known = new Set(migrations.map(({ name }) => name))
  const unknown = [...applied.keys()].filter((name) => !known.has(name))
  if (unknown.length > 0)
    log('the database is newer than this code; none of the migrations it knows besides is breaking', { migrations: unknown })
}

// The number that Prisma Migrate takes, so that its CLI waits for us and we for it.
const prismaLock = 72_707_369

async function lock(client: pg.Client, waitSeconds: number, log: MigrationLog): Promise<void> {
  const { rows } = await client.query(`select pg_try_advisory_lock(${prismaLock}) as got`)
  if (rows[0].got) return
  log('waiting for another host that is migrating', { lockWaitSeconds: waitSeconds })
  try {
    await client.query(`set lock_timeout = ${waitSeconds * 1000}`)
    await client.query(`select pg_advisory_lock(${prismaLock})`)
    await client.query('set lock_timeout = 0')
  } catch (error) {
    if ((error as pg.DatabaseError).code !== '55P03') throw error
    throw new StartError(`another host has been migrating this database for over ${waitSeconds} s: let it finish, then release again`)
  }
}

const releaseVariables = {
  DATABASE_URL: databaseVariables.DATABASE_URL,
  DATABASE_DIRECT_URL: databaseVariables.DATABASE_DIRECT_URL,
  DATABASE_WAIT_SECONDS: positive({ default: 30, desc: 'Time that PostgreSQL may take to start answering' }),
  LOG_LEVEL: processVariables.LOG_LEVEL,
  MIGRATION_WAIT_SECONDS: positive({
    default: 600,
    desc: 'Time that another host may take to finish its migrations, or others to leave a table that is to be changed',
  }),
} as const satisfies ConfigSpec

function checkUrl({ DATABASE_URL, DATABASE_DIRECT_URL }: Config<typeof releaseVariables>): string[] {
  const name = DATABASE_DIRECT_URL === undefined ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL'
  const url = new URL((DATABASE_DIRECT_URL ?? DATABASE_URL).reveal())
  const schema = url.searchParams.get('schema') ?? 'public'
  return [
    ...(url.pathname.length < 2 ? [`${name} names no database: end it with /tollgate, for example`] : []),
    ...(schema !== 'public' ? [`${name} asks for schema=${schema}: take it out, the tables live in the schema public`] : []),
  ]
}

/** Reads arguments and environment; writes every problem and ends the process when there are any. */
function readConfigOrExit(): Config<typeof releaseVariables> {
  try {
    const { values: flags } = parseArgs({
      options: { 'check-config': { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
    })
    if (flags.help) {
      process.stdout.write(
        `release reads these environment variables. With --check-config it only checks them.\n\n${variableTable(releaseVariables)}\n`,
      )
      process.exit(0)
    }
    const config = readConfig(releaseVariables, process.env, checkUrl)
    if (!flags['check-config']) return config
    process.stdout.write('release: configuration is valid\n')
    process.exit(0)
  } catch (error) {
    const problems = error instanceof ConfigError ? error.problems : [(error as Error).message]
    process.stderr.write(
      `release: the configuration has ${problems.length} problem(s)\n${problems.map((problem) => `  ${problem}\n`).join('')}`,
    )
    process.exit(1)
  }
}

async function main(): Promise<void> {
  const config = readConfigOrExit()
  const databaseUrl = (config.DATABASE_DIRECT_URL ?? config.DATABASE_URL).reveal()
  const logger = createLogger({ process: 'release', level: config.LOG_LEVEL })
  const stop = new AbortController()
  for (const name of ['SIGTERM', 'SIGINT'] as const)
    process.on(name, () => {
      // A second signal ends it at once.
      if (stop.signal.aborted) process.exit(1)
      logger.info({ signal: name }, 'stopping')
      stop.abort(new Error(`stopped by ${name}`))
    })
  const startedAt = performance.now()
  try {
    const { applied, made, dropped } = await migrate({
      databaseUrl,
      log: (message, { level, ...fields } = {}) => logger[level ?? 'info'](fields, message),
      databaseWaitSeconds: config.DATABASE_WAIT_SECONDS,
      lockWaitSeconds: config.MIGRATION_WAIT_SECONDS,
      mayBePooled: config.DATABASE_DIRECT_URL !== undefined,
      signal: stop.signal,
    })
    const { database, server } = targetOf(databaseUrl)
    const durationMs = Math.round(performance.now() - startedAt)
    logger.info(
      { database, server, applied: applied.length, functions: made.length + dropped.length, durationMs },
      'the database is up to date',
    )
  } catch (error) {
    if (error instanceof StartError) logger.fatal(error.message)
    else logger.fatal({ err: error }, 'could not migrate')
    process.exitCode = 1
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await main()
