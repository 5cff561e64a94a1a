/**
 * Queues: how processes wake each other. A job is a wake-up or a parcel, never the truth: every handler may run twice (a worker that stalls loses
 * its job to another one), and what a lost job leaves undone is found in PostgreSQL by a sweep.
 *
 * definition  name and shape of a job; its payload carries the version of the shape as `v`
 * put back    a worker that does not know the version (an older one, during a deploy) returns the job for one that does
 */
import { DelayedError, Queue, UnrecoverableError, Worker } from 'bullmq';
import { Problem, unavailable } from '../kernel/problem.js';
import { Counter, Gauge, Histogram, latencyBuckets } from './metrics.js';
import { openRedis } from './redis.js';
const defaultOptions = {
    attempts: 3,
    backoff: { type: 'fixed', delay: 1_000 },
    removeOnComplete: { count: 200, age: 3_600 },
    removeOnFail: { count: 1_000, age: 7 * 86_400 },
};
/** How long a job waits that was put back: about as long as a deploy has both versions of a worker running, but not all in one try. */
const putBackMs = 2_000;
/** First connection of a process: its Redis may be starting too. */
const firstConnectionMs = 2_000;
/** Clients that fail fast, one for all queues of a process. */
const clients = new WeakMap();
function requestClient(life, redisUrl) {
    const ofLife = clients.get(life) ?? new Map();
    clients.set(life, ofLife);
    const open = ofLife.get(redisUrl);
    if (open)
        return open;
    const client = openRedis(life, redisUrl, 'queue');
    ofLife.set(redisUrl, client);
    return client;
}
/** Opens the sending end of a queue; closed with the process. */
export function openQueue(life, { redisUrl, prefix }, definition) {
    const client = requestClient(life, redisUrl);
    const queue = openBullQueue(life, client, definition.queue, prefix);
    const opts = { ...defaultOptions, ...definition.options };
    let hasConnected = false;
    const checkConnected = async () => {
        if (!hasConnected)
            hasConnected = await isReadyWithin(client, firstConnectionMs);
        if (client.status !== 'ready')
            throw unavailable('The queue is away. Nothing was changed: try again.');
    };
    return {
        async add(data, options) {
            await checkConnected();
            await queue.add(definition.name, data, options ? { ...opts, ...options } : opts).catch(explainFull);
        },
        async addAll(data) {
            await checkConnected();
            await queue.addBulk(data.map((one) => ({ name: definition.name, data: one, opts }))).catch(explainFull);
        },
        waiting: () => queue.getWaitingCount(),
    };
}
/** Redis at its `maxmemory` refuses a job before any of it is written. */
function explainFull(error) {
    if (!/\bOOM command not allowed\b/.test(error.message))
        throw error;
    throw new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'The queue is full. Nothing was changed: try again in a moment.', {
        cause: error,
    });
}
function openBullQueue(life, client, name, prefix) {
    // The event stream is read by nobody but an operator's eyes.
    const queue = new Queue(name, {
        connection: client,
        prefix,
        skipWaitingForReady: true,
        skipVersionCheck: true,
        streams: { events: { maxLen: 200 } },
    });
    queue.on('error', (error) => life.log.debug({ err: error, queue: name }, 'queue connection error'));
    return life.open(`queue ${name}`, queue, (q) => q.close());
}
/** Waits for the first connection only: later outages are to be noticed at once. */
function isReadyWithin(client, timeoutMs) {
    if (client.status === 'ready')
        return Promise.resolve(true);
    return new Promise((resolve) => {
        const settle = () => {
            clearTimeout(timer);
            client.off('ready', settle);
            resolve(client.status === 'ready');
        };
        const timer = setTimeout(settle, timeoutMs);
        client.on('ready', settle);
    });
}
/**
 * Works off a queue until the process stops: then takes no more jobs, and waits for those in work. Readiness follows progress, not the
 * connection: after an outage a worker can be connected and fetch nothing.
 */
