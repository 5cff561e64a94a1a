import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import * as decimal from '../../../src/kernel/decimal.js'
import { Ports } from '../../../src/local/processes/ports.js'
import { openQueue } from '../../../src/platform/queue.js'
import { applyDueTransitions } from '../../../src/subscription/time/jobs.js'
import { eventually } from '../../support/eventually.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'
import { TcpProxy } from '../../support/tcp-proxy.js'
import { type MeteringBench, openMeteringBench } from '../metering/fixture.js'

const script = fileURLToPath(new URL('../../../workers/subscription-transitions.js', import.meta.url))
/** How many workers are killed, each at another message; each costs the start of a process. KILLS=all: between any two. */
const kills = process.env.KILLS === 'all' ? Number.POSITIVE_INFINITY : Number(process.env.KILLS ?? 4)

const catalog = `
features:
  - { refId: calls, type: NUMBER, meter: Incremental }
  - { refId: seats, type: NUMBER, meter: Fluctuating }
products:
  - { refId: desk, settings: { downgradeTiming: END_OF_BILLING_PERIOD } }
  - { refId: lab, settings: { endOfSubscription: DOWNGRADE_TO_FREE, downgradePlan: bench } }
plans:
  - refId: plus
    product: desk
    entitlements: [{ feature: calls, limit: 1000, resetPeriod: MONTH }, { feature: seats, limit: 100 }]
    prices:
      - { billingModel: PER_UNIT, billingPeriod: MONTHLY, currency: USD, amount: 10, feature: seats, minQuantity: 1, maxQuantity: 500 }
      - { billingModel: USAGE_BASED, billingPeriod: MONTHLY, currency: USD, amount: 0.1, feature: calls }
  - refId: bench
    product: lab
    entitlements: [{ feature: calls, limit: 10, resetPeriod: MONTH }]
  - refId: tower
    product: lab
    defaultTrial: { duration: 7, units: DAY, endBehavior: CANCEL_SUBSCRIPTION }
    entitlements: [{ feature: calls, limit: 5000, resetPeriod: MONTH }]
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 70 }]
`

interface Worker {
  child: ChildProcess
  proxy: TcpProxy
  prefix: string
  /** Messages between the worker and PostgreSQL since the work began, or those that are counted. */
  messages: number
}

