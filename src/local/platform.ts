import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../kernel/problem.js'
import type { Example } from './example.js'
import { type LastPorts, readLastPorts, rememberPorts } from './last-ports.js'
import { renderLine } from './log-lines.js'
import { type PlatformFile, readAnyPlatform, readPlatform, removePlatform, writePlatform } from './platform-file.js'
import {
  healthUrl,
  processEnvironment,
  sidecarAddress,
  stageOf,
  usualPorts,
  usualSidecarHttpPort,
  usualWebMetricsPort,
  type Wiring,
  webMetricsUrl,
  webSocketUrl,
  webUrl,
} from './process-wiring.js'
import { type Child, Children } from './processes/children.js'
import { takeLock } from './processes/folder-lock.js'
import { isRunning, stopGroup } from './processes/os-process.js'
import { Ports } from './processes/ports.js'
import { type ProcfileLine, parseProcfile, programOf } from './processes/procfile.js'
import { describeExit, supervise, untilAborted } from './processes/supervise.js'
import { type Services, startServices } from './services.js'

export interface PlatformOptions {
  /** The folder with the Procfile. Data goes to `.data` in it. */
  root: string
  env: NodeJS.ProcessEnv
  /** Loads the example catalog; runs after the migrations. Safe to repeat. */
  prepareExample: (stores: { DATABASE_URL: string; REDIS_URL: string; dataDir: string }) => Promise<Example>
  print: (line: string) => void
  /** Colours, and log lines as text rather than JSON. */
  isTerminal: boolean
  /** Told once, when every process is ready. */
  onReady: (platform: PlatformFile) => void
  /** Stops everything in order; during start-up too. */
  stop: AbortSignal
  /** Kills everything. */
  force: AbortSignal
}

/** The longest shutdown a process may have (SHUTDOWN_TIMEOUT_MS is 10 s unless set), and some more. */
const processGraceMs = 15_000
const readyDeadlineMs = 120_000
const patienceMs = 20_000
const runnerName = 'tollgate'

/**
 * Runs the whole platform from one folder until `stop`: services, release, example, then every line of the Procfile. Resolves when
 * everything is stopped again, whatever was running. Throws a Problem, worded for whoever typed the command, when it cannot start or a
 * process cannot.
 */
export async function runPlatform(options: PlatformOptions): Promise<void> {
  const { root, env, stop } = options
  const dataFolder = join(root, '.data')
  const lines = parseProcfile(readFileSync(join(root, 'Procfile'), 'utf8'))
  const print = printer(options, lines)
  const lock = takeLock(join(dataFolder, 'start.lock'))
  if ('heldBy' in lock) throw alreadyRunning(dataFolder, lock.heldBy)

  const children = new Children()
  const ports = new Ports(env.BIND_ADDRESS)
  const servicePorts = new Ports()
  options.force.addEventListener('abort', () => children.killAll())
  stop.addEventListener('abort', () => print(runnerName, 'Stopping … (Ctrl-C once more kills)'))
  try {
    // PostgreSQL may run as another user, who has to walk through this folder; what is secret in it has a mode of its own.
    chmodSync(dataFolder, 0o711)
    await stopLeftovers(dataFolder, lines)
    print(runnerName, 'Starting PostgreSQL and Redis …')
    const services = await startServices({
      root,
      dataFolder,
      databaseUrl: env.DATABASE_URL,
      redisUrl: env.REDIS_URL,
      children,
      ports: servicePorts,
      isDurable: true,
      notice: (line) => print(runnerName, line),
      signal: stop,
    })
    const stores = { DATABASE_URL: services.databaseUrl, REDIS_URL: services.redisUrl }
    const release = lines.find(({ name }) => name === 'release')
    if (release) await runRelease(release, { ...env, ...stores }, root, children, print)
    stop.throwIfAborted()
    const example = await unlessStopped(options.prepareExample({ ...stores, dataDir: dataFolder }), stop)
    const processes = lines.filter((line) => line !== release)
    const parts = {
      ...services,
      ...example,
      operatorKey: env.OPERATOR_KEY || example.operatorKey,
      secretsKey: env.SECRETS_KEY || example.secretsKey,
    }
    const chosen = await choosePorts(processes, {
      env,
      free: ports,
      last: readLastPorts(dataFolder),
      notice: (line) => print(runnerName, line),
    })
    rememberPorts(dataFolder, { ...chosen.ports, [sidecarHttpName]: chosen.sidecarHttpPort, [webMetricsName]: chosen.webMetricsPort })
    const wiring: Wiring = { ...parts, ...chosen, bindAddress: env.BIND_ADDRESS || '127.0.0.1' }
    await runProcesses(processes, wiring, example, { ...options, dataFolder, children, print, services })
  } catch (error) {
    // What fails because it was told to stop has not failed.
    if (!stop.aborted) throw error
  } finally {
    await children.stopAll()
    removePlatform(dataFolder)
    ports.release()
    servicePorts.release()
    lock.release()
    print(runnerName, 'Stopped')
  }
}

