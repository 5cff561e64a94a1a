import { expect } from 'chai'
import * as decimal from '../../../src/kernel/decimal.js'
import { newId } from '../../../src/kernel/id.js'
import { Bindings } from '../../../src/metering/counting/bindings.js'
import { createIngestionMetrics } from '../../../src/metering/ingestion/batch/batch-metrics.js'
import { ReportIngestion } from '../../../src/metering/ingestion/reports/report-ingestion.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { createMetrics } from '../../../src/platform/metrics.js'
import { createEnvironment, event, type MeteringBench, openMeteringBench } from './fixture.js'

const day = 86_400_000
const jobsAtOnce = 6
const rounds = 40

describe('reports of an environment whose test clock is ahead', () => {
  let bench: MeteringBench

  before(async () => {
    bench = await openMeteringBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  async function environmentAhead(aheadMs: number): Promise<string> {
    const environmentId = await createEnvironment(bench)
    await bench.prisma.environment.update({ where: { id: environmentId }, data: { isTest: true } })
    if (aheadMs > 0) await bench.app.testClocks.create(environmentId, Date.now() + aheadMs)
    await bench.app.customers.provision(environmentId, { refId: 'acme', subscription: { planRefId: 'free' } })
    return environmentId
  }
  const newWorker = () =>
    new ReportIngestion({
      pool: bench.pool,
      bindings: new Bindings(bench.app.heldSeries),
      metrics: createIngestionMetrics(createMetrics('test')),
      log: silentLogger(),
      clock: bench.app.clock,
    })
  const aReport = () => ({
    id: newId(),
    customerId: 'acme',
    resourceId: null,
    featureId: 'calls',
    value: decimal.fromNumber(1),
    behavior: 'DELTA' as const,
    timestamp: null,
    idempotencyKey: null,
    dimensions: null,
  })

  for (const [what, aheadMs] of [
    ['not at all', 0],
    ['by 90 minutes', day / 16],
    ['by 3 days', 3 * day],
    ['by 400 days', 400 * day],
  ] as const)
    it(`${what}: each of several jobs at once is counted, once`, async function () {
      this.timeout(60_000)
      const environmentId = await environmentAhead(aheadMs)
      const worker = newWorker()
      const problems: unknown[] = []
      let greatest = 0
      const lane = async () => {
        for (let round = 0; round < rounds; round++) {
          const call = { deadline: Date.now() + 30_000, items: [aReport()] }
          const [answer] = await worker.ingest(environmentId, [call], false)
          if ('problem' in answer!) problems.push(answer.problem)
          else greatest = Math.max(greatest, Number(answer!.usages[0]!.currentUsage))
        }
      }
      await Promise.all(Array.from({ length: jobsAtOnce }, lane))
      expect(problems).to.deep.equal([])
      expect(greatest).to.equal(jobsAtOnce * rounds)
    })
})

describe('moving a test clock into months that nobody has been in', () => {
  it('waits for no reader of events, and nobody waits for it', async function () {
    this.timeout(30_000)
    const bench = await openMeteringBench()
    try {
      bench.startIngestion()
      const [test, other] = [await createEnvironment(bench), await createEnvironment(bench)]
      await bench.prisma.environment.update({ where: { id: test }, data: { isTest: true } })
      await bench.app.testClocks.create(test, Date.now() + 1_000)
      for (const environmentId of [test, other])
        await bench.app.customers.provision(environmentId, { refId: 'acme', subscription: { planRefId: 'free' } })
      await bench.pool.query("SELECT ensure_raw_event_partitions(now() - interval '1 day', now() + interval '62 days')")
      const reader = await bench.pool.connect()
      try {
        await reader.query('BEGIN')
        await reader.query('SELECT count(*) FROM raw_event')
        const startedAt = performance.now()
        const moved = [70, 200, 4_000].reduce(
          (before, days) => before.then(() => bench.app.testClocks.advance(test, Date.now() + days * day)),
          Promise.resolve<unknown>(null),
        )
        const stored = bench.usage.reportEvents(other, [event('acme', 'a', { timestamp: Date.now() })])
        await Promise.all([moved, stored])
        // Events of the new time are stored too.
        await bench.usage.reportEvents(test, [event('acme', 'b', { timestamp: Date.now() + 4_000 * day })])
        expect(performance.now() - startedAt).to.be.below(5_000)
      } finally {
        await reader.query('ROLLBACK')
        reader.release()
      }
    } finally {
      expect(await bench.close()).to.deep.equal([])
    }
  })
})
