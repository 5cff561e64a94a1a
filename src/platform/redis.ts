import { Redis } from 'ioredis'
import type { Life } from './process.js'

export type { Redis }

/**
 * A Redis client of the process. `request` fails fast, so that a caller never waits for a Redis that is away; `subscriber` and `blocking`
 * wait and come back by themselves.
 */
export function openRedis(life: Life, url: string, role: 'request' | 'subscriber' | 'blocking'): Redis {
  const failsFast = role === 'request'
  const client = new Redis(url, {
    connectTimeout: 5_000,
    maxRetriesPerRequest: failsFast ? 1 : null,
    enableOfflineQueue: true,
    ...(failsFast ? { commandTimeout: 2_000 } : {}),
    retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 2_000),
    // A replica that was promoted answers READONLY until the client connects again (2: and send the command again).
    reconnectOnError: (error) => (error.message.includes('READONLY') ? 2 : false),
  })
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