type Print = (name: string, line: string) => void

function printer({ print, isTerminal }: PlatformOptions, lines: readonly ProcfileLine[]): Print {
  const names = [runnerName, ...lines.map(({ name }) => name)]
  const style = { isTerminal, nameWidth: Math.max(...names.map((name) => name.length)) }
  return (name, text) => {
    for (const line of text.split('\n')) print(renderLine(name, names.indexOf(name), line, style))
  }
}

function alreadyRunning(dataFolder: string, pid: number): Problem {
  const running = readPlatform(dataFolder)
  const where = running ? `at ${running.webUrl}, sidecar at ${running.sidecarAddress}` : 'and is starting or stopping'
  return new Problem('FAILED_PRECONDITION', 'ALREADY_RUNNING', `Tollgate runs from this folder already (process ${pid}) ${where}.`)
}

/** Processes that outlived their runner and its guard would still hold their ports and work on the old data. */
async function stopLeftovers(dataFolder: string, lines: readonly ProcfileLine[]): Promise<void> {
  const previous = readAnyPlatform(dataFolder)
  if (!previous) return
  const leftovers = Object.entries(previous.processes).flatMap(([name, { pid }]) => {
    const command = lines.find((line) => line.name === name)?.command
    return pid && command && isRunning(pid, programOf(command).args.join(' ')) ? [pid] : []
  })
  await Promise.all(leftovers.map((pid) => stopGroup(pid, 'SIGTERM', processGraceMs)))
  removePlatform(dataFolder)
}

/** Forwards every line a child prints. */
function printOutput(name: string, child: Child, print: Print): void {
  for (const input of child.streams) createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => print(name, line))
}

async function runRelease(
  { name, command }: ProcfileLine,
  env: NodeJS.ProcessEnv,
  cwd: string,
  children: Children,
  print: Print,
): Promise<void> {
  const child = children.start({
    ...programOf(command),
    stage: 'worker',
    env,
    cwd,
    stopSignal: 'SIGTERM',
    graceMs: processGraceMs,
    output: 'pipe',
  })
  printOutput(name, child, print)
  const exit = await child.exited
  if (exit.code !== 0)
    throw new Problem(
      'FAILED_PRECONDITION',
      'RELEASE_FAILED',
      `${name} ${describeExit(exit)}: the database is not up to date. See its lines above.`,
    )
}

/** Lets a stop win over work that cannot be told to stop; what it had open ends with this process. */
async function unlessStopped<T>(work: Promise<T>, stop: AbortSignal): Promise<T> {
  const stopped = new Promise<never>((_, reject) => stop.addEventListener('abort', () => reject(stop.reason), { once: true }))
  return Promise.race([work, stopped])
}

/** How the second ports of processes are remembered. */
const sidecarHttpName = 'sidecar HTTP'
const webMetricsName = 'web metrics'

/**
 * What is asked for is had or refused. Others are those of the last run, else the usual ones, else any; that the address of the API has moved is said.
 * Throws FAILED_PRECONDITION, worded for whoever typed the command.
 */
async function choosePorts(
  processes: readonly ProcfileLine[],
  { env, free, last, notice }: { env: NodeJS.ProcessEnv; free: Ports; last: LastPorts; notice: (line: string) => void },
): Promise<Pick<Wiring, 'ports' | 'sidecarHttpPort' | 'webMetricsPort'>> {
  const choose = async (name: string, usual: number, variable?: 'PORT' | 'SIDECAR_HTTP_PORT' | 'METRICS_PORT') => {
    const asked = variable && env[variable]
    if (!asked) return free.take(last[name], usual)
    const port = /^\d{1,5}$/.test(asked) && Number(asked) <= 65_535 ? await free.takeOnly(Number(asked)) : null
    if (port !== null) return port
    throw new Problem(
      'FAILED_PRECONDITION',
      'PORT_TAKEN',
      `${variable}=${asked} cannot be had: another program listens there, or it is no port.`,
    )
  }
  const ports: Record<string, number> = {}
  // Process types this file does not know yet come after those it knows.
  let next = Math.max(...Object.values(usualPorts).filter((port) => port < 5000)) + 1
  for (const { name } of processes) ports[name] = await choose(name, usualPorts[name] ?? next++, name === 'web' ? 'PORT' : undefined)
  const wanted = last.web ?? usualPorts.web
  if (ports.web !== undefined && !env.PORT && ports.web !== wanted)
    notice(`Port ${wanted} is taken: the API is at port ${ports.web}, at the next start too (PORT=… npm start chooses another)`)
  return {
    ports,
    sidecarHttpPort: await choose(sidecarHttpName, usualSidecarHttpPort, 'SIDECAR_HTTP_PORT'),
    webMetricsPort: await choose(webMetricsName, usualWebMetricsPort, 'METRICS_PORT'),
  }
}

