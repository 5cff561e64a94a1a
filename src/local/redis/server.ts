import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../../kernel/problem.js'
import type { Child, Children, OwnService } from '../processes/children.js'
import { isRunning, stopGroup } from '../processes/os-process.js'
import type { Ports } from '../processes/ports.js'
import { findOnPath, runCommand } from '../processes/run-command.js'
import { bringProgram, type Program } from '../programs/debian-package.js'

interface RedisOptions {
  /** Holds `redis` (data) and `redis.log`. */
  dataFolder: string
  /** Where a downloaded Redis is unpacked. */
  cacheFolder: string
  children: Children
  ports: Ports
  /** The port of the last run, taken again when it is free. */
  lastPort: number | undefined
  /** Of a server that died and is started again: its port, which is ours already. */
  port?: number
  /** Told in one line what a user should know. */
  notice: (line: string) => void
  signal: AbortSignal
}

const stopGraceMs = 10_000
const startDeadlineMs = 30_000
/** BullMQ's oldest recommended Redis. Valkey numbers its versions from 7.2 on. */
const oldestVersion = [6, 2] as const

const packagedRedis = {
  name: 'redis-server',
  packageName: 'redis-server',
  title: `Redis ${oldestVersion.join('.')} or newer`,
  howToInstall:
    'install one (Debian, Ubuntu: apt-get install redis-server; macOS: brew install valkey), or set REDIS_URL to one that runs elsewhere.',
}

/**
 * Starts the project's own Redis on a loopback port and answers its URL. What a killed run left behind is stopped first. Throws
 * FAILED_PRECONDITION with what to do when there is no Redis to be had.
 */
export async function startRedis(options: RedisOptions): Promise<OwnService> {
  const program = await findRedis(options)
  const data = join(options.dataFolder, 'redis')
  mkdirSync(data, { recursive: true, mode: 0o700 })
  await stopLeftover(data)

  const logFile = join(options.dataFolder, 'redis.log')
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await options.ports.take(attempt === 1 ? options.lastPort : undefined))
    const child = launch(options, program, data, port, logFile)
    const failure = await waitUntilUp(child, port, options.signal)
    if (failure === null) return { url: `redis://127.0.0.1:${port}`, port, child }
    const log = readFileSync(logFile, 'utf8')
    if (attempt < 3 && !options.port && log.includes('Address already in use')) continue
    const lines = log
      .trimEnd()
      .split('\n')
      .slice(-10)
      .map((line) => `  ${line}\n`)
    throw new Problem(
      'FAILED_PRECONDITION',
      'REDIS_FAILED',
      `Redis did not start: ${failure}\n${lines.join('')}(whole log: ${logFile}; nothing acknowledged is lost when ${data} is deleted)`,
    )
  }
}

/** One that is here or brought, new enough. */
export async function findRedis({
  cacheFolder,
  children,
  notice,
  signal,
}: Pick<RedisOptions, 'cacheFolder' | 'children' | 'notice' | 'signal'>): Promise<Program> {
  for (const name of ['valkey-server', 'redis-server']) {
    const file = findOnPath(name)
    if (!file) continue
    const version = await runCommand(file, ['--version']).catch(() => '')
    const [major = 0, minor = 0] = (/v=(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number)
    if (major > oldestVersion[0] || (major === oldestVersion[0] && minor >= oldestVersion[1])) return { file, env: {} }
    notice(`${file} is not used: Redis ${oldestVersion.join('.')} or newer is needed`)
  }
  return bringProgram(packagedRedis, { cacheFolder, children, notice, signal })
}

const pidFile = (data: string) => join(data, 'redis.pid')

/** A server that outlived its runner (both the runner and its guard were killed) would write the same files. */
async function stopLeftover(data: string): Promise<void> {
  const file = pidFile(data)
  if (!existsSync(file)) return
  const pid = Number(readFileSync(file, 'utf8'))
  if (isRunning(pid, data)) await stopGroup(pid, 'SIGTERM', stopGraceMs)
  rmSync(file, { force: true })
}

function launch(options: RedisOptions, program: Program, data: string, port: number, logFile: string): Child {
  const settings: Record<string, string> = {
    port: String(port),
    bind: '127.0.0.1',
    dir: data,
    pidfile: pidFile(data),
    appendonly: 'yes',
    appendfsync: 'everysec',
    // Queues must be refused, not forgotten, when memory is full.
    'maxmemory-policy': 'noeviction',
    // The log is enough; no snapshots beside it.
    save: '',
    // Keeps the data folder in the command line, by which a leftover is recognised.
    'set-proc-title': 'no',
  }
  const log = openSync(logFile, 'w', 0o600)
  try {
    return options.children.start({
      command: program.file,
      args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
      stage: 'service',
      env: { ...process.env, ...program.env },
      cwd: data,
      stopSignal: 'SIGTERM',
      graceMs: stopGraceMs,
      output: log,
    })
  } finally {
    closeSync(log)
  }
}

/** Null once the server answers PING (its log is loaded then); else why it does not. */
async function waitUntilUp(child: Child, port: number, signal: AbortSignal): Promise<string | null> {
  let exit: string | null = null
  void child.exited.then(({ code, signal: by, error }) => {
    exit = error ? error.message : `it ended with ${by ?? `code ${code}`}`
  })
  const deadline = performance.now() + startDeadlineMs
  while (exit === null) {
    signal.throwIfAborted()
    if (await answersPing(port)) return null
    if (performance.now() > deadline) return `no answer on port ${port} for ${startDeadlineMs / 1000} s`
    await sleep(20, undefined, { signal })
  }
  return exit
}

const answersPing = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.setTimeout(2_000, () => socket.destroy())
    socket.once('data', (answer) => {
      resolve(answer.toString().startsWith('+PONG'))
      socket.destroy()
    })
    socket.once('error', () => resolve(false))
    socket.once('close', () => resolve(false))
  })
