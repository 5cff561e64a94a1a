import { createHash } from 'node:crypto'
import { runImport } from '../../../src/customer/jobs.js'
import { UsageFilling } from '../../../src/metering/counting/usage-filling.js'
import { DirectIngestion } from '../../../src/metering/ingestion/direct-ingestion.js'
import { aggregateEvents, directDoorPrefix, fillUsage, ingestDirectUsage, ingestUsage } from '../../../src/metering/wire/jobs.js'
import type { consume } from '../../../src/platform/queue/consume.js'
import type { JobDefinition } from '../../../src/platform/queue.js'
import { DueWakeUps } from '../../../src/subscription/time/due-wake-ups.js'
import { applyDueTransitions } from '../../../src/subscription/time/jobs.js'
import { ChangeDelivery } from '../../../src/updates/deliver/delivery.js'
import { deliverChanges, environmentQueue } from '../../../src/updates/deliver/jobs.js'
import { changeSinks } from '../../../src/updates/deliver/sinks.js'
import { applyChange } from '../../../src/updates/external-cache/apply.js'
import { Feed } from '../../../src/updates/external-cache/feed.js'
import { reload } from '../../../src/updates/external-cache/reload.js'
import { ExternalCacheWriter } from '../../../src/updates/external-cache/writer.js'
import { StateCache } from '../../../src/updates/held/state-cache.js'
import { createEnvironment, type MeteringBench, openMeteringBench } from '../metering/fixture.js'

type Handler = Parameters<typeof consume<never>>[3]['handler']
export interface JobHandler {
  definition: JobDefinition<never>
  handler: Handler
}

/** An environment with a customer, and what works off its jobs. Close the bench. */
export async function openJobBench() {
  const bench = await openMeteringBench()
  const environmentId = await createEnvironment(bench)
  await bench.app.customers.provision(environmentId, { refId: 'acme', subscription: { planRefId: 'free' } })
  return { bench, environmentId, handlers: jobHandlers(bench, environmentId), workable: await workableJobs(bench, environmentId) }
}

/** What works off the jobs of each queue, by the names of `jobSamples`: the handlers are the real ones. */
function jobHandlers(bench: MeteringBench, environmentId: string): Record<string, () => JobHandler> {
  const ofEnvironment = () => {
    const cache = new ExternalCacheWriter({ redis: bench.redis, prefix: `${bench.queues.prefix}-cache`, ttlSeconds: 60 })
    const fetchState = () => Promise.reject(new TypeError('nobody knows it'))
    return of(environmentQueue(environmentId), async (job, signal) => {
      const parts = { cache, fetchState, signal }
      if (job.kind === 'heartbeat') return new Feed({ redis: bench.redis, prefix: `${bench.queues.prefix}-cache` }).beat(job)
      await (job.kind === 'reload' ? reload(job, parts) : applyChange(job, parts))
    })
  }
  const ingestion = () => {
    const worker = bench.newIngestion()
    return of(ingestUsage, (job) => worker.ingest(job, false))
  }
  return {
    'usage-ingestion-reports': () => ingestion(),
    'usage-ingestion-events': () => ingestion(),
    'usage-ingestion-direct': () => {
      const direct = new DirectIngestion(bench.app.environments, bench.newIngestion())
      return of(ingestDirectUsage(environmentId), (job) => direct.ingest(environmentId, job, false))
    },
    'event-aggregation': () => {
      const aggregation = bench.newAggregation()
      return of(aggregateEvents, (job) => aggregation.aggregate(job))
    },
    'usage-filling': () => {
      const filling = new UsageFilling({ pool: bench.pool, loadHeld: bench.app.heldSeries })
      return of(fillUsage, (job) => filling.fill(job))
    },
    'subscription-transitions': () => {
      const wakeUps = new DueWakeUps(bench.app.dueTransitions, { lanes: 2 })
      return of(applyDueTransitions, async (job) => {
        await wakeUps.apply(job.environmentId, job.customerId)
        await bench.app.promotional.applyDue(job.environmentId, job.customerId)
      })
    },
    imports: () => of(runImport, (job, signal) => bench.app.imports.run(job.environmentId, job.importId, signal)),
    'cache-invalidation': () => {
      const delivery = new ChangeDelivery({
        pool: bench.pool,
        clock: bench.app.clock,
        epoch: bench.app.databaseEpoch,
        entitlements: bench.app.entitlements,
        cache: new StateCache(bench.redis, bench.queues.prefix, bench.app.databaseEpoch),
        sinks: changeSinks({
          life: bench.life,
          redis: bench.redis,
          queues: bench.queues,
          databaseEpoch: bench.app.databaseEpoch,
          persistentCacheOf: async () => null,
          sqs: { tell: async () => true },
          epochs: { number: async () => null, lose: async () => undefined },
        }),
        metrics: bench.life.metrics,
        log: bench.life.log,
      })
      return of(deliverChanges, (job) => delivery.deliver(job.environmentId))
    },
    environment: () => ofEnvironment(),
    'environment-reload': () => ofEnvironment(),
    'environment-heartbeat': () => ofEnvironment(),
  }
}

function of<T extends { v: number }>(definition: JobDefinition<T>, work: (job: T, signal: AbortSignal) => Promise<void>) {
  const handler = (job: T, { signal }: { signal: AbortSignal }) => work(job, signal)
  return { definition: definition as unknown as JobDefinition<never>, handler: handler as unknown as Handler }
}

/** Makes of a sample a job of the environment that can be worked off, with a key of its own where it is one of a sidecar. */
async function workableJobs(bench: MeteringBench, environmentId: string): Promise<(job: object) => object> {
  const environment = (await bench.app.environments.list()).find(({ id }) => id === environmentId)!
  const { key } = await bench.app.environments.createKey({
    environment: environment.refId,
    kind: 'SERVER',
    name: 'test',
    expiresAt: null,
  })
  const keyHash = createHash('sha256').update(key).digest('base64')
  return (job) => {
    const own = JSON.parse(JSON.stringify(job).replaceAll('01900000-0000-7000-8000-000000000001', environmentId)) as object
    return 'keyHash' in own ? { ...own, keyHash, door: `${directDoorPrefix(environmentId)}door` } : own
  }
}
