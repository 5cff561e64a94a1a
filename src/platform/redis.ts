import { createHash } from 'node:crypto'
import { type ClusterOptions, type Command, Redis, type RedisOptions } from 'ioredis'
import type { Log } from '../kernel/log.js'
import { inChildSpan, isTracing } from './context/tracing.js'
import type { Life } from './process.js'
import { parseRedisAddress, type RedisAddress, type RedisNode } from './redis/address.js'
import { accessOptions, clusterOptions, endSocketTimeout, PlatformCluster, SlotConnector } from './redis/cluster.js'
import { findReason } from './redis/reason.js'

export type { Redis }

/**
 * request     fails within seconds, so that a caller never waits for long for a Redis that is away
 * queue       the same, but at once while there is no connection: nothing is sent later that was called not sent
 * subscriber  waits and comes back by itself
 * worker      the same; BullMQ blocks on it
 */
export type RedisRole = 'request' | 'queue' | 'subscriber' | 'worker'

/**
 * platform  may do everything
 * limited   what `environment queue-access` allows: no INFO, and scripts by digest, which the platform has loaded (`wiring/queue-scripts.ts`)
 */
export type RedisUser = 'platform' | 'limited'

/**
 * `socketTimeout`: a connection is given up over which nothing comes for so long while something is asked. The far side may be gone without a word, and
 * TCP would notice that after hours. BullMQ asks for jobs for ten seconds at a time.
 */
const optionsOf: Record<RedisRole, RedisOptions> = {
  request: { maxRetriesPerRequest: 1, commandTimeout: 2_000, socketTimeout: 5_000 },
  queue: { maxRetriesPerRequest: 1, commandTimeout: 2_000, socketTimeout: 5_000, enableOfflineQueue: false },
  subscriber: { maxRetriesPerRequest: null, socketTimeout: 5_000 },
  worker: { maxRetriesPerRequest: null, socketTimeout: 15_000 },
}
/** Who only listens asks so often whether there is still something to be heard. */
const heartbeatMs = 5_000

/** What a client is opened in: a process, or whatever else logs and closes. */
export interface RedisOwner extends Pick<Life, 'open'> {
  log: Log
}

/** A Redis client of the process, of one server or of all nodes of a cluster. Closed with it. */
export function openRedis(life: RedisOwner, url: string, role: Exclude<RedisRole, 'subscriber'>, user: RedisUser = 'platform'): Redis {
  const address = parseRedisAddress(url)
  const options = optionsFor(role, user)
  if (address.kind === 'cluster') {
    const Client = user === 'limited' ? LimitedCluster : PlatformCluster
    return kept(life, role, new Client(address.nodes, clusterOptions(address, options)) as unknown as Redis, address)
  }
  return kept(life, role, openServer(address, options, user), address)
}

/**
 * A client that hears channels whose names begin with the prefix, and nothing else. Of a cluster it is connected to the master that has their slot
 * (`redis/cluster.ts` says why).
 */
export function openSubscriber(
  life: RedisOwner,
  { redisUrl, prefix, user = 'platform' }: { redisUrl: string; prefix: string; user?: RedisUser },
): Redis {
  const address = parseRedisAddress(redisUrl)
  const options = optionsFor('subscriber', user)
  const client =
    address.kind === 'cluster'
      ? new (clientOf(user))({
          ...options,
          ...accessOptions(address),
          Connector: SlotConnector,
          ...({ cluster: address, key: prefix } as RedisOptions),
        })
      : openServer(address, options, user)
  const ask = () => void (client.status === 'ready' && client.ping().catch(() => undefined))
  life.open('heartbeat of a subscriber', setInterval(ask, heartbeatMs), clearInterval)
  return kept(life, 'subscriber', client, address)
}

function optionsFor(role: RedisRole, user: RedisUser): RedisOptions {
  return {
    ...optionsOf[role],
    // With a command that a limited user may not send.
    disableClientInfo: user === 'limited',
    connectTimeout: 5_000,
    retryStrategy: retryMs,
    // A replica that was promoted answers READONLY until the client connects again (2: and send the command again).
    reconnectOnError: (error) => (error.message.includes('READONLY') ? 2 : false),
  }
}

const retryMs = (attempt: number) => Math.min(50 * 2 ** attempt, 2_000)

const clientOf = (user: RedisUser) => (user === 'limited' ? LimitedRedis : PlatformRedis)

function openServer(address: Exclude<RedisAddress, { kind: 'cluster' }>, options: RedisOptions, user: RedisUser): Redis {
  if (address.kind === 'server') return new (clientOf(user))(address.url, options)
  const { nodes: sentinels, name, db, isEncrypted, ofSentinels } = address
  return new (clientOf(user))({
    ...options,
    ...accessOptions(address),
    sentinels,
    sentinelUsername: ofSentinels.username,
    sentinelPassword: ofSentinels.password,
    ...(isEncrypted ? { sentinelTLS: {} } : {}),
    name,
    db,
    enableTLSForSentinelMode: isEncrypted,
    sentinelRetryStrategy: retryMs,
    sentinelCommandTimeout: 2_000,
    // A primary that was only cut off still answers when another one has taken its place.
    failoverDetector: true,
    sentinelReconnectStrategy: retryMs,
  })
}

function kept(life: RedisOwner, role: RedisRole, client: Redis, address: RedisAddress): Redis {
  // One line when the connection goes and one when it is back, not one per retry.
  let isReported = false
  client.on('error', (error) => {
    if (isReported) return
    isReported = true
    void reasonOf(error, address).then((err) => life.log.warn({ err, role }, 'redis connection failed, retrying'))
  })
  client.on('ready', () => {
    if (isReported) life.log.info({ role }, 'redis connection is back')
    isReported = false
  })
  return life.open(`redis ${role}`, client, (c) => c.disconnect())
}

