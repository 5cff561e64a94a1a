import { expect } from 'chai'
import { UsageFilling } from '../../../src/metering/counting/usage-filling.js'
import { fillUsage } from '../../../src/metering/wire/jobs.js'
import { type JobQueue, openQueue } from '../../../src/platform/queue.js'
import { count, createEnvironment, event, eventually, type MeteringBench, openMeteringBench, report, usageOf } from './fixture.js'

describe('usage that has no counter yet', () => {
  let bench: MeteringBench
  let environmentId: string
  let fillings: Pick<JobQueue<unknown>, 'waiting'>
  let serial = 0
  let customerId: string

  before(async () => {
    bench = await openMeteringBench()
    bench.startIngestion()
    bench.startAggregation()
    environmentId = await createEnvironment(bench)
    fillings = openQueue(bench.life, bench.queues, fillUsage)
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    customerId = `customer-${++serial}`
    await bench.app.customers.provision(environmentId, { refId: customerId, subscription: { planRefId: 'free' } })
  })

  const usage = (featureId: string, resourceId: string | null = null) => usageOf(bench, environmentId, customerId, featureId, resourceId)
  const usages = () => Promise.all(['requests', 'tokens', 'max', 'min', 'avg', 'unique', 'seats'].map((feature) => usage(feature)))
  const counters = () => count(bench.pool, 'usage_counter', environmentId)
  const lose = () =>
    bench.pool.query(
      `WITH lost AS (DELETE FROM usage_counter WHERE environment_id = $1::uuid) DELETE FROM usage_member WHERE environment_id = $1::uuid`,
      [environmentId],
    )
  const counted = () =>
    eventually(
      () => count(bench.pool, 'pending_batch', environmentId),
      (waiting) => waiting === 0,
    )
  /** Jobs that readers have asked for since nobody works on them. */
  const asked = () =>
    eventually(
      () => fillings.waiting(),
      (waiting) => waiting > 0,
    )

  it('is computed by a reader, who has it counted, so that the next one finds it', async () => {
    await bench.usage.reportEvents(environmentId, [
      event(customerId, 'a', { dimensions: { tokens: 1, user: 'x' } }),
      event(customerId, 'b', { dimensions: { tokens: 7, user: 'y' } }),
    ])
    await bench.usage.report(environmentId, [report(customerId, 3, { featureId: 'seats' })])
    await counted()
    const before = await usages()
    expect(before).to.deep.equal(['2', '8', '7', '1', '4', '2', '3'])
    const all = await counters()
    await lose()
    await bench.app.customers.provision(environmentId, { refId: 'quiet', subscription: { planRefId: 'free' } })
    expect(await usageOf(bench, environmentId, 'quiet', 'tokens')).to.equal('0')
    expect(await usages()).to.deep.equal(before)
    // Many readers, one job; and none for the one whose usage is nothing.
    expect(await asked()).to.equal(1)
    bench.startFilling()
    await eventually(counters, (found) => found >= all)
    expect(await usages()).to.deep.equal(before)
    await bench.usage.reportEvents(environmentId, [event(customerId, 'c', { dimensions: { tokens: 0, user: 'z' } })])
    await counted()
    expect(await usages()).to.deep.equal(['3', '8', '7', '0', '2.666666667', '3', '3'])
  })

  it('is filled for the resource that has its own subscription', async () => {
    await bench.app.subscriptions.provision(environmentId, { customerRefId: customerId, planRefId: 'paid', resourceRefId: 'a' })
    await bench.usage.reportEvents(environmentId, [event(customerId, 'a', { resourceId: 'a', dimensions: { tokens: 2, user: 'x' } })])
    await counted()
    await lose()
    expect([await usage('tokens', 'a'), await usage('tokens')]).to.deep.equal(['2', '2'])
    const ofResource = () =>
      bench.pool
        .query('SELECT FROM usage_counter AS c JOIN usage_series AS s ON s.id = c.series_id WHERE s.resource_id IS NOT NULL')
        .then(({ rowCount }) => rowCount ?? 0)
    expect(await eventually(ofResource, (found) => found > 0)).to.be.above(0)
    expect([await usage('tokens', 'a'), await usage('tokens')]).to.deep.equal(['2', '2'])
  })

  it('is filled once, also by two workers at once', async () => {
    const { id } = await bench.prisma.customer.findFirstOrThrow({ where: { environmentId, refId: customerId } })
    const filling = new UsageFilling({ pool: bench.pool, loadHeld: bench.app.heldSeries })
    const job = { v: 1 as const, environmentId, customerId: id, resourceId: null }
    await Promise.all([filling.fill(job), filling.fill(job)])
    const filled = await counters()
    await filling.fill(job)
    expect(await counters()).to.equal(filled)
  })
})
