import { closeSync, existsSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Problem } from '../../kernel/problem.js'
import type { Child, Children, OwnService } from '../processes/children.js'
import { isAlive, isRunning, stopGroup } from '../processes/os-process.js'
import type { Ports } from '../processes/ports.js'
import { CommandFailure } from '../processes/run-command.js'
import { choosePostgres, oldestMajor, type PostgresBinaries, postgresFolders } from './binaries.js'
import { type PostgresHome, preparePostgresHome } from './home.js'

interface PostgresOptions {
  /** Where the programs of the npm package are looked up. */
  root: string
  /** Holds `postgres` (data) and `postgres.log`. */
  dataFolder: string
  children: Children
  ports: Ports
  /** The port of the last run, taken again when it is free. */
  lastPort: number | undefined
  /** Of a server that died and is started again: its port, which is ours already. */
  port?: number
  /** False gives up safety across a crash of the machine for speed: tests only. */
  isDurable: boolean
  /** Told in one line what a user should know. */
  notice: (line: string) => void
  signal: AbortSignal
  /** Folders to look for the programs in; the usual ones when left out. */
  folders?: readonly string[]
}

/** Time for open connections to be cut and a checkpoint to be written; after it the log is replayed at the next start. */
const stopGraceMs = 30_000
const startDeadlineMs = 60_000
/** Of our own server, on loopback only, with no password: whoever can open a local port of this machine can read it. */
const superuser = 'postgres'
const database = 'tollgate'

/**
 * Starts the project's own PostgreSQL on a loopback port and answers the URL of its database, made when missing. What a killed run
 * left behind is stopped first. Throws FAILED_PRECONDITION with what to do when there is no PostgreSQL, or none that can read the data.
 */
export async function startPostgres(options: PostgresOptions): Promise<OwnService> {
  const home = await preparePostgresHome(join(options.dataFolder, 'postgres'), options.notice)
  const data = join(home.folder, 'data')
  const binaries = await chooseBinaries(options, home, data)
  await stopLeftover(data)
  if (!existsSync(join(data, 'PG_VERSION'))) await createCluster(options, home, binaries, data)

  const logFile = join(options.dataFolder, 'postgres.log')
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await options.ports.take(attempt === 1 ? options.lastPort : undefined))
    const child = launch(options, home, binaries, data, port, logFile)
    const failure = await waitUntilUp(child, port, options.signal)
    if (failure === null) return { url: connectionUrl(port, database), port, child }
    const log = readFileSync(logFile, 'utf8')
    if (attempt < 3 && !options.port && log.includes('Address already in use')) continue
    throw new Problem('FAILED_PRECONDITION', 'POSTGRES_FAILED', `PostgreSQL did not start: ${failure}\n${tail(log)}(whole log: ${logFile})`)
  }
}

const connectionUrl = (port: number, name: string) => `postgresql://${superuser}@127.0.0.1:${port}/${name}`

const tail = (log: string) =>
  log
    .trimEnd()
    .split('\n')
    .slice(-10)
    .map((line) => `  ${line}\n`)
    .join('')

async function chooseBinaries(options: PostgresOptions, home: PostgresHome, data: string): Promise<PostgresBinaries> {
  const versionFile = join(data, 'PG_VERSION')
  let dataMajor: number | null = null
  try {
    dataMajor = Number(readFileSync(versionFile, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new Problem(
        'FAILED_PRECONDITION',
        'POSTGRES_FOLDER_UNREADABLE',
        `The database in ${data} belongs to another user. Run as its owner, or move it away to begin with an empty one.`,
      )
  }
  const binaries = await choosePostgres(
    options.folders ?? postgresFolders(options.root),
    dataMajor,
    home.user,
    join(home.folder, 'programs'),
  )
  if (binaries) return binaries
  throw dataMajor === null
    ? new Problem(
        'FAILED_PRECONDITION',
        'NO_POSTGRES',
        `No PostgreSQL ${oldestMajor} or newer was found. Install one (Debian, Ubuntu: apt-get install postgresql; macOS: brew install postgresql@17), or set DATABASE_URL to one that runs elsewhere.`,
      )
    : new Problem(
        'FAILED_PRECONDITION',
        'POSTGRES_VERSION',
        `The database in ${data} was made by PostgreSQL ${dataMajor}, which is not on this machine. Install PostgreSQL ${dataMajor}, or move ${join(options.dataFolder, 'postgres')} away to begin with an empty database.`,
      )
}

/** A server that outlived its runner (both the runner and its guard were killed) would hold the data folder. */
async function stopLeftover(data: string): Promise<void> {
  const file = join(data, 'postmaster.pid')
  if (!existsSync(file)) return
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0])
  if (isRunning(pid, data)) await stopGroup(pid, 'SIGINT', stopGraceMs)
  // The id belongs to something else by now. PostgreSQL would not dare to decide that, and refuse to start.
  else if (isAlive(pid)) rmSync(file, { force: true })
}

