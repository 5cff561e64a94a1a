#!/usr/bin/env node
// @ts-check
/**
 * Stands in for Prisma's native schema engine, which the Prisma CLI would otherwise download from outside the npm registry.
 *
 * The CLI starts it (PRISMA_SCHEMA_ENGINE_BINARY, set in .config/prisma.ts) and speaks JSON-RPC with it, one message a line: requests
 * on standard input, answers on standard output, log records on standard error. Behind it runs the same engine compiled to WebAssembly
 * (@prisma/schema-engine-wasm, the version that belongs to the CLI) on node-postgres. Migrations stay ordinary Prisma migrations.
 */
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { PrismaPg } from '@prisma/adapter-pg'
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils'
import * as glue from '@prisma/schema-engine-wasm/schema_engine_bg'
import pg from 'pg'

/** @typedef {import('@prisma/driver-adapter-utils').SqlDriverAdapter & {
 *   client: pg.Pool, performIO: (query: unknown) => Promise<{ fields: Array<{ dataTypeID: number }> }>, onError: (error: unknown) => never }} PgAdapter */
/** @typedef {{ url?: string, shadowDatabaseUrl?: string }} Datasource */

const { values: flags, positionals } = parseArgs({
  strict: false,
  allowPositionals: true,
  options: {
    datamodels: { type: 'string', multiple: true, default: [] },
    datasource: { type: 'string', default: '{}' },
    // The WebAssembly build takes neither.
    'enabled-preview-features': { type: 'string' },
    'extension-types': { type: 'string' },
    version: { type: 'boolean', default: false },
  },
})
/** @type {Datasource} */
const datasource = JSON.parse(String(flags.datasource))

/** A log record. The CLI skips the first line that it reads and takes the error code of a command from the rest. @param {'INFO' | 'ERROR'} level @param {object} fields */
const log = (level, fields) =>
  process.stderr.write(`\n${JSON.stringify({ timestamp: new Date().toISOString(), level, fields, target: 'schema_engine::logger' })}\n`)

/** @param {object} message */
const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message }, (_, v) => (typeof v === 'bigint' ? Number(v) : v))}\n`)

// --- Databases ------------------------------------------------------------------------------------------------------------------

function mainUrl() {
  if (!datasource.url)
    throw new Error(
      'DATABASE_URL is not set: this command needs a PostgreSQL database, for example postgresql://user:password@host:5432/tollgate',
    )
  return new URL(datasource.url)
}

/** @param {URL} url */
const databaseOf = (url) => decodeURIComponent(url.pathname.slice(1))

/** The same server, user and options, another database. @param {URL} url @param {string} database */
function withDatabase(url, database) {
  const other = new URL(url)
  other.pathname = `/${encodeURIComponent(database)}`
  return other
}

/** Runs `work` on a connection of its own. @template T @param {URL} url @param {(client: pg.Client) => Promise<T>} work @returns {Promise<T>} */
async function withClient(url, work) {
  const client = new pg.Client({ connectionString: url.href, connectionTimeoutMillis: 5_000 })
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

const checkConnection = () => withClient(mainUrl(), (client) => client.query('select 1'))

async function createDatabase() {
  const url = mainUrl()
  await withClient(withDatabase(url, 'postgres'), (client) => client.query(`create database ${client.escapeIdentifier(databaseOf(url))}`))
  return databaseOf(url)
}

/** A failure as the CLI knows it: Prisma's error code, or null, and a text. @param {any} error @returns {{ code: string | null, message: string }} */
function knownError(error) {
  // What the adapter threw comes back in the text as a number.
  const [, id] = /External error id#(\d+)/.exec(error.message ?? '') ?? []
  const thrown = id === undefined ? undefined : adapterFactory.errorRegistry.consumeError(Number(id))?.error
  if (thrown) return knownError(thrown)
  const database = datasource.url ? databaseOf(mainUrl()) : ''
  if (error.code === '3D000') return { code: 'P1003', message: `Database \`${database}\` does not exist on the database server.` }
  if (error.code === '28P01' || error.code === '28000')
    return { code: 'P1000', message: `Authentication failed against the database server: ${error.message}` }
  if (error.code === '42P04') return { code: 'P1009', message: `Database \`${database}\` already exists on the database server.` }
  if (error.code === '42501') return { code: 'P1010', message: `The user was denied access: ${error.message}` }
  if (typeof error.syscall === 'string' || Array.isArray(error.errors))
    return { code: 'P1001', message: `Can't reach the database server: ${error.message || error.code}` }
  return { code: /^P\d{4}$/.test(error.code ?? '') ? error.code : null, message: String(error.message ?? error) }
}

