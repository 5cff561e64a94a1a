import { createConnection, isIP } from 'node:net'
import { connect as connectEncrypted } from 'node:tls'
import { AbstractConnector, Cluster, type ClusterOptions, type Command, Redis, type RedisOptions } from 'ioredis'
import { unavailable } from '../../kernel/problem.js'
import type { RedisAddress, RedisNode } from './address.js'

export type ClusterAddress = Extract<RedisAddress, { kind: 'cluster' }>

/** So late it is seen that nodes came or went which nobody was redirected to. */
const refreshMs = 10_000

/** Where the slot of KEYS[1] is. ARGV: channel and text. Answers how many connections to that node hear it. */
const publishScript = `return redis.call('PUBLISH', ARGV[1], ARGV[2])`

/**
 * A client of all nodes of a cluster, which follows slots that are moved and replicas that are promoted. It stands where a client of one server does: all that
 * is sent is of one slot, and what is of all nodes goes through `mastersOf`, `nodesOf` and `scanKeys`.
 */
export class PlatformCluster extends Cluster {
  constructor(nodes: RedisNode[], options: ClusterOptions) {
    super(nodes, options)
    this.defineCommand('publishInSlot', { numberOfKeys: 1, lua: publishScript })
    // As in a client of one server: ioredis has the wait of `socketTimeout` go on.
    this.on('+node', (node: Redis) => endSocketTimeout(node))
  }

  /** Commands that wait for a cluster are given up in time, too. */
  override sendCommand(command: Command, ...to: [stream?: never, node?: unknown]): unknown {
    const { commandTimeout } = this.options.redisOptions ?? {}
    if (commandTimeout !== undefined) command.setTimeout(commandTimeout)
    return super.sendCommand(command, ...to)
  }

  /**
   * At the node that has the slot of the channel, as if that were a key: so the order in which scripts of that slot publish is kept, and the answer says whether
   * a subscriber is at that node. Others hear it over the bus of the cluster, which may lose it.
   */
  override readonly publish = ((channel: string, text: string) =>
    (this as unknown as { publishInSlot(...values: string[]): Promise<number> }).publishInSlot(
      channel,
      channel,
      text,
    )) as unknown as Cluster['publish']

  override duplicate(nodes: RedisNode[] = [], options: ClusterOptions = {}): Cluster {
    const Own = this.constructor as typeof PlatformCluster
    return new Own(nodes.length > 0 ? nodes : (this as unknown as { startupNodes: RedisNode[] }).startupNodes, {
      ...this.options,
      ...options,
    })
  }
}

/** Ends the wait of `socketTimeout` with its connection: ioredis has it go on, and end the next one. */
export function endSocketTimeout(client: Redis): void {
  client.on('close', () => {
    const waiting = client as unknown as { socketTimeoutTimer: NodeJS.Timeout | undefined }
    clearTimeout(waiting.socketTimeoutTimer)
    waiting.socketTimeoutTimer = undefined
  })
}

/** What nodes of a cluster are connected to with. */
export function clusterOptions(address: ClusterAddress, redisOptions: RedisOptions): ClusterOptions {
  const { enableOfflineQueue = true, ...ofNodes } = redisOptions
  return {
    enableOfflineQueue,
    redisOptions: { ...ofNodes, ...accessOptions(address) },
    clusterRetryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 2_000),
    slotsRefreshInterval: refreshMs,
    // Certificates are of names.
    dnsLookup: (name, found) => found(null, name),
  }
}

export function accessOptions({
  username,
  password,
  isEncrypted,
}: Pick<ClusterAddress, 'username' | 'password' | 'isEncrypted'>): RedisOptions {
  return { username, password, ...(isEncrypted ? { tls: {} } : {}) }
}

interface SlotOptions {
  cluster: ClusterAddress
  /** Its slot. */
  key: string
  connectTimeout?: number
  disconnectTimeout?: number
}

/** Slots of a range, and where they are, the master first. */
type SlotRange = [first: number, last: number, ...nodes: [host: string | null, port: number][]]

/**
 * Connects a client of one server to the master that has the slot of a key. Subscribers are connected so: what is published in the slot, in the order in which
 * it is published, reaches whoever is connected to its master, and PUBLISH there counts them.
 */
export class SlotConnector extends AbstractConnector {
  readonly #options: SlotOptions
  /** Those of the address may all be gone one day. */
  #known: RedisNode[]

  constructor(options: unknown) {
    super((options as SlotOptions).disconnectTimeout ?? 2_000)
    this.#options = options as SlotOptions
    this.#known = this.#options.cluster.nodes
  }

