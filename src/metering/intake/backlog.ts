import type { Redis } from 'ioredis'
import type { Logger } from '../../platform/logger.js'
import { Gauge, type Registry } from '../../platform/metrics.js'
import type { JobQueue } from '../../platform/queue.js'
import { mastersOf } from '../../platform/redis/cluster.js'
import type { IngestionJob } from '../wire/jobs.js'

export interface BacklogLimits {
  /** Jobs that wait in one queue, or batches of events of one environment: some seconds of work for its workers. */
  maxWaitingJobs: number
  /** Memory that Redis uses, or a node of its cluster, in bytes; null: most of what it may have (its `maxmemory`), if it says so. */
  maxRedisBytes: number | null
}

const refreshMs = 500
/** Of the jobs that wait in one queue, or of one environment to be counted, as long as they are of the size that jobs had lately: also where Redis does not say how much it may have. */
const maxWaitingBytes = 256 * 2 ** 20
/** How much of the mean size is left by one job more. */
const forgetting = 0.95
/** The rest is for workers: a Redis that is full refuses them too, and then nothing is worked off any more. */
const maxShareOfMemory = 0.8

/** Why usage is refused. */
type Reason = 'jobs' | 'memory' | 'items' | 'batches'

/** Events that are stored and wait to be counted. */
interface WaitingEvents {
  queue: Pick<JobQueue<unknown>, 'waiting'>
  /** Batches of the environment, not counted further than `most`. */
  batchesOf(environmentId: string, most: number): Promise<number>
}

interface BacklogParts {
  /** Whose memory is looked at; null: who asks may not know of it. */
  redis: Redis | null
  queues: Pick<JobQueue<unknown>, 'waiting'>[]
  /** While they are many, the events of those environments are refused that have sent so many. Absent: who asks may not know of them. */
  events?: WaitingEvents
  limits: BacklogLimits
  log: Logger
  metrics: Registry
}

/**
 * How much usage waits to be stored or counted, looked at twice a second while calls come. Above a mark the door refuses: a queue that grows faster than
 * it is worked off ends with a Redis that refuses everybody.
 */
export class Backlog {
  readonly #parts: Omit<BacklogParts, 'metrics'>
  #meanJobBytes = 0
  #refreshedAt = Number.NEGATIVE_INFINITY
  #refusedFor: 'jobs' | 'memory' | null = null
  readonly #fullDoors = new Set<string>()
  #areEventsMany = false
  /** Environments that send events while those that wait are many. */
  readonly #senders = new Map<string, { isBehind: boolean; lookedAt: number }>()

  constructor({ metrics, ...parts }: BacklogParts) {
    this.#parts = parts
    const backlog = this
    new Gauge({
      name: 'tollgate_usage_refused_for_backlog',
      help: '1 while the door refuses usage: too many jobs wait, Redis uses too much memory, too many items of its own have no answer, or too many batches of an environment wait to be counted',
      labelNames: ['reason'],
      registers: [metrics],
      async collect() {
        // Looked at here too: without calls nobody else would notice that it is over.
        await backlog.refresh().catch(() => undefined)
        for (const reason of ['jobs', 'memory'] as const) this.set({ reason }, backlog.#refusedFor === reason ? 1 : 0)
        this.set({ reason: 'items' satisfies Reason }, backlog.#fullDoors.size > 0 ? 1 : 0)
        this.set({ reason: 'batches' satisfies Reason }, [...backlog.#senders.values()].some(({ isBehind }) => isBehind) ? 1 : 0)
      },
    })
  }

  /** For what the environment sends. As of the last look, and has it looked again. What cannot be looked at is not too long: adding a job will tell. */
  isTooLong(environmentId: string, kind: IngestionJob['batch']['kind']): boolean {
    if (performance.now() - this.#refreshedAt > refreshMs) {
      this.#refreshedAt = performance.now()
      this.refresh().catch(() => {
        this.#areEventsMany = false
        this.#note(null, {})
      })
    }
    return this.#refusedFor !== null || (kind === 'events' && this.#areEventsMany && this.#isBehind(environmentId))
  }

  /** Those that wait are many, and many of them are the environment's: others are not refused for it. */
  #isBehind(environmentId: string): boolean {
    const { events, limits } = this.#parts
    const now = performance.now()
    const sender = this.#senders.get(environmentId) ?? { isBehind: false, lookedAt: Number.NEGATIVE_INFINITY }
    if (events && now - sender.lookedAt > refreshMs) {
      this.#senders.set(environmentId, sender)
      sender.lookedAt = now
      const note = (isBehind: boolean) => {
        if (isBehind !== sender.isBehind) this.#tell(isBehind ? 'batches' : null, { environmentId })
        sender.isBehind = isBehind
      }
      events.batchesOf(environmentId, limits.maxWaitingJobs + 1).then(
        (batches) => note(this.#areMany(batches)),
        () => note(false),
      )
    }
    return sender.isBehind
  }

  /** Batches of events that wait to be counted, each in a job of its own. */
  #areMany(batches: number): boolean {
    return batches > this.#parts.limits.maxWaitingJobs || batches * this.#meanJobBytes > maxWaitingBytes
  }

  /** A job of that size was added, or is about to be. */
  noteJob(bytes: number): void {
    this.#meanJobBytes = bytes * (1 - forgetting) + this.#meanJobBytes * forgetting
  }

  async refresh(): Promise<void> {
    const { redis, queues, events, limits } = this.#parts
    const asked = redis === null ? [] : mastersOf(redis)
    const [infos, waitingEvents, ...waiting] = await Promise.all([
      Promise.all(asked.map((server) => server.info('memory'))),
      events?.queue.waiting() ?? 0,
      ...queues.map((queue) => queue.waiting()),
    ])
    this.#areEventsMany = this.#areMany(waitingEvents)
    if (!this.#areEventsMany) this.#senders.clear()
    const usedBytes = Math.max(0, ...infos.map((info) => memory(info, 'used_memory')))
    const waitingJobs = Math.max(0, ...waiting)
    const waitingBytes = Math.round(waitingJobs * this.#meanJobBytes)
    const isFull = infos.some((info) => isServerFull(info, limits.maxRedisBytes)) || waitingBytes > maxWaitingBytes
    const reason = waitingJobs > limits.maxWaitingJobs ? 'jobs' : isFull ? 'memory' : null
    this.#note(reason, { waitingJobs, waitingBytes, usedBytes })
  }

  /** A door of this kind has begun to refuse for its own items without an answer, or is over it. It knows; here it is told. */
  noteItems(door: string, isFull: boolean): void {
    if (isFull) this.#fullDoors.add(door)
    else this.#fullDoors.delete(door)
    this.#tell(isFull ? 'items' : null, { door })
  }

  /** One line when it begins and one when it is over. */
  #note(reason: 'jobs' | 'memory' | null, facts: object): void {
    if (reason === this.#refusedFor) return
    this.#refusedFor = reason
    this.#tell(reason, facts)
  }

  #tell(reason: Reason | null, facts: object): void {
    if (reason) this.#parts.log.warn({ reason, ...facts }, 'usage is refused: too much of it waits')
    else this.#parts.log.info(facts, 'usage is taken again')
  }
}

/** In an answer of INFO. */
const memory = (info: string, name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0)

function isServerFull(info: string, maxRedisBytes: number | null): boolean {
  const maxBytes = maxRedisBytes ?? (memory(info, 'maxmemory') * maxShareOfMemory || Number.POSITIVE_INFINITY)
  return memory(info, 'used_memory') > maxBytes
}
