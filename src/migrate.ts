/**
 * The release process: applies prisma/migrations by Prisma Migrate's rules (its ledger, its checksums, its lock), then the functions in src, then exits.
 * Prisma's CLI and this runner can take turns on one database. Several hosts may run it at once: one applies, the others wait.
 */
import { randomUUID } from 'node:crypto'
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
import {
  allOrNothing,
  connectOrCreate,
  explainDatabaseError,
  interrupted,
  isPassing,
  type LockPatience,
  targetOf,
  withBriefLocks,
} from './platform/database.js'
import { applyFunctions, outdatedFunctions, removedFunctions } from './platform/database-functions.js'
import { StartError } from './platform/health.js'
import { createLogger } from './platform/logger.js'
import { checksumOf, isUnchanged, type Migration } from './platform/migrations.js'
import {
  readSchema,
  readWanted,
  refuseBeyondBreaking,
  refuseOtherBeginning,
  type Schema,
  type SchemaFolders,
  schemaFolders,
  type WantedSchema,
} from './platform/schema.js'
import { lineAt, splitStatements } from './platform/sql-script.js'

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
}

/** Names of what one call has done. */
export interface Released {
  applied: string[]
  /** Functions that were made, or made anew. */
  made: string[]
  /** Functions whose file is gone. */
  dropped: string[]
}

/**
 * Brings a database up to date; creates it when it does not exist. Safe to repeat, and safe to run from many hosts at once.
 * A migration runs in a transaction of its own unless its head says `-- no transaction`; one that fails is recorded, and nothing more is
 * applied until somebody has resolved it. Functions follow, all in one transaction.
 * @throws StartError that says what to do
 */
export async function migrate({
  databaseUrl,
  folders = schemaFolders,
  log,
  databaseWaitSeconds = 30,
  lockWaitSeconds = 600,
}: MigrateOptions): Promise<Released> {
  const wanted = await readWanted(folders)
  const target = targetOf(databaseUrl)
  const client = await connectOrCreate({
    databaseUrl,
    waitSeconds: databaseWaitSeconds,
    onWait: (reason) => log('waiting for the database', { level: 'warn', database: target.database, server: target.server, reason }),
  })
  try {
    await prepareSession(client, target)
    const schema = await readSchema(client)
    refuseUnusable(schema, wanted.migrations)
    reportDifferences(schema, wanted.migrations, log)
    // The usual case at a start: nothing to do, hence no lock and nothing that needs more than the right to read.
    if (isCurrent(schema, wanted)) return { applied: [], made: [], dropped: [] }
    await lock(client, lockWaitSeconds, log)
    return await applyPending(client, wanted, { log, waitSeconds: lockWaitSeconds })
  } catch (error) {
    throw explainDatabaseError(error, databaseUrl)
  } finally {
    await client.end().catch(() => undefined) // lets the lock go
  }
}

async function prepareSession(client: pg.Client, { server }: { server: string }): Promise<void> {
  const { rows } = await client.query(`select current_setting('server_version_num')::int as version`)
  if (rows[0].version < 150_000) throw new StartError(`PostgreSQL at ${server} is older than 15 (${rows[0].version}): upgrade it`)
  // Limits that suit requests would cut a long migration short. For locks there is one where they are taken.
  await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set lock_timeout = 0')
}

