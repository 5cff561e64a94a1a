import { Redis } from 'ioredis'
import { createMetrics } from '../../../../src/platform/metrics.js'
import { openPostgres, type Postgres } from '../../../../src/platform/postgres.js'
import { openRedis } from '../../../../src/platform/redis.js'
import { ChangeDelivery } from '../../../../src/updates/deliver/delivery.js'
import { FeedEpochs } from '../../../../src/updates/deliver/feed-epochs.js'
import { openEnvironmentQueues } from '../../../../src/updates/deliver/jobs.js'
import { changeSinks } from '../../../../src/updates/deliver/sinks.js'
import { WarmingDelivery } from '../../../../src/updates/deliver/warming-delivery.js'
import { compareWithTruth } from '../../../../src/updates/external-cache/mend.js'
import { ExternalCacheWriter } from '../../../../src/updates/external-cache/writer.js'
import { StateCache } from '../../../../src/updates/held/state-cache.js'
import { OwnRedis } from '../../../support/own-redis.js'
import { testRedisUrl } from '../../../support/redis.js'
import { TcpProxy } from '../../../support/tcp-proxy.js'
import { type FrontDoor, openFrontDoor } from '../../web/front-door.js'
import { Worker } from './harness.js'

export const prefix = 'production'

/** From a front door to a cache that can be lost, through the real consumer; each way can be cut. */
export class Chain {
  readonly server = new OwnRedis()
  /** To the external cache, to the platform's Redis for the consumer, and to the API for sidecars. */
  toCache!: TcpProxy
  toQueue!: TcpProxy
  toApi!: TcpProxy
  door!: FrontDoor
  postgres!: Postgres
  epochs!: FeedEpochs
  /** The external cache, as it is. */
  cache!: Redis
  worker!: Worker
  #delivery!: ChangeDelivery
  #warming!: WarmingDelivery
  #ticking: NodeJS.Timeout | undefined
  #tick: Promise<unknown> = Promise.resolve()

  async start(customers: readonly string[]): Promise<void> {
    await this.server.start()
    this.cache = new Redis(this.server.url)
    this.cache.on('error', () => undefined)
    this.door = await openFrontDoor()
    const { life, app, queuePrefix } = this.door
    const queues = { redisUrl: testRedisUrl(), prefix: queuePrefix }
    this.postgres = openPostgres(life, this.door.databaseUrl, { poolSize: 5 })
    const redis = openRedis(life, queues.redisUrl, 'request')
    const sqs = { tell: async () => false }
    this.epochs = new FeedEpochs({ life, queues, pool: this.postgres.pool, databaseEpoch: this.postgres.epoch, sqs })
    const persistentCacheOf = (id: string) => app.environments.persistentCacheOf(id)
    const sinks = changeSinks({ life, redis, queues, databaseEpoch: this.postgres.epoch, persistentCacheOf, sqs, epochs: this.epochs })
    const { entitlements } = app
    this.#delivery = new ChangeDelivery({
      pool: this.postgres.pool,
      clock: app.clock,
      entitlements,
      epoch: this.postgres.epoch,
      cache: new StateCache(redis, queues.prefix, this.postgres.epoch),
      sinks,
      metrics: createMetrics('test'),
      log: life.log,
    })
    this.#warming = new WarmingDelivery({
      pool: this.postgres.pool,
      entitlements,
      sinks,
      queueOf: openEnvironmentQueues(life, queues),
      log: life.log,
    })
    // What they have changed is delivered before there is a queue.
    for (const id of customers) await this.provision(id)
    await this.#delivery.deliver(this.door.environmentId)
    await app.environments.enablePersistentCache('test', { queueUrl: null })
    await this.sql(`UPDATE environment SET persistent_cache_since = persistent_cache_since - interval '1 minute'`)
    this.toCache = await TcpProxy.start(this.server.url)
    this.toQueue = await TcpProxy.start(testRedisUrl())
    this.toApi = await TcpProxy.start(new URL(this.door.url).origin)
    this.#ticking = setInterval(() => {
      this.#tick = this.#tick.then(() => this.tick()).catch(() => undefined)
    }, 250)
  }

  /** What the process that delivers does by itself, with a heartbeat each time. */
  async tick(): Promise<void> {
    await this.epochs.look()
    await this.#delivery.deliver(this.door.environmentId)
    await this.#warming.work(this.door.life.signal)
    await this.#warming.workedAll()
    await this.sql('UPDATE environment_feed SET beat_at = NULL')
    await this.epochs.beat()
  }

  async startConsumer(): Promise<void> {
    const queue = new URL(testRedisUrl())
    queue.host = `127.0.0.1:${this.toQueue.port}`
    this.worker = await Worker.start({
      QUEUE_URL: `${queue.href}?queue=environment-${this.door.environmentId}&prefix=${this.door.queuePrefix}`,
      SERVER_API_KEY: this.door.serverKey,
      EDGE_API_URL: new URL(this.door.url).origin,
      ENVIRONMENT_PREFIX: prefix,
      REDIS_HOST: '127.0.0.1',
      REDIS_PORT: String(this.toCache.port),
      BATCH_SIZE: '4',
    })
  }

  async stop(): Promise<Error[]> {
    clearInterval(this.#ticking)
    await this.#tick
    for (const proxy of [this.toCache, this.toQueue, this.toApi]) proxy?.mend()
    await this.worker?.stop()
    const failures = await this.door.close()
    for (const proxy of [this.toCache, this.toQueue, this.toApi]) await proxy.stop()
    this.cache.disconnect()
    await this.server.stop()
    return failures
  }

  sql(text: string): Promise<unknown> {
    return this.postgres.pool.query(text)
  }

  async ask<T>(operation: string): Promise<T> {
    const { data, errors } = await this.door.ask<T>(operation)
    if (errors) throw new Error(JSON.stringify(errors))
    return data!
  }

  async provision(customerId: string): Promise<void> {
    await this.ask(`mutation { provisionCustomer(input: { customerId: "${customerId}" }) { customer { id } } }`)
  }

  async subscribe(customerId: string, plan: string): Promise<void> {
    await this.ask(
      `mutation { provisionSubscriptionV2(input: { customerId: "${customerId}", planId: "${plan}", billingPeriod: MONTHLY }) { id } }`,
    )
  }

  /** By the platform's clock; 0: there is none. */
  async heartbeat(): Promise<number> {
    return Number((await this.cache.get(`${prefix}:heartbeat`)) ?? 0)
  }

  /** What is said otherwise than it is, of these customers; one that the cache does not hold is named. */
  async differences(customerIds: readonly string[]): Promise<string[]> {
    const writer = new ExternalCacheWriter({ redis: this.cache, prefix, ttlSeconds: 60 })
    const { entitlements } = this.door.app
    const fetchState = ({ customerId }: { customerId: string }) => entitlements.state(this.door.environmentId, customerId, null)
    const all = await Promise.all(
      customerIds.map(async (customerId) => {
        const id = { customerId, resourceId: null }
        const held = await writer.held(id).catch(() => null)
        if (held === null) return [`the cache does not answer for ${customerId}`]
        if (held.entry === null) return [`${customerId} is not there`]
        const lines = await compareWithTruth(id, { cache: writer, fetchState, signal: this.door.life.signal }, 0)
        return lines.map((line) => `${customerId}: ${line}`)
      }),
    )
    return all.flat()
  }
}