const reasonOf = async (error: Error, address: RedisAddress): Promise<Error> =>
  (address.kind === 'server' ? null : await findReason(address)) ?? error

/** Neither keys nor values. */
function ofCommand({ name }: Command) {
  const operation = name.toUpperCase()
  return { name: operation, kind: 'client', attributes: { 'db.system.name': 'redis', 'db.operation.name': operation } } as const
}

class PlatformRedis extends Redis {
  #isToEnd = false

  constructor(...given: [url: string, options: RedisOptions] | [options: RedisOptions]) {
    super(...(given as [string, RedisOptions]))
    endSocketTimeout(this)
    this.on('end', () => this.#connectAgain())
  }

  /**
   * ioredis gives up for ever when sentinels tell of another primary while it asks them for one (its failover detector ends the connection that is being made). Who is not
   * told to end goes on.
   */
  #connectAgain(): void {
    if (!this.options.sentinels || this.#isToEnd) return
    setTimeout(() => {
      if (!this.#isToEnd && this.status === 'end') this.connect().catch(() => undefined)
    }, retryMs(1))
  }

  override disconnect(reconnect = false): void {
    if (!reconnect) this.#isToEnd = true
    super.disconnect(reconnect)
  }

  override sendCommand(...given: Parameters<Redis['sendCommand']>): unknown {
    if (given[0].name === 'quit') this.#isToEnd = true
    this.#gather()
    return isTracing() ? inChildSpan(ofCommand(given[0]), () => super.sendCommand(...given)) : super.sendCommand(...given)
  }

  /** What is sent in the same turn of the event loop goes to the server in one write: each costs both sides a system call else. */
  #gather(): void {
    const { stream } = this
    if (!stream || stream.writableCorked > 0) return
    stream.cork()
    setImmediate(() => stream.uncork())
  }

  override duplicate(override?: Partial<RedisOptions>): Redis {
    return new PlatformRedis({ ...this.options, ...override })
  }
}

/**
 * Sends no Lua but where it is allowed to: ioredis sends each script as a text when a connection needs it first. (Nor are such scripts for pipelines, which
 * cannot fall back.)
 */
class LimitedRedis extends PlatformRedis {
  /** The one question that ioredis asks with it is whether the connection is ready: not when the user was refused. */
  override readonly info = ((answered: (error: unknown, text?: string) => void) =>
    this.select(this.options.db ?? 0).then(
      () => answered(null, ''),
      (error: unknown) => answered(error),
    )) as unknown as Redis['info']

  override defineCommand(name: string, script: LuaScript): void {
    defineByDigest(this, name, script)
  }

  override duplicate(override?: Partial<RedisOptions>): Redis {
    return new LimitedRedis({ ...this.options, ...override })
  }
}

/** The same, of a cluster; what it asks its nodes is in `wiring/redis-users.ts`. */
class LimitedCluster extends PlatformCluster {
  constructor(nodes: RedisNode[], options: ClusterOptions) {
    super(nodes, { ...options, redisOptions: { ...options.redisOptions, enableReadyCheck: false } })
  }

  override defineCommand(name: string, script: LuaScript): void {
    defineByDigest(this as unknown as Redis, name, script)
  }
}

interface LuaScript {
  lua: string
  numberOfKeys?: number
}

function defineByDigest(client: Pick<Redis, 'evalsha' | 'eval'>, name: string, { lua, numberOfKeys }: LuaScript): void {
  const digest = createHash('sha1').update(lua).digest('hex')
  const run = async (...given: unknown[]) => {
    // BullMQ gives one list of all arguments.
    const args = (numberOfKeys === undefined ? given.flat() : [numberOfKeys, ...given.flat()]) as [number, ...string[]]
    try {
      return await client.evalsha(digest, ...args)
    } catch (error) {
      if (!isReply(error, 'NOSCRIPT')) throw error
      return await client.eval(lua, ...args).catch((cause: unknown) => {
        if (!isReply(cause, 'NOPERM')) throw cause
        throw new Error(
          `The script ${name} is not loaded in Redis: the platform does so when it starts, and its release must be the same`,
          {
            cause,
          },
        )
      })
    }
  }
  Object.assign(client, { [name]: run })
}

/** Whether Redis itself answered with an error of that kind, or that is behind it. */
export function isReply(error: unknown, ...kinds: string[]): boolean {
  if (!(error instanceof Error)) return false
  const isKind = error.name === 'ReplyError' && kinds.some((kind) => error.message.startsWith(`${kind} `))
  return isKind || isReply(error.cause, ...kinds)
}

/** Clients that a process shares, by address and role. */
const shared = new WeakMap<Life, Map<string, Redis>>()

/** The same, but one for all who ask for this role: for commands that keep nobody waiting. */
export function sharedRedis(life: Life, url: string, role: 'request' | 'queue', user?: RedisUser): Redis {
  const ofLife = shared.get(life) ?? new Map<string, Redis>()
  shared.set(life, ofLife)
  const key = `${role} ${url}`
  const client = ofLife.get(key) ?? openRedis(life, url, role, user)
  ofLife.set(key, client)
  return client
}

/**
 * Hears a channel for as long as the client lives. ioredis subscribes again by itself only to what it was subscribed to: a subscription that is refused with a
 * connection that breaks before it is ready is gone, and one that is sent before then breaks it. `subscribed`: called with each connection that hears.
 */
export function keepSubscribed(subscriber: Redis, channel: string, subscribed: () => void = () => {}): void {
  const subscribe = () => subscriber.subscribe(channel).then(subscribed, () => undefined)
  subscriber.on('ready', subscribe)
  if (subscriber.status === 'ready') void subscribe()
}
