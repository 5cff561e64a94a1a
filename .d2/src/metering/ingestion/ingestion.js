import { announcementOf } from '../../changes/state-bus.js';
import { DatabaseClock } from '../../platform/database-clock.js';
import { Bindings } from '../counting/bindings.js';
import { readTime } from '../counting/counter-repository.js';
import { toPlainProblem } from '../model/problems.js';
import { replyChannel } from '../wire/jobs.js';
import { unpackEvents } from '../wire/packed-events.js';
import { packAnswer, unpackCall } from '../wire/packed-reports.js';
import { EventIngestion } from './events/event-ingestion.js';
import { createIngestionMetrics } from './ingestion-metrics.js';
import { ReportIngestion } from './reports/report-ingestion.js';
/** Settings of connections that count: statements are planned once and for any size. A plan made while a table was empty took 450 ms a batch. */
export const countingSession = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' };
// KEYS: none. ARGV: channel and text of an announcement, those of the reply. In one step, so that the reply can say how many hear the announcement.
const announceAndReply = `
local receivers = redis.call('PUBLISH', ARGV[1], ARGV[2])
redis.call('PUBLISH', ARGV[3], '{"receivers":' .. receivers .. ',' .. string.sub(ARGV[4], 2))`;
/** Works off ingestion jobs: commits, then replies to the door, then wakes who is next. Safe to run twice for a job. */
export class Ingestion {
    #parts;
    #redis;
    #reports;
    #events;
    constructor(parts) {
        this.#parts = parts;
        parts.redis.defineCommand('announceAndReply', { numberOfKeys: 0, lua: announceAndReply });
        this.#redis = parts.redis;
        const { pool, log, stored } = parts;
        const metrics = createIngestionMetrics(parts.metrics);
        const clock = new DatabaseClock(() => readTime(pool));
        this.#reports = new ReportIngestion({ pool, log, metrics, clock, bindings: new Bindings(parts.loadHoldings) });
        this.#events = new EventIngestion({ pool, log, metrics, clock, stored });
    }
    /** `isRerun`: the job was started before. */
    async ingest(job, isRerun) {
        const { environmentId, isRepeat, batch } = job;
        const mayRepeat = isRepeat || isRerun;
        if (batch.kind === 'events') {
            const calls = batch.calls.map(({ deadline, packed }) => ({ deadline, items: unpackEvents(packed) }));
            this.#reply(job, await this.#events.ingest(environmentId, calls, mayRepeat));
            return;
        }
        const answers = await this.#reports.ingest(environmentId, batch.calls.map(unpackCall), mayRepeat);
        const usages = answers.flatMap((answer) => ('usages' in answer ? answer.usages : []));
        this.#reply(job, answers.map(packAnswer), usages);
        if (usages.length > 0)
            this.#parts.changed(environmentId);
    }
    /** Tells the door that nothing of the job was counted, and why. */
    refuse(job, problem) {
        this.#reply(job, job.batch.calls.map(() => ({ problem: toPlainProblem(problem) })));
    }
    /** Not waited for: a reply that is lost is asked for again by the door, so it must neither fail nor hold up what is committed. */
    #reply({ environmentId, door, batchId, announcement }, answers, usages = []) {
        const { prefix, log } = this.#parts;
        const reply = [replyChannel(prefix, door), JSON.stringify({ batchId, answers })];
        const sent = announcement && usages.length > 0
            ? this.#redis.announceAndReply(...announcementOf(prefix, environmentId, usages.map(toHeldChange), announcement), ...reply)
            : this.#redis.publish(...reply);
        sent.catch((error) => log.warn({ err: error, batchId }, 'reply lost'));
    }
}
/** Readers that hold the state can take the usage over, where nothing else has changed; with it, their state is as of this report. */
function toHeldChange({ customerId, resourceId, featureId, timestamp, ...usage }) {
    const { currentUsage, periodStart, periodEnd, isAccessChanged } = usage;
    if (isAccessChanged)
        return { customerId, version: timestamp };
    return {
        customerId,
        version: timestamp,
        usage: { resourceId, featureId, usage: { currentUsage, periodStart, periodEnd, updatedAt: timestamp } },
    };
}
//# sourceMappingURL=ingestion.js.map