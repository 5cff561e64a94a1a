import { DelayedError, type Job } from 'bullmq'
import { Problem } from '../../kernel/problem.js'
import type { JobDefinition } from '../../platform/queue.js'
import { environmentQueue } from '../deliver/jobs.js'
import type { QueueMessage } from '../wire/queue-message.js'
import { questionFailed } from './state-api.js'

/** The changes of an environment, by the name of its queue instead of its identifier. */
export const changesIn = (queue: string): JobDefinition<QueueMessage> => ({ ...environmentQueue(''), queue })

const longestDelayMs = 30_000
/** About an hour. */
const mostFailedQuestions = 120

/**
 * Puts a message back that could not be applied because something was away: after 0.5, 1, 2 … 30 s, as often as it takes. The attempts of the queue
 * would be used up within seconds, and the message lost to the cache. One that the API fails on, while it answers, is set aside after an hour: it may be the
 * message. Never resolves: what it throws tells the worker.
 */
export async function tryLater(job: Job, cause: Problem): Promise<never> {
  if (cause.reason === questionFailed && !(job.attemptsStarted < mostFailedQuestions))
    throw new Problem('FAILED_PRECONDITION', questionFailed, cause.message, { cause })
  await job.moveToDelayed(Date.now() + Math.min(500 * 2 ** (job.attemptsStarted - 1), longestDelayMs), job.token)
  throw new DelayedError()
}
