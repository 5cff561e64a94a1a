import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { GraphqlClient, SidecarClient } from '../../src/local/demo/clients.js'
import { healthUrl, localHost, processEnvironment, stageOf, type Wiring, webUrl } from '../../src/local/process-wiring.js'
import { type Child, Children } from '../../src/local/processes/children.js'
import { stopGroup } from '../../src/local/processes/os-process.js'
import { Ports } from '../../src/local/processes/ports.js'
import { type ProcfileLine, parseProcfile, programOf } from '../../src/local/processes/procfile.js'
import { DatabaseClock } from '../../src/platform/database-clock.js'
import { silentLogger } from '../../src/platform/logger.js'
import { openPostgres } from '../../src/platform/postgres.js'
import { Life } from '../../src/platform/process.js'
import { createApp } from '../../src/wiring/app.js'
import { createTestDatabase, type TestDatabase } from './database.js'
import { eventually } from './eventually.js'
import { testRedisPrefix, testRedisUrl } from './redis.js'
import { testSecretsKey } from './webhooks.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const startMs = 60_000
const graceMs = 12_000

/** In the place of those of the test run. */
interface OtherServers {
  redisUrl?: string
  /** What the processes are told of the database. */
  databaseUrlOf?: (url: string) => string
  hasPersistentCache?: boolean
  /** Further ones of the Procfile's processes, by the names of those with a number behind: `web-2`. */
  copies?: readonly string[]
}

/**
 * The processes of the Procfile in the hand of a test: each is started and stopped by it, and nothing starts one again. They share a database and a key
 * prefix of their own, and one environment with a catalog.
 */
export class OwnProcesses {
  /** What they printed: `name | line`. */
  readonly lines: string[] = []
  readonly api: GraphqlClient
  readonly sidecar: SidecarClient
  readonly #sidecars: SidecarClient[] = []
  readonly #children = new Children()
  readonly #running = new Map<string, Child>()

  private constructor(
    readonly database: TestDatabase,
    readonly environmentId: string,
    private readonly processes: readonly ProcfileLine[],
    private readonly wirings: ReadonlyMap<string, Wiring>,
    private readonly env: Record<string, string>,
    private readonly ports: Ports,
    /** For what stands beside them in the test. */
    readonly queues: { redisUrl: string; prefix: string },
  ) {
    this.api = this.apiOf('web')
    this.sidecar = this.sidecarOf('sidecar')
  }

  /** Nothing runs yet. `env` goes to every process; all ends with `close`. */
  static async create(
    catalog: string,
    env: Record<string, string> = {},
    { redisUrl = testRedisUrl(), databaseUrlOf = (url: string) => url, hasPersistentCache = false, copies = [] }: OtherServers = {},
  ): Promise<OwnProcesses> {
    const database = await createTestDatabase()
    const queues = { redisUrl, prefix: testRedisPrefix() }
    const { environmentId, serverApiKey } = await prepareEnvironment(database.url, queues, catalog, hasPersistentCache)
    const processes = parseProcfile(readFileSync(`${root}Procfile`, 'utf8')).filter(({ name }) => name !== 'release')
    const ports = new Ports()
    const taken: Record<string, number> = {}
    for (const { name } of processes) taken[name] = await ports.take()
    const wiring: Wiring = {
      databaseUrl: databaseUrlOf(database.url),
      redisUrl: queues.redisUrl,
      environmentId,
      serverApiKey,
      operatorKey: 'operator-key-of-a-test-run',
      secretsKey: testSecretsKey,
      ports: taken,
      sidecarHttpPort: await ports.take(),
      webMetricsPort: await ports.take(),
      bindAddress: '127.0.0.1',
    }
    const wirings = new Map(processes.map(({ name }) => [name, wiring]))
    for (const copy of copies) {
      const own = { [processOf(copy)]: await ports.take() }
      wirings.set(copy, {
        ...wiring,
        ports: { ...taken, ...own },
        sidecarHttpPort: await ports.take(),
        webMetricsPort: await ports.take(),
      })
    }
    return new OwnProcesses(database, environmentId, processes, wirings, { QUEUE_PREFIX: queues.prefix, ...env }, ports, queues)
  }

  /** All names of the Procfile. */
  get names(): string[] {
    return this.processes.map(({ name }) => name)
  }

