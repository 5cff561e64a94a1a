import { DelayedError } from 'bullmq';
import { environmentQueue } from '../deliver/jobs.js';
/** The changes of an environment, by the name of its queue instead of its identifier. */
export const changesIn = (queue) => ({ ...environmentQueue(''), queue });
const longestDelayMs = 30_000;
/**
 * Puts a message back that could not be applied because something was away: after 0.5, 1, 2 … 30 s, as often as it takes. The attempts of the queue
 * would be used up within seconds, and the message lost to the cache. Never resolves: what it throws tells the worker.
 */
export async function tryLater(job) {
    await job.moveToDelayed(Date.now() + Math.min(500 * 2 ** (job.attemptsStarted - 1), longestDelayMs), job.token);
    throw new DelayedError();
}
//# sourceMappingURL=jobs.js.map