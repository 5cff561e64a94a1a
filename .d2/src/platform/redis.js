import { Redis } from 'ioredis';
const optionsOf = {
    request: { maxRetriesPerRequest: 1, commandTimeout: 2_000 },
    queue: { maxRetriesPerRequest: 1, commandTimeout: 2_000, enableOfflineQueue: false },
    subscriber: { maxRetriesPerRequest: null },
    worker: { maxRetriesPerRequest: null },
};
/** A Redis client of the process. Closed with it. */
export function openRedis(life, url, role) {
    const client = new Redis(url, {
        ...optionsOf[role],
        connectTimeout: 5_000,
        retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 2_000),
        // A replica that was promoted answers READONLY until the client connects again (2: and send the command again).
        reconnectOnError: (error) => (error.message.includes('READONLY') ? 2 : false),
    });
    // One line when the connection goes and one when it is back, not one per retry.
    let isReported = false;
    client.on('error', (error) => {
        if (!isReported)
            life.log.warn({ err: error, role }, 'redis connection failed, retrying');
        isReported = true;
    });
    client.on('ready', () => {
        if (isReported)
            life.log.info({ role }, 'redis connection is back');
        isReported = false;
    });
    return life.open(`redis ${role}`, client, (c) => c.disconnect());
}
//# sourceMappingURL=redis.js.map