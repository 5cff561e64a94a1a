import { Queue } from 'bullmq';
import { Problem } from '../kernel/problem.js';
const maxShown = 200;
/** The failed jobs of all queues, whatever queues there are. What they should have done may have been done since by a sweep: doing it again is harmless. */
export class DeadLetters {
    redis;
    prefix;
    constructor(redis, prefix) {
        this.redis = redis;
        this.prefix = prefix;
    }
    /** The latest first. */
    async list() {
        const letters = [];
        for (const name of await this.#queues()) {
            const failed = await this.#with(name, (queue) => queue.getFailed(0, maxShown - 1));
            letters.push(...failed.map(toLetter));
        }
        return letters.sort((a, b) => (b.failedAt ?? 0) - (a.failedAt ?? 0)).slice(0, maxShown);
    }
    /** Fails with NOT_FOUND. */
    show(id) {
        return this.#of(id, async (job) => toLetter(job));
    }
    /** Gives the job to a worker once more. */
    retry(id) {
        return this.#of(id, (job) => job.retry('failed'));
    }
    discard(id) {
        return this.#of(id, (job) => job.remove());
    }
    async #of(id, work) {
        const cut = id.indexOf('/');
        const [name, jobId] = [id.slice(0, cut), id.slice(cut + 1)];
        return this.#with(name, async (queue) => {
            const job = cut > 0 ? await queue.getJob(jobId) : undefined;
            if (!job || !(await job.isFailed()))
                throw new Problem('NOT_FOUND', 'DEAD_LETTER_NOT_FOUND', `There is no failed job ${id}: list shows those that there are.`);
            return work(job);
        });
    }
    async #with(name, work) {
        const queue = new Queue(name, { connection: this.redis, prefix: this.prefix, skipVersionCheck: true });
        queue.on('error', () => undefined);
        try {
            return await work(queue);
        }
        finally {
            await queue.close();
        }
    }
    /** Every queue leaves a `meta` key. */
    async #queues() {
        const names = new Set();
        let cursor = '0';
        do {
            const [next, keys] = await this.redis.scan(cursor, 'MATCH', `${escaped(this.prefix)}:*:meta`, 'COUNT', 1_000);
            cursor = next;
            for (const key of keys)
                names.add(key.slice(this.prefix.length + 1, -':meta'.length));
        } while (cursor !== '0');
        return [...names].sort();
    }
}
/** As a pattern that matches the text itself. */
const escaped = (text) => text.replace(/[\\*?[\]]/g, '\\$&');
function toLetter(job) {
    return {
        id: `${job.queueName}/${job.id}`,
        queue: job.queueName,
        job: job.name,
        attempts: job.attemptsMade,
        reason: job.failedReason,
        failedAt: job.finishedOn ?? null,
        data: job.data,
    };
}
//# sourceMappingURL=dead-letters.js.map