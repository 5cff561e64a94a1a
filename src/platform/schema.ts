/**
 * What this code and the ledgers of a database say to each other.
 *
 * ledger        `_prisma_migrations`, Prisma Migrate's own table, so that the Prisma CLI and our runner can take turns
 * breaking      after this migration, older code can't work with the database; the file's head says `-- breaking: <why>`
 * schema guard  `schema_guard`, the breaking migrations that were applied: older code has no file to read the mark from
 * functions     `schema_function`, the functions that were applied, and with which text
 */
import { fileURLToPath } from 'node:url'
import { type AppliedFunction, type DatabaseFunction, outdatedFunctions, readFunctions } from './database-functions.js'
import { StartError } from './health.js'
import { isUnchanged, type Migration, readMigrations } from './migrations.js'

/** A pg client, pool or pool client. */
export interface Queryable {
  query(text: string): Promise<{ rows: Array<Record<string, unknown>> }>
}

/** Where the two parts of a schema are written down. */
export interface SchemaFolders {
  /** Holds one folder a migration, as `prisma migrate dev` writes them. */
  migrations: string
  /** Holds one file a function, at any depth. */
  functions: string
}

/** Those of this checkout; the compiled file is dist/src/platform/schema.js. */
export const schemaFolders: SchemaFolders = {
  migrations: fileURLToPath(new URL('../../../prisma/migrations', import.meta.url)),
  functions: fileURLToPath(new URL('../../../src', import.meta.url)),
}

/** What this code wants the database to have. */
export interface WantedSchema {
  migrations: Migration[]
  functions: DatabaseFunction[]
}

/** @throws StartError when a folder is missing or has something in it that can't be applied */
export async function readWanted(folders: SchemaFolders): Promise<WantedSchema> {
  const [migrations, functions] = await Promise.all([readMigrations(folders.migrations), readFunctions(folders.functions)])
  return { migrations, functions }
}

export interface UnfinishedMigration {
  name: string
  startedAt: Date
  /** What PostgreSQL said, or null when the runner was interrupted or is still running. */
  logs: string | null
}

export interface Schema {
  /** Checksums of the migrations that were applied, by name. */
  applied: ReadonlyMap<string, string>
  /** Failed, or running on another host right now. */
  unfinished: readonly UnfinishedMigration[]
  /** Reasons of the breaking migrations that were applied, by name. */
  breaking: ReadonlyMap<string, string>
  functions: ReadonlyMap<string, AppliedFunction>
}

/** Reads the ledgers and the schema guard; a database without them has an empty schema. */
export async function readSchema(client: Queryable): Promise<Schema> {
  const found = await client.query(
    `select to_regclass('_prisma_migrations') as ledger, to_regclass('schema_guard') as guard, to_regclass('schema_function') as functions`,
  )
  const { ledger, guard, functions: functionLedger } = found.rows[0] ?? {}
  const applied = new Map<string, string>()
  const unfinished: UnfinishedMigration[] = []
  const breaking = new Map<string, string>()
  const functions = new Map<string, AppliedFunction>()
  if (ledger) {
    const { rows } = await client.query(
      'select migration_name, checksum, started_at, finished_at, logs from _prisma_migrations where rolled_back_at is null order by started_at',
    )
    for (const row of rows) {
      const name = String(row.migration_name)
      if (row.finished_at) applied.set(name, String(row.checksum))
      else unfinished.push({ name, startedAt: row.started_at as Date, logs: row.logs as string | null })
    }
  }
  if (guard) {
    const { rows } = await client.query('select migration_name, breaking_reason from schema_guard')
    // A mark outlives its ledger row when a database is reset by hand.
    for (const row of rows)
      if (applied.has(String(row.migration_name))) breaking.set(String(row.migration_name), String(row.breaking_reason))
  }
  if (functionLedger) {
    const { rows } = await client.query(`
      select name, identity, case when exists (
        select from pg_proc where proname = name and pronamespace = current_schema()::regnamespace
      ) then checksum end as checksum from schema_function order by name`)
    for (const { name, identity, checksum } of rows)
      functions.set(String(name), { identity: String(identity), checksum: checksum as string | null })
  }
  return { applied, unfinished, breaking, functions }
}

/** @throws StartError when nothing that this code does brings the database to what it needs */
export function refuseUnusable(schema: Schema, migrations: Migration[]): void {
  refuseBeyondBreaking(schema, migrations)
  refuseOtherBeginning(schema, migrations)
}

/**
 * Before release 1.0 the initial migration may be edited, and what it made before has no way to what it makes now.
 * @throws StartError when the database was made by another initial migration than this code has
 */
function refuseOtherBeginning({ applied }: Schema, [initial]: Migration[]): void {
  const checksum = applied.get(initial!.name)
  if (applied.size === 0 || (checksum !== undefined && isUnchanged(initial!.script, checksum))) return
  throw new StartError(
    `the database was made by another initial migration (${[...applied.keys()][0]}) than this code has, and before release 1.0 there is no way from one to the other: point DATABASE_URL to an empty database or, if it is the own one of \`npm start\`, remove the folder .data, in which it is`,
  )
}

/** @throws StartError when the database has a breaking migration that this code does not know */
function refuseBeyondBreaking(schema: Schema, migrations: Migration[]): void {
  const known = new Set(migrations.map(({ name }) => name))
  for (const [name, reason] of schema.breaking) {
    if (known.has(name)) continue
    throw new StartError(
      `the database is newer than this code and beyond the breaking migration ${name} (${reason}): deploy the version that has it`,
    )
  }
}

/**
 * Makes sure that this code can work with the database. Migrations and functions that only the database has are fine unless a migration among them is
 * breaking.
 * @throws StartError that says what to do
 */
export async function assertSchemaCompatible(client: Queryable, folders: SchemaFolders = schemaFolders): Promise<void> {
  const [wanted, schema] = await Promise.all([readWanted(folders), readSchema(client)])
  refuseUnusable(schema, wanted.migrations)
  const missing = wanted.migrations.filter(({ name }) => !schema.applied.has(name))
  if (missing.length > 0)
    throw new StartError(
      `the database lacks ${missing.length === wanted.migrations.length ? 'all migrations' : listed(missing)}: ${howToRelease}`,
    )
  const outdated = outdatedFunctions(wanted.functions, schema.functions)
  if (outdated.length > 0)
    throw new StartError(`the database lacks functions of this code or has others of that name (${listed(outdated)}): ${howToRelease}`)
}

const listed = (parts: readonly { name: string }[]) => parts.map(({ name }) => name).join(', ')

const howToRelease = 'run `npm run release` (node dist/src/migrate.js) with the same DATABASE_URL, then start again'
