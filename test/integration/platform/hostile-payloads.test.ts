import { Queue } from 'bullmq'
import { expect } from 'chai'
import { newId } from '../../../src/kernel/id.js'
import { consume } from '../../../src/platform/queue/consume.js'
import { queuePrefix as prefixOf } from '../../../src/platform/redis/slots.js'
import { thirdOf } from '../../support/effort.js'
import { eventually } from '../../support/eventually.js'
import { jobSamples } from '../../support/job-samples.js'
import type { MeteringBench } from '../metering/fixture.js'
import { openJobBench } from './job-handlers.js'

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

/** The job with one of its parts replaced or gone, each part in a third of the ways, and each way at a third of the parts; its version stays. */
function* mutations(job: unknown): Generator<unknown> {
  for (const [place, path] of pathsOf(job).entries()) {
    for (const value of thirdOf(Object.values(replacements), place)) yield replaced(job, path, value)
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
  let handlers: Awaited<ReturnType<typeof openJobBench>>['handlers']
  let workable: (job: object) => object

  before(async () => {
    ;({ bench, environmentId, handlers, workable } = await openJobBench())
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  for (const { name, job } of jobSamples)
    it(`of ${name} works off all of them, and the good one after them`, async () => {
      const { definition, handler } = handlers[name]!()
      const good = workable(job)
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
