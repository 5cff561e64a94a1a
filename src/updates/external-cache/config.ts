import { makeValidator } from 'envalid'
import { type Config, type ConfigSpec, integer, port, positive, processVariables, secret, str, urlOf } from '../../platform/config.js'
import type { QueueConnection } from '../../platform/queue.js'

const database = makeValidator<number>((input) => {
  if (!/^\d+$/.test(input)) throw new Error(`must be the number of a Redis database, not "${input}"`)
  return Number(input)
})

/** The names are those of the persistent-cache-service that readers' documentation tells of. */
const spec = {
  QUEUE_URL: urlOf(
    'redis',
    'rediss',
    'https',
  )({ desc: "The environment's queue", example: 'redis://host:6379/0?queue=environment-<id>&prefix={tollgate}' }),
  CLOUD_ACCESS_KEY_ID: str({ default: undefined, desc: 'User of the queue' }),
  CLOUD_SECRET_ACCESS_KEY: secret({ default: undefined, desc: 'Password of the queue' }),
  SERVER_API_KEY: secret({ desc: "The environment's Server API key" }),
  API_URL: urlOf('http', 'https')({ default: undefined, devDefault: undefined, desc: 'API address, without /graphql' }),
  ENVIRONMENT_PREFIX: str({ default: 'production', desc: 'Prefix of all keys; the same as in SDKs and sidecars. On a Redis Cluster in braces' }),
  REDIS_HOST: str({ desc: 'Host of the external cache', example: 'cache.internal' }),
  REDIS_PORT: port({ default: 6379, desc: 'Port of the external cache' }),
  REDIS_DB: database({ default: 0, desc: 'Database of the external cache' }),
  REDIS_USER: str({ default: undefined, desc: 'User of the external cache' }),
  REDIS_PASSWORD: secret({ default: undefined, desc: 'Password of the external cache' }),
  BATCH_SIZE: positive({ default: 1, desc: 'Messages in work at the same time; their writes share a connection' }),
  KEYS_TTL_IN_SECS: integer({ default: 604_800, desc: 'Time until a key that is not written again goes; negative: never' }),
  PORT: port({ default: 4000, desc: 'Port of health and metrics' }),
  ...processVariables,
} as const satisfies ConfigSpec
