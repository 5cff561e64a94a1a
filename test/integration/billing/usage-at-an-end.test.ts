import { expect } from 'chai'
import fc from 'fast-check'
import { newId } from '../../../src/kernel/id.js'
import { event, type MeteringBench, openMeteringBench, report } from '../metering/fixture.js'

const hour = 3_600_000
const day = 24 * hour
const begin = Date.UTC(2044, 0, 1)
/** Fewer in a run of all tests; MODEL_RUNS=300 looks for what nobody has thought of. */
const runs = Number(process.env.MODEL_RUNS ?? 4)

const plans = ['free', 'small', 'big'] as const
type Plan = (typeof plans)[number]

const usagePrices = (amount: number) =>
  ['calls', 'requests']
    .map((feature) => `{ billingModel: USAGE_BASED, billingPeriod: MONTHLY, currency: USD, amount: ${amount}, feature: ${feature} }`)
    .join(', ')
/** A call and a request cost 1 in the one plan, 1,000 in the other: from the amounts it is seen whose they were. */
const catalog = `
features:
  - { refId: calls, type: NUMBER, meter: Incremental }
  - { refId: requests, type: NUMBER, meter: Incremental, events: { aggregation: COUNT, filters: [[{ field: eventName, operation: EQUALS, value: request }]] } }
products: [{ refId: desk, settings: { endOfSubscription: DOWNGRADE_TO_FREE, downgradePlan: free } }]
plans:
  - { refId: free, product: desk, entitlements: [{ feature: calls, limit: 9, resetPeriod: MONTH }, { feature: requests, limit: 9, resetPeriod: MONTH }] }
  - { refId: small, product: desk, basePlan: free, prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 10 }, ${usagePrices(1)}] }
  - { refId: big, product: desk, basePlan: free, prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 100 }, ${usagePrices(1_000)}] }
`

