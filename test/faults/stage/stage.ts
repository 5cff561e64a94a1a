/** The platform that faults are injected into: every process of the Procfile, those that may be scaled twice, on servers of its own. */
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import * as decimal from '../../../src/kernel/decimal.js'
import { Children } from '../../../src/local/processes/children.js'
import { Ports } from '../../../src/local/processes/ports.js'
import { runCommand } from '../../../src/local/processes/run-command.js'
import { migrate } from '../../../src/migrate.js'
import { DatabaseClock } from '../../../src/platform/database-clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { openPostgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { createApp } from '../../../src/wiring/app.js'
import { LogWatch } from '../../attack/stage/log-watch.js'
import { makeDataFolder, removeDataFolder } from '../../support/data-folder.js'
import { eventually } from '../../support/eventually.js'
import { TcpProxy } from '../../support/tcp-proxy.js'
import { WebhookReceiver } from '../../support/webhook-receiver.js'
import { testWebhooks } from '../../support/webhooks.js'
import { alertThresholds, faultCatalog, hearings } from './catalog.js'
import { HostApplication } from './host-application.js'
import { type Link, linksOf, types } from './process-types.js'
import { OwnPostgres, OwnRedis } from './servers.js'
import { StagedProcess } from './staged-process.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
export const queuePrefix = '{faults}'
export const cachePrefix = 'production'
const operatorKey = 'operator-key-of-a-faulty-platform'
const startMs = 120_000
const copies = [1, 2] as const
/** Of the volume that may become full. */
const volumeMb = 2_048

/** Until which age a sidecar answers what it cannot refresh. Promised, so a check that is staler is wrong. */
export const maxStalenessSeconds = 20

export interface Tenant {
  environmentId: string
  serverKey: string
}

export interface StageOptions {
  /** PostgreSQL's data is on a volume that can be filled: needs the right to mount one. */
  hasSmallVolume: boolean
  note: (line: string) => void
}

export class Stage {
  readonly processes: StagedProcess[] = []
  /** Of the errors that processes log. */
  readonly logs = new LogWatch([operatorKey])
  /** Where callers reach the copies; the same however often these are started again. */
  readonly doors: { web: string[]; sidecar: string[] } = { web: [], sidecar: [] }
  tenants!: Record<'loaded' | 'noisy' | 'quiet', Tenant>
  /** Of the loaded tenant. */
  host!: HostApplication
  /** The only way to it: which copy sends is not told apart. */
  #wayToHost!: TcpProxy
  #servers = 0

  private constructor(
    readonly life: Life,
    readonly folder: string,
    public postgres: OwnPostgres,
    public redis: OwnRedis,
    /** The folder that can be filled; null: there is none. */
    readonly volume: string | null,
  ) {}

  static async open(life: Life, { hasSmallVolume, note }: StageOptions): Promise<Stage> {
    mkdirSync(join(root, '.data'), { recursive: true, mode: 0o711 })
    const folder = life.open('data folder', makeDataFolder(join(root, '.data'), 'faults-'), removeFolders)
    const volume = hasSmallVolume ? await mountVolume(life, join(folder, 'volume')) : null
    const children = life.open('services', new Children(), (all) => all.stopAll())
    const ports = life.open('ports', new Ports(), (all) => all.release())
    const common = { root, children, ports, signal: life.signal }
    note('starting PostgreSQL, Redis and the processes')
    const [postgres, redis] = await Promise.all([
      OwnPostgres.start({ ...common, folder: volume ?? folder }),
      OwnRedis.start({ ...common, folder }),
    ])
    const stage = new Stage(life, folder, postgres, redis, volume)
    await stage.#prepare()
    await stage.#startProcesses()
    await eventually('all processes to be ready', async () => (await stage.unready()).length === 0, startMs)
    return stage
  }

