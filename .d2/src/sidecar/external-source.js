import { setTimeout as sleep } from 'node:timers/promises';
import { openRedis } from '../platform/redis.js';
import { ExternalCacheWriter } from '../updates/external-cache/writer.js';
import { ExternalCacheReader } from './cache/redis.js';
import { externalCacheUrl } from './config.js';
import { ExternalSource } from './external.js';
import { EntitlementResolver } from './resolve.js';
/** A cache that is there answers the first check already; one that is not must not keep the sidecar from starting. */
const firstConnectionMs = 500;
/** Wires a sidecar with an external cache. There is no real-time connection: the persistent-cache-service hears of changes. */
export async function openExternalSource(life, { config, prefix, pool, parts }) {
    const redis = openRedis(life, externalCacheUrl(config), 'request');
    await Promise.race([new Promise((resolve) => redis.once('ready', resolve)), sleep(firstConnectionMs)]);
    const writer = new ExternalCacheWriter({ redis, prefix, ttlSeconds: config.REDIS_KEYS_TTL_IN_SECS });
    const reader = new ExternalCacheReader({ redis, prefix, pool });
    const resolver = new EntitlementResolver({ ...parts, onRead: (owner, json) => source.keep(owner, json) });
    const source = new ExternalSource({ ...parts, redis, reader, writer, resolver });
    return source;
}
//# sourceMappingURL=external-source.js.map