describe('usage at an end', function () {
  this.timeout(Math.max(120_000, runs * 10_000))
  let bench: MeteringBench
  let environmentId: string

  before(async () => {
    bench = await openMeteringBench()
    bench.startIngestion()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  /** Events are stored and acknowledged; nobody counts them until `countWaiting`. */
  const open = async () => {
    const { environment } = await bench.app.environments.create({ refId: newId(), isTest: true })
    environmentId = environment.id
    await bench.app.catalog.apply(environmentId, catalog, { dryRun: false, archiveMissing: false })
    await bench.app.testClocks.create(environmentId, begin)
    await bench.app.customers.provision(environmentId, { refId: 'acme' })
  }
  const provision = (planRefId: Plan) => bench.app.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId })
  const advance = (to: number) => bench.app.testClocks.advance(environmentId, to)
  const cancel = async () => {
    const [held] = await bench.app.subscriptionReads.active(environmentId, { customerRefId: 'acme' })
    return bench.app.cancellations.cancel(environmentId, { subscriptionRefId: held!.refId, time: 'IMMEDIATE' })
  }
  const sendEvents = (count: number, timestamp: number | null = null) =>
    bench.usage.reportEvents(
      environmentId,
      Array.from({ length: count }, () => event('acme', newId(), { timestamp })),
    )
  const countWaiting = async () => {
    const aggregation = bench.newAggregation()
    for (const { id: batchId } of await bench.prisma.pendingBatch.findMany({ where: { environmentId } }))
      await aggregation.aggregate({ v: 1, environmentId, batchId, stored: null })
  }
  /** What was charged for usage, by plan. */
  const charged = async () => {
    const sums: Record<string, number> = {}
    for (const { description, amount } of await bench.prisma.invoiceLine.findMany({ where: { environmentId } })) {
      const plan = /(\w+): (calls|requests)$/.exec(description)?.[1]
      if (plan) sums[plan] = (sums[plan] ?? 0) + amount.toNumber()
    }
    return sums
  }
  const invoices = async () => {
    const rows = await bench.prisma.invoice.findMany({
      where: { environmentId },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      include: { invoiceLines: true },
    })
    return rows.map(({ createdAt, invoiceLines }) => [
      (createdAt.getTime() - begin) / day,
      ...invoiceLines.map(({ description, amount }) => `${description} ${amount.toString()}`),
    ])
  }

  it('is on the last invoice although it is not counted yet: the first event of all, and a cancellation in its instant', async () => {
    await open()
    await provision('small')
    await sendEvents(1)
    await cancel()
    expect(await bench.prisma.pendingBatch.count({ where: { environmentId } })).to.equal(1)
    expect(await invoices()).to.deep.equal([
      [0, 'small 10'],
      [0, 'small: calls 0', 'small: requests 1'],
    ])
    await countWaiting()
    await advance(begin + 100 * day)
    expect(await charged()).to.deep.equal({ small: 1 })
  })

  it('is on the last invoice before a downgrade to the free plan, to what is in force since, and of a plan that is replaced', async () => {
    for (const next of ['free', 'big'] as const) {
      await open()
      await provision('small')
      await bench.usage.report(environmentId, [report('acme', 2)])
      await sendEvents(3)
      await provision(next)
      await bench.usage.report(environmentId, [report('acme', 4)])
      await sendEvents(5)
      await advance(begin + 40 * day)
      expect(await charged()).to.deep.equal({ small: 5, ...(next === 'big' && { big: 9_000 }) })
    }
  })

  it('that was free before is not charged by the plan that replaces the free one', async () => {
    await open()
    await provision('free')
    await bench.usage.report(environmentId, [report('acme', 2)])
    await sendEvents(3)
    await provision('small')
    await sendEvents(1)
    await advance(begin + 40 * day)
    expect(await charged()).to.deep.equal({ small: 1 })
  })

  it('that was nobody’s before the first plan is not charged by it, in the same instant', async () => {
    await open()
    await sendEvents(4)
    await provision('small')
    await sendEvents(2)
    await advance(begin + 40 * day)
    expect(await charged()).to.deep.equal({ small: 2 })
  })

  it('that comes while the next plan waits for its payment is charged once, by the plan that is in force', async () => {
    for (const before of ['small', 'free'] as const) {
      await open()
      await provision(before)
      await advance(begin + day)
      const waiting = { customerRefId: 'acme', planRefId: 'big', billing: { collectionMethod: 'CHARGE' as const } }
      const { subscription } = await bench.app.subscriptions.provision(environmentId, waiting)
      await bench.app.billing.deliverAll(environmentId, subscription.id)
      await advance(begin + 1.1 * day)
      await bench.usage.report(environmentId, [report('acme', 2)])
      await sendEvents(3)
      const { billingId } = await bench.prisma.invoice.findFirstOrThrow({ where: { environmentId, subscriptionId: subscription.id } })
      const { billing, billingProvider } = bench.app
      await billing.hear(environmentId, (await billingProvider.tell(environmentId, billingId!, { status: 'PAID' }))!)
      await sendEvents(4)
      await advance(begin + 40 * day)
      expect(await charged(), before).to.deep.equal({ ...(before === 'small' && { small: 5 }), big: 4_000 })
    }
  })

  it('and that comes later for before it, makes one more invoice when no more can come', async () => {
    await open()
    await provision('small')
    await advance(begin + 5 * day)
    await provision('big')
    await advance(begin + 20 * day)
    await sendEvents(2, begin + 4 * day)
    await sendEvents(7, begin + 6 * day)
    await advance(begin + 39 * day)
    await sendEvents(3, begin + 5 * day - 1_000)
    await countWaiting()
    await advance(begin + 39.9 * day)
    expect((await invoices()).flat().filter((line) => /Late|requests [1-9]/.test(String(line)))).to.deep.equal(['big: requests 7000'])
    await advance(begin + 200 * day)
    const late = (await invoices()).filter((lines) => lines.some((line) => /Late/.test(String(line))))
    expect(late.map(([at, ...lines]) => [Math.floor(Number(at)), ...lines])).to.deep.equal([[40, 'Late usage: small: requests 5']])
    expect(await charged()).to.deep.equal({ small: 5, big: 7_000 })
  })

  it('is charged late once, by whoever looks, however often', async () => {
    await open()
    await provision('small')
    await advance(begin + 5 * day)
    await cancel()
    await bench.usage.report(environmentId, [report('acme', 2, { timestamp: begin + 4 * day })])
    await bench.app.environments.moveTestClock(environmentId, begin + 50 * day)
    await Promise.allSettled([1, 2, 3].map(() => bench.app.billing.sweepLateUsage()))
    await bench.app.billing.sweepLateUsage()
    await advance(begin + 200 * day)
    expect(await charged()).to.deep.equal({ small: 2 })
  })

  const anyStep = fc.record({
    jumpHours: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 60 }), fc.integer({ min: 200, max: 1_500 })),
    calls: fc.integer({ min: 0, max: 3 }),
    events: fc.integer({ min: 0, max: 3 }),
    lateEvents: fc.integer({ min: 0, max: 2 }),
    isCounted: fc.boolean(),
    ask: fc.oneof(fc.constant('wait' as const), fc.constant('cancel' as const), fc.constantFrom(...plans)),
  })

  it(`${runs} sequences: each report and event is charged once, by the plan that was held, whatever waits and however far the clock jumps`, async () => {
    const seed = process.env.MODEL_SEED ? Number(process.env.MODEL_SEED) : process.env.MODEL_RUNS ? undefined : 20_440_101
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 3, maxLength: 8 }), async (steps) => {
        await open()
        let now = begin
        let held: { plan: Plan; since: number } = { plan: 'free', since: now }
        let ended: { plan: Plan; since: number; until: number } | null = null
        const expected: Record<string, number> = { free: 0, small: 0, big: 0 }
        const use = (plan: Plan, count: number) => (expected[plan]! += count * { free: 0, small: 1, big: 1_000 }[plan])
        await provision('free')
        for (const { jumpHours, calls, events, lateEvents, isCounted, ask } of steps) {
          now += jumpHours * hour
          if (jumpHours > 0) await advance(now)
          if (calls > 0) await bench.usage.report(environmentId, [report('acme', calls)])
          if (events > 0) await sendEvents(events)
          use(held.plan, calls + events)
          if (ended && lateEvents > 0 && ended.until - ended.since > hour && now - ended.until < 34 * day) {
            await sendEvents(lateEvents, ended.until - 60_000)
            use(ended.plan, lateEvents)
          }
          if (isCounted) await countWaiting()
          const next = ask === 'cancel' ? 'free' : ask
          if (next === 'wait' || next === held.plan) continue
          if (ask === 'cancel') await cancel()
          else await provision(next)
          ended = { ...held, until: now }
          held = { plan: next, since: now }
        }
        await countWaiting()
        await advance(now + 100 * day)
        expect({ free: 0, small: 0, big: 0, ...(await charged()) }).to.deep.equal(expected)
      }),
      { numRuns: runs, seed },
    )
  })
})
