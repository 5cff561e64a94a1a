import { type Job, Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { Problem } from '../kernel/problem.js'
import { scanKeys } from './redis/cluster.js'
import { loosePrefix, queuePrefix } from './redis/slots.js'

/** A job that failed for good: after its last attempt, or because trying again would not help. */
export interface DeadLetter {
  /** `queue/job`: what names it in commands. */
  id: string
  queue: string
  job: string
  attempts: number
  /** Why it failed last. */
  reason: string
  failedAt: number | null
  data: unknown
}

const maxShown = 200

/** The failed jobs of all queues, whatever queues there are. What they should have done may have been done since by a sweep: doing it again is harmless. */
export class DeadLetters {
  constructor(
    private readonly redis: Redis,
    private readonly prefix: string,
  ) {}

  /** The latest first. */
  async list(): Promise<DeadLetter[]> {
    const letters: DeadLetter[] = []
    for (const name of await this.#queues()) {
      const failed = await this.#with(name, (queue) => queue.getFailed(0, maxShown - 1))
      letters.push(...failed.map(toLetter))
    }
    return letters.sort((a, b) => (b.failedAt ?? 0) - (a.failedAt ?? 0)).slice(0, maxShown)
  }

  /** Fails with NOT_FOUND. */
  show(id: string): Promise<DeadLetter> {
    return this.#of(id, async (job) => toLetter(job))
  }

  /** Gives the job to a worker once more. */
  retry(id: string): Promise<void> {
    return this.#of(id, (job) => job.retry('failed'))
  }

  discard(id: string): Promise<void> {
    return this.#of(id, (job) => job.remove())
  }

  async #of<T>(id: string, work: (job: Job) => Promise<T>): Promise<T> {
    const cut = id.indexOf('/')
    const [name, jobId] = [id.slice(0, cut), id.slice(cut + 1)]
    return this.#with(name, async (queue) => {
      const job = cut > 0 ? await queue.getJob(jobId) : undefined
      if (!job || !(await job.isFailed()))
        throw new Problem('NOT_FOUND', 'DEAD_LETTER_NOT_FOUND', `There is no failed job ${id}: list shows those that there are.`)
      return work(job)
    })
  }

  async #with<T>(name: string, work: (queue: Queue) => Promise<T>): Promise<T> {
    const queue = new Queue(name, { connection: this.redis, prefix: queuePrefix(this.prefix, name), skipVersionCheck: true })
    queue.on('error', () => undefined)
    try {
      return await work(queue)
    } finally {
      await queue.close()
    }
  }

  /** Every queue leaves a `meta` key. */
  async #queues(): Promise<string[]> {
    const names = new Set<string>()
    const pattern = `*${escaped(loosePrefix(this.prefix))}*:meta`
    for await (const keys of scanKeys(this.redis, pattern, 1_000))
      for (const key of keys) {
        const name = key.slice(key.lastIndexOf(':', key.length - ':meta'.length - 1) + 1, -':meta'.length)
        if (key === `${queuePrefix(this.prefix, name)}:${name}:meta`) names.add(name)
      }
    return [...names].sort()
  }
}

/** As a pattern that matches the text itself. */
const escaped = (text: string) => text.replace(/[\\*?[\]]/g, '\\$&')

function toLetter(job: Job): DeadLetter {
  return {
    id: `${job.queueName}/${job.id}`,
    queue: job.queueName,
    job: job.name,
    attempts: job.attemptsMade,
    reason: job.failedReason,
    failedAt: job.finishedOn ?? null,
    data: job.data,
  }
}

/**
 * Unreadable jobs are those that the queue library cannot work off, whoever wrote them: it fails on reading them, or on recording how they ended, keeps them
 * in work, and has them begin again each time their worker is found silent.
 */

/** A job as Redis has it. */
type Row = Readonly<Record<string, string>>

/** Its queue has no flows and no schedules, so a job of ours belongs to neither. */
const foreign = ['parent', 'parentKey', 'rjk', 'nrjid'] as const

/** Why the job can't be worked off; null: nothing is wrong with how it is written. */
export function unreadableFor(row: Row): string | null {
  for (const field of foreign) if (row[field]) return `it has the field ${field}`
  if (!isObject(row.data)) return 'its data is no JSON object'
  if (!isObject(row.opts)) return 'its options are no JSON object'
  return null
}

function isObject(text: string | undefined): boolean {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

const longestKept = 10_000

/** The row of a failed job that tools can read, with what it said as text. */
export function readableRow(row: Row, reason: string, now: number): Record<string, string> {
  return {
    name: row.name ?? '',
    data: JSON.stringify({ unreadable: (row.data ?? '').slice(0, longestKept) }),
    opts: '{}',
    timestamp: String(now),
    finishedOn: String(now),
    failedReason: `The job cannot be read: ${reason}`,
    atm: '1',
  }
}

/** Puts the job among the failed ones when it can't be worked off; answers why. `queueKey`: prefix and name of the queue. */
export async function setAsideUnreadable(redis: Redis, queueKey: string, jobId: string, now: number): Promise<string | null> {
  const key = `${queueKey}:${jobId}`
  const row = await redis.hgetall(key)
  const reason = Object.keys(row).length === 0 ? null : unreadableFor(row)
  if (reason === null) return null
  await redis
    .multi()
    .lrem(`${queueKey}:wait`, 0, jobId)
    .lrem(`${queueKey}:active`, 0, jobId)
    .del(key)
    .hset(key, readableRow(row, reason, now))
    .zadd(`${queueKey}:failed`, now, jobId)
    .exec()
  return reason
}
