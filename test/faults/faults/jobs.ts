/** What may lie in queues that nobody of this release has put there, or that nobody needs any more. */
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { queuePrefix as prefixOf } from '../../../src/platform/redis/slots.js'
import { type Fault, nothing } from '../fault.js'
import { queuePrefix, type Stage } from '../stage/stage.js'

interface SampleJob {
  queue: string
  name: string
  data: Record<string, unknown>
}

/** As releases that may still run write them, by queue and version. */
const folder = fileURLToPath(new URL('../../../../test/cases/jobs/', import.meta.url))
const writtenEnvironment = '01900000-0000-7000-8000-000000000001'
const writtenBatch = '01900000-0000-7000-8000-000000000004'
/** Of the queue that a file is named for; of ingestion there are several. */
const nameOf: Readonly<Record<string, string>> = {
  'cache-invalidation': 'deliver',
  environment: 'change',
  'event-aggregation': 'aggregate',
  imports: 'run',
  'subscription-transitions': 'apply-due',
  'usage-filling': 'fill',
  'usage-ingestion': 'ingest',
}
const staleJobs = 100_000
const chunk = 1_000
const staleQueues = ['event-aggregation', 'subscription-transitions', 'cache-invalidation']
const holdMs = 6_000

/** Each of an identity of its own. That of sidecars with a queue of their own is left out: nobody here works on such a queue. */
function samplesFor({ tenants }: Stage): SampleJob[] {
  const files = readdirSync(folder).filter((file) => !file.includes('-direct.'))
  return files.map((file) => {
    const written = readFileSync(join(folder, file), 'utf8')
    const data = JSON.parse(written.replaceAll(writtenEnvironment, tenants.loaded.environmentId).replaceAll(writtenBatch, randomUUID()))
    const queue = Object.keys(nameOf).find((name) => file.startsWith(name))!
    return { queue: queue === 'environment' ? `environment-${tenants.loaded.environmentId}` : queue, name: nameOf[queue]!, data }
  })
}

async function withQueue<T>(stage: Stage, name: string, work: (queue: Queue, redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(stage.redis.url, { maxRetriesPerRequest: null })
  const queue = new Queue(name, { connection: redis, prefix: prefixOf(queuePrefix, name), skipVersionCheck: true })
  queue.on('error', () => undefined)
  try {
    return await work(queue, redis)
  } finally {
    await queue.close()
    redis.disconnect()
  }
}

/** Adds the jobs; when the fault ends, tells of those that have not come to what was expected, and removes what is left of them. */
async function addJobs(stage: Stage, jobs: readonly SampleJob[], expected: readonly string[]) {
  const added: { queue: string; id: string }[] = []
  for (const { queue: name, name: jobName, data } of jobs)
    await withQueue(stage, name, async (queue) => {
      const job = await queue.add(jobName, data, { removeOnComplete: true, attempts: 1 })
      added.push({ queue: name, id: job.id! })
    })
  return async () => {
    const wrong: string[] = []
    for (const { queue: name, id } of added)
      await withQueue(stage, name, async (queue) => {
        const job = await queue.getJob(id)
        const state = job ? await job.getState() : 'done'
        if (!expected.includes(state)) wrong.push(`a job of ${name} is ${state}: ${job?.failedReason ?? ''}`)
        await job?.remove().catch(() => undefined)
      })
    return wrong
  }
}

const poison: Readonly<Record<string, (sample: SampleJob) => unknown>> = {
  'no-object': () => 'a text',
  'no-version': () => ({}),
  empty: ({ data }) => ({ v: data.v }),
  'other-types': ({ data }) => Object.fromEntries(Object.keys(data).map((name) => [name, name === 'v' ? data.v : [{}]])),
  deep: ({ data }) => ({ ...data, environmentId: JSON.parse('['.repeat(500) + ']'.repeat(500)) as unknown }),
}

const poisonJobs = Object.entries(poison).map(
  ([kind, make]): Fault => ({
    name: `poison-jobs-${kind}`,
    about: `a job in each queue that no worker can work off: ${kind.replaceAll('-', ' ')}`,
    isQuick: kind === 'other-types',
    holdMs,
    inject: (stage) =>
      addJobs(
        stage,
        samplesFor(stage).map((sample) => ({ ...sample, data: make(sample) as SampleJob['data'] })),
        ['failed', 'done'],
      ),
  }),
)

const stale = staleQueues.map(
  (name): Fault => ({
    name: `stale-jobs-${name}`,
    about: `${staleJobs.toLocaleString('en')} jobs in ${name} for which there is nothing to do any more`,
    holdMs,
    async inject(stage) {
      const sample = samplesFor(stage).find(({ queue }) => queue === name)!
      const make = () => ({ ...sample, data: { ...sample.data, ...('batchId' in sample.data && { batchId: randomUUID(), stored: null }) } })
      await withQueue(stage, name, async (queue) => {
        for (let added = 0; added < staleJobs; added += chunk)
          await queue.addBulk(
            Array.from({ length: chunk }, () => make()).map((job) => ({
              name: job.name,
              data: job.data,
              opts: { removeOnComplete: true },
            })),
          )
      })
      return nothing
    },
  }),
)

/** Cannot be read at all: not even by the queue library. */
const brokenJob: Fault = {
  name: 'poison-jobs-broken',
  about: 'a job in each queue whose record in Redis is no job',
  holdMs: 12_000,
  async inject(stage) {
    const names = samplesFor(stage).map(({ queue }) => queue)
    await stage.redis.do(async (redis) => {
      for (const name of names) {
        const key = `${prefixOf(queuePrefix, name)}:${name}:poison`
        await redis.hset(key, { name: 'poison', data: '{', opts: '[', timestamp: 'never' })
        await redis.lpush(`${prefixOf(queuePrefix, name)}:${name}:wait`, 'poison')
        await redis.zadd(`${prefixOf(queuePrefix, name)}:${name}:marker`, 0, '0')
      }
    })
    return nothing
  },
}

const poisonMessages: Fault = {
  name: 'poison-messages',
  about: 'messages of no known shape on every channel of Redis that somebody listens to',
  holdMs,
  async inject(stage) {
    await stage.redis.do(async (redis) => {
      const channels = (await redis.pubsub('CHANNELS', '*')) as string[]
      for (const channel of channels) for (const text of ['', '{', '[]', '{"v":99}', 'null', '\0']) await redis.publish(channel, text)
    })
    return nothing
  },
}

const releases: readonly Fault[] = [
  {
    name: 'release-before',
    about: 'processes of the release before add their jobs',
    isQuick: true,
    holdMs: 3_000,
    inject: (stage) => addJobs(stage, samplesFor(stage), ['done', 'completed']),
  },
  {
    name: 'release-after',
    about: 'processes of the release after add their jobs, which wait for their own workers',
    holdMs,
    inject: (stage) =>
      addJobs(
        stage,
        samplesFor(stage).map((sample) => ({ ...sample, data: { ...sample.data, v: 99 } })),
        ['delayed', 'waiting', 'active'],
      ),
  },
]

export const jobFaults: readonly Fault[] = [...stale, ...poisonJobs, brokenJob, poisonMessages, ...releases]
