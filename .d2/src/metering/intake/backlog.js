import { Gauge } from '../../platform/metrics.js';
const refreshMs = 500;
/** The rest is for workers: a Redis that is full refuses them too, and then nothing is worked off any more. */
const maxShareOfMemory = 0.8;
/**
 * How much usage waits to be stored or counted, looked at twice a second while calls come. Above a mark the door refuses: a queue that grows faster than
 * it is worked off ends with a Redis that refuses everybody.
 */
export class Backlog {
    #parts;
    #refreshedAt = Number.NEGATIVE_INFINITY;
    #refusedFor = null;
    constructor({ metrics, ...parts }) {
        this.#parts = parts;
        const backlog = this;
        new Gauge({
            name: 'tollgate_usage_refused_for_backlog',
            help: '1 while the door refuses usage: too many jobs wait, or Redis uses too much memory',
            labelNames: ['reason'],
            registers: [metrics],
            async collect() {
                // Looked at here too: without calls nobody else would notice that it is over.
                await backlog.refresh().catch(() => undefined);
                for (const reason of ['jobs', 'memory'])
                    this.set({ reason }, backlog.#refusedFor === reason ? 1 : 0);
            },
        });
    }
    /** As of the last look, and has it looked again. What cannot be looked at is not too long: adding a job will tell. */
    isTooLong() {
        if (performance.now() - this.#refreshedAt > refreshMs) {
            this.#refreshedAt = performance.now();
            this.refresh().catch(() => this.#note(null, {}));
        }
        return this.#refusedFor !== null;
    }
    async refresh() {
        const { redis, queues, limits } = this.#parts;
        const [info, ...waiting] = await Promise.all([redis.info('memory'), ...queues.map((queue) => queue.waiting())]);
        const memory = (name) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
        const usedBytes = memory('used_memory');
        const maxBytes = limits.maxRedisBytes ?? (memory('maxmemory') * maxShareOfMemory || Number.POSITIVE_INFINITY);
        const waitingJobs = Math.max(0, ...waiting);
        const reason = waitingJobs > limits.maxWaitingJobs ? 'jobs' : usedBytes > maxBytes ? 'memory' : null;
        this.#note(reason, { waitingJobs, usedBytes });
    }
    /** One line when it begins and one when it is over. */
    #note(reason, facts) {
        if (reason === this.#refusedFor)
            return;
        this.#refusedFor = reason;
        if (reason)
            this.#parts.log.warn({ reason, ...facts }, 'usage is refused: too much of it waits');
        else
            this.#parts.log.info(facts, 'usage is taken again');
    }
}
//# sourceMappingURL=backlog.js.map