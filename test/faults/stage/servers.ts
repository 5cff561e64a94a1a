/** A PostgreSQL and a Redis that may be killed, started again on their ports, and copied. */
import { appendFileSync, mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import pg from 'pg'
import { preparePostgresHome } from '../../../src/local/postgres/home.js'
import { startPostgres } from '../../../src/local/postgres/server.js'
import type { Children, OwnService } from '../../../src/local/processes/children.js'
import { isAlive, parentOf } from '../../../src/local/processes/os-process.js'
import type { Ports } from '../../../src/local/processes/ports.js'
import { runCommand } from '../../../src/local/processes/run-command.js'
import { startRedis } from '../../../src/local/redis/server.js'
import { eventually } from '../../support/eventually.js'

export interface ServerParts {
  root: string
  /** Of this server alone. */
  folder: string
  children: Children
  ports: Ports
  signal: AbortSignal
}

const startTries = 20
const copyMs = 60_000
const notice = (line: string) => process.stderr.write(`${line}\n`)

abstract class OwnServer {
  protected constructor(
    protected readonly parts: ServerParts,
    protected service: OwnService,
  ) {}

  get url(): string {
    return this.service.url
  }

  /** Ends it and all its processes without a word. */
  async kill(): Promise<void> {
    this.#signal('SIGKILL')
    await this.service.child.exited
  }

  /** It and all its processes stand still. */
  pause(): void {
    this.#signal('SIGSTOP')
  }

  resume(): void {
    this.#signal('SIGCONT')
  }

  /** The processes of PostgreSQL are each the leader of a group of its own. */
  #signal(signal: NodeJS.Signals): void {
    const first = this.service.child.pid!
    const children = readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && parentOf(pid) === first)
    for (const pid of [first, ...children]) if (isAlive(pid)) process.kill(pid, signal)
  }

  async stop(signal: 'SIGINT' | 'SIGQUIT' | 'SIGTERM'): Promise<void> {
    process.kill(this.service.child.pid!, signal)
    await this.service.child.exited
  }

  /** Where it was, with what it has on disk. */
  async start(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        this.service = await this.startOn(this.service.port)
        return
      } catch (error) {
        // Processes of the one that was killed may hold its files for a moment.
        if (attempt === startTries || this.parts.signal.aborted) throw error
        await sleep(250)
      }
    }
  }

  /** As a process manager does. */
  async startUnlessRunning(): Promise<void> {
    if (!isAlive(this.service.child.pid!)) await this.start()
  }

  protected abstract startOn(port: number): Promise<OwnService>
}

export class OwnPostgres extends OwnServer {
  static async start(parts: ServerParts): Promise<OwnPostgres> {
    return new OwnPostgres(parts, await launchPostgres(parts))
  }

  protected startOn(port: number): Promise<OwnService> {
    return launchPostgres(this.parts, port)
  }

  /** Over a connection of its own. */
  async query<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
    const client = await this.connect()
    try {
      return (await client.query<T>(text, values)).rows
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  async connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url, connectionTimeoutMillis: 10_000 })
    client.on('error', () => undefined)
    await client.connect()
    return client
  }

  /** Changes a setting of the running server; null: as it was. */
  async set(name: string, value: string | null): Promise<void> {
    await this.query(value === null ? `ALTER SYSTEM RESET ${name}` : `ALTER SYSTEM SET ${name} = '${value}'`)
    await this.query('SELECT pg_reload_conf()')
  }

  /** The folder of its data. */
  get data(): string {
    return join(realpathSync(join(this.parts.folder, 'postgres')), 'data')
  }

  /** Another one that follows it. */
  async startStandby(folder: string): Promise<OwnPostgres> {
    mkdirSync(folder, { recursive: true, mode: 0o711 })
    const parts = { ...this.parts, folder }
    const home = await preparePostgresHome(join(folder, 'postgres'), notice)
    const copy = join(home.folder, 'data')
    const client = await this.connect()
    try {
      await client.query(`SELECT pg_backup_start('standby', fast => true)`)
      // Files that go meanwhile are no fault: the log says what became of them.
      await runCommand('cp', ['-a', this.data, copy]).catch(() => undefined)
      const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)')
      for (const name of ['postmaster.pid', 'postmaster.opts']) rmSync(join(copy, name), { force: true })
      writeFileSync(join(copy, 'backup_label'), rows[0]!.labelfile)
    } finally {
      await client.end()
    }
    writeFileSync(join(copy, 'standby.signal'), '')
    const { hostname, port } = new URL(this.url)
    appendFileSync(join(copy, 'postgresql.auto.conf'), `primary_conninfo = 'host=${hostname} port=${port} user=postgres'\n`)
    if (home.user) await runCommand('chown', ['-R', `${home.user.uid}:${home.user.gid}`, copy])
    const standby = await OwnPostgres.start(parts)
    const isStreaming = async () => (await this.query(`SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'`)).length > 0
    await eventually('the standby to follow', isStreaming, copyMs)
    return standby
  }

  async promote(): Promise<void> {
    await this.query('SELECT pg_promote()')
  }
}

const launchPostgres = ({ root, folder, children, ports, signal }: ServerParts, port?: number) =>
  startPostgres({
    root,
    dataFolder: folder,
    children,
    ports,
    lastPort: undefined,
    ...(port !== undefined && { port }),
    isDurable: true,
    notice,
    signal,
  })

export class OwnRedis extends OwnServer {
  static async start(parts: ServerParts): Promise<OwnRedis> {
    return new OwnRedis(parts, await launchRedis(parts))
  }

  protected startOn(port: number): Promise<OwnService> {
    return launchRedis(this.parts, port)
  }

  /** What it has on disk; it must not run. */
  removeData(): void {
    rmSync(join(this.parts.folder, 'redis'), { recursive: true, force: true })
  }

  /** Over a connection of its own. */
  async do<T>(work: (redis: Redis) => Promise<T>, database = 0): Promise<T> {
    const redis = new Redis(this.url, { db: database, retryStrategy: () => null, commandTimeout: 10_000 })
    redis.on('error', () => undefined)
    try {
      return await work(redis)
    } finally {
      redis.disconnect()
    }
  }

  /** Another one that follows it. */
  async startReplica(folder: string): Promise<OwnRedis> {
    mkdirSync(folder, { recursive: true })
    const replica = await OwnRedis.start({ ...this.parts, folder })
    const { hostname, port } = new URL(this.url)
    await replica.do((redis) => redis.replicaof(hostname, port))
    const isFollowing = () => replica.do(async (redis) => (await redis.info('replication')).includes('master_link_status:up'))
    await eventually('the replica to follow', isFollowing, copyMs)
    return replica
  }

  async promote(): Promise<void> {
    await this.do((redis) => redis.replicaof('NO', 'ONE'))
  }
}

const launchRedis = ({ root, folder, children, ports, signal }: ServerParts, port?: number) =>
  startRedis({
    dataFolder: folder,
    cacheFolder: join(root, '.cache'),
    children,
    ports,
    lastPort: undefined,
    ...(port !== undefined && { port }),
    notice,
    signal,
  })
