import { Queue } from 'bullmq'
import { expect } from 'chai'
import fc from 'fast-check'
import { newId } from '../../src/kernel/id.js'
import { consume } from '../../src/platform/queue/consume.js'
import { queuePrefix } from '../../src/platform/redis/slots.js'
import type { MeteringBench } from '../integration/metering/fixture.js'
import { openJobBench } from '../integration/platform/job-handlers.js'
import { eventually } from '../support/eventually.js'
import { jobSamples } from '../support/job-samples.js'
import { holds, timeoutOf } from './fuzz.js'
import { json, nearly, nearlyText, written } from './values.js'

/** What a queue has of a job, besides what its sender says of it. */
const fieldsOfAny = { opts: '{}', timestamp: '1', atm: '0', ats: '0', delay: '0', priority: '0' }

/** The text of a job; null: the job has none. */
const shapesOf = (good: object): fc.Arbitrary<string | null> => {
  const versions = fc.constantFrom(0, 2, 99, -1, 1.5, 1e308, null, '1', true, [1], { v: 1 })
  const dates = fc.constantFrom(8.64e15 + 1, -8.64e15 - 1, '+275760-09-14T00:00:00.000Z', '0000-00-00', 'tomorrow', 1e300)
  return fc.oneof(
    { arbitrary: nearly([good]).map(written), weight: 6 },
    { arbitrary: versions.map((v) => written({ ...good, v })), weight: 1 },
    { arbitrary: dates.map((date) => written(good).replace(/:\d{13}\b/g, `:${JSON.stringify(date)}`)), weight: 1 },
    { arbitrary: nearlyText(fc.constant(written(good))), weight: 1 },
    { arbitrary: json.map(written), weight: 1 },
    {
      arbitrary: fc.constantFrom(
        null,
        '',
        'null',
        '[]',
        '{"v":1}',
        `{"v":1,"__proto__":${written(good)}}`,
        written({ ...good, batch: 'y'.repeat(3_000_000) }),
        `{"v":1,"batch":[${'0,'.repeat(500_000)}0]}`,
      ),
      weight: 1,
    },
  )
}

describe('jobs that nobody should add', () => {
  let bench: MeteringBench
  let environmentId: string
  let handlers: Awaited<ReturnType<typeof openJobBench>>['handlers']
  let workable: (job: object) => object

  before(async function () {
    this.timeout(30_000)
    ;({ bench, environmentId, handlers, workable } = await openJobBench())
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  for (const { name, job } of jobSamples)
    it(`as ${name} hold up nothing that comes behind them`, async () => {
      const { definition, handler } = handlers[name]!()
      const own = { ...definition, queue: `${definition.queue}-${newId()}` }
      const good = workable(job)
      const done = new Set<string>()
      const queue = new Queue(own.queue, { connection: bench.redis, prefix: queuePrefix(bench.queues.prefix, own.queue) })
      const keyOf = (part: string) => `${queuePrefix(bench.queues.prefix, own.queue)}:${own.queue}:${part}`
      const add = async (id: string, fields: Record<string, string>) => {
        await bench.redis.hset(keyOf(id), { ...fieldsOfAny, ...fields })
        await bench.redis.lpush(keyOf('wait'), id)
        await bench.redis.zadd(keyOf('marker'), 0, '0')
      }
      // One at a time, so that the good one has all the others before it.
      consume(bench.life, bench.queues, own, {
        concurrency: 1,
        // What the library itself cannot read is looked at once its lock is over.
        lockMs: 400,
        handler: async (data, context) => {
          try {
            await handler(data, context)
          } finally {
            done.add(context.job.id!)
          }
        },
      })
      const named = fc.tuple(
        fc.oneof({ arbitrary: fc.constant(own.name), weight: 9 }, { arbitrary: fc.constantFrom('', '__proto__', 'x'), weight: 1 }),
        shapesOf(good),
      )
      let round = 0
      try {
        await holds(3, fc.array(named, { minLength: 4, maxLength: 10 }), async (jobs) => {
          const last = `good-${round++}`
          for (const [index, [jobName, data]] of jobs.entries())
            await add(`${last}-after-${index}`, { name: jobName, ...(data === null ? {} : { data }) })
          await add(last, { name: own.name, data: written(good) })
          await eventually(`the good job behind ${JSON.stringify(jobs).slice(0, 2_000)}`, () => done.has(last), 15_000)
        })
        // What is put back comes again for a moment, and what has failed is tried again.
        await eventually('the others to be out of the way', async () => {
          const { wait, active } = await queue.getJobCounts('wait', 'active')
          return wait! + active! === 0
        })
        expect(await bench.app.customers.get(environmentId, 'acme')).to.include({ refId: 'acme' })
      } finally {
        await queue.close()
      }
    }).timeout(timeoutOf(3))
})
