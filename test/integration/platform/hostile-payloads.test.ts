import { createHash } from 'node:crypto'
import { Queue } from 'bullmq'
import { expect } from 'chai'
import { runImport } from '../../../src/customer/jobs.js'
import { newId } from '../../../src/kernel/id.js'
import { UsageFilling } from '../../../src/metering/counting/usage-filling.js'
import { DirectIngestion } from '../../../src/metering/ingestion/direct-ingestion.js'
import { aggregateEvents, directDoorPrefix, fillUsage, ingestDirectUsage, ingestUsage } from '../../../src/metering/wire/jobs.js'
import { consume, type JobDefinition } from '../../../src/platform/queue.js'
import { queuePrefix as prefixOf } from '../../../src/platform/redis/slots.js'
import { DueWakeUps } from '../../../src/subscription/time/due-wake-ups.js'
import { applyDueTransitions } from '../../../src/subscription/time/jobs.js'
import { ChangeDelivery } from '../../../src/updates/deliver/delivery.js'
import { deliverChanges, environmentQueue } from '../../../src/updates/deliver/jobs.js'
import { changeSinks } from '../../../src/updates/deliver/sinks.js'
import { applyChange } from '../../../src/updates/external-cache/apply.js'
import { reload } from '../../../src/updates/external-cache/reload.js'
import { ExternalCacheWriter } from '../../../src/updates/external-cache/writer.js'
import { StateCache } from '../../../src/updates/held/state-cache.js'
import { eventually } from '../../support/eventually.js'
import { jobSamples } from '../../support/job-samples.js'
import { createEnvironment, type MeteringBench, openMeteringBench } from '../metering/fixture.js'

/** What stands in the place of whatever is in a job. */
const replacements: Record<string, unknown> = {
  nothing: null,
  'a negative number': -1,
  'a number beyond all': 1e308,
  'an empty text': '',
  'a text that is no id': 'x',
  'a text beyond all columns': 'y'.repeat(100_000),
  'characters that nothing can store': '\u0000\ud800',
  'SQL and Lua': `'; DROP TABLE customer; --]]`,
  'an empty list': [],
  'a list of lists': [[[[[]]]]],
  'an empty object': {},
  'an object with a prototype’s names': { constructor: 1, hasOwnProperty: 1, toString: 1 },
  truth: true,
}

/** The job with one of its parts replaced or gone, each part in each way; its version stays. */
function* mutations(job: unknown): Generator<unknown> {
  for (const path of pathsOf(job)) {
    for (const value of Object.values(replacements)) yield replaced(job, path, value)
    yield replaced(job, path, undefined)
  }
}

function pathsOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, part]) => {
    const own = [...path, key]
    return own.join() === 'v' ? [] : [own, ...pathsOf(part, own)]
  })
}

function replaced(job: unknown, path: readonly string[], value: unknown): unknown {
  const copy = structuredClone(job) as Record<string, unknown>
  let at = copy
  for (const key of path.slice(0, -1)) at = at[key] as Record<string, unknown>
  const last = path.at(-1)!
  if (value === undefined && !Array.isArray(at)) delete at[last]
  else at[last] = value
  return copy
}

/** Beside the library's own fields (`hostile-jobs.test.ts`): what a job carries may be anything, and the handlers are the real ones. */
describe('a worker that is given jobs of any shape', function () {
  this.timeout(180_000)

  let bench: MeteringBench
  let environmentId: string
  let keyHash: string

  before(async () => {
    bench = await openMeteringBench()
    environmentId = await createEnvironment(bench)
    await bench.app.customers.provision(environmentId, { refId: 'acme', subscription: { planRefId: 'free' } })
    const environment = (await bench.app.environments.list()).find(({ id }) => id === environmentId)!
    const { key } = await bench.app.environments.createKey({
      environment: environment.refId,
      kind: 'SERVER',
      name: 'test',
      expiresAt: null,
    })
    keyHash = createHash('sha256').update(key).digest('base64')
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  type Handler = Parameters<typeof consume<never>>[3]['handler']
  const handlers: Record<string, () => { definition: JobDefinition<never>; handler: Handler }> = {
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
          epochs: { of: () => undefined, lose: async () => undefined },
        }),
        metrics: bench.life.metrics,
        log: bench.life.log,
      })
      return of(deliverChanges, (job) => delivery.deliver(job.environmentId))
    },
    environment: () => ofEnvironment(),
    'environment-reload': () => ofEnvironment(),
  }
  const ofEnvironment = () => {
    const cache = new ExternalCacheWriter({ redis: bench.redis, prefix: `${bench.queues.prefix}-cache`, ttlSeconds: 60 })
    const fetchState = () => Promise.reject(new TypeError('nobody knows it'))
    return of(environmentQueue(environmentId), async (job, signal) => {
      const parts = { cache, fetchState, signal }
      await (job.kind === 'reload' ? reload(job, parts) : applyChange(job, parts))
    })
  }
  const ingestion = () => {
    const worker = bench.newIngestion()
    return of(ingestUsage, (job) => worker.ingest(job, false))
  }
  function of<T extends { v: number }>(definition: JobDefinition<T>, work: (job: T, signal: AbortSignal) => Promise<void>) {
    const handler = (job: T, { signal }: { signal: AbortSignal }) => work(job, signal)
    return { definition: definition as unknown as JobDefinition<never>, handler: handler as unknown as Handler }
  }

  for (const { name, job } of jobSamples)
    it(`of ${name} works off all of them, and the good one after them`, async () => {
      const { definition, handler } = handlers[name]!()
      const good = JSON.parse(JSON.stringify(job).replaceAll('01900000-0000-7000-8000-000000000001', environmentId)) as object
      if ('keyHash' in good) Object.assign(good, { keyHash, door: `${directDoorPrefix(environmentId)}door` })
      const own = { ...definition, queue: `${definition.queue}-${newId()}` }
      let isGoodDone = false
      const queue = new Queue(own.queue, { connection: bench.redis, prefix: prefixOf(bench.queues.prefix, own.queue) })
      try {
        const jobs = [...mutations(good), ...Object.values(replacements)]
        const opts = { attempts: 1, removeOnComplete: true }
        for (let first = 0; first < jobs.length; first += 200)
          await queue.addBulk(jobs.slice(first, first + 200).map((data) => ({ name: own.name, data, opts })))
        await queue.add(own.name, good, { ...opts, jobId: 'good' })
        consume(bench.life, bench.queues, own, {
          concurrency: 8,
          handler: async (data, context) => {
            try {
              await handler(data, context)
            } finally {
              if (context.job.id === 'good') isGoodDone = true
            }
          },
        })
        await eventually('the good job', () => isGoodDone, 120_000)
        await eventually(
          'the others to be out of the way',
          async () => {
            const { wait, active, delayed } = await queue.getJobCounts('wait', 'active', 'delayed')
            return wait! + active! + delayed! === 0
          },
          30_000,
        )
        expect(await bench.app.customers.get(environmentId, 'acme')).to.include({ refId: 'acme' })
      } finally {
        await queue.close()
      }
    })
})