  async connect(): ReturnType<AbstractConnector['connect']> {
    this.connecting = true
    const { host, port } = await this.#master()
    // Nobody waits for it any more.
    if (!this.connecting) throw new Error('Connection is closed.')
    // An address is no server name, but what the certificate is checked for all the same.
    const named = isIP(host) ? {} : { servername: host }
    this.stream = this.#options.cluster.isEncrypted ? connectEncrypted({ host, port, ...named }) : createConnection({ host, port })
    this.stream.once('error', (error) => {
      this.firstError = error
    })
    return this.stream
  }

  async #master(): Promise<RedisNode> {
    const failures: unknown[] = []
    for (const node of this.#known) {
      try {
        return await this.#masterBy(node)
      } catch (error) {
        failures.push(error)
      }
    }
    throw new Error('no node of the Redis Cluster says where its slots are', { cause: failures[0] })
  }

  async #masterBy(node: RedisNode): Promise<RedisNode> {
    const { cluster, key, connectTimeout } = this.#options
    const client = new Redis({
      ...node,
      ...accessOptions(cluster),
      connectTimeout,
      commandTimeout: connectTimeout,
      retryStrategy: () => null,
      enableReadyCheck: false,
      disableClientInfo: true,
      lazyConnect: true,
    })
    client.on('error', () => undefined)
    try {
      await client.connect()
      const [slot, ranges] = await Promise.all([
        client.cluster('KEYSLOT', key),
        client.cluster('SLOTS') as Promise<unknown> as Promise<SlotRange[]>,
      ])
      const toNode = ([host, port]: [string | null, number]): RedisNode => ({ host: host || node.host, port })
      const known = ranges.flatMap(([, , ...nodes]) => nodes.map(toNode))
      this.#known = [...new Map([...known, ...cluster.nodes].map((one) => [`${one.host} ${one.port}`, one])).values()]
      const [, , master] = ranges.find(([first, last]) => first <= slot && slot <= last) ?? []
      if (!master) throw new Error(`no node has slot ${slot}`)
      return toNode(master)
    } finally {
      client.disconnect()
    }
  }
}

const clusterOf = (redis: Redis): Cluster | null => (redis.isCluster ? (redis as unknown as Cluster) : null)

/** Each has some of the keys; the client itself where there is one server. */
export const mastersOf = (redis: Redis): Redis[] => clusterOf(redis)?.nodes('master') ?? [redis]

/** Replicas too. */
export const nodesOf = (redis: Redis): Redis[] => clusterOf(redis)?.nodes('all') ?? [redis]

/**
 * Sends commands that each have one key, at once; answers in their order. Fails as the first that failed. Those to one server go in one write.
 */
export async function sendAll<Answer>(redis: Redis, commands: (string | number)[][]): Promise<Answer[]> {
  if (commands.length === 0) return []
  if (redis.isCluster) {
    const send = redis as unknown as Record<string, (...values: (string | number)[]) => Promise<Answer>>
    return Promise.all(commands.map(([name, ...values]) => send[name as string]!(...values)))
  }
  const outcomes = (await redis.pipeline(commands).exec())!
  return outcomes.map(([error, answer]) => {
    if (error) throw error
    return answer as Answer
  })
}

/**
 * The keys that match, some at a time; one may come twice, and one that is made meanwhile may be left out. Fails with UNAVAILABLE when a cluster moved slots
 * meanwhile: what is moved from a node that was not asked yet to one that was is not found.
 */
export async function* scanKeys(redis: Redis, pattern: string, count: number): AsyncGenerator<string[]> {
  const cluster = clusterOf(redis)
  if (!cluster) return yield* scanNode(redis, pattern, count)
  // Until it is connected nobody knows its nodes.
  await cluster.ping()
  const before = await slotsOf(cluster)
  for (const master of cluster.nodes('master')) yield* scanNode(master, pattern, count)
  const after = await slotsOf(cluster)
  if (before === null || before !== after) throw unavailable('The Redis Cluster moves slots. Try again.')
}

async function* scanNode(redis: Redis, pattern: string, count: number): AsyncGenerator<string[]> {
  let cursor = '0'
  do {
    const [next, found] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', count)
    yield found
    cursor = next
  } while (cursor !== '0')
}

/** Who has which, as each of the masters says it; null: one of them is being moved, or they do not agree with what is known of them. */
async function slotsOf(cluster: Cluster): Promise<string | null> {
  await new Promise<void>((refreshed, failed) => cluster.refreshSlotsCache((error) => (error ? failed(error) : refreshed())))
  const masters = cluster.nodes('master')
  const own = await Promise.all(masters.map(async (master) => ((await master.cluster('NODES')) as string).split('\n').find(isMyself) ?? ''))
  if (own.some((line) => line.includes('[') || line.includes('slave'))) return null
  return own
    .map((line) => [line.split(' ')[0], ...line.split(' ').slice(8)].join(' '))
    .sort()
    .join('\n')
}

const isMyself = (line: string) => /^\S+ \S+ \S*\bmyself\b/.test(line)
