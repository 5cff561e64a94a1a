import { setTimeout as sleep } from 'node:timers/promises'
import { DelayedError, type Job, type Queue, UnrecoverableError, Worker } from 'bullmq'
import { shareOf } from '../../kernel/crowd.js'
import { Problem } from '../../kernel/problem.js'
import { Tally } from '../../kernel/tally.js'
import { type TracedJob, traceIdOfJob, workTraced } from '../context/job-trace.js'
import { setAsideUnreadable } from '../dead-letters.js'
import type { Readiness } from '../health.js'
import { jobMetrics } from '../job-metrics.js'
import type { Life } from '../process.js'
import { defaultOptions, type JobDefinition, openBullQueue, type QueueConnection } from '../queue.js'
import { queuePrefix } from '../redis/slots.js'
import { openRedis, sharedRedis } from '../redis.js'

/** How long a job waits that was put back: about as long as a deploy has both versions of a worker running, but not all in one try. */
const putBackMs = 2_000
/** From then on there is no hurry, and after the last (more than half a day) nobody will ever know the version. */
const soonPutBack = 30
const longPutBackMs = 30_000
const mostPutBacks = 2_000

export interface ConsumeOptions<T> {
  /** Jobs in work at once in this process; with `owners`, owners that have some. */
  concurrency: number
  /**
   * The jobs of an owner count as one, however many are in work: a queue gives them in their order, so those that one had waiting would keep all others out.
   * The handler is to work on them together or one after the other. `mostJobs`: of all owners; one has at most its share (`shareOf`) of them, and
   * what is more comes again after two seconds. `isSwept`: a sweep finds what jobs are about without them; what is more ends at once then, for it to find.
   */
  owners?: { of(data: T): string; mostJobs: number; isSwept?: boolean }
  /**
   * May run twice for one job. `signal` aborts when the process is asked to stop. Throw to have the job retried; a Problem that is not
   * retryable, like an UnrecoverableError, fails it for good; a NotBegun leaves it to another worker.
   */
  handler: (data: T, context: { signal: AbortSignal; job: Job }) => Promise<void>
  /** How long a worker may be silent before others take over its job; a handler that blocks the event loop longer runs twice. Default 10,000. */
  lockMs?: number
  /** Not ready when jobs wait and none was finished for so long. Default 30. */
  stalledAfterSeconds?: number
}

/**
 * Works off a queue until the process stops: then takes no more jobs, and waits for those in work. Readiness follows progress, not the
 * connection: after an outage a worker can be connected and fetch nothing.
 */
export function consume<T extends { v: number }>(
  life: Life,
  { redisUrl, prefix, user }: QueueConnection,
  definition: JobDefinition<T>,
  { concurrency, owners, handler, lockMs = 10_000, stalledAfterSeconds = 30 }: ConsumeOptions<T>,
): void {
  const { queue: name } = definition
  const connection = openRedis(life, redisUrl, 'worker', user)
  const metrics = jobMetrics(life.metrics)
  const progress: Progress = { lastFinishedAt: performance.now(), oldest: null, heldSince: null }
  const { attempts, backoff, removeOnComplete, removeOnFail } = { ...defaultOptions, ...definition.options }
  const keeping = { attempts, backoff, removeOnComplete, removeOnFail }

  let inWork = 0
  const owned = new Tally()
  /** BullMQ takes jobs while fewer are in work than may be. */
  const count = (owner: string, by: 1 | -1): number => {
    const ofOwner = owned.add(owner, by)
    worker.concurrency = Math.min(owners!.mostJobs, concurrency + owned.more)
    progress.heldSince = owned.more === 0 ? null : (progress.heldSince ?? performance.now())
    return ofOwner
  }
  const work = async (job: Job, given: T): Promise<void> => {
    if (!owners) return handler(given, { signal: life.signal, job })
    const owner = owners.of(given)
    // The handler has it, and lets go of what is heavy while many wait.
    job.data = { trace: (job.data as TracedJob).trace }
    try {
      const own = count(owner, 1)
      if (own > Math.max(1, shareOf({ most: owners.mostJobs, taken: owned.inAll, own }))) {
        if (owners.isSwept) return
        throw new NotBegun()
      }
      await handler(given, { signal: life.signal, job })
    } finally {
      count(owner, -1)
    }
  }
  const options = { connection, prefix: queuePrefix(prefix, name), concurrency, skipVersionCheck: true }
  const worker = new Worker(
    name,
    async (job, token) => {
      Object.assign(job.opts, keeping)
      const version = (job.data as { v?: unknown } | null)?.v
      if (typeof version !== 'number') throw new UnreadableJob('it says no version')
      if (job.name !== definition.name || version !== definition.version) return putBack(life, job, token)
      const done = metrics.duration.startTimer({ queue: name })
      const finished = () => {
        done()
        progress.lastFinishedAt = performance.now()
      }
      inWork += 1
      try {
        await workTraced(name, job, (data) => work(job, parsed(definition, data)))
        finished()
      } catch (error) {
        // That is no progress.
        if (error instanceof NotBegun) return await delay(job, token, putBackMs)
        finished()
        throw error instanceof Problem && !error.isRetryable ? unrecoverable(error) : error
      } finally {
        inWork -= 1
      }
    },
    { ...options, lockDuration: lockMs, stalledInterval: lockMs / 2, maxStalledCount: 10 },
  )
  worker.on('error', (error) => life.log.debug({ err: error, queue: name }, 'worker connection error'))
  worker.on('completed', () => metrics.jobs.inc({ queue: name, result: 'finished' }))
  worker.on('failed', (job, error) => {
    const isFinal = job?.finishedOn !== undefined
    if (isFinal && isUnexpected(error)) life.unexpected(error)
    const isUnreadable = error instanceof UnreadableJob
    metrics.jobs.inc({ queue: name, result: isUnreadable ? 'unreadable' : isFinal ? 'failed' : 'retried' })
    life.log[isFinal && !isUnreadable ? 'error' : 'warn'](
      { err: error, queue: name, jobId: job?.id, attempt: job?.attemptsMade, ...traceIdOfJob(job?.data) },
      isFinal ? 'job failed' : 'job will be tried again',
    )
  })
  const client = sharedRedis(life, redisUrl, 'queue', user)
  const setAside = async (jobId: string) => {
    const reason = await setAsideUnreadable(client, `${queuePrefix(prefix, name)}:${name}`, jobId, Date.now())
    metrics.jobs.inc({ queue: name, result: reason === null ? 'stalled' : 'unreadable' })
    life.log.warn({ queue: name, jobId, reason }, reason === null ? 'job was taken from a worker that fell silent' : 'job set aside')
  }
  worker.on('stalled', (jobId) => {
    setAside(jobId).catch((error: unknown) => life.log.debug({ err: error, queue: name, jobId }, 'job not looked at'))
  })

  const watched = openBullQueue(life, client, name, prefix)
  metrics.watch(name, async () => (await watched.getWaitingCount()) + owned.more)
  life.readyWhen(() => readiness(watched, progress, stalledAfterSeconds))
  life.open(`worker ${name}`, worker, (w) => isSettledWithin(w.close(), closeMs))
  life.onStop(`worker ${name}`, async () => {
    // Without Redis the worker cannot tell that it is done; the deadline of the process would be spent on nothing.
    if (connection.status !== 'ready') return
    const closed = worker.close()
    // One that has found its connection again a moment ago may wait for what never comes, with nothing in work.
    while (!(await isSettledWithin(closed, closeMs)) && inWork > 0);
  })
}