// --- Adapter --------------------------------------------------------------------------------------------------------------------

const charType = 18
const bpcharType = 1042

/**
 * @prisma/adapter-pg made fit for migrations. One connection, because locks and settings belong to a session.
 * Two things the adapter does not do by itself: it refuses the catalog type "char", which the engine's introspection reads, and it
 * splits scripts at every semicolon, also inside function bodies and literals. PostgreSQL takes whole scripts.
 * The engine asks for an adapter even when it will not use it; without a URL it gets one that says so when used.
 * @param {URL | undefined} url
 */
async function connect(url) {
  const schema = url?.searchParams.get('schema') ?? undefined
  const adapter = /** @type {PgAdapter} */ (
    /** @type {unknown} */ (await new PrismaPg({ connectionString: url?.href, max: 1 }, { schema }).connect())
  )
  const queryRaw = adapter.queryRaw
  adapter.queryRaw = async (query) => {
    if (!url) mainUrl()
    const result = await adapter.performIO(query)
    const isChar = result.fields.map((field) => field.dataTypeID === charType)
    const fields = result.fields.map((field, i) => (isChar[i] ? { ...field, dataTypeID: bpcharType } : field))
    const rows = await queryRaw.call({ performIO: async () => ({ ...result, fields }) }, query)
    return { ...rows, columnTypes: rows.columnTypes.map((type, i) => (isChar[i] ? ColumnTypeEnum.Character : type)) }
  }
  adapter.executeScript = async (script) => {
    if (!url) mainUrl()
    await adapter.client.query(script).catch((error) => adapter.onError(error))
  }
  return adapter
}

/** A database of the user's own to replay migrations in, for those who may not create any. It is emptied first. @param {URL} url */
async function connectToGivenShadowDatabase(url) {
  const main = mainUrl()
  if (url.host === main.host && url.pathname === main.pathname)
    throw new Error('SHADOW_DATABASE_URL is the main database: name another one, it is emptied')
  await withClient(url, (client) => client.query('drop schema if exists public cascade; create schema public'))
  return connect(url)
}

/**
 * An empty database to replay migrations in, on the same server, dropped afterwards. The adapter's own version connects to the main
 * database when it is given a URL.
 */
async function connectToShadowDatabase() {
  if (datasource.shadowDatabaseUrl) return connectToGivenShadowDatabase(new URL(datasource.shadowDatabaseUrl))
  const url = mainUrl()
  const name = `prisma_migrate_shadow_db_${crypto.randomUUID()}`
  const quoted = pg.escapeIdentifier(name)
  await withClient(withDatabase(url, 'postgres'), (client) => client.query(`create database ${quoted}`))
  const shadow = await connect(withDatabase(url, name))
  const dispose = shadow.dispose.bind(shadow)
  shadow.dispose = async () => {
    await dispose()
    await withClient(withDatabase(url, 'postgres'), (client) => client.query(`drop database if exists ${quoted} with (force)`))
  }
  return shadow
}

const adapterFactory = bindMigrationAwareSqlAdapterFactory({
  provider: 'postgres',
  adapterName: '@prisma/adapter-pg',
  connect: () => connect(datasource.url ? mainUrl() : undefined),
  connectToShadowDb: connectToShadowDatabase,
})

