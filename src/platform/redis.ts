import { createHash } from 'node:crypto'
import { Redis, type RedisOptions } from 'ioredis'
import type { Log } from '../kernel/log.js'
import type { Life } from './process.js'

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

/** A Redis client of the process. Closed with it. */
export function openRedis(life: RedisOwner, url: string, role: RedisRole, user: RedisUser = 'platform'): Redis {
  const client = new (user === 'limited' ? LimitedRedis : PlatformRedis)(url, {
    ...optionsOf[role],
    // With a command that a limited user may not send.
    disableClientInfo: user === 'limited',
    connectTimeout: 5_000,
    retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 2_000),
    // A replica that was promoted answers READONLY until the client connects again (2: and send the command again).
    reconnectOnError: (error) => (error.message.includes('READONLY') ? 2 : false),
  })
  // One line when the connection goes and one when it is back, not one per retry.
  let isReported = false
  client.on('error', (error) => {
    if (!isReported) life.log.warn({ err: error, role }, 'redis connection failed, retrying')
    isReported = true
  })
  client.on('ready', () => {
    if (isReported) life.log.info({ role }, 'redis connection is back')
    isReported = false
  })
  if (role === 'subscriber') {
    const ask = () => void (client.status === 'ready' && client.ping().catch(() => undefined))
    life.open('heartbeat of a subscriber', setInterval(ask, heartbeatMs), clearInterval)
  }
  return life.open(`redis ${role}`, client, (c) => c.disconnect())
}

/** Ends the wait of `socketTimeout` with its connection: ioredis has it go on, and end the next one. */
class PlatformRedis extends Redis {
  constructor(...given: [url: string, options: RedisOptions] | [options: RedisOptions]) {
    super(...(given as [string, RedisOptions]))
    this.on('close', () => {
      const waiting = this as unknown as { socketTimeoutTimer: NodeJS.Timeout | undefined }
      clearTimeout(waiting.socketTimeoutTimer)
      waiting.socketTimeoutTimer = undefined
    })
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

  override defineCommand(name: string, { lua, numberOfKeys }: { lua: string; numberOfKeys?: number }): void {
    const digest = createHash('sha1').update(lua).digest('hex')
    const run = async (...given: unknown[]) => {
      // BullMQ gives one list of all arguments.
      const args = (numberOfKeys === undefined ? given.flat() : [numberOfKeys, ...given.flat()]) as [number, ...string[]]
      try {
        return await this.evalsha(digest, ...args)
      } catch (error) {
        if (!isReply(error, 'NOSCRIPT')) throw error
        return await this.eval(lua, ...args).catch((cause: unknown) => {
          if (!isReply(cause, 'NOPERM')) throw cause
          throw new Error(
            `The script ${name} is not loaded in Redis: the platform does so when it starts, and its release must be the same`,
            { cause },
          )
        })
      }
    }
    Object.assign(this, { [name]: run })
  }

  override duplicate(override?: Partial<RedisOptions>): Redis {
    return new LimitedRedis({ ...this.options, ...override })
  }
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