function parsed<T extends { v: number }>(definition: JobDefinition<T>, data: unknown): T {
  try {
    return definition.parse(data)
  } catch (error) {
    throw new UnreadableJob((error as Error).message)
  }
}

/** The job is none of ours: nothing has failed here. */
class UnreadableJob extends UnrecoverableError {}

/** Whether it is a fault of ours, and not of the job or of what is away. */
function isUnexpected(error: Error): boolean {
  if (error instanceof UnreadableJob) return false
  return Problem.from(error.cause instanceof Problem ? error.cause : error).code === 'INTERNAL'
}

function unrecoverable(cause: unknown): UnrecoverableError {
  const error = new UnrecoverableError((cause as Error).message)
  error.cause = cause
  return error
}

/** Thrown by a handler that has done nothing about the job, and will not. */
export class NotBegun extends Error {
  override readonly name = 'NotBegun'
}

async function delay(job: Job, token: string | undefined, ms: number): Promise<never> {
  await job.moveToDelayed(Date.now() + ms, token)
  throw new DelayedError()
}

/** During a deploy another worker knows the version. */
async function putBack(life: Life, job: Job, token: string | undefined): Promise<never> {
  // Not the other way round: a count that is none is none below.
  if (!(job.attemptsStarted < mostPutBacks)) throw new UnreadableJob('no worker knows its name and version')
  life.log.debug(
    { queue: job.queueName, jobId: job.id, name: job.name, version: (job.data as { v?: unknown } | null)?.v },
    'job of an unknown version put back',
  )
  return delay(job, token, job.attemptsStarted <= soonPutBack ? putBackMs : longPutBackMs)
}

/** To close a worker that has nothing in work: `close` has no timeout of its own and waits for a Redis that may never come back. */
const closeMs = 2_000

const isSettledWithin = (promise: Promise<unknown>, timeoutMs: number): Promise<boolean> =>
  Promise.race([promise.then(() => true), sleep(timeoutMs, false, { ref: false })])

/** By the clock that only goes on: those of the processes that add jobs may be wrong. */
interface Progress {
  lastFinishedAt: number
  /** The job that has waited longest, and since when that was seen. */
  oldest: { id: string | undefined; since: number } | null
  /** Since when jobs wait here for others of their owner; null: none does. */
  heldSince: number | null
}

async function readiness(queue: Queue, progress: Progress, stalledAfterSeconds: number): Promise<Readiness> {
  try {
    const [waiting, [oldest]] = await Promise.all([queue.getWaitingCount(), queue.getWaiting(0, 0)])
    const now = performance.now()
    if (!oldest) progress.oldest = null
    else if (progress.oldest?.id !== oldest.id) progress.oldest = { id: oldest.id, since: now }
    const waitedSince = Math.min(progress.oldest?.since ?? now, progress.heldSince ?? now)
    const silentSeconds = (now - Math.max(progress.lastFinishedAt, waitedSince)) / 1_000
    const isStalled = silentSeconds > stalledAfterSeconds
    return {
      status: isStalled ? 'DOWN' : 'UP',
      redis: 'UP',
      [queue.name]: { waiting, ...(isStalled ? { nothingFinishedForSeconds: Math.round(silentSeconds) } : {}) },
    }
  } catch {
    return { status: 'DOWN', redis: 'DOWN' }
  }
}
