import { expect } from 'chai'
import * as decimal from '../../../src/kernel/decimal.js'
import { sweepDue } from '../../../src/platform/due-sweep.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { DueWakeUps } from '../../../src/subscription/time/due-wake-ups.js'
import { countStatements } from '../../support/statements.js'
import { atOnce, type Bench, openBench } from './fixture.js'
import { seatsCatalog } from './seats-catalog.js'

const seats = (quantity: number) => [{ featureRefId: 'seats', quantity: decimal.fromNumber(quantity) }]
const crowd = 12
/** As if everything had begun then and the platform had been down since the first billing period was over: the same instants in every environment. */
const monthsAgo = (months: number) => new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - months, 1))
const [start, end] = [monthsAgo(3), monthsAgo(2)]

describe('what is due for many customers', function () {
  this.timeout(60_000)
  let bench: Bench
  let environmentId: string
  let customerIds: string[]

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  /** A new environment in which a period of every customer is over; every third one changes its seats then, and every third one ends. */
  const fill = async () => {
    environmentId = await bench.createEnvironment({ catalog: seatsCatalog() })
    customerIds = []
    for (let n = 0; n < crowd; n += 1) {
      const { customer } = await bench.customers.provision(environmentId, { refId: `customer-${n}` })
      customerIds.push(customer.id)
      const subscriptionRefId = `sub-${n}`
      await bench.subscriptions.provision(environmentId, {
        customerRefId: customer.refId,
        subscriptionRefId,
        planRefId: 'plus',
        quantities: seats(10 + n),
        skipTrial: true,
      })
      if (n % 3 === 1) await bench.subscriptionChanges.update(environmentId, { subscriptionRefId, quantities: seats(5) })
      if (n % 3 === 2) await bench.cancellations.cancel(environmentId, { subscriptionRefId, time: 'END_OF_BILLING_PERIOD' })
    }
    await bench.pool.query(
      `UPDATE subscription SET start_date = $2::timestamptz, billing_anchor = $2::timestamptz, usage_anchor = $2::timestamptz, current_period_start = $2::timestamptz,
         current_period_end = $3::timestamptz, due_at = $3::timestamptz,
         effective_end_date = CASE WHEN effective_end_date IS NOT NULL THEN $3::timestamptz END WHERE environment_id = $1`,
      [environmentId, start, end],
    )
    await bench.pool.query('UPDATE scheduled_update SET execute_at = $2 WHERE environment_id = $1', [environmentId, end])
    await bench.pool.query(
      `UPDATE subscription_billing SET account = jsonb_set(account, '{standing,period}', $2::jsonb) WHERE environment_id = $1`,
      [environmentId, JSON.stringify({ start: start.getTime(), end: end.getTime() })],
    )
    await bench.prisma.outboxMessage.deleteMany({ where: { environmentId } })
  }

  /** What a host application could see, without what is different each time. */
  const outcome = async () => {
    const of = { where: { environmentId } }
    const subscriptions = await bench.prisma.subscription.findMany({
      ...of,
      include: { subscriptionQuantities: true, renewals: { orderBy: { periodStart: 'asc' } }, scheduledUpdates: true, billing: true },
    })
    const invoices = await bench.prisma.invoice.findMany({
      ...of,
      include: { invoiceLines: true },
      orderBy: [{ periodStart: 'asc' }, { total: 'asc' }],
    })
    const intents = await bench.prisma.billingIntent.groupBy({ by: ['subscriptionId', 'kind'], _count: true, ...of })
    const messages = await bench.prisma.outboxMessage.findMany({ ...of, select: { customerId: true, kind: true } })
    return {
      subscriptions: subscriptions
        .map((row) => ({
          refId: row.refId.startsWith('sub-') ? row.refId : 'free',
          status: row.status,
          cancelReason: row.cancelReason,
          end: row.effectiveEndDate?.getTime(),
          period: [row.currentPeriodStart?.getTime(), row.currentPeriodEnd?.getTime()],
          due: row.dueAt?.getTime(),
          renewals: row.renewals.map(({ periodStart, periodEnd }) => [periodStart.getTime(), periodEnd.getTime()]),
          seats: row.subscriptionQuantities.map(({ quantity }) => quantity.toFixed()),
          scheduled: row.scheduledUpdates.map(({ status }) => status),
          charged: (row.billing?.account as { fixedCharged?: string } | undefined)?.fixedCharged,
          invoices: invoices
            .filter(({ subscriptionId }) => subscriptionId === row.id)
            .map(({ reason, total, invoiceLines }) => [reason, total.toFixed(), invoiceLines.length]),
          intents: intents.filter(({ subscriptionId }) => subscriptionId === row.id).map(({ kind, _count }) => [kind, _count]),
        }))
        .sort((a, b) => (a.refId < b.refId ? -1 : 1)),
      messages: messages.map(({ customerId, kind }) => `${customerId} ${kind}`).sort(),
    }
  }

  it('is the same done in one transaction as one by one, with a fraction of the statements', async () => {
    await fill()
    const alone = countStatements()
    for (const customerId of customerIds) await bench.dueTransitions.applyDue(environmentId, customerId)
    alone.stop()
    const oneByOne = await outcome()
    expect(oneByOne.messages.length, 'changes of access').to.equal((2 * crowd) / 3)

    await fill()
    const statements = countStatements()
    const done = await bench.dueTransitions.applyDueTogether(environmentId, customerIds)
    statements.stop()
    expect(done.toSorted()).to.deep.equal(customerIds.toSorted())
    expect(await outcome()).to.deep.equal(oneByOne)
    expect(statements.texts.length).to.be.below(alone.texts.length / 4)
    expect(await bench.dueTransitions.applyDueTogether(environmentId, customerIds)).to.deep.equal([])
  })

  it('is recorded once though eight workers take it in groups', async () => {
    await fill()
    const results = await atOnce(() => sweep())
    expect(results.reduce((sum, count) => sum + count, 0)).to.equal(crowd)
    const renewed = await bench.prisma.subscriptionRenewal.groupBy({
      by: ['subscriptionId', 'periodStart'],
      _count: true,
      where: { environmentId },
    })
    expect(renewed.every(({ _count }) => _count === 1)).to.equal(true)
    const invoiced = await bench.prisma.invoice.groupBy({
      by: ['subscriptionId', 'periodStart'],
      _count: true,
      where: { environmentId, reason: 'BILLING_CYCLE' },
    })
    expect(invoiced.every(({ _count }) => _count === 1)).to.equal(true)
  })

  it('of one of them that fails keeps none of the others from being recorded', async () => {
    await fill()
    // Its next period is claimed already, so that recording it is refused.
    const broken = (await bench.prisma.subscription.findFirst({ where: { environmentId, refId: 'sub-0' } }))!
    const claim = {
      environmentId,
      subscriptionId: broken.id,
      periodStart: broken.currentPeriodEnd!,
      periodEnd: monthsAgo(1),
    }
    await bench.prisma.subscriptionRenewal.create({ data: claim })
    expect(await sweep()).to.equal(crowd - 1)
    const left = await bench.prisma.subscription.findMany({ where: { environmentId, dueAt: { lte: new Date() } } })
    expect(left.map(({ refId }) => refId)).to.deep.equal(['sub-0'])
    expect(left[0]!.currentPeriodEnd).to.deep.equal(broken.currentPeriodEnd)
  })

  it('is not looked for again and again where there is nothing', async () => {
    environmentId = await bench.createEnvironment({ catalog: seatsCatalog() })
    for (const customerRefId of ['one', 'two']) {
      await bench.customers.provision(environmentId, { refId: customerRefId })
      await bench.subscriptions.provision(environmentId, { customerRefId, planRefId: 'plus', quantities: seats(1), skipTrial: true })
    }
    await bench.pool.query(`UPDATE subscription SET due_at = now() - interval '1 hour' WHERE environment_id = $1`, [environmentId])
    expect(await sweep()).to.equal(0)
  })

  it('waits for a customer that is held when it was woken for it, and leaves it alone in a sweep', async () => {
    await fill()
    const client = await bench.pool.connect()
    try {
      await client.query('BEGIN')
      await client.query('SELECT FROM customer_state WHERE customer_id = $1 FOR UPDATE', [customerIds[0]])
      expect(await sweep()).to.equal(crowd - 1)
      const wakeUps = new DueWakeUps(bench.dueTransitions, { lanes: 2 })
      let isDone = false
      const woken = Promise.all(customerIds.map((id) => wakeUps.apply(environmentId, id))).then(() => {
        isDone = true
      })
      await wakeUps.apply(environmentId, customerIds[1]!)
      expect(isDone).to.equal(false)
      await client.query('ROLLBACK')
      await woken
    } finally {
      client.release()
    }
    expect(await bench.prisma.subscription.count({ where: { environmentId, dueAt: { lte: new Date() } } })).to.equal(0)
  })

  const sweep = () =>
    sweepDue(
      { log: silentLogger(), signal: new AbortController().signal },
      {
        domain: {
          dueCustomers: async () =>
            (await bench.dueTransitions.dueCustomers(1_000, [])).filter((due) => due.environmentId === environmentId),
          applyDue: (...asked) => bench.dueTransitions.applyDue(...asked),
          applyDueTogether: (...asked) => bench.dueTransitions.applyDueTogether(...asked),
        },
        concurrency: 2,
        label: 'due transitions',
      },
    )
})
