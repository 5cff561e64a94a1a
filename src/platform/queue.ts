/**
 * Queues: how processes wake each other. A job is a wake-up or a parcel, never the truth: every handler may run twice (a worker that stalls loses
 * its job to another one), and what a lost job leaves undone is found in PostgreSQL by a sweep.
 *
 * definition  name and shape of a job; its payload carries the version of the shape as `v`
 * put back    a worker that does not know the version (an older one, during a deploy) returns the job for one that does
 *
 * A queue may be written to by others than the platform's processes. So nothing that a job says of itself decides how often it is tried and how long it is
 * kept, and what cannot be read is set aside among the failed jobs.
 */
import { type JobsOptions, Queue } from 'bullmq'
import { LRUCache } from 'lru-cache'
import { Problem, unavailable } from '../kernel/problem.js'
import { sendTraced } from './context/job-trace.js'
import type { Life } from './process.js'
import { queuePrefix } from './redis/slots.js'
import { type Redis, type RedisUser, sharedRedis } from './redis.js'

export interface QueueConnection {
  redisUrl: string
  /** Of all keys; in braces for Redis Cluster, where each queue has a tag of its own (`redis/slots.ts`). */
  prefix: string
  /** Whom the URL names; default: the platform's. */
  user?: RedisUser
}

export interface JobDefinition<T extends { v: number }> {
  /** Several definitions may share a queue only when its one worker handles them all. */
  queue: string
  name: string
  version: number
  /** Checks the payload of a job of this version. What it throws fails the job for good. */
  parse(data: unknown): T
  /** Beyond the defaults: one attempt more after a second, twice; finished jobs are kept for an hour, failed ones for a week. */
  options?: JobsOptions
}

export interface AddOptions {
  /** Milliseconds until a worker may take it. */
  delay?: number
  /**
   * While a job with this key waits or is in work, no other is added. Once it has ended, well or not, the next one is: an id of our own would keep others
   * out for as long as the ended job is kept.
   */
  onceAtATime?: string
}

export interface JobQueue<T> {
  /**
   * Adds a job. Fails with UNAVAILABLE at once, having sent nothing, while Redis is away, and with RESOURCE_EXHAUSTED when it is full: nothing was added
   * then, nor when it fails with INTERNAL, as no JSON could be made of the job. Fails with another error when the connection broke meanwhile, and then the job may have been added.
   */
  add(data: T, options?: AddOptions): Promise<void>
  /** Adds a job for each, all or none, in one exchange with Redis. Fails as `add` does. */
  addAll(data: readonly T[]): Promise<void>
  /** Jobs that wait for a worker. Fails with UNAVAILABLE at once while Redis is away. */
  waiting(): Promise<number>
  /** Those, the ones that wait for a time to come, and the ones that are in work. Fails likewise. */
  unfinished(): Promise<number>
}

export const defaultOptions: JobsOptions = {
  attempts: 3,
  backoff: { type: 'fixed', delay: 1_000 },
  removeOnComplete: { count: 200, age: 3_600 },
  removeOnFail: { count: 1_000, age: 7 * 86_400 },
}

/** First connection of a process: its Redis may be starting too. */
const firstConnectionMs = 2_000

/** Of one kind, in a process: some kilobytes each. */
const mostQueues = 1_000

/** Opens the sending end of a queue; closed with the process. */
export function openQueue<T extends { v: number }>(
  life: Life,
  { redisUrl, prefix, user }: QueueConnection,
  definition: JobDefinition<T>,
): JobQueue<T> {
  const client = sharedRedis(life, redisUrl, 'queue', user)
  return sendingTo(openBullQueue(life, client, definition.queue, prefix), client, definition)
}

