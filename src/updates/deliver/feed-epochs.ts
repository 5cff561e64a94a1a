import type pg from 'pg'
import { queueEpochLua } from '../../changes/wire/redis-epoch.js'
import type { EpochMs } from '../../kernel/clock.js'
import { eachAlone } from '../../kernel/each-alone.js'
import { newId } from '../../kernel/id.js'
import { unavailable } from '../../kernel/problem.js'
import type { DatabaseEpoch } from '../../platform/epoch/database-epoch.js'
import type { Logger } from '../../platform/logger.js'
import type { Life } from '../../platform/process.js'
import type { JobQueue, QueueConnection } from '../../platform/queue.js'
import { queuePrefix } from '../../platform/redis/slots.js'
import { type Redis, sharedRedis } from '../../platform/redis.js'
import type { Place, QueueMessage } from '../wire/queue-message.js'
import { environmentQueue, openEnvironmentQueues } from './jobs.js'
import { QueueBound } from './queue-bound.js'
import type { SqsFeeds } from './sqs-feeds.js'

interface Feed {
  environmentId: string
  /** Of SQS; null: the environment's own queue, in Redis. */
  queueUrl: string | null
  /** Another one each time that it is switched on. */
  since: string
  /** Every process that delivers has heard of it. */
  isSettled: boolean
  epoch: EpochMs | null
  vouchedBy: string | null
  isTold: boolean | null
}