function refuseUnusable(schema: Schema, migrations: Migration[]): void {
  refuseBeyondBreaking(schema, migrations)
  refuseOtherBeginning(schema, migrations)
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

async function applyPending(client: pg.Client, { migrations, functions }: WantedSchema, patience: LockPatience): Promise<Released> {
  // Read again: another host may have worked while we waited for the lock.
  const schema = await readSchema(client)
  refuseUnusable(schema, migrations)
  refuseUnfinished(schema)
  if (schema.applied.size === 0) await refuseForeign(client)
  await createTables(client)
  for (const { name, breakingReason } of migrations) {
    if (breakingReason && schema.applied.has(name)) await recordBreaking(client, name, breakingReason)
  }
  const pending = migrations.filter(({ name }) => !schema.applied.has(name))
  for (const migration of pending) {
    const startedAt = performance.now()
    await (migration.isTransactional ? applyWhole(client, migration, patience) : applyStepwise(client, migration, patience))
    patience.log('migration applied', { migration: migration.name, durationMs: Math.round(performance.now() - startedAt) })
  }
  const { made, dropped } = await withBriefLocks(client, 'the functions', patience, () =>
    applyFunctions(client, functions, schema.functions),
  )
  if (made.length + dropped.length > 0) patience.log('functions applied', { made, dropped })
  return { applied: pending.map(({ name }) => name), made, dropped }
}

function refuseUnfinished({ unfinished: [failed] }: Schema): void {
  if (!failed) return
  const when = failed.startedAt.toISOString()
  const why = failed.logs?.split('\n')[0] || 'it was interrupted'
  throw new StartError(`migration ${failed.name} failed on ${when} (${why}): ${howToResolve(failed.name)}`)
}

const howToResolve = (name: string) =>
  `correct it, run \`npx prisma migrate resolve --rolled-back ${name}\` in a checkout to have it applied again (or --applied when you finished it by hand), then release again`

/** A database with tables but no ledger is somebody else's, or was made in a way that the migrations would collide with. */
async function refuseForeign(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select relname from pg_class c where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
       and relname not in ('_prisma_migrations', 'schema_guard', 'schema_function')
       and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
     order by relname limit 3`,
  )
  if (rows.length === 0) return
  const tables = rows.map(({ relname }) => relname).join(', ')
  throw new StartError(`the database already has tables that no migration made (${tables}): point DATABASE_URL to an empty database`)
}

/** The ledger exactly as Prisma makes it, the schema guard, and the ledger of the functions. */
async function createTables(client: pg.Client): Promise<void> {
  await client.query(`create table if not exists _prisma_migrations (
    id varchar(36) primary key not null, checksum varchar(64) not null, finished_at timestamptz, migration_name varchar(255) not null,
    logs text, rolled_back_at timestamptz, started_at timestamptz not null default now(), applied_steps_count integer not null default 0)`)
  await client.query('create table if not exists schema_guard (migration_name varchar(255) primary key, breaking_reason text not null)')
  await client.query(
    'create table if not exists schema_function (name text primary key, identity text not null, checksum varchar(64) not null)',
  )
}

const recordBreaking = (client: pg.Client, name: string, reason: string) =>
  client.query(
    'insert into schema_guard values ($1, $2) on conflict (migration_name) do update set breaking_reason = excluded.breaking_reason',
    [name, reason],
  )

const recordStart = (client: pg.Client, id: string, { name, script }: Migration) =>
  client.query('insert into _prisma_migrations (id, checksum, migration_name) values ($1, $2, $3)', [id, checksumOf(script), name])

async function recordFinish(client: pg.Client, id: string, { name, breakingReason }: Migration): Promise<void> {
  await client.query('update _prisma_migrations set finished_at = clock_timestamp(), applied_steps_count = 1 where id = $1', [id])
  if (breakingReason) await recordBreaking(client, name, breakingReason)
}

/** In one transaction with its ledger row: a crash leaves neither, and the next run simply begins again. */
async function applyWhole(client: pg.Client, migration: Migration, patience: LockPatience): Promise<void> {
  const id = randomUUID()
  try {
    await withBriefLocks(client, `migration ${migration.name}`, patience, () =>
      allOrNothing(client, async () => {
        await client.query(migration.script)
        await recordStart(client, id, migration)
        await recordFinish(client, id, migration)
      }),
    )
  } catch (error) {
    if (error instanceof StartError) throw error
    if (isPassing(error)) throw interrupted(`migration ${migration.name} was`, error as Error)
    await recordStart(client, id, migration)
    throw await recordFailure(client, id, migration, error, 0)
  }
}

/** Statement by statement, each committed at once: the ledger row comes first, because a crash may leave half of the work behind. */
async function applyStepwise(client: pg.Client, migration: Migration, patience: LockPatience): Promise<void> {
  const id = randomUUID()
  await recordStart(client, id, migration)
  for (const { text, start } of splitStatements(migration.script)) {
    try {
      // What works beside others waits for them without holding up anybody, and would leave half an index behind.
      if (/\bconcurrently\b/i.test(text)) await client.query(text)
      else await withBriefLocks(client, `migration ${migration.name}`, patience, () => client.query(text))
    } catch (error) {
      throw await recordFailure(client, id, migration, error, start)
    }
  }
  await recordFinish(client, id, migration)
}

/** Records what PostgreSQL said where Prisma looks for it; answers the error to throw. */
async function recordFailure(
  client: pg.Client,
  id: string,
  { name, script }: Migration,
  error: unknown,
  start: number,
): Promise<StartError> {
  const { message, code, detail, hint, position } = error as pg.DatabaseError
  const what = position ? `${message}, line ${lineAt(script, Number(position), start)}` : message
  const logs = [what, code && `SQLSTATE ${code}`, detail, hint].filter(Boolean).join('\n')
  await client.query('update _prisma_migrations set logs = $2 where id = $1', [id, logs])
  return new StartError(`migration ${name} failed (${what}): ${howToResolve(name)}`, { cause: error })
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
  const startedAt = performance.now()
  try {
    const { applied, made, dropped } = await migrate({
      databaseUrl,
      log: (message, { level, ...fields } = {}) => logger[level ?? 'info'](fields, message),
      databaseWaitSeconds: config.DATABASE_WAIT_SECONDS,
      lockWaitSeconds: config.MIGRATION_WAIT_SECONDS,
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
