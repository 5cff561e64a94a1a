import { Redis, type RedisOptions } from 'ioredis'
import type { Life } from './process.js'

export type { Redis }

/**
 * request     fails within seconds, so that a caller never waits for long for a Redis that is away
 * queue       the same, but at once while there is no connection: nothing is sent later that was called not sent
 * subscriber  waits and comes back by itself
 * worker      the same; BullMQ blocks on it
 */
export type RedisRole = 'request' | 'queue' | 'subscriber' | 'worker'

const optionsOf: Record<RedisRole, RedisOptions> = {
  request: { maxRetriesPerRequest: 1, commandTimeout: 2_000 },
  queue: { maxRetriesPerRequest: 1, commandTimeout: 2_000, enableOfflineQueue: false },
  subscriber: { maxRetriesPerRequest: null },
  worker: { maxRetriesPerRequest: null },
}

/** A Redis client of the process. Closed with it. */
export function openRedis(life: Life, url: string, role: RedisRole): Redis {
  const client = new Redis(url, {
    ...optionsOf[role],
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
  return life.open(`redis ${role}`, client, (c) => c.disconnect())
}

/** Clients that a process shares, by address and role. */
const shared = new WeakMap<Life, Map<string, Redis>>()

/** The same, but one for all who ask for this role: for commands that keep nobody waiting. */
export function sharedRedis(life: Life, url: string, role: 'request' | 'queue'): Redis {
  const ofLife = shared.get(life) ?? new Map<string, Redis>()
  shared.set(life, ofLife)
  const key = `${role} ${url}`
  const client = ofLife.get(key) ?? openRedis(life, url, role)
  ofLife.set(key, client)
  return client
}
