/**
 * The functions of the database: a file of SQL each, in src beside the code that calls it. A file is named as its function is, with hyphens, and also has
 * the triggers that run it. The ledger `schema_function` says which text of each a database has.
 */
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type pg from 'pg'
import { allOrNothing, interrupted, isLockTimeout, isPassing } from './database.js'
import { StartError } from './health.js'
import { checksumOf } from './migrations.js'
import { lineAt } from './sql-script.js'

export interface DatabaseFunction {
  name: string
  /** For whoever has to correct it. */
  file: string
  script: string
  checksum: string
}

/** A function as the ledger knows it. */
export interface AppliedFunction {
  /** Name and types, by which it is dropped. */
  identity: string
  /** Null: somebody has dropped it. */
  checksum: string | null
}

/**
 * The functions in a directory and those below it, in the order of their files.
 * @throws StartError when there are none, or two of one name
 */
export async function readFunctions(directory: string): Promise<DatabaseFunction[]> {
  // With their types: else each file would be looked at, which takes ten times as long.
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter(({ name }) => name.endsWith('.sql')).map(({ parentPath, name }) => join(parentPath, name))
  // Without the files every function would seem to be one that is not wanted any more.
  if (files.length === 0)
    throw new StartError(`there are no functions of the database in ${directory}: deploy the src folder together with dist`)
  const functions = await Promise.all(
    files.sort().map(async (file): Promise<DatabaseFunction> => {
      // A checkout may rewrite line ends, which changes nothing.
      const script = (await readFile(file, 'utf8')).replaceAll('\r\n', '\n')
      return { name: basename(file, '.sql').replaceAll('-', '_'), file, script, checksum: checksumOf(script) }
    }),
  )
  const byName = new Map<string, DatabaseFunction>()
  for (const entry of functions) {
    const other = byName.get(entry.name)
    if (other) throw new StartError(`${other.file} and ${entry.file} are the same function ${entry.name}: rename or remove one`)
    byName.set(entry.name, entry)
  }
  return functions
}

/** Those that the database has not, or with another text. */
export const outdatedFunctions = (functions: readonly DatabaseFunction[], applied: ReadonlyMap<string, AppliedFunction>) =>
  functions.filter(({ name, checksum }) => applied.get(name)?.checksum !== checksum)

/** Names of those that the database has and whose file is gone. */
export function removedFunctions(functions: readonly DatabaseFunction[], applied: ReadonlyMap<string, AppliedFunction>): string[] {
  const wanted = new Set(functions.map(({ name }) => name))
  return [...applied.keys()].filter((name) => !wanted.has(name))
}

/**
 * Makes what is outdated anew and drops what is removed, in one transaction with the ledger. Answers the names of both.
 * @throws StartError that names file and line when PostgreSQL refuses a function: nothing has changed then
 */
export async function applyFunctions(
  client: pg.Client,
  functions: readonly DatabaseFunction[],
  applied: ReadonlyMap<string, AppliedFunction>,
): Promise<{ made: string[]; dropped: string[] }> {
  const outdated = outdatedFunctions(functions, applied)
  const made = outdated.map(({ name }) => name)
  const dropped = removedFunctions(functions, applied)
  if (made.length + dropped.length === 0) return { made, dropped }
  const apply = async () => {
    // Also those that are made anew: neither names of parameters nor what is returned can be replaced, and a trigger may have gone from the file.
    for (const name of [...dropped, ...made]) await drop(client, name, applied.get(name))
    // They may call each other, so bodies are checked once all are there.
    await client.query('set local check_function_bodies = off')
    for (const entry of outdated) await create(client, entry)
    await client.query('set local check_function_bodies = on')
    for (const entry of outdated) await create(client, entry)
    for (const entry of outdated) await record(client, entry)
  }
  try {
    await allOrNothing(client, apply)
  } catch (error) {
    throw isPassing(error) && !isLockTimeout(error) ? interrupted('the functions were', error as Error) : error
  }
  return { made, dropped }
}

async function drop(client: pg.Client, name: string, known: AppliedFunction | undefined): Promise<void> {
  if (!known) return
  if (known.checksum !== null) {
    const { rows } = await client.query<{ statement: string }>(
      `select format('drop trigger %I on %s', tgname, tgrelid::regclass) as statement from pg_trigger
       where tgfoid = to_regprocedure($1) and tgparentid = 0`,
      [known.identity],
    )
    for (const { statement } of rows) await client.query(statement)
  }
  await client.query(`drop function if exists ${known.identity}`).catch((error: pg.DatabaseError) => {
    // Never with all that depends on it: an index or a column could be among that.
    if (error.code !== '2BP01') throw error
    throw new StartError(
      `the function ${name} can't be dropped (${error.detail ?? error.message}): write a migration that does without it`,
      {
        cause: error,
      },
    )
  })
  await client.query('delete from schema_function where name = $1', [name])
}

async function create(client: pg.Client, { file, script }: DatabaseFunction): Promise<void> {
  try {
    await client.query(script)
  } catch (error) {
    if (isPassing(error)) throw error
    const { message, position, where } = error as pg.DatabaseError
    const place = position ? `line ${lineAt(script, Number(position))}` : where
    throw new StartError(`${file} failed (${[message, place].filter(Boolean).join(', ')}): correct it, then release again`, {
      cause: error,
    })
  }
}

async function record(client: pg.Client, { name, file, checksum }: DatabaseFunction): Promise<void> {
  const { rows } = await client.query<{ identity: string }>(
    'select oid::regprocedure::text as identity from pg_proc where proname = $1 and pronamespace = current_schema()::regnamespace',
    [name],
  )
  if (rows.length !== 1)
    throw new StartError(`${file} must make one function ${name}, and there are ${rows.length}: correct it, then release again`)
  await client.query('insert into schema_function (name, identity, checksum) values ($1, $2, $3)', [name, rows[0]!.identity, checksum])
}