interface Context extends Omit<PlatformOptions, 'print'> {
  dataFolder: string
  children: Children
  print: Print
  services: Services
}

/** Starts every process and keeps it running. Returns when told to stop; throws when one cannot start. */
async function runProcesses(processes: readonly ProcfileLine[], wiring: Wiring, example: Example, context: Context): Promise<void> {
  const { root, env, children, print, dataFolder } = context
  const failed = new AbortController()
  const signal = AbortSignal.any([context.stop, failed.signal])
  const waiting = new Set(processes.map(({ name }) => name))
  const platform = describePlatform(processes, wiring, example)

  let announceWeb = () => {}
  const webReady = new Promise<void>((resolve) => {
    announceWeb = resolve
  })
  const supervised = processes.map(async ({ name, command }) => {
    // The sidecar's first connection would only be refused, and its log begin with warnings.
    if (name === 'sidecar' && waiting.has('web')) await untilAborted(webReady, signal)
    await supervise({
      name,
      start: () => {
        const child = children.start({
          ...programOf(command),
          stage: stageOf(name),
          env: processEnvironment(name, wiring, env),
          cwd: root,
          stopSignal: 'SIGTERM',
          graceMs: processGraceMs,
          output: 'pipe',
        })
        printOutput(name, child, print)
        return child
      },
      healthUrl: healthUrl(name, wiring),
      notice: (line) => print(runnerName, line),
      onPid: (pid) => {
        const entry = platform.processes[name]
        if (entry) entry.pid = pid
        if (waiting.size === 0 && !signal.aborted) writePlatform(dataFolder, platform)
      },
      onReady: () => {
        waiting.delete(name)
        if (name === 'web') announceWeb()
        if (waiting.size > 0 || signal.aborted) return
        // Only now: whoever finds the file finds a platform that works.
        writePlatform(dataFolder, platform)
        context.onReady(platform)
      },
      signal,
    })
  })
  supervised.push(context.services.keepRunning(signal))
  for (const process of [...supervised, watchStart(waiting, print, signal)]) process.catch((error) => failed.abort(error))
  await Promise.allSettled(supervised)
  if (failed.signal.aborted) throw failed.signal.reason
}

/** Says what is still missing after a while; throws when it never comes. */
async function watchStart(waiting: ReadonlySet<string>, print: Print, signal: AbortSignal): Promise<void> {
  const names = () => [...waiting].join(', ')
  await sleep(patienceMs, undefined, { signal }).catch(() => {})
  if (signal.aborted || waiting.size === 0) return
  print(runnerName, `Still waiting for ${names()} to be ready …`)
  await sleep(readyDeadlineMs - patienceMs, undefined, { signal }).catch(() => {})
  if (signal.aborted || waiting.size === 0) return
  throw new Problem(
    'DEADLINE_EXCEEDED',
    'NOT_READY',
    `Not ready after ${readyDeadlineMs / 1000} s: ${names()}. The reason is in the lines above.`,
  )
}

function describePlatform(processes: readonly ProcfileLine[], wiring: Wiring, example: Example): PlatformFile {
  return {
    pid: process.pid,
    webUrl: webUrl(wiring),
    wsUrl: webSocketUrl(wiring),
    sidecarAddress: sidecarAddress(wiring),
    sidecarHttpUrl: healthUrl('sidecar', wiring),
    webMetricsUrl: webMetricsUrl(wiring),
    serverApiKey: wiring.serverApiKey,
    operatorKey: wiring.operatorKey,
    secretsKey: wiring.secretsKey,
    environmentRefId: example.environmentRefId,
    databaseUrl: wiring.databaseUrl,
    redisUrl: wiring.redisUrl,
    processes: Object.fromEntries(
      processes.map(({ name }) => [name, { port: wiring.ports[name] ?? 0, healthUrl: healthUrl(name, wiring), pid: null }]),
    ),
  }
}