export function consume(life, { redisUrl, prefix }, definition, { concurrency, handler, lockMs = 10_000, stalledAfterSeconds = 30 }) {
    const { queue: name } = definition;
    const connection = openRedis(life, redisUrl, 'worker');
    const metrics = jobMetrics(life.metrics);
    const progress = { lastFinishedAt: Date.now() };
    const worker = new Worker(name, async (job, token) => {
        const isKnown = job.name === definition.name && job.data?.v === definition.version;
        if (!isKnown)
            return putBack(life, job, token);
        const done = metrics.duration.startTimer({ queue: name });
        try {
            await handler(parsed(definition, job.data), { signal: life.signal, job });
        }
        catch (error) {
            throw error instanceof Problem && !error.isRetryable ? unrecoverable(error) : error;
        }
        finally {
            done();
            progress.lastFinishedAt = Date.now();
        }
    }, { connection, prefix, concurrency, lockDuration: lockMs, stalledInterval: lockMs / 2, maxStalledCount: 10, skipVersionCheck: true });
    worker.on('error', (error) => life.log.debug({ err: error, queue: name }, 'worker connection error'));
    worker.on('completed', () => metrics.jobs.inc({ queue: name, result: 'finished' }));
    worker.on('failed', (job, error) => {
        const isFinal = job?.finishedOn !== undefined;
        metrics.jobs.inc({ queue: name, result: isFinal ? 'failed' : 'retried' });
        life.log[isFinal ? 'error' : 'warn']({ err: error, queue: name, jobId: job?.id, attempt: job?.attemptsMade }, isFinal ? 'job failed' : 'job will be tried again');
    });
    worker.on('stalled', (jobId) => {
        metrics.jobs.inc({ queue: name, result: 'stalled' });
        life.log.warn({ queue: name, jobId }, 'job was taken from a worker that fell silent');
    });
    const watched = openBullQueue(life, requestClient(life, redisUrl), name, prefix);
    metrics.watch(name, () => watched.getWaitingCount());
    life.readyWhen(() => readiness(watched, progress, stalledAfterSeconds));
    life.open(`worker ${name}`, worker, (w) => closeWithin(w, 2_000));
    life.onStop(`worker ${name}`, async () => {
        // Without Redis the worker cannot tell that it is done; the deadline of the process would be spent on nothing.
        if (connection.status === 'ready')
            await worker.close();
    });
}
function parsed(definition, data) {
    try {
        return definition.parse(data);
    }
    catch (error) {
        throw unrecoverable(error);
    }
}
function unrecoverable(cause) {
    const error = new UnrecoverableError(cause.message);
    error.cause = cause;
    return error;
}
/** Never dead-letters it: during a deploy another worker knows the version. */
async function putBack(life, job, token) {
    life.log.debug({ queue: job.queueName, jobId: job.id, name: job.name, version: job.data?.v }, 'job of an unknown version put back');
    await job.moveToDelayed(Date.now() + putBackMs, token);
    throw new DelayedError();
}
/** `close` has no timeout of its own and waits for a Redis that may never come back. */
async function closeWithin(worker, timeoutMs) {
    let timer;
    const timeout = new Promise((resolve) => {
        timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([worker.close(), timeout]);
    clearTimeout(timer);
}
async function readiness(queue, progress, stalledAfterSeconds) {
    try {
        const [waiting, oldest] = await Promise.all([queue.getWaitingCount(), queue.getWaiting(0, 0)]);
        const waitingSince = oldest[0]?.timestamp ?? Date.now();
        const silentSeconds = Math.max(0, Date.now() - Math.max(progress.lastFinishedAt, waitingSince)) / 1_000;
        const isStalled = waiting > 0 && silentSeconds > stalledAfterSeconds;
        return {
            status: isStalled ? 'DOWN' : 'UP',
            redis: 'UP',
            [queue.name]: { waiting, ...(isStalled ? { nothingFinishedForSeconds: Math.round(silentSeconds) } : {}) },
        };
    }
    catch {
        return { status: 'DOWN', redis: 'DOWN' };
    }
}
const metricsOf = new WeakMap();
/** One set of metrics for all queues of a process. */
function jobMetrics(registry) {
    const existing = metricsOf.get(registry);
    if (existing)
        return existing;
    const watched = new Map();
    new Gauge({
        name: 'tollgate_jobs_waiting',
        help: 'Jobs that wait for a worker, by queue',
        labelNames: ['queue'],
        registers: [registry],
        async collect() {
            // A Redis that is away leaves the last value: the scrape must not fail for it.
            await Promise.all([...watched].map(([queue, waiting]) => waiting().then((count) => this.set({ queue }, count), () => undefined)));
        },
    });
    const metrics = {
        jobs: new Counter({
            name: 'tollgate_jobs_total',
            help: 'Jobs by queue and result: finished, failed (for good), retried, stalled',
            labelNames: ['queue', 'result'],
            registers: [registry],
        }),
        duration: new Histogram({
            name: 'tollgate_job_duration_seconds',
            help: 'Time a handler took, by queue',
            labelNames: ['queue'],
            buckets: latencyBuckets,
            registers: [registry],
        }),
        watch: (queue, waiting) => watched.set(queue, waiting),
    };
    metricsOf.set(registry, metrics);
    return metrics;
}
//# sourceMappingURL=queue.js.map