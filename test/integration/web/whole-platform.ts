import { runImport } from '../../../src/customer/jobs.js'
import { Secret } from '../../../src/kernel/secret.js'
import { listen } from '../../../src/platform/health.js'
import { consume } from '../../../src/platform/queue/consume.js'
import { openRedis } from '../../../src/platform/redis.js'
import { applyDueTransitions } from '../../../src/subscription/time/jobs.js'
import { ChangeDelivery } from '../../../src/updates/deliver/delivery.js'
import { deliverChanges } from '../../../src/updates/deliver/jobs.js'
import { changeSinks } from '../../../src/updates/deliver/sinks.js'
import { StateCache } from '../../../src/updates/held/state-cache.js'
import { createFrontDoor, openHeldStates } from '../../../src/wiring/front-door.js'
import { type MeteringBench, openMeteringBench } from '../metering/fixture.js'
import { type GraphqlBody, operatorKey, post } from './front-door.js'

/** The front door and what the workers do, in one process: what is asked is answered as on a running platform. */
export interface WholePlatform extends MeteringBench {
  url: string
  /** A new environment, and how to ask in it with its server key. */
  createEnvironment(refId: string, catalog: unknown): Promise<TestEnvironment>
}

export interface TestEnvironment {
  id: string
  serverKey: string
  ask<Data = Record<string, unknown>>(query: string, variables?: object, headers?: Record<string, string>): Promise<GraphqlBody<Data>>
}

export async function openWholePlatform(): Promise<WholePlatform> {
  const bench = await openMeteringBench()
  const { life, queues, app, pool, epoch } = bench
  bench.startIngestion()
  bench.startAggregation()
  const redis = openRedis(life, queues.redisUrl, 'request')
  const delivery = new ChangeDelivery({
    pool,
    epoch,
    clock: app.clock,
    entitlements: app.entitlements,
    cache: new StateCache(redis, queues.prefix, epoch),
    sinks: changeSinks({
      life,
      redis,
      queues,
      databaseEpoch: epoch,
      persistentCacheOf: (id) => app.environments.persistentCacheOf(id),
      sqs: { tell: async () => true },
      epochs: { number: async () => null, lose: async () => undefined },
    }),
    metrics: life.metrics,
    log: life.log,
  })
  consume(life, queues, deliverChanges, { concurrency: 2, handler: ({ environmentId }) => delivery.deliver(environmentId) })
  consume(life, queues, applyDueTransitions, {
    concurrency: 2,
    handler: async ({ environmentId, customerId }) => {
      await app.dueTransitions.applyDue(environmentId, customerId)
      await app.promotional.applyDue(environmentId, customerId)
    },
  })
  consume(life, queues, runImport, {
    concurrency: 1,
    handler: ({ environmentId, importId }, { signal }) => app.imports.run(environmentId, importId, signal),
  })
  const held = openHeldStates({ app, life, queues })
  const usage = bench.newUsage({ expectAnnouncement: held.expectAnnouncement.bind(held) })
  const server = createFrontDoor({ app, held, usage, life, queues, operatorKey: new Secret(operatorKey), hasGraphiql: false })
  const url = `http://127.0.0.1:${await listen(server, { port: 0, host: '127.0.0.1' })}`
  return {
    ...bench,
    usage,
    url,
    async createEnvironment(refId, catalog) {
      const { environment } = await app.environments.create({ refId })
      const { key } = await app.environments.createKey({ environment: refId, kind: 'SERVER', name: 'test', expiresAt: null })
      await app.catalog.apply(environment.id, catalog, { dryRun: false, archiveMissing: false })
      return {
        id: environment.id,
        serverKey: key,
        ask: async <Data>(query: string, variables: object = {}, headers: Record<string, string> = {}) =>
          (await (await post(url, { query, variables }, { 'x-api-key': key, ...headers })).json()) as GraphqlBody<Data>,
      }
    },
  }
}
