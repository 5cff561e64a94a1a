import { Problem } from '../src/kernel/problem.js';
import { Counter } from '../src/platform/metrics.js';
import { runProcess } from '../src/platform/process.js';
import { consume, openQueue } from '../src/platform/queue.js';
import { openRedis } from '../src/platform/redis.js';
import { applyChange } from '../src/updates/external-cache/apply.js';
import { cacheRedisUrl, queueConsumptionDefinition, queueRedisUrl } from '../src/updates/external-cache/config.js';
import { changesIn, tryLater } from '../src/updates/external-cache/jobs.js';
import { StateApi } from '../src/updates/external-cache/state-api.js';
import { ExternalCacheWriter } from '../src/updates/external-cache/writer.js';
/**
 * Keeps an environment's external cache current (the persistent-cache-service). Several copies may run: an older version never overwrites a newer
 * one, so a message may be applied twice and in any order.
 */
await runProcess(queueConsumptionDefinition, async (config, life) => {
    const redis = openRedis(life, cacheRedisUrl(config), 'request');
    const cache = new ExternalCacheWriter({ redis, prefix: config.ENVIRONMENT_PREFIX, ttlSeconds: config.KEYS_TTL_IN_SECS });
    const api = life.open('api', new StateApi({ url: config.API_URL, apiKey: config.SERVER_API_KEY }), (a) => a.close());
    const applied = new Counter({
        name: 'tollgate_external_cache_messages_total',
        help: 'Messages by kind and outcome: written, or nothing to write (older than what is there)',
        labelNames: ['kind', 'outcome'],
        registers: [life.metrics],
    });
    const connection = { redisUrl: queueRedisUrl(config), prefix: config.QUEUE_URL.prefix };
    const changes = changesIn(config.QUEUE_URL.queue);
    consume(life, connection, changes, {
        concurrency: config.BATCH_SIZE,
        handler: async (message, { signal, job }) => {
            try {
                const isNews = await applyChange(message, { cache, fetchState: (...asked) => api.fetch(...asked), signal });
                applied.inc({ kind: message.kind, outcome: isNews ? 'written' : 'nothing' });
            }
            catch (error) {
                if (!(error instanceof Problem && error.isRetryable))
                    throw error;
                life.log.warn({ err: error, jobId: job.id, customerId: message.customerId }, 'change could not be applied, trying again later');
                await tryLater(job);
            }
        },
    });
    const queue = openQueue(life, connection, changes);
    // After that of the queue, whose `redis` is another one.
    life.readyWhen(async () => {
        const [isQueueThere, isCacheThere] = await Promise.all([
            isAnswered(queue.waiting()),
            redis.status === 'ready' && isAnswered(redis.ping()),
        ]);
        const isReady = isQueueThere && isCacheThere;
        return { status: isReady ? 'UP' : 'DOWN', consumers: isReady ? 1 : 0, redis: isCacheThere ? 'CONNECTED' : 'DISCONNECTED' };
    });
    await life.serveHealth({ port: config.PORT, host: config.BIND_ADDRESS });
});
function isAnswered(answer) {
    return answer.then(() => true, () => false);
}
//# sourceMappingURL=queue-consumption.js.map