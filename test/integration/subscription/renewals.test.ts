import { expect } from 'chai'
import * as decimal from '../../../src/kernel/decimal.js'
import { sweepDue } from '../../../src/platform/due-sweep.js'
import { silentLogger } from '../../../src/platform/logger.js'
import type { PrismaClient } from '../../../src/platform/postgres.js'
import { DueTransitions } from '../../../src/subscription/time/due.js'
import { atOnce, type Bench, openBench } from './fixture.js'
import { seatsCatalog } from './seats-catalog.js'

const seats = (quantity: number) => [{ featureRefId: 'seats', quantity: decimal.fromNumber(quantity) }]

describe('renewing', () => {
  let bench: Bench
  let environmentId: string
  let customerId: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await bench.createEnvironment({ catalog: seatsCatalog() })
    const { customer } = await bench.customers.provision(environmentId, { refId: 'acme' })
    customerId = customer.id
    await bench.subscriptions.provision(environmentId, {
      customerRefId: 'acme',
      subscriptionRefId: 'sub',
      planRefId: 'plus',
      quantities: seats(10),
      skipTrial: true,
    })
  })

  /** As if it had begun that much earlier and the platform had been down since. */
  const elapse = async (days: number) => {
    await bench.pool.query(
      `UPDATE subscription SET start_date = start_date - $2::interval, billing_anchor = billing_anchor - $2::interval, usage_anchor = usage_anchor - $2::interval,
         current_period_start = billing_anchor - $2::interval, current_period_end = (billing_anchor - $2::interval) + interval '1 month',
         due_at = (billing_anchor - $2::interval) + interval '1 month',
         effective_end_date = CASE WHEN effective_end_date IS NOT NULL THEN (billing_anchor - $2::interval) + interval '1 month' END
       WHERE environment_id = $1`,
      [environmentId, `${days} days`],
    )
    await bench.pool.query(
      `UPDATE scheduled_update u SET execute_at = s.current_period_end FROM subscription s
       WHERE s.environment_id = $1 AND u.environment_id = s.environment_id AND u.subscription_id = s.id`,
      [environmentId],
    )
  }
  const renewals = async () =>
    (await bench.prisma.subscriptionRenewal.findMany({ where: { environmentId }, orderBy: { periodStart: 'asc' } })).map(
      ({ periodStart, periodEnd }) => [periodStart.getTime(), periodEnd.getTime()],
    )
  const current = async () => (await bench.subscriptionReads.get(environmentId, 'sub')).currentPeriod!

  it('each period once, in order and without gaps, though eight workers do it at once', async () => {
    await elapse(100)
    const first = (await bench.prisma.subscription.findFirstOrThrow({ where: { environmentId } })).currentPeriodEnd!.getTime()
    const results = await atOnce(() => bench.dueTransitions.applyDue(environmentId, customerId))
    expect(results.filter(Boolean)).to.have.length(1)
    const recorded = await renewals()
    expect(recorded).to.have.length(3)
    expect(recorded[0]![0]).to.equal(first)
    for (const [index, [, end]] of recorded.slice(0, -1).entries()) expect(recorded[index + 1]![0]).to.equal(end)
    expect(await current()).to.deep.equal({ start: recorded[2]![0], end: recorded[2]![1] })
    expect((await bench.prisma.subscription.findFirstOrThrow({ where: { environmentId } })).dueAt!.getTime()).to.equal(recorded[2]![1])
  })

  it('the same, killed between any two of its steps', async () => {
    await bench.subscriptionChanges.update(environmentId, { subscriptionRefId: 'sub', quantities: seats(5) })
    await elapse(40)
    const before = await everything()
    let steps = 0
    for (let killAt = 1; ; killAt += 1) {
      steps = 0
      const killing = bench.prisma.$extends({
        query: {
          async $allOperations({ args, query }) {
            steps += 1
            if (steps === killAt) throw new Error('killed')
            return query(args)
          },
        },
      }) as unknown as PrismaClient
      const worker = serviceOn(killing)
      const outcome = await worker.applyDue(environmentId, customerId).catch((error: Error) => error.message)
      if (outcome === true) break
      expect(outcome, `step ${killAt}`).to.include('killed')
      expect(await everything(), `step ${killAt}`).to.deep.equal(before)
    }
    expect(steps).to.be.above(5)
    expect(await renewals()).to.have.length(1)
    expect((await bench.subscriptionReads.get(environmentId, 'sub')).quantities.map(({ quantity }) => quantity)).to.deep.equal(['5'])
    // Killed after the commit: the wake-ups are lost, and the next worker finds nothing left to do.
    expect(await bench.dueTransitions.applyDue(environmentId, customerId)).to.equal(false)
  })

  it('is refused by the database a second time', async () => {
    await elapse(40)
    await bench.dueTransitions.applyDue(environmentId, customerId)
    const [row] = await bench.prisma.subscriptionRenewal.findMany({ where: { environmentId } })
    const again = bench.prisma.subscriptionRenewal.create({ data: row! }).then(
      () => null,
      (error: { code: string }) => error.code,
    )
    expect(await again).to.equal('P2002')
  })

  it('does not happen after an end, and tells nobody that their access changed', async () => {
    const messages = await bench.prisma.outboxMessage.count({ where: { environmentId } })
    await elapse(40)
    await bench.dueTransitions.applyDue(environmentId, customerId)
    expect(await bench.prisma.outboxMessage.count({ where: { environmentId } })).to.equal(messages)
    await bench.cancellations.cancel(environmentId, { subscriptionRefId: 'sub' })
    const { end } = await current()
    await elapse(40)
    await bench.dueTransitions.applyDue(environmentId, customerId)
    expect((await bench.subscriptionReads.get(environmentId, 'sub')).status).to.equal('CANCELED')
    expect((await renewals()).some(([start]) => start! >= end)).to.equal(false)
  })

  it('takes a new time zone into account from the next boundary on', async () => {
    const before = await current()
    await bench.customers.update(environmentId, 'acme', { timeZone: 'Pacific/Auckland' })
    expect(await current()).to.deep.equal(before)
  })

  describe('in a crowd', () => {
    const life = () => ({ log: silentLogger(), signal: new AbortController().signal })

    it('a customer that fails holds up nobody, and is left alone for a while', async () => {
      await bench.customers.provision(environmentId, { refId: 'broken' })
      await elapse(40)
      const broken = await bench.prisma.customer.findFirstOrThrow({ where: { environmentId, refId: 'broken' } })
      let attempts = 0
      const domain = {
        dueCustomers: async (_: number, leftAlone: readonly string[]) => [
          ...(leftAlone.includes(broken.id) ? [] : [{ environmentId, customerId: broken.id }]),
          ...(await bench.dueTransitions.dueCustomers(500, leftAlone)).filter((due) => due.environmentId === environmentId),
        ],
        applyDue: async (environment: string, id: string, options: { ifFree: boolean }) => {
          if (id !== broken.id) return bench.dueTransitions.applyDue(environment, id, options)
          attempts += 1
          throw new Error('broken')
        },
      }
      expect(await sweepDue(life(), { domain, concurrency: 4, label: 'due transitions' })).to.equal(1)
      expect(await sweepDue(life(), { domain, concurrency: 4, label: 'due transitions' })).to.equal(0)
      expect(attempts).to.equal(1)
      expect(await renewals()).to.have.length(1)
    })

    it('who came due last has its turn in the first batch', async () => {
      for (let n = 0; n < 12; n += 1) {
        await bench.customers.provision(environmentId, { refId: `customer-${n}` })
        await bench.subscriptions.provision(environmentId, {
          customerRefId: `customer-${n}`,
          planRefId: 'plus',
          quantities: seats(1),
          skipTrial: true,
        })
      }
      await elapse(40)
      await bench.prisma.subscription.updateMany({ where: { environmentId, customerId }, data: { dueAt: new Date(Date.now() - 1) } })
      const due = await bench.dueTransitions.dueCustomers(4, [])
      expect(due.map((one) => one.customerId)).to.include(customerId)
    })
  })

  const serviceOn = (prisma: PrismaClient) =>
    new DueTransitions({
      prisma,
      catalog: bench.catalog,
      billing: bench.ledger,
      after: { changed: () => undefined, dueAt: () => undefined },
    })
  const everything = async () => [
    await renewals(),
    await bench.prisma.subscription.findMany({ where: { environmentId } }),
    await bench.prisma.subscriptionQuantity.findMany({ where: { environmentId } }),
    await bench.prisma.scheduledUpdate.findMany({ where: { environmentId } }),
    await bench.prisma.customerState.findMany({ where: { environmentId } }),
    await bench.prisma.outboxMessage.count({ where: { environmentId } }),
  ]
})