  async #prepare(): Promise<void> {
    await migrate({ databaseUrl: this.postgres.url, log: () => {} })
    const life = new Life('prepare', silentLogger())
    const postgres = openPostgres(life, this.postgres.url, { poolSize: 2 })
    const clock = await DatabaseClock.open(life, postgres.pool)
    const queues = { redisUrl: this.redis.url, prefix: queuePrefix }
    const app = createApp({ life, postgres, clock, queues, webhooks: testWebhooks })
    const open = async (refId: string): Promise<Tenant> => {
      const { environment } = await app.environments.create({ refId, isTest: true, hasPersistentCache: refId === 'loaded' })
      await app.catalog.apply(environment.id, faultCatalog, { dryRun: false, archiveMissing: false })
      const { key } = await app.environments.createKey({ environment: refId, kind: 'SERVER', name: 'faults', expiresAt: null })
      return { environmentId: environment.id, serverKey: key }
    }
    this.tenants = { loaded: await open('loaded'), noisy: await open('noisy'), quiet: await open('quiet') }
    const { environmentId } = this.tenants.loaded
    const receiver = this.life.open('receiver', await new WebhookReceiver().listen(), (opened) => opened.close())
    this.#wayToHost = await this.#open(receiver.url)
    const url = `http://127.0.0.1:${this.#wayToHost.port}/hooks`
    const { secret } = await app.webhooks.create(environmentId, { url, eventTypes: hearings })
    this.host = new HostApplication(receiver, secret)
    for (const [featureId, thresholds] of Object.entries(alertThresholds))
      await app.alerts.create(environmentId, {
        featureId,
        thresholds: thresholds.map(({ kind, value }) => ({ kind, value: decimal.fromNumber(value) })),
      })
    await life.stop()
  }

  async #startProcesses(): Promise<void> {
    // Doors know each other by addresses that stay.
    const webDoors = await Promise.all(copies.map(() => this.#open('http://127.0.0.1:1')))
    const sidecarDoors = await Promise.all(copies.map(() => this.#open('http://127.0.0.1:1')))
    this.doors.web = webDoors.map(({ port }) => `http://127.0.0.1:${port}`)
    this.doors.sidecar = sidecarDoors.map(({ port }) => `127.0.0.1:${port}`)
    for (const type of types)
      for (const copy of copies) {
        const links = await this.#linksOf(type, copy)
        const door = type === 'web' ? webDoors[copy - 1] : type === 'sidecar' ? sidecarDoors[copy - 1] : undefined
        const process = new StagedProcess(this.life, {
          name: `${type}-${copy}`,
          type,
          links,
          ...(door && { door }),
          env: this.#variablesOf(type, links),
          onLine: (line) => this.logs.take(line),
        })
        this.processes.push(process)
        void process.run()
      }
  }

  async #open(url: string): Promise<TcpProxy> {
    return this.life.open('proxy', await TcpProxy.start(url), (proxy) => proxy.stop())
  }

  async #linksOf(type: string, copy: number): Promise<Partial<Record<Link, TcpProxy>>> {
    const urls = { postgres: this.postgres.url, redis: this.redis.url, web: this.doors.web[copy - 1]! }
    const links: Partial<Record<Link, TcpProxy>> = {}
    for (const link of linksOf(type)) links[link] = link === 'receiver' ? this.#wayToHost : await this.#open(urls[link])
    return links
  }

  #variablesOf(type: string, { postgres, redis, web }: Partial<Record<Link, TcpProxy>>): Record<string, string> {
    const { environmentId, serverKey } = this.tenants.loaded
    if (type === 'sidecar')
      return {
        SERVER_API_KEY: serverKey,
        API_URL: `http://127.0.0.1:${web!.port}`,
        REFRESH_AFTER_SECS: '5',
        MAX_STALENESS_SECS: String(maxStalenessSeconds),
      }
    const redisUrl = redis && `redis://127.0.0.1:${redis.port}`
    if (type === 'queue-consumption')
      return {
        SERVER_API_KEY: serverKey,
        EDGE_API_URL: `http://127.0.0.1:${web!.port}`,
        QUEUE_URL: `${redisUrl}/0?queue=environment-${environmentId}&prefix=${queuePrefix}`,
        ENVIRONMENT_PREFIX: cachePrefix,
        REDIS_HOST: '127.0.0.1',
        REDIS_PORT: String(redis!.port),
        REDIS_DB: '1',
        BATCH_SIZE: '20',
      }
    const database = new URL(this.postgres.url)
    database.port = String(postgres!.port)
    return {
      DATABASE_URL: database.href,
      ...(redisUrl && { REDIS_URL: redisUrl, QUEUE_PREFIX: queuePrefix }),
      ...(type === 'web' && { OPERATOR_KEY: operatorKey, RATE_LIMIT_PER_KEY: '100000' }),
    }
  }

  of(type: string): StagedProcess[] {
    return this.processes.filter((process) => process.type === type)
  }

  /** Those that do not say that they do their work. */
  async unready(): Promise<StagedProcess[]> {
    const ready = await Promise.all(this.processes.map((process) => process.isReady()))
    return this.processes.filter((_, index) => !ready[index])
  }

  /** Of all processes to that server. */
  linksTo(link: Link): TcpProxy[] {
    return this.processes.flatMap(({ links }) => links[link] ?? [])
  }

  /** All processes find the other one instead, from their next connection on. */
  replacePostgres(other: OwnPostgres): void {
    this.postgres = other
    for (const link of this.linksTo('postgres')) link.leadTo(other.url)
  }

  replaceRedis(other: OwnRedis): void {
    this.redis = other
    for (const link of this.linksTo('redis')) link.leadTo(other.url)
  }

  /** For another server. */
  nextFolder(name: string): string {
    this.#servers += 1
    return join(this.folder, `${name}-${this.#servers}`)
  }

  async wait(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.life.signal })
  }
}

/** With those of other servers in it. */
function removeFolders(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory() && /^(?:standby|replica|volume)/.test(entry.name)) removeDataFolder(join(folder, entry.name))
  removeDataFolder(folder)
}

async function mountVolume(life: Life, folder: string): Promise<string | null> {
  mkdirSync(folder, { mode: 0o711 })
  try {
    await runCommand('mount', ['-t', 'tmpfs', '-o', `size=${volumeMb}m,mode=0711`, 'tmpfs', folder])
  } catch {
    return null
  }
  return life.open('volume', folder, () => runCommand('umount', ['-l', folder]))
}