async function createCluster(options: PostgresOptions, home: PostgresHome, binaries: PostgresBinaries, data: string): Promise<void> {
  // Made aside and renamed when complete: a stop in the middle leaves nothing that looks like a cluster.
  const unfinished = `${data}.new`
  rmSync(unfinished, { recursive: true, force: true })
  const args = ['-D', unfinished, '-U', superuser, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-instructions']
  try {
    await options.children.run(join(binaries.folder, 'initdb'), options.isDurable ? args : [...args, '--no-sync'], {
      user: home.user,
      env: serverEnvironment(),
      signal: options.signal,
    })
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    const advice = /No space left/.test(error.output) ? 'The disk is full.' : ''
    throw new Problem(
      'FAILED_PRECONDITION',
      'POSTGRES_FAILED',
      `The database folder ${data} could not be made. ${advice}\n${tail(error.output)}`,
    )
  }
  renameSync(unfinished, data)
}

/** Without the user's PG… variables, which would lead the server's programs astray. */
const serverEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PG')))

function launch(
  options: PostgresOptions,
  home: PostgresHome,
  binaries: PostgresBinaries,
  data: string,
  port: number,
  logFile: string,
): Child {
  const settings: Record<string, string | number> = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    // Every process has a pool; together they stay under 200.
    max_connections: 200,
    // A development machine: enough to keep the example and a benchmark in memory.
    shared_buffers: '256MB',
    max_wal_size: '2GB',
    random_page_cost: 1.1,
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Commits wait for a standby in sessions only that ask for it: those of a test that has none answer.
    ...(options.isDurable ? {} : { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'local' }),
  }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const log = openSync(logFile, 'w', 0o600)
  try {
    return options.children.start({
      command: join(binaries.folder, 'postgres'),
      args: ['-D', data, ...args],
      stage: 'service',
      env: serverEnvironment(),
      cwd: '/',
      user: home.user,
      stopSignal: 'SIGINT',
      graceMs: stopGraceMs,
      output: log,
    })
  } finally {
    closeSync(log)
  }
}

/** Null once the server answers and has our database; else why it does not. */
async function waitUntilUp(child: Child, port: number, signal: AbortSignal): Promise<string | null> {
  let exit: string | null = null
  void child.exited.then(({ code, signal: by, error }) => {
    exit = error ? error.message : `it ended with ${by ?? `code ${code}`}`
  })
  const deadline = performance.now() + startDeadlineMs
  for (;;) {
    signal.throwIfAborted()
    if (exit !== null) return exit
    try {
      await createDatabase(port)
      return null
    } catch (error) {
      if (performance.now() > deadline) return error instanceof Error ? error.message : String(error)
    }
    await sleep(30, undefined, { signal })
  }
}

async function createDatabase(port: number): Promise<void> {
  const client = new pg.Client({ connectionString: connectionUrl(port, 'postgres'), ssl: false, connectionTimeoutMillis: 5_000 })
  // A server that is still starting may cut the connection at any moment; the caller tries again.
  client.on('error', () => {})
  try {
    await client.connect()
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [database])
    if (rowCount === 0) await client.query(`create database ${database}`)
  } finally {
    await client.end().catch(() => {})
  }
}
