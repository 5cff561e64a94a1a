import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { Problem } from '../kernel/problem.js';
import { startPostgres } from './postgres.js';
import { startRedis } from './redis.js';
import { describeExit, restartDelayMs, untilAborted } from './supervise.js';
const connectTimeoutMs = 5_000;
/**
 * The two services everything needs: those whose URLs are given, checked, or own ones. Throws FAILED_PRECONDITION, worded for whoever
 * typed the command.
 */
export async function startServices(options) {
    const portsFile = join(options.dataFolder, 'ports.json');
    const lastPorts = readLastPorts(portsFile);
    const { databaseUrl, redisUrl } = options;
    const cacheFolder = join(options.root, '.cache');
    // One that fails stops the other, which may be busy for a while (a download).
    const failed = new AbortController();
    const own = { ...options, signal: AbortSignal.any([options.signal, failed.signal]) };
    const postgres = (port) => startPostgres({ ...own, lastPort: lastPorts.postgres, port });
    const ownRedis = (port) => startRedis({ ...own, cacheFolder, lastPort: lastPorts.redis, port });
    const starting = [databaseUrl ? checkDatabase(databaseUrl) : postgres(), redisUrl ? checkRedis(redisUrl) : ownRedis()];
    for (const service of starting)
        service.catch((error) => failed.abort(error));
    // Wait for both even so: nothing may still be starting when the caller cleans up.
    await Promise.allSettled(starting);
    if (failed.signal.aborted)
        throw failed.signal.reason;
    const [database, redis] = await Promise.all(starting);
    if (database.port || redis.port)
        writeFileSync(portsFile, JSON.stringify({ postgres: database.port, redis: redis.port }));
    return {
        databaseUrl: database.url,
        redisUrl: redis.url,
        keepRunning: async (signal) => {
            await Promise.all([
                keepService('PostgreSQL', database, postgres, { ...options, signal }),
                keepService('Redis', redis, ownRedis, { ...options, signal }),
            ]);
        },
    };
}
/** A server that dies is started again on its port, later each time; the processes connect again by themselves. */
async function keepService(name, service, restart, { notice, signal }) {
    let { child } = service;
    for (let deaths = 1; child && service.port; deaths++) {
        const exit = await untilAborted(child.exited, signal);
        if (exit === null || signal.aborted)
            return;
        const delayMs = restartDelayMs(deaths);
        notice(`${name} ${describeExit(exit)}; it is started again in ${delayMs / 1000} s`);
        await sleep(delayMs, undefined, { signal }).catch(() => { });
        if (signal.aborted)
            return;
        child = (await restart(service.port)).child;
        notice(`${name} is back`);
    }
}
function readLastPorts(file) {
    try {
        return JSON.parse(readFileSync(file, 'utf8'));
    }
    catch {
        // The first run, or a file cut off by a crash: any port will do.
        return {};
    }
}
async function checkDatabase(url) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs });
    client.on('error', () => { });
    try {
        await client.connect();
    }
    catch (error) {
        // A database that does not exist yet is made by the release process.
        if (error.code !== '3D000')
            throw unreachable('DATABASE_URL', url, error);
    }
    finally {
        await client.end().catch(() => { });
    }
    return { url };
}
async function checkRedis(url) {
    const client = new Redis(url, { lazyConnect: true, connectTimeout: connectTimeoutMs, retryStrategy: () => null });
    let cause;
    client.on('error', (error) => {
        cause = error;
    });
    try {
        await client.connect();
        await client.ping();
    }
    catch (error) {
        throw unreachable('REDIS_URL', url, cause ?? error);
    }
    finally {
        client.disconnect();
    }
    return { url };
}
function unreachable(variable, url, cause) {
    const where = URL.canParse(url) ? new URL(url).host : 'not a URL';
    // A refused connection to a name with several addresses has its reasons inside.
    const reason = cause instanceof AggregateError ? cause.errors.join(', ') : cause instanceof Error ? cause.message : String(cause);
    return new Problem('FAILED_PRECONDITION', 'SERVICE_UNREACHABLE', `${variable} (${where}) does not answer: ${reason}`, { cause });
}
//# sourceMappingURL=services.js.map