import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { type Child, Children } from '../../src/local/processes/children.js'
import { Ports } from '../../src/local/processes/ports.js'
import { findRedis } from '../../src/local/redis/server.js'
import { withAccess, withSentinelAccess } from '../../src/platform/redis/address.js'
import { eventually } from './eventually.js'
import type { Guard } from './guarded-redis.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const slots = 16_384
/** From a master that is gone to the vote on its replica. */
const nodeTimeoutMs = 1_500

interface Server {
  port: number
  child: Child
  /** For what a test asks it. */
  client: Redis
}

/** Servers of one test, each with its folder and its client; they end with it. */
class OwnServers {
  readonly #children = new Children()
  readonly #ports = new Ports()
  readonly #folder = mkdtempSync(join(tmpdir(), 'tollgate-cluster-'))

  constructor(readonly guard: Guard | undefined) {}

  async start(settings: Record<string, string>, mode: 'redis' | 'sentinel' = 'redis', port?: number): Promise<Server> {
    const own = port ?? (await this.#ports.take())
    const folder = join(this.#folder, String(own))
    mkdirSync(folder, { recursive: true })
    const program = await findRedis({
      cacheFolder: join(root, '.cache'),
      children: this.#children,
      notice: (line) => console.error(line),
      signal: AbortSignal.timeout(60_000),
    })
    const file = join(folder, 'server.conf')
    const lines = Object.entries({
      port: String(own),
      bind: '127.0.0.1',
      dir: folder,
      ...(mode === 'redis' ? { ...memoryOnly, ...this.guard?.closed() } : {}),
      ...this.guard?.encrypted(own),
      ...settings,
    })
    writeFileSync(file, lines.map(([name, value]) => `${name.replace(/#.+$/, '')} ${value}\n`).join(''))
    const log = openSync(join(folder, 'server.log'), 'w')
    const child = this.#children.start({
      command: program.file,
      args: [file, ...(mode === 'sentinel' ? ['--sentinel'] : [])],
      stage: 'service',
      env: { ...process.env, ...program.env },
      cwd: folder,
      stopSignal: 'SIGTERM',
      graceMs: 2_000,
      output: log,
    })
    closeSync(log)
    const client = new Redis({
      port: own,
      host: '127.0.0.1',
      retryStrategy: () => 100,
      maxRetriesPerRequest: null,
      ...this.guard?.clientOptions(mode),
    })
    client.on('error', () => undefined)
    await eventually(`a server on port ${own}`, () => client.ping().then((answer) => answer === 'PONG'), 20_000)
    return { port: own, child, client }
  }

  takePort(): Promise<number> {
    return this.#ports.take()
  }