describe('a transitions worker that is killed', function () {
  this.timeout(Math.min(1_800_000, 60_000 + kills * 20_000))
  let bench: MeteringBench
  let environmentId: string
  const ports = new Ports()
  const workers = new Set<Worker>()

  before(async () => {
    bench = await openMeteringBench()
    bench.startIngestion()
    const { environment } = await bench.app.environments.create({ refId: 'killed' })
    environmentId = environment.id
    await bench.app.catalog.apply(environmentId, catalog, { dryRun: false, archiveMissing: false })
  })
  // A test that failed leaves its own behind, and they would do the work of the next.
  afterEach(async () => {
    await Promise.all([...workers].map(stop))
  })
  after(async () => {
    ports.release()
    expect(await bench.close()).to.deep.equal([])
  })

  it('between any two messages leaves everything to be done or everything done, and four others finish', async () => {
    // given the number of messages that undisturbed work takes
    const undisturbed = await startWorker(null)
    const first = await dueCustomer('undisturbed')
    await wake(undisturbed, first)
    await eventually('the work to be done', () => isDone(first))
    const { messages } = undisturbed
    await stop(undisturbed)
    expect(messages).to.be.above(40)
    const expected = await outcome(first)
    expect(expected.plans).to.deep.equal(['bench ACTIVE', 'plus ACTIVE', 'tower EXPIRED TrialEnded'])

    // when workers are killed at messages all over it
    const killed: string[] = []
    const count = Math.min(kills, messages)
    // The last ones are the commit and its answer.
    const killAts = Array.from({ length: count }, (_, n) => Math.ceil(((n + 1) * messages) / count))
    let next = startWorker(killAts[0]!)
    for (const [index, killAt] of killAts.entries()) {
      const worker = await next
      if (index + 1 < killAts.length) next = startWorker(killAts[index + 1]!)
      const customerId = await dueCustomer(`killed-${killAt}`)
      const exited = once(worker.child, 'exit')
      await wake(worker, customerId)
      await exited
      await stop(worker)
      // then one transaction did all or nothing
      const { plans, renewals } = await outcome(customerId)
      const isRecorded = await isDone(customerId)
      expect([plans, renewals.length], `killed at message ${killAt}`).to.deep.equal(
        isRecorded ? [expected.plans, expected.renewals.length] : [['plus ACTIVE', 'tower IN_TRIAL'], 0],
      )
      killed.push(customerId)
    }

    // and workers that nobody wakes find what is left, and each thing is done by one of them
    const others = await Promise.all(Array.from({ length: 12 }, (_, n) => dueCustomer(`other-${n}`)))
    const left = [...killed, ...others]
    const sweeping = await Promise.all(Array.from({ length: 4 }, () => startWorker(null, { SWEEP_INTERVAL_MS: '100' })))
    await eventually('the rest to be done', () => isDone(...left), 60_000)
    await Promise.all(sweeping.map(stop))
    for (const [index, customerId] of left.entries())
      expect(await outcome(customerId), `killed at message ${killAts[index] ?? 'none'}`).to.deep.equal(expected)
  })

  it('while it moves everybody to a version that was published leaves each moved or not moved, and another one goes on', async () => {
    const { app, prisma } = bench
    const { environment } = await app.environments.create({ refId: 'migrated' })
    const plan = (limit: number, publish: string) => `
features: [{ refId: calls, type: NUMBER, meter: Incremental }]
products: [{ refId: desk }]
plans: [{ refId: plus, product: desk, publish: ${publish}, entitlements: [{ feature: calls, limit: ${limit}, resetPeriod: MONTH }] }]`
    await app.catalog.apply(environment.id, plan(10, 'NEW_CUSTOMERS'), { dryRun: false, archiveMissing: false })
    const refIds = Array.from({ length: 12 }, (_, n) => `customer-${n}`)
    for (const refId of refIds) await app.customers.provision(environment.id, { refId, subscription: { planRefId: 'plus' } })
    await app.catalog.apply(environment.id, plan(20, 'ALL_CUSTOMERS'), { dryRun: false, archiveMissing: false })
    const limits = async () => {
      const states = await Promise.all(refIds.map((refId) => app.entitlements.state(environment.id, refId, null)))
      return states.map(({ entitlements }) => entitlements[0]!.usageLimit)
    }
    const progress = async () => (await app.packageMigrations.list(environment.id))[0]!

    const isMove = (from: string, data: Buffer) => from === 'client' && data.includes('UPDATE "public"."package_migration"')
    const killed = await startWorker(5, { SWEEP_INTERVAL_MS: '100' }, isMove)
    if (killed.child.signalCode === null) await once(killed.child, 'exit')
    await stop(killed)
    const { migrated, total, finishedAt } = await progress()
    expect({ total, finishedAt }).to.deep.equal({ total: 12, finishedAt: null })
    expect(migrated).to.be.within(3, 5)
    expect((await limits()).filter((limit) => limit === '20')).to.have.length(migrated)

    const next = await startWorker(null, { SWEEP_INTERVAL_MS: '100' })
    await eventually('the migration to be finished', async () => (await progress()).finishedAt !== null)
    await stop(next)
    expect(await progress()).to.include({ migrated: 12, total: 12 })
    expect(await limits()).to.deep.equal(refIds.map(() => '20'))
    expect(
      await prisma.outboxMessage.groupBy({
        by: ['customerId'],
        _count: true,
        where: { environmentId: environment.id, kind: 'entitlements' },
      }),
    ).to.have.length(12)
  })

  /** Killed at a message, counted from the first statement of its work, or of those that are to be counted; null: it lives. Has jobs of its own. */
  async function startWorker(
    killAt: number | null,
    env: Record<string, string> = {},
    isCounted?: (from: 'client' | 'server', data: Buffer) => boolean,
  ): Promise<Worker> {
    const prefix = testRedisPrefix()
    const watch = (from: 'client' | 'server', data: Buffer) => {
      const isFirst = from === 'client' && data.includes('AS is_due')
      if (!(isCounted?.(from, data) ?? (worker.messages > 0 || isFirst))) return
      worker.messages += 1
      if (worker.messages === killAt) worker.child.kill('SIGKILL')
    }
    const proxy = await TcpProxy.start(bench.databaseUrl, watch)
    const url = new URL(bench.databaseUrl)
    url.host = `127.0.0.1:${proxy.port}`
    const port = await ports.take()
    const child = spawn(process.execPath, [script], {
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: url.href,
        REDIS_URL: testRedisUrl(),
        QUEUE_PREFIX: prefix,
        LOG_LEVEL: 'warn',
        BIND_ADDRESS: '127.0.0.1',
        PORT: String(port),
        SWEEP_INTERVAL_MS: '3600000',
        ...env,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const worker: Worker = { child, proxy, prefix, messages: 0 }
    workers.add(worker)
    const isReady = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        (answer) => answer.status === 200,
        () => false,
      )
    await eventually('the worker to be ready', async () => child.signalCode !== null || (await isReady()), 60_000)
    return worker
  }

  async function stop(worker: Worker): Promise<void> {
    workers.delete(worker)
    const { child, proxy } = worker
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    }
    await proxy.stop()
  }

  async function wake({ prefix }: Worker, customerId: string): Promise<void> {
    await openQueue(bench.life, { ...bench.queues, prefix }, applyDueTransitions).add({ v: 1, environmentId, customerId })
  }

  /** A customer (our id) whose billing period is over, at which its seats change, and whose trial of another product is over too. */
  async function dueCustomer(refId: string): Promise<string> {
    const { app, usage, pool } = bench
    const { customer } = await app.customers.provision(environmentId, { refId })
    const seats = (quantity: number) => [{ featureRefId: 'seats', quantity: decimal.fromNumber(quantity) }]
    const subscriptionRefId = `${refId}-plus`
    await app.subscriptions.provision(environmentId, { customerRefId: refId, subscriptionRefId, planRefId: 'plus', quantities: seats(10) })
    await app.subscriptions.provision(environmentId, { customerRefId: refId, subscriptionRefId: `${refId}-tower`, planRefId: 'tower' })
    await app.subscriptionChanges.update(environmentId, { subscriptionRefId, quantities: seats(5) })
    const report = { customerId: refId, resourceId: null, featureId: 'calls', value: decimal.fromNumber(3), behavior: 'DELTA' as const }
    await usage.report(environmentId, [{ ...report, timestamp: null, idempotencyKey: null, dimensions: null }])
    await pool.query(
      `UPDATE subscription SET start_date = start_date - $2::interval, billing_anchor = billing_anchor - $2::interval, usage_anchor = usage_anchor - $2::interval,
         trial_end_date = trial_end_date - $2::interval, current_period_start = current_period_start - $2::interval,
         current_period_end = current_period_end - $2::interval, due_at = due_at - $2::interval
       WHERE customer_id = $1`,
      [customer.id, '40 days'],
    )
    await pool.query(
      `UPDATE scheduled_update u SET execute_at = s.current_period_end FROM subscription s WHERE s.customer_id = $1 AND u.subscription_id = s.id`,
      [customer.id],
    )
    await pool.query(
      `UPDATE subscription_billing b SET account = jsonb_set(account, '{standing,period}', jsonb_build_object(
         'start', extract(epoch FROM s.current_period_start) * 1000, 'end', extract(epoch FROM s.current_period_end) * 1000))
       FROM subscription s WHERE s.customer_id = $1 AND b.subscription_id = s.id AND s.current_period_end IS NOT NULL`,
      [customer.id],
    )
    return customer.id
  }

  const isDone = async (...customerIds: string[]) =>
    (await bench.prisma.subscription.count({ where: { customerId: { in: customerIds }, dueAt: { lte: new Date() } } })) === 0

  /** What there is of a customer in the end, without what differs from one to the next. */
  async function outcome(customerId: string) {
    const { prisma, app } = bench
    const subscriptions = await prisma.subscription.findMany({
      where: { customerId },
      include: { subscriptionQuantities: true, renewals: true, planVersion: { include: { package: true } }, scheduledUpdates: true },
    })
    const invoices = await prisma.invoice.findMany({
      where: { customerId },
      include: { invoiceLines: true },
      orderBy: { periodStart: 'asc' },
    })
    const ids = subscriptions.map(({ id }) => id)
    const { refId } = await prisma.customer.findFirstOrThrow({ where: { id: customerId } })
    const state = await app.entitlements.state(environmentId, refId, null)
    return {
      plans: subscriptions
        .map(({ planVersion, status, cancelReason }) =>
          [planVersion.package.refId, status, ...(cancelReason ? [cancelReason] : [])].join(' '),
        )
        .sort(),
      renewals: subscriptions.flatMap(({ renewals }) =>
        renewals.map(({ periodEnd, periodStart }) => Math.round((periodEnd.getTime() - periodStart.getTime()) / 86_400_000)),
      ),
      seats: subscriptions.flatMap(({ subscriptionQuantities }) => subscriptionQuantities.map(({ quantity }) => quantity.toFixed())),
      scheduled: subscriptions.flatMap(({ scheduledUpdates }) => scheduledUpdates.map(({ status }) => status)),
      invoices: invoices.map(({ reason, total, invoiceLines }) => [reason, total.toFixed(), invoiceLines.length]),
      calls: await prisma.billingIntent.count({ where: { subscriptionId: { in: ids } } }),
      held: state.entitlements.map(({ feature, usageLimit, usage }) => [feature.refId, usageLimit, usage?.currentUsage]),
      series: await prisma.usageSeries.count({ where: { customerId } }),
    }
  }
})