/** The sending ends of queues that there is one of for each of many, each opened when it is needed. While too many are open, the one that was not used for longest is closed. */
export function openQueues<T extends { v: number }>(
  life: Life,
  { redisUrl, prefix, user }: QueueConnection,
  definitionOf: (whose: string) => JobDefinition<T>,
): (whose: string) => JobQueue<T> {
  const client = sharedRedis(life, redisUrl, 'queue', user)
  const close = (queue: Queue) => queue.close().catch((error: unknown) => life.log.debug({ err: error }, 'queue not closed'))
  const open = new LRUCache<string, { queue: Queue; sending: JobQueue<T> }>({
    max: mostQueues,
    // What is being added goes on: the connection is that of all.
    dispose: ({ queue }) => void close(queue),
  })
  life.open('queues', open, (all) => Promise.all(Array.from(all.values(), ({ queue }) => close(queue))))
  return (whose) => {
    const known = open.get(whose)
    if (known) return known.sending
    const definition = definitionOf(whose)
    const queue = newBullQueue(life, client, definition.queue, prefix)
    const sending = sendingTo(queue, client, definition)
    open.set(whose, { queue, sending })
    return sending
  }
}

function sendingTo<T extends { v: number }>(queue: Queue, client: Redis, definition: JobDefinition<T>): JobQueue<T> {
  const opts = { ...defaultOptions, ...definition.options }
  let hasConnected = false
  const checkConnected = async () => {
    if (!hasConnected) hasConnected = await isReadyWithin(client, firstConnectionMs)
    if (client.status !== 'ready') throw unavailable('The queue is away. Nothing was changed: try again.')
  }
  return {
    add: (data, { delay, onceAtATime } = {}) =>
      sendTraced(definition.queue, [data], async ([job]) => {
        await checkConnected()
        const own = { ...(delay !== undefined && { delay }), ...(onceAtATime !== undefined && { deduplication: { id: onceAtATime } }) }
        await queue.add(definition.name, job, { ...opts, ...own }).catch(explainRefusal)
      }),
    addAll: (data) =>
      sendTraced(definition.queue, data, async (jobs) => {
        await checkConnected()
        await queue.addBulk(jobs.map((one) => ({ name: definition.name, data: one, opts }))).catch(explainRefusal)
      }),
    async waiting() {
      await checkConnected()
      return queue.getWaitingCount()
    },
    async unfinished() {
      await checkConnected()
      return queue.getJobCountByTypes('waiting', 'delayed', 'active')
    },
  }
}

/** What cannot be made JSON of was not sent, and Redis at its `maxmemory` refuses a job before any of it is written. */
function explainRefusal(error: unknown): never {
  if (error instanceof TypeError || error instanceof RangeError) throw Problem.from(error)
  if (!/\bOOM command not allowed\b/.test((error as Error).message)) throw error
  throw new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'The queue is full. Nothing was changed: try again in a moment.', {
    cause: error,
  })
}

export function openBullQueue(life: Life, client: Redis, name: string, prefix: string): Queue {
  return life.open(`queue ${name}`, newBullQueue(life, client, name, prefix), (queue) => queue.close())
}

function newBullQueue({ log }: Life, client: Redis, name: string, prefix: string): Queue {
  // The event stream is read by nobody but an operator's eyes.
  const queue = new Queue(name, {
    connection: client,
    prefix: queuePrefix(prefix, name),
    skipWaitingForReady: true,
    skipVersionCheck: true,
    streams: { events: { maxLen: 200 } },
  })
  queue.on('error', (error) => log.debug({ err: error, queue: name }, 'queue connection error'))
  return queue
}

/** Waits for the first connection only: later outages are to be noticed at once. */
function isReadyWithin(client: Redis, timeoutMs: number): Promise<boolean> {
  if (client.status === 'ready') return Promise.resolve(true)
  return new Promise((resolve) => {
    const settle = () => {
      clearTimeout(timer)
      client.off('ready', settle)
      resolve(client.status === 'ready')
    }
    const timer = setTimeout(settle, timeoutMs)
    client.on('ready', settle)
  })
}