  async stop(servers: readonly Server[]): Promise<void> {
    for (const { client } of servers) client.disconnect()
    await this.#children.stopAll()
    this.#ports.release()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** What a failover needs is in memory. */
const memoryOnly = { save: '""', appendonly: 'no', 'repl-diskless-sync-delay': '0', 'maxmemory-policy': 'noeviction' }

/** A Redis Cluster that a test may kill parts of: masters with a replica each. `guard`: they are encrypted and have a password. */
export class OwnCluster {
  readonly #servers: OwnServers
  #masters: Server[] = []
  #replicas: Server[] = []

  constructor(guard?: Guard) {
    this.#servers = new OwnServers(guard)
  }

  /** Answers when each replica has what its master has. `settings`: of each server. */
  async start(masters = 3, settings: Record<string, string> = {}): Promise<void> {
    const all: Server[] = []
    const busPorts: number[] = []
    for (let index = 0; index < masters * 2; index++) {
      busPorts.push(await this.#servers.takePort())
      const ofCluster = {
        'cluster-enabled': 'yes',
        'cluster-node-timeout': String(nodeTimeoutMs),
        'cluster-config-file': 'nodes.conf',
        'cluster-replica-validity-factor': '0',
        ...(this.#servers.guard && { 'tls-cluster': 'yes' }),
      }
      all.push(await this.#servers.start({ ...ofCluster, 'cluster-port': String(busPorts[index]), ...settings }))
    }
    this.#masters = all.slice(0, masters)
    this.#replicas = all.slice(masters)
    for (const [index, { client }] of this.#masters.entries()) {
      const [first, after] = [index, index + 1].map((part) => Math.floor((part * slots) / masters))
      await client.call('CLUSTER', 'ADDSLOTSRANGE', first!, after! - 1)
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
    }
    for (const [index, { port }] of all.entries())
      if (index > 0) await all[0]!.client.call('CLUSTER', 'MEET', '127.0.0.1', port, busPorts[index]!)
    await eventually('the nodes to know each other', async () => (await this.#known(all)).every((count) => count === all.length), 20_000)
    for (const [index, { client }] of this.#replicas.entries())
      await client.call('CLUSTER', 'REPLICATE', (await this.#masters[index]!.client.cluster('MYID')) as string)
    await eventually('the cluster to be whole', async () => (await Promise.all(all.map(isWhole))).every(Boolean), 30_000)
  }

  get url(): string {
    return guarded(`redis+cluster://${this.hosts}`, this.#servers.guard)
  }

  /** As a setting of the host alone. */
  get hosts(): string {
    return this.#masters.map(({ port }) => `127.0.0.1:${port}`).join(',')
  }

  get masters(): Redis[] {
    return this.#masters.map(({ client }) => client)
  }

  get replicas(): Redis[] {
    return this.#replicas.map(({ client }) => client)
  }

  /** Index of the master that has the slot of the key at the moment. */
  async masterOf(key: string): Promise<number> {
    const slot = await this.slotOf(key)
    const ranges = (await this.#alive().client.call('CLUSTER', 'SLOTS')) as [number, number, [string, number]][]
    const [, , [, port]] = ranges.find(([first, last]) => first <= slot && slot <= last)!
    return this.#masters.findIndex((server) => server.port === port)
  }

  async slotOf(key: string): Promise<number> {
    return (await this.#alive().client.call('CLUSTER', 'KEYSLOT', key)) as number
  }

  /** As `redis-cli --cluster reshard` does, for the slot of the key; `meanwhile` while half of it is moved. */
  async moveSlot(key: string, to: number, meanwhile: () => Promise<unknown> = async () => undefined): Promise<void> {
    const slot = await this.slotOf(key)
    const [source, target] = [this.#masters[await this.masterOf(key)]!, this.#masters[to]!]
    const [sourceId, targetId] = (await Promise.all([source, target].map(({ client }) => client.cluster('MYID')))) as [string, string]
    await target.client.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', sourceId)
    await source.client.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', targetId)
    let isTold = false
    for (;;) {
      const keys = (await source.client.call('CLUSTER', 'GETKEYSINSLOT', slot, 3)) as string[]
      if (keys.length === 0) break
      await source.client.call('MIGRATE', '127.0.0.1', target.port, '', 0, 2_000, 'KEYS', ...keys)
      if (!isTold) await meanwhile()
      isTold = true
    }
    for (const { client } of [target, source, ...this.#masters.filter((one) => one !== source && one !== target)])
      if (client.status === 'ready') await client.call('CLUSTER', 'SETSLOT', slot, 'NODE', targetId)
  }

  /** Kills a master without a word, and answers when its replica has taken its place. */
  async killMaster(index: number): Promise<void> {
    const [{ child, client }, replica] = [this.#masters[index]!, this.#replicas[index]!]
    process.kill(child.pid!, 'SIGKILL')
    client.disconnect()
    await eventually('the replica to take over', async () => ((await replica.client.call('ROLE')) as string[])[0] === 'master', 20_000)
    await eventually('the others to know', async () => (await Promise.all(this.#others(index).map(isUp))).every(Boolean), 20_000)
  }

  async stop(): Promise<void> {
    await this.#servers.stop([...this.#masters, ...this.#replicas])
  }

  #alive(): Server {
    return this.#masters.find(({ client }) => client.status === 'ready')!
  }

  #others(index: number): Server[] {
    // One that was killed before has no client any more.
    return [...this.#masters.filter((_, other) => other !== index), this.#replicas[index]!].filter(({ client }) => client.status !== 'end')
  }

  #known(all: readonly Server[]): Promise<number[]> {
    return Promise.all(all.map(async ({ client }) => ((await client.cluster('NODES')) as string).trim().split('\n').length))
  }
}

const isUp = async ({ client }: Server) => ((await client.cluster('INFO')) as string).includes('cluster_state:ok')

/** In order, and a replica has what its master has. */
async function isWhole(server: Server): Promise<boolean> {
  const [role, , , link] = (await server.client.call('ROLE')) as string[]
  return (await isUp(server)) && (role === 'master' || link === 'connected')
}

/** Encrypted, with user and password. */
function guarded(url: string, guard: Guard | undefined): string {
  return guard ? withAccess(url, guard.user, guard.password).replace(/^redis/, 'rediss') : url
}

/** A primary with a replica, watched by sentinels. `guard`: they are encrypted and have passwords. */
export class OwnSentinels {
  readonly #servers: OwnServers
  #all: Server[] = []
  #sentinels: Server[] = []

  constructor(guard?: Guard) {
    this.#servers = new OwnServers(guard)
  }

  async start(): Promise<void> {
    const primary = await this.#servers.start({})
    const replica = await this.#servers.start({ replicaof: `127.0.0.1 ${primary.port}` })
    this.#all = [primary, replica]
    await eventually('the replica', async () => ((await replica.client.call('ROLE')) as string[])[3] === 'connected', 20_000)
    for (let index = 0; index < 3; index++)
      this.#sentinels.push(
        await this.#servers.start(
          {
            'sentinel#1': `monitor main 127.0.0.1 ${primary.port} 2`,
            'sentinel#2': 'down-after-milliseconds main 1000',
            'sentinel#3': 'failover-timeout main 5000',
            ...this.#servers.guard?.closedSentinel('main'),
          },
          'sentinel',
        ),
      )
    await eventually(
      'the sentinels to know each other',
      async () => (await Promise.all(this.#sentinels.map(knowsAll))).every(Boolean),
      20_000,
    )
  }

  get url(): string {
    return this.urlOf(0)
  }

  urlOf(db: number): string {
    const { guard } = this.#servers
    const url = guarded(`redis+sentinel://${this.#sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/main/${db}`, guard)
    return withSentinelAccess(url, { username: undefined, password: guard?.sentinelPassword })
  }

  get replica(): Redis {
    return this.#all[1]!.client
  }

  /** Kills the primary without a word, and answers when its replica has taken its place. */
  async killPrimary(): Promise<void> {
    const [primary, replica] = this.#all
    process.kill(primary!.child.pid!, 'SIGKILL')
    primary!.client.disconnect()
    await eventually('the replica to take over', async () => ((await replica!.client.call('ROLE')) as string[])[0] === 'master', 30_000)
  }

  async stop(): Promise<void> {
    await this.#servers.stop([...this.#all, ...this.#sentinels])
  }
}

async function knowsAll({ client }: Server): Promise<boolean> {
  const facts = (await client.call('SENTINEL', 'MASTER', 'main')) as string[]
  const fact = (name: string) => facts[facts.indexOf(name) + 1]
  return fact('num-slaves') === '1' && fact('num-other-sentinels') === '2'
}
