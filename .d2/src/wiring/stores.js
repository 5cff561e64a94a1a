import { connectPostgres } from '../platform/postgres.js';
/** PostgreSQL, and where the queues are, as the configuration of a process names them. `session`: settings of each connection. */
export async function openStores(life, config, options = {}) {
    const postgres = await connectPostgres(life, config.DATABASE_URL.reveal(), { poolSize: config.DATABASE_POOL_SIZE, ...options });
    return { postgres, queues: { redisUrl: config.REDIS_URL.reveal(), prefix: config.QUEUE_PREFIX } };
}
//# sourceMappingURL=stores.js.map