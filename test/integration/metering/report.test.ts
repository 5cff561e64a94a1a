import { expect } from 'chai'
import * as decimal from '../../../src/kernel/decimal.js'
import { newId } from '../../../src/kernel/id.js'
import { checkReport, type UsageReport } from '../../../src/metering/model/report.js'
import type { IngestionJob } from '../../../src/metering/wire/jobs.js'
import { type PackedCall, packCall } from '../../../src/metering/wire/packed-reports.js'
import { count, createEnvironment, type MeteringBench, openMeteringBench, problemOf, report, toldUsage, usageOf } from './fixture.js'

const minute = 60_000
const day = 86_400_000

describe('reporting usage', () => {
  let bench: MeteringBench
  let environmentId: string
  let serial = 0
  let customerId: string

  before(async () => {
    bench = await openMeteringBench()
    bench.startIngestion()
    environmentId = await createEnvironment(bench)
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    customerId = `customer-${++serial}`
    await bench.app.customers.provision(environmentId, { refId: customerId, subscription: { planRefId: 'free' } })
  })

  const send = async (...reports: UsageReport[]) => bench.usage.report(environmentId, reports)
  const usage = (featureId = 'calls', resourceId: string | null = null) => usageOf(bench, environmentId, customerId, featureId, resourceId)
  /** Runs jobs as a worker with nothing in its memory would. */
  const ingest = (job: IngestionJob, isRerun = false) => bench.newIngestion().ingest(job, isRerun)
  const jobOf = (calls: UsageReport[][], { deadline = Date.now() + minute } = {}): IngestionJob => ({
    v: 1,
    environmentId,
    door: newId(),
    batchId: newId(),
    isRepeat: false,
    batch: {
      kind: 'reports',
      calls: calls.map((items) => packCall({ deadline, items: items.map((item) => checkReport(item, newId(), Date.now())) })),
    },
  })

  it('adds 0.1 ten times to exactly 1', async () => {
    for (let i = 0; i < 9; i++) await send(report(customerId, 0.1))
    const [last] = await send(report(customerId, 0.1))
    expect(last!.currentUsage).to.equal('1')
    expect(await usage()).to.equal('1')
  })

  it('answers the current usage, its period and its version once it is committed', async () => {
    const [answer] = await send(report(customerId, 3))
    const state = await bench.app.entitlements.state(environmentId, customerId, null)
    const held = state.entitlements.find(({ feature }) => feature.refId === 'calls')!
    expect(answer).to.include({ customerId, resourceId: null, featureId: 'calls', currentUsage: '3' })
    expect(answer!.periodStart).to.equal(held.usage!.periodStart)
    expect(answer!.periodEnd).to.equal(held.usage!.periodEnd).and.to.be.above(Date.now())
    expect(answer!.timestamp).to.equal(held.usage!.updatedAt).and.to.equal(state.version)
    expect(await bench.prisma.usageMeasurement.count({ where: { environmentId, id: answer!.id } })).to.equal(1)
  })

  it('counts 1,000 concurrent reports of 0.1 as 100', async function () {
    this.timeout(30_000)
    await Promise.all(Array.from({ length: 1_000 }, () => send(report(customerId, 0.1))))
    expect(await usage()).to.equal('100')
  })

  it('tells the change with the usage, and without the change of access that only usage is not', async () => {
    const before = await bench.app.entitlements.state(environmentId, customerId, null)
    await send(report(customerId, 2), report(customerId, 3))
    const told = await toldUsage(bench, environmentId, customerId)
    const after = await bench.app.entitlements.state(environmentId, customerId, null)
    const { usage } = after.entitlements.find(({ feature }) => feature.refId === 'calls')!
    expect(told).to.deep.equal([{ customerId, resourceId: null, featureId: 'calls', usage }])
    expect(after.version).to.be.above(before.version)
    expect(after.accessVersion).to.equal(before.accessVersion)
  })

  describe('with an idempotency key', () => {
    it('counts a repeat once and answers the same again', async () => {
      const keyed = report(customerId, 2, { idempotencyKey: `${customerId}-key` })
      const first = await send(keyed)
      expect(await send(keyed)).to.deep.equal(first)
      expect(await usage()).to.equal('2')
    })

    it('counts a key once within a batch and across concurrent calls', async () => {
      const keyed = report(customerId, 2, { idempotencyKey: `${customerId}-key` })
      const answers = [...(await send(keyed, keyed)), ...(await Promise.all([send(keyed), send(keyed), send(keyed)])).flat()]
      expect(new Set(answers.map(({ id }) => id)).size).to.equal(1)
      expect(await usage()).to.equal('2')
    })

    it('refuses another body under the same key, in the next call and in the same one', async () => {
      const keyed = report(customerId, 2, { idempotencyKey: `${customerId}-key` })
      await send(keyed)
      const later = await problemOf(send({ ...keyed, value: decimal.fromNumber(3) }))
      expect(later).to.include({ code: 'ALREADY_EXISTS', reason: 'DUPLICATED_ENTITY_NOT_ALLOWED' })
      const other = { ...keyed, idempotencyKey: `${customerId}-other` }
      const same = await problemOf(send(other, { ...other, featureId: 'seats' }))
      expect(same.reason).to.equal('DUPLICATED_ENTITY_NOT_ALLOWED')
      expect(await usage()).to.equal('2')
    })
  })

  it('counts a job once that is run twice, by workers that know nothing of each other', async () => {
    const job = jobOf([[report(customerId, 2)], [report(customerId, 1, { idempotencyKey: `${customerId}-key` })]])
    await ingest(job)
    await ingest(job, true)
    await Promise.all([ingest({ ...job, isRepeat: true }), ingest(job)])
    expect(await usage()).to.equal('3')
  })

  it('does not count what comes after its deadline, and counts the rest of the batch', async () => {
    const late = jobOf([[report(customerId, 2)]], { deadline: Date.now() - 1 })
    await ingest({
      ...late,
      batch: { kind: 'reports', calls: [...late.batch.calls, ...jobOf([[report(customerId, 5)]]).batch.calls] },
    } as IngestionJob)
    expect(await usage()).to.equal('5')
    expect(await count(bench.pool, 'usage_measurement', environmentId)).to.be.above(0)
  })

  it('counts what comes again in time under the key of what came too late, in one batch too', async () => {
    const again = { idempotencyKey: `again-${customerId}` }
    const late = jobOf([[report(customerId, 2, again)]], { deadline: Date.now() - 1 })
    const inTime = jobOf([[report(customerId, 2, again)], [report(customerId, 2, again), report(customerId, 3)], [report(customerId, 1)]])
    await ingest({ ...late, batch: { kind: 'reports', calls: [...late.batch.calls, ...inTime.batch.calls] } } as IngestionJob)
    expect(await usage()).to.equal('6')
    const answered = await send(report(customerId, 2, again))
    expect(answered[0]).to.include({ currentUsage: '6' })
    expect(await bench.prisma.usageMeasurement.count({ where: { environmentId, id: answered[0]!.id } })).to.equal(1)
  })

  it('answers a report again after its deadline when it was counted before', async () => {
    const job = jobOf([[report(customerId, 2)]])
    await ingest(job)
    for (const call of job.batch.calls as PackedCall[]) call[0] = 0
    await ingest(job, true)
    expect(await usage()).to.equal('2')
  })

  describe('that must be refused', () => {
    const cases: [string, () => Partial<UsageReport>, string][] = [
      ['of an unknown customer', () => ({ customerId: 'nobody' }), 'CUSTOMER_NOT_FOUND'],
      ['of an unknown resource', () => ({ resourceId: 'nothing' }), 'CUSTOMER_RESOURCE_NOT_FOUND'],
      ['of an unknown feature', () => ({ featureId: 'nothing' }), 'FEATURE_NOT_FOUND'],
      ['of a feature that is metered by events', () => ({ featureId: 'tokens' }), 'CANNOT_REPORT_USAGE_FOR_ENTITLEMENT_WITH_METER'],
      ['of a feature without usage', () => ({ featureId: 'sso' }), 'METERING_NOT_AVAILABLE_FOR_FEATURE_TYPE'],
      ['that takes incremental usage back', () => ({ value: decimal.fromNumber(-1) }), 'USAGE_MEASUREMENT_DIFF_OUT_OF_RANGE'],
      ['from before the window', () => ({ timestamp: Date.now() - 36 * day }), 'BAD_USER_INPUT'],
      ['from the future', () => ({ timestamp: Date.now() + 6 * minute }), 'BAD_USER_INPUT'],
      ['with a control character in an identifier', () => ({ featureId: 'a\u0000b' }), 'BAD_USER_INPUT'],
    ]
    for (const [title, change, reason] of cases) {
      it(title, async () => {
        const problem = await problemOf(send(report(customerId, 1), report(customerId, 1, change())))
        expect(problem.reason).to.equal(reason)
        expect(problem.details.items).to.deep.equal([{ index: 1, code: reason, message: problem.message }])
        expect(await usage()).to.equal('0')
      })
    }

    it('says which feature was probably meant', async () => {
      for (const [featureId, advice] of [
        ['cals', 'did you mean "calls"?'],
        ['saets', 'did you mean "seats"?'],
        ['nothing of the kind', 'check the catalog.'],
        [`calls${'s'.repeat(200)}`, 'check the catalog.'],
      ]) {
        const problem = await problemOf(send(report(customerId, 1, { featureId })))
        expect(problem.message).to.equal(`Feature "${featureId}" was not found in this environment: ${advice}`)
      }
    })

    it('fails alone among concurrent calls', async () => {
      const results = await Promise.allSettled([send(report(customerId, 1)), send(report('nobody', 1)), send(report(customerId, 1))])
      expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled'])
      expect(await usage()).to.equal('2')
    })

    it('when the sum would leave what can be kept, alone in its batch', async () => {
      const huge = () => [report(customerId, 9e14, { featureId: 'unheld' })]
      await ingest(jobOf([...Array.from({ length: 12 }, huge), [report(customerId, 1)]]))
      expect(await usage()).to.equal('1')
      const [after] = await send(report(customerId, 0, { featureId: 'unheld' }))
      expect(after!.currentUsage).to.equal(String(9e15))
      expect(await problemOf(send(...huge()))).to.include({ reason: 'ENTITLEMENT_USAGE_OUT_OF_RANGE' })
    })

    it('when the database refuses it, alone in its batch', async () => {
      const job = jobOf([[report(customerId, 1)], [report(customerId, 1)], [report(customerId, 1)]])
      // A value that the checks of the door would never let through.
      const [, packed] = job.batch.calls[1] as PackedCall
      packed![3] = '1e15' as never
      await ingest(job)
      expect(await usage()).to.equal('2')
    })
  })

  describe('that is set or dated', () => {
    const at = () => Date.now()

    it('starts from the last SET', async () => {
      await send(report(customerId, 3), report(customerId, 10, { behavior: 'SET' }), report(customerId, 2))
      expect(await usage()).to.equal('12')
      await send(report(customerId, 5, { behavior: 'SET' }))
      expect(await usage()).to.equal('5')
    })

    it('goes up and down for seats, and answers at least 0 while the true sum is kept', async () => {
      const [down] = await send(report(customerId, -3, { featureId: 'seats' }))
      expect(down!.currentUsage).to.equal('0')
      const [up] = await send(report(customerId, 5, { featureId: 'seats' }))
      expect(up).to.include({ currentUsage: '2', periodStart: null, periodEnd: null })
    })

    it('orders by time, whatever comes first', async () => {
      const start = at()
      await send(report(customerId, 100, { featureId: 'seats', timestamp: start - 10 * minute }))
      await send(report(customerId, 7, { featureId: 'seats', behavior: 'SET', timestamp: start - 5 * minute }))
      expect(await usage('seats')).to.equal('7')
      // older than the SET: stored, changes nothing
      await send(report(customerId, 50, { featureId: 'seats', timestamp: start - 6 * minute }))
      expect(await usage('seats')).to.equal('7')
      await send(report(customerId, 1, { featureId: 'seats', timestamp: start - 4 * minute }))
      expect(await usage('seats')).to.equal('8')
      // a late SET re-sums what follows it
      await send(report(customerId, 20, { featureId: 'seats', behavior: 'SET', timestamp: start - 4.5 * minute }))
      expect(await usage('seats')).to.equal('21')
    })

    it('keeps the order when a SET is dated ahead, also for a worker that did not see it', async () => {
      await send(report(customerId, 1, { featureId: 'seats' }))
      await ingest(jobOf([[report(customerId, 9, { featureId: 'seats', behavior: 'SET', timestamp: at() + 4 * minute })]]))
      expect(await usage('seats')).to.equal('9')
      await send(report(customerId, 1, { featureId: 'seats' }))
      expect(await usage('seats')).to.equal('9')
      await send(report(customerId, 2, { featureId: 'seats', behavior: 'SET' }))
      expect(await usage('seats')).to.equal('9')
    })

    it('counts a back-dated report in the period of its time and answers the current one', async () => {
      await send(report(customerId, 4))
      // before the subscription, so before the first period
      const [answer] = await send(report(customerId, 3, { timestamp: at() - 2 * day }))
      expect(answer!.currentUsage).to.equal('4')
      expect(await usage()).to.equal('4')
    })

    it('adds what is not entitled to a lifetime sum without a period', async () => {
      await send(report(customerId, 4, { featureId: 'unheld' }))
      const [answer] = await send(report(customerId, 3, { featureId: 'unheld', timestamp: at() - 2 * day }))
      expect(answer).to.include({ currentUsage: '7', periodStart: null, periodEnd: null })
    })
  })

  describe('of resources', () => {
    beforeEach(async () => {
      for (const resourceRefId of ['a', 'b'])
        await bench.app.subscriptions.provision(environmentId, { customerRefId: customerId, planRefId: 'paid', resourceRefId })
    })

    it('counts in the customer and, apart from it, in the resource with its own subscription', async () => {
      await send(report(customerId, 1), report(customerId, 2, { resourceId: 'a' }))
      const [answer] = await send(report(customerId, 4, { resourceId: 'b' }))
      expect(answer).to.include({ resourceId: 'b', currentUsage: '4' })
      expect([await usage(), await usage('calls', 'a'), await usage('calls', 'b')]).to.deep.equal(['7', '2', '4'])
    })

    it('makes the total of the parts that were set', async () => {
      await send(report(customerId, 5, { resourceId: 'a', behavior: 'SET' }), report(customerId, 1))
      await send(report(customerId, 3, { resourceId: 'b', behavior: 'SET' }))
      await send(report(customerId, 2, { resourceId: 'a', behavior: 'SET' }), report(customerId, 1, { resourceId: 'b' }))
      expect([await usage(), await usage('calls', 'a'), await usage('calls', 'b')]).to.deep.equal(['7', '2', '4'])
    })
  })

  it('starts again with a new plan, and does not count twice when the old series comes back', async () => {
    await send(report(customerId, 4))
    await bench.app.subscriptions.provision(environmentId, { customerRefId: customerId, planRefId: 'paid' })
    expect(await usage()).to.equal('0')
    const [answer] = await send(report(customerId, 1))
    expect(answer!.currentUsage).to.equal('1')
  })

  it('computes a series that wins again from everything that is stored', async () => {
    const { id } = await bench.prisma.customer.findFirstOrThrow({ where: { environmentId, refId: customerId } })
    const feature = await bench.prisma.feature.findFirstOrThrow({ where: { environmentId, refId: 'calls' } })
    await send(report(customerId, 4))
    // given a promotion that takes over, with a series of its own
    const promotion = await bench.prisma.promotionalEntitlement.create({
      data: {
        environmentId,
        id: newId(),
        customerId: id,
        featureId: feature.id,
        hasUnlimitedUsage: true,
        period: 'LIFETIME',
        startDate: new Date(Date.now() - day),
        updatedAt: new Date(),
      },
    })
    await bumpAccess(id)
    const [during] = await send(report(customerId, 2))
    expect(during!.currentUsage).to.equal('6')
    // when it is revoked
    await bench.prisma.promotionalEntitlement.updateMany({ where: { environmentId, id: promotion.id }, data: { revokedAt: new Date() } })
    await bumpAccess(id)
    // then the plan's series has what was reported meanwhile
    const [afterwards] = await send(report(customerId, 1))
    expect(afterwards!.currentUsage).to.equal('7')
  })

  const bumpAccess = (id: string) =>
    bench.pool.query(
      'UPDATE customer_state SET version = version + 1, access_version = version + 1 WHERE environment_id = $1::uuid AND customer_id = $2::uuid',
      [environmentId, id],
    )

  it('never deadlocks when batches of several workers touch the same customers in any order', async function () {
    this.timeout(120_000)
    const customers = [customerId, `${customerId}-b`, `${customerId}-c`]
    for (const refId of customers.slice(1))
      await bench.app.customers.provision(environmentId, { refId, subscription: { planRefId: 'free' } })
    const workers = [bench.newIngestion(), bench.newIngestion(), bench.newIngestion()]
    const batches = Array.from({ length: 60 }, (_, index) => {
      const order = index % 2 === 0 ? customers : [...customers].reverse()
      return workers[index % 3]!.ingest(
        jobOf(order.map((refId) => [report(refId, 1, { idempotencyKey: `${customerId}-${index}-${refId}` })])),
        false,
      )
    })
    await Promise.all(batches)
    for (const refId of customers) expect(await usageOf(bench, environmentId, refId, 'calls')).to.equal('60')
  })
})