/** Longer than any process takes to notice how an environment is set: what changes before that is in what is read anew. */
const settledSeconds = 5
/** Each process that delivers tries each 5 s. */
const beatSeconds = 4

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
  readonly #redis: Redis & { queueEpoch(key: string): Promise<string> }
  readonly #prefix: string
  readonly #queueOf: (environmentId: string) => JobQueue<QueueMessage>
  readonly #bound: QueueBound
  readonly #sqs: Pick<SqsFeeds, 'tell'>
  /** What a queue of SQS is told now, by environment. */
  readonly #telling = new Map<string, Promise<unknown>>()

  constructor({
    life,
    queues,
    pool,
    databaseEpoch,
    sqs,
    mostWaitingBytes,
  }: {
    life: Life
    queues: QueueConnection
    pool: pg.Pool
    databaseEpoch: Pick<DatabaseEpoch, 'current'>
    sqs: Pick<SqsFeeds, 'tell'>
    mostWaitingBytes?: number
  }) {
    this.#pool = pool
    this.#databaseEpoch = databaseEpoch
    this.#log = life.log
    this.#sqs = sqs
    const redis = sharedRedis(life, queues.redisUrl, 'queue')
    redis.defineCommand('queueEpoch', { numberOfKeys: 1, lua: queueEpochLua })
    this.#redis = redis as Redis & { queueEpoch(key: string): Promise<string> }
    this.#prefix = queues.prefix
    this.#queueOf = openEnvironmentQueues(life, queues)
    this.#bound = new QueueBound({ redis: this.#redis, prefix: queues.prefix, mostBytes: mostWaitingBytes })
  }

  /**
   * Gives the next messages their numbers, and answers the place of the first; null: no epoch has begun yet. A number that is not told after all is a gap: the
   * consumer reads everything anew for it.
   */
  async number(environmentId: string, messages: number): Promise<Place | null> {
    const { rows } = await this.#pool.query<Place>({
      name: 'updates_number_messages',
      text: `
        UPDATE environment_feed SET sequence = sequence + $2::int WHERE environment_id = $1::uuid
        RETURNING epoch::float8 AS epoch, (sequence - $2::int + 1)::float8 AS sequence`,
      values: [environmentId, messages],
    })
    return rows[0] ?? null
  }

  /** Something was not told, and nobody will tell it: the consumer is to read everything anew. */
  async lose(environmentId: string): Promise<void> {
    await this.#replace(environmentId, null)
  }

  /** The epoch that begins in the place of `epoch` (null: of whichever there is); null: another process was first. It is vouched for as that was. */
  async #replace(environmentId: string, epoch: EpochMs | null): Promise<EpochMs | null> {
    const { rows } = await this.#pool.query<{ epoch: EpochMs }>({
      text: `
        UPDATE environment_feed SET epoch = greatest(environment_clock($1::uuid), epoch + 1), sequence = 0, is_told = false
        WHERE environment_id = $1::uuid AND epoch = coalesce($2::bigint, epoch)
        RETURNING epoch::float8 AS epoch`,
      values: [environmentId, epoch],
    })
    return rows[0]?.epoch ?? null
  }

  /** Begins an epoch wherever nobody vouches for the last one any more, and where too much waits. Waits for no queue of SQS. */
  async look(): Promise<void> {
    // The queues of a cluster are on several servers, of which one may be away.
    await eachAlone(await this.#feeds(), (feed) => this.#lookAt(feed))
  }

  async #lookAt(feed: Feed): Promise<void> {
    const { environmentId, epoch, isTold } = feed
    const vouchedBy = await this.#vouchedBy(feed)
    const isVouched = epoch !== null && feed.vouchedBy === vouchedBy
    const current = isVouched ? await this.#withinBound(feed, epoch) : await this.#begin(environmentId, vouchedBy)
    if (current === null) return
    if ((current === epoch && isTold) || !feed.isSettled) return
    const tell = () =>
      // It is told at the next look.
      this.#tell(feed, current, vouchedBy).catch((error: unknown) =>
        this.#log.warn({ err: error, environmentId }, 'a persistent cache could not be told to read everything anew yet'),
      )
    if (feed.queueUrl === null) await tell()
    else this.#tellApart(environmentId, tell)
  }

  /** A queue of SQS that does not answer holds up no other environment. What comes for it meanwhile has its turn later, as its kind comes again. */
  #tellApart(environmentId: string, tell: () => Promise<unknown>): void {
    if (this.#telling.has(environmentId)) return
    this.#telling.set(
      environmentId,
      tell().finally(() => this.#telling.delete(environmentId)),
    )
  }

  /** Ends when what queues of SQS are being told has been told or given up. */
  async toldAll(): Promise<void> {
    await Promise.all(this.#telling.values())
  }

  /**
   * Tells consumers how far their queues go. What is not delivered yet counts as of the instant at which the oldest of it began to be written. One at a time: a
   * consumer that is away finds the oldest of them, and no heap. Waits for no queue of SQS.
   */
  async beat(): Promise<void> {
    await eachAlone(await this.#beats(), async ({ environmentId, queueUrl, ...place }) => {
      const message: QueueMessage = { v: 1, id: newId(), environmentId, kind: 'heartbeat', ...place, timestamp: Date.now() }
      if (queueUrl === null) await this.#queueOf(environmentId).add(message, { onceAtATime: `heartbeat-${place.epoch}` })
      else this.#tellApart(environmentId, () => this.#sqs.tell(queueUrl, [message]))
    })
  }

  /** Of those whose last one was a while ago, by whichever process. */
  async #beats(): Promise<(Place & { environmentId: string; queueUrl: string | null; asOf: EpochMs })[]> {
    const { rows } = await this.#pool.query({
      name: 'updates_take_heartbeats',
      text: `
        UPDATE environment_feed AS feed SET beat_at = clock_timestamp()
        FROM environment
        WHERE environment.id = feed.environment_id AND environment.has_persistent_cache AND feed.is_told
          AND (feed.beat_at IS NULL OR feed.beat_at < clock_timestamp() - make_interval(secs => $1))
        RETURNING feed.environment_id AS "environmentId", environment.persistent_cache_queue_url AS "queueUrl",
          feed.epoch::float8 AS epoch, feed.sequence::float8 AS sequence,
          floor(extract(epoch FROM least(statement_timestamp(),
            (SELECT min(created_at) FROM outbox_message AS message WHERE message.environment_id = feed.environment_id))) * 1000)::float8 AS "asOf"`,
      values: [beatSeconds],
    })
    return rows
  }

  /** Of the server that has the queue of the environment. */
  #redisEpoch(environmentId: string): Promise<string> {
    const { queue } = environmentQueue(environmentId)
    return this.#redis.queueEpoch(`${queuePrefix(this.#prefix, queue)}:${queue}`)
  }

  /** What SQS has taken it does not lose with the platform's Redis. */
  async #vouchedBy({ environmentId, queueUrl, since }: Feed): Promise<string> {
    return [queueUrl === null ? await this.#redisEpoch(environmentId) : 'sqs', this.#databaseEpoch.current, since].join('.')
  }

  async #feeds(): Promise<Feed[]> {
    const { rows } = await this.#pool.query<Feed>({
      name: 'updates_find_feeds',
      text: `
        SELECT environment.id AS "environmentId", persistent_cache_queue_url AS "queueUrl",
          coalesce((extract(epoch FROM persistent_cache_since) * 1000)::bigint, 0)::text AS since,
          coalesce(persistent_cache_since < clock_timestamp() - make_interval(secs => $1), true) AS "isSettled",
          feed.epoch::float8 AS epoch, feed.vouched_by AS "vouchedBy", feed.is_told AS "isTold"
        FROM environment LEFT JOIN environment_feed AS feed ON feed.environment_id = environment.id
        WHERE environment.has_persistent_cache`,
      values: [settledSeconds],
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
          SET epoch = greatest(excluded.epoch, feed.epoch + 1), sequence = 0, vouched_by = excluded.vouched_by, is_told = false
          WHERE feed.vouched_by <> excluded.vouched_by
        RETURNING feed.epoch::float8 AS epoch`,
      values: [environmentId, vouchedBy],
    })
    return rows[0]?.epoch ?? null
  }

  /** The epoch that goes on, or the one that begins in its place. One that another process has begun meanwhile is found at the next look. */
  async #withinBound({ environmentId, queueUrl }: Feed, epoch: EpochMs): Promise<EpochMs> {
    if (queueUrl !== null || !(await this.#bound.isExceeded(environmentId))) return epoch
    const next = await this.#replace(environmentId, epoch)
    if (next === null) return epoch
    // What is enqueued meanwhile may go with it: it is read anew after this.
    const dropped = await this.#bound.discard(environmentId)
    this.#log.warn({ environmentId, dropped }, 'too much waits for the persistent cache of an environment: is its service running?')
    return next
  }

  /** A crash before the last step has it told again. */
  async #tell(feed: Feed, epoch: EpochMs, vouchedBy: string): Promise<void> {
    const { environmentId, queueUrl } = feed
    const message: QueueMessage = { v: 1, id: newId(), environmentId, kind: 'reload', epoch, timestamp: Date.now() }
    if (queueUrl === null) {
      await this.#queueOf(environmentId).add(message, { onceAtATime: `reload-${epoch}` })
      if ((await this.#vouchedBy(feed)) !== vouchedBy) return
    } else if (!(await this.#sqs.tell(queueUrl, [message]))) throw unavailable('The queue of SQS is away')
    await this.#pool.query({
      text: 'UPDATE environment_feed SET is_told = true WHERE environment_id = $1::uuid AND epoch = $2::bigint',
      values: [environmentId, epoch],
    })
    this.#log.info({ environmentId, epoch }, 'the persistent cache of an environment is told to read everything anew')
  }
}

/** Up to where the environment's queue was told; null: no epoch has begun yet. */
export async function placeOfFeed(pool: pg.Pool, environmentId: string): Promise<Place | null> {
  const { rows } = await pool.query<Place>(
    'SELECT epoch::float8 AS epoch, sequence::float8 AS sequence FROM environment_feed WHERE environment_id = $1::uuid',
    [environmentId],
  )
  return rows[0] ?? null
}
