/** How migrations are applied, by Prisma Migrate's rules: its ledger and its checksums. The caller holds its lock. */
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { allOrNothing, interrupted, isPassing, type LockPatience, withBriefLocks } from '../database.js'
import { applyFunctions } from '../database-functions.js'
import { StartError } from '../health.js'
import { checksumOf, type Migration } from '../migrations.js'
import { readSchema, refuseUnusable, type Schema, type WantedSchema } from '../schema.js'
import { lineAt, splitStatements } from '../sql-script.js'
import type { Stopper } from './stopper.js'

/** Names of what one call has done. */
export interface Released {
  applied: string[]
  /** Functions that were made, or made anew. */
  made: string[]
  /** Functions whose file is gone. */
  dropped: string[]
}

/**
 * Applies what the database lacks. Stopped, it ends a migration that runs statement by statement, undoes any other, and begins no more.
 * @throws StartError that says what to do, or the reason of the signal
 */
export async function applyPending(
  client: pg.Client,
  { migrations, functions }: WantedSchema,
  { stopper, ...patience }: LockPatience & { stopper: Stopper },
): Promise<Released> {
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
    patience.signal.throwIfAborted()
    const startedAt = performance.now()
    if (migration.isTransactional) await applyWhole(client, migration, patience)
    else await stopper.sparing(() => applyStepwise(client, migration, patience))
    patience.log('migration applied', { migration: migration.name, durationMs: Math.round(performance.now() - startedAt) })
  }
  patience.signal.throwIfAborted()
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
