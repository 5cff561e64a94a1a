import type pg from 'pg'
import { redisEpochOf } from '../../changes/wire/redis-epoch.js'
import type { EpochMs } from '../../kernel/clock.js'
import { newId } from '../../kernel/id.js'
import type { DatabaseEpoch } from '../../platform/epoch/database-epoch.js'
import type { Logger } from '../../platform/logger.js'
import type { Life } from '../../platform/process.js'
import type { JobQueue, QueueConnection } from '../../platform/queue.js'
import { type Redis, sharedRedis } from '../../platform/redis.js'
import type { QueueMessage } from '../wire/queue-message.js'
import { openEnvironmentQueues } from './jobs.js'
import { QueueBound } from './queue-bound.js'

interface Feed {
  environmentId: string
  epoch: EpochMs | null
  isVouched: boolean | null
  isTold: boolean | null
}

/**
 * The epochs of the queues that lead to persistent caches. A change is deleted from the outbox once it is in the queue. A Redis that was lost or promoted may
 * have lost it there, and a database that was promoted may never have heard of it; then another epoch begins, and the consumer is told to read everything
 * anew; so it does when too much waits in a queue that nobody works off, and what waits is dropped. May run in several processes: whoever comes second finds it done, and what is told twice is read twice.
 */
export class FeedEpochs {
  readonly #pool: pg.Pool
  readonly #databaseEpoch: Pick<DatabaseEpoch, 'current'>
  readonly #log: Logger
  /** That of the queues: who adds to them and who is asked for its epoch must be the same server. */
  readonly #redis: Redis
  readonly #queueOf: (environmentId: string) => JobQueue<QueueMessage>
  readonly #bound: QueueBound
  #epochs = new Map<string, EpochMs>()

  constructor({
    life,
    queues,
    pool,
    databaseEpoch,
    mostWaitingBytes,
  }: {
    life: Life
    queues: QueueConnection
    pool: pg.Pool
    databaseEpoch: Pick<DatabaseEpoch, 'current'>
    mostWaitingBytes?: number
  }) {
    this.#pool = pool
    this.#databaseEpoch = databaseEpoch
    this.#log = life.log
    this.#redis = sharedRedis(life, queues.redisUrl, 'queue')
    this.#queueOf = openEnvironmentQueues(life, queues)
    this.#bound = new QueueBound({ redis: this.#redis, prefix: queues.prefix, mostBytes: mostWaitingBytes })
  }

  /**
   * Of what is enqueued now, as of the last look. Another process may have begun a later one since: the consumer takes what is later than that all the same.
   */
  of(environmentId: string): EpochMs | undefined {
    return this.#epochs.get(environmentId)
  }

  /** Begins an epoch wherever nobody vouches for the last one any more, and where too much waits. */
  async look(): Promise<void> {
    const vouchedBy = await this.#vouchedBy()
    const epochs = new Map<string, EpochMs>()
    for (const { environmentId, epoch, isVouched, isTold } of await this.#feeds(vouchedBy)) {
      const current =
        epoch !== null && isVouched ? await this.#withinBound(environmentId, epoch) : await this.#begin(environmentId, vouchedBy)
      if (current === null) continue
      epochs.set(environmentId, current)
      if (current === epoch && isTold) continue
      // One environment in trouble does not hold up the others; it is told at the next look.
      await this.#tell(environmentId, current, vouchedBy).catch((error: unknown) =>
        this.#log.warn({ err: error, environmentId }, 'a persistent cache could not be told to read everything anew yet'),
      )
    }
    this.#epochs = epochs
  }

  async #vouchedBy(): Promise<string> {
    return `${redisEpochOf(await this.#redis.info('replication'))}.${this.#databaseEpoch.current}`
  }

  async #feeds(vouchedBy: string): Promise<Feed[]> {
    const { rows } = await this.#pool.query<Feed>({
      name: 'updates_find_feeds',
      text: `
        SELECT environment.id AS "environmentId", feed.epoch::float8 AS epoch, feed.vouched_by = $1 AS "isVouched", feed.is_told AS "isTold"
        FROM environment LEFT JOIN environment_feed AS feed ON feed.environment_id = environment.id
        WHERE environment.has_persistent_cache`,
      values: [vouchedBy],
    })
    return rows
  }

  /** Null: another process has begun it meanwhile, and tells it. */
  async #begin(environmentId: string, vouchedBy: string): Promise<EpochMs | null> {
    const { rows } = await this.#pool.query<{ epoch: EpochMs }>({
      text: `
        INSERT INTO environment_feed AS feed (environment_id, epoch, vouched_by, is_told)
        VALUES ($1::uuid, environment_clock($1::uuid), $2, false)
        ON CONFLICT (environment_id) DO UPDATE
          SET epoch = greatest(excluded.epoch, feed.epoch + 1), vouched_by = excluded.vouched_by, is_told = false
          WHERE feed.vouched_by <> excluded.vouched_by
        RETURNING feed.epoch::float8 AS epoch`,
      values: [environmentId, vouchedBy],
    })
    return rows[0]?.epoch ?? null
  }

  /** The epoch that goes on, or the one that begins in its place. One that another process has begun meanwhile is found at the next look. */
  async #withinBound(environmentId: string, epoch: EpochMs): Promise<EpochMs> {
    if (!(await this.#bound.isExceeded(environmentId))) return epoch
    const { rows } = await this.#pool.query<{ epoch: EpochMs }>({
      text: `
        UPDATE environment_feed SET epoch = greatest(environment_clock($1::uuid), epoch + 1), is_told = false
        WHERE environment_id = $1::uuid AND epoch = $2::bigint
        RETURNING epoch::float8 AS epoch`,
      values: [environmentId, epoch],
    })
    if (!rows[0]) return epoch
    // What is enqueued meanwhile may go with it: it is read anew after this.
    const dropped = await this.#bound.discard(environmentId)
    this.#log.warn({ environmentId, dropped }, 'too much waits for the persistent cache of an environment: is its service running?')
    return rows[0].epoch
  }

  /** A crash before the last step has it told again. */
  async #tell(environmentId: string, epoch: EpochMs, vouchedBy: string): Promise<void> {
    const message: QueueMessage = { v: 1, id: newId(), environmentId, kind: 'reload', epoch, timestamp: Date.now() }
    await this.#queueOf(environmentId).add(message, { onceAtATime: `reload-${epoch}` })
    if ((await this.#vouchedBy()) !== vouchedBy) return
    await this.#pool.query({
      text: 'UPDATE environment_feed SET is_told = true WHERE environment_id = $1::uuid AND epoch = $2::bigint',
      values: [environmentId, epoch],
    })
    this.#log.info({ environmentId, epoch }, 'the persistent cache of an environment is told to read everything anew')
  }
}