  /** Where one of the web processes is. */
  urlOf(name: string): string {
    return webUrl(this.#wiringOf(name))
  }

  apiOf(name: string): GraphqlClient {
    return new GraphqlClient(this.urlOf(name), this.#wiringOf(name).serverApiKey)
  }

  sidecarOf(name: string): SidecarClient {
    const client = new SidecarClient(this.sidecarAddressOf(name))
    this.#sidecars.push(client)
    return client
  }

  sidecarAddressOf(name: string): string {
    const wiring = this.#wiringOf(name)
    return `${localHost(wiring)}:${wiring.ports.sidecar}`
  }

  #wiringOf(name: string): Wiring {
    return this.wirings.get(name)!
  }

  /** Starts processes, and answers when all of them are ready. `aheadMs`: their clocks are wrong by so much. `env`: theirs alone. */
  async start(names: readonly string[], { aheadMs = 0, env = {} }: { aheadMs?: number; env?: Record<string, string> } = {}): Promise<void> {
    const clock = new URL(`shifted-clock.js?ahead=${aheadMs}`, import.meta.url)
    const options = aheadMs === 0 ? {} : { NODE_OPTIONS: `--import=${clock.href}` }
    for (const name of names) {
      const line = processOf(name)
      const { command } = this.processes.find((entry) => entry.name === line)!
      const child = this.#children.start({
        ...programOf(command),
        stage: stageOf(line),
        env: processEnvironment(line, this.#wiringOf(name), { PATH: process.env.PATH, ...this.env, ...options, ...env }),
        cwd: root,
        stopSignal: 'SIGTERM',
        graceMs,
        output: 'pipe',
      })
      for (const input of child.streams) createInterface({ input }).on('line', (line) => this.lines.push(`${name} | ${line}`))
      this.#running.set(name, child)
    }
    await Promise.all(names.map((name) => eventually(`${name} to be ready`, () => this.isReady(name), startMs)))
  }

  async isReady(name: string): Promise<boolean> {
    try {
      const response = await fetch(`${healthUrl(processOf(name), this.#wiringOf(name))}/readyz`, { signal: AbortSignal.timeout(2_000) })
      await response.arrayBuffer()
      return response.status === 200
    } catch {
      return false
    }
  }

  /** Has a process stand still, its connections open, for as long as `work` takes. */
  async whileFrozen<T>(name: string, work: () => Promise<T>): Promise<T> {
    const { pid } = this.#running.get(name)!
    process.kill(pid!, 'SIGSTOP')
    try {
      return await work()
    } finally {
      process.kill(pid!, 'SIGCONT')
    }
  }

  /** Stops processes in their order, as a deploy does, and answers when they are gone. */
  async stop(names: readonly string[]): Promise<void> {
    await Promise.all(
      names.map(async (name) => {
        const child = this.#running.get(name)
        this.#running.delete(name)
        if (child?.pid !== undefined) await stopGroup(child.pid, 'SIGTERM', graceMs)
      }),
    )
  }

  /** Ends a process as a machine does that loses its power. */
  async kill(name: string): Promise<void> {
    const child = this.#running.get(name)
    this.#running.delete(name)
    if (child?.pid === undefined) return
    process.kill(child.pid, 'SIGKILL')
    await stopGroup(child.pid, 'SIGTERM', graceMs)
  }

  /** What they last complained about, when a test of them has failed. */
  showComplaints(test: Mocha.Test | undefined): void {
    if (test?.state !== 'failed') return
    console.error(
      this.lines
        .filter((line) => /"level":"(warn|error|fatal)"/.test(line))
        .slice(-40)
        .join('\n'),
    )
  }

  async close(): Promise<void> {
    for (const sidecar of this.#sidecars) sidecar.close()
    await this.#children.stopAll()
    this.ports.release()
    await this.database.drop()
  }
}

/** What a copy is one more of. */
const processOf = (name: string) => name.replace(/-\d+$/, '')

async function prepareEnvironment(
  databaseUrl: string,
  queues: { redisUrl: string; prefix: string },
  catalog: string,
  hasPersistentCache: boolean,
): Promise<{ environmentId: string; serverApiKey: string }> {
  const life = new Life('prepare', silentLogger())
  try {
    const postgres = openPostgres(life, databaseUrl, { poolSize: 2 })
    const app = createApp({ life, postgres, queues, clock: await DatabaseClock.open(life, postgres.pool) })
    const { environment } = await app.environments.create({ refId: 'own', isTest: true, hasPersistentCache })
    await app.catalog.apply(environment.id, catalog, { dryRun: false, archiveMissing: false })
    const { key } = await app.environments.createKey({ environment: 'own', kind: 'SERVER', name: 'test', expiresAt: null })
    return { environmentId: environment.id, serverApiKey: key }
  } finally {
    await life.stop()
  }
}