// --- Engine ---------------------------------------------------------------------------------------------------------------------

// Where the engine says why it gave up, just before it does. An exit code of 101 tells the CLI that the last record is the reason.
Object.assign(globalThis, {
  PRISMA_WASM_PANIC_REGISTRY: {
    /** @param {string} message */
    set_message: (message) => {
      log('ERROR', { message, is_panic: true })
      process.exit(101)
    },
  },
})

function instantiate() {
  const wasm = readFileSync(fileURLToPath(import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg').replace(/\.js$/, '.wasm')))
  const imports = { './schema_engine_bg.js': /** @type {any} */ (glue) }
  const exports = /** @type {any} */ (new WebAssembly.Instance(new WebAssembly.Module(wasm), imports).exports)
  glue.__wbg_set_wasm(exports)
  exports.__wbindgen_start()
}

function loadEngine() {
  instantiate()
  const files = /** @type {string[]} */ (flags.datamodels)
  const datamodels = files.map((file) => /** @type {[string, string]} */ ([file, readFileSync(file, 'utf8')]))
  return glue.SchemaEngine.new({ datamodels: files.length > 0 ? datamodels : undefined }, () => {}, adapterFactory)
}

/** @type {Promise<any> | undefined} */
let loading
const engine = () => {
  loading ??= loadEngine()
  return loading
}

let printId = 1_000_000

/** @param {string} method @param {any} params @returns {Promise<unknown>} */
async function answer(method, params) {
  if (method === 'createDatabase') return { databaseName: await createDatabase() }
  if (method === 'ensureConnectionValidity') return checkConnection().then(() => ({}))
  const target = await engine()
  if (method === 'getDatabaseVersion') return target.version(params)
  // These two read the shadow database that only devDiagnostic and diagnoseMigrationHistory make, and fail when there is none.
  if ((method === 'evaluateDataLoss' || method === 'createMigration') && params.migrationsList.migrationDirectories.length > 0) {
    await target.diagnoseMigrationHistory({ migrationsList: params.migrationsList, optInToShadowDatabase: true, filters: params.filters })
  }
  if (typeof target[method] !== 'function')
    throw new Error(`This Prisma command needs "${method}", which the engine in prisma/schema-engine.mjs does not have.`)
  const result = (await target[method](params)) ?? {}
  if (method !== 'diff' || result.stdout == null) return result
  send({ id: printId++, method: 'print', params: { content: result.stdout } })
  return { ...result, stdout: null }
}

/** @param {{ id: number, method: string, params: unknown }} request */
async function handle({ id, method, params }) {
  try {
    send({ id, result: await answer(method, params) })
  } catch (error) {
    const { code, message } = knownError(error)
    const data = { is_panic: error instanceof WebAssembly.RuntimeError, message, error_code: code, meta: null }
    send({ id, error: { code: 4466, message, data } })
  }
}

async function serve() {
  // One at a time and in order: the engine holds one connection, and the CLI ends the conversation by closing the pipe.
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue
    const message = JSON.parse(line)
    if (message.method) await handle(message) // without a method it is the reply to `print`
  }
}

/** `cli can-connect-to-database` and `cli create-database`: the exit code is the answer. @param {string | undefined} command */
async function runCommand(command) {
  try {
    if (command === 'can-connect-to-database') await checkConnection()
    else if (command === 'create-database') await createDatabase()
    else throw new Error(`unknown command: cli ${command}`)
    log('INFO', { message: 'done' })
  } catch (error) {
    const { code, message } = knownError(error)
    log('ERROR', { message, error_code: code, is_panic: false })
    process.exitCode = 1
  }
}

if (flags.version) {
  instantiate()
  process.stdout.write(`schema-engine-cli ${glue.version()}\n`)
} else if (positionals[0] === 'cli') await runCommand(positionals[1])
else {
  await serve()
  process.exit(0) // the engine keeps its connection open
}
