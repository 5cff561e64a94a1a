import type { Config, databaseVariables, redisVariables } from '../platform/config.js'
import { DatabaseClock } from '../platform/database-clock.js'
import { connectPostgres, type Postgres } from '../platform/postgres.js'
import type { Life } from '../platform/process.js'
import type { QueueConnection } from '../platform/queue.js'

type StoreConfig = Config<typeof databaseVariables & typeof redisVariables>

/** PostgreSQL with its clock, and where the queues are, as the configuration of a process names them. `session`: settings of each connection. */
export async function openStores(
  life: Life,
  config: StoreConfig,
  options: { session?: Record<string, string> } = {},
): Promise<{ postgres: Postgres; clock: DatabaseClock; queues: QueueConnection }> {
  const postgres = await connectPostgres(life, config.DATABASE_URL.reveal(), {
    poolSize: config.DATABASE_POOL_SIZE,
    isPooler: config.DATABASE_DIRECT_URL !== undefined,
    ...options,
  })
  const clock = await DatabaseClock.open(life, postgres.pool)
  return { postgres, clock, queues: { redisUrl: config.REDIS_URL.reveal(), prefix: config.QUEUE_PREFIX } }
}
