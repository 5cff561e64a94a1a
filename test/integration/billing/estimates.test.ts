import { expect } from 'chai'
import * as decimal from '../../../src/kernel/decimal.js'
import { at, type Bench, invoicesOf, newAcme, openBench, reasonOf, start, storeCalls, units } from './fixture.js'

describe('estimates', () => {
  let bench: Bench
  let environmentId: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await newAcme(bench)
  })

  const seats = (quantity: number) => [{ featureRefId: 'seats', quantity: units(quantity) }]

  it('answer what a new subscription costs now and in each period', async () => {
    const estimate = await bench.estimates.provision(environmentId, {
      customerRefId: 'acme',
      planRefId: 'team',
      quantities: seats(3),
      billing: { coupon: { couponRefId: 'tenth' }, taxPercentage: units(20) },
    })
    expect(estimate).to.deep.include({ subTotal: '66', discountAmount: '6.6', tax: '11.88', total: '71.28', currency: 'USD' })
    expect(estimate).to.deep.include({ proration: null, isPlanDowngrade: null, hasScheduledUpdates: false })
    expect(estimate.period).to.deep.equal({ start, end: at('2027-05-01T00:00:00') })
    expect(estimate.recurring?.total).to.equal('71.28')
  })

  it('answer nothing now for a trial, and what each period costs after it', async () => {
    const estimate = await bench.estimates.provision(environmentId, { customerRefId: 'acme', planRefId: 'tried' })
    expect(estimate).to.deep.include({ total: '0', period: { start, end: at('2027-04-15T00:00:00') } })
    expect(estimate.recurring?.total).to.equal('55.5')
  })

  it('answer no trial where a plan that was to start has started, and nobody has recorded it yet', async () => {
    const startDate = at('2027-04-10T00:00:00')
    await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'custom', startDate })
    const request = { customerRefId: 'acme', planRefId: 'tried' }
    await bench.environments.moveTestClock(environmentId, at('2027-04-09T23:59:59'))
    expect((await bench.estimates.provision(environmentId, request)).total).to.equal('0')
    await bench.environments.moveTestClock(environmentId, startDate)
    expect((await bench.estimates.provision(environmentId, request)).total).to.equal('55.5')
    const { subscription } = await bench.subscriptions.provision(environmentId, request)
    expect((await invoicesOf(bench, environmentId, subscription.id)).map(({ total }) => total)).to.deep.equal(['55.5'])
  })

  it('answer credit and debit of a plan change, and that a cheaper plan is a downgrade', async () => {
    await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'business' })
    await bench.testClocks.advance(environmentId, at('2027-04-16T00:00:00'))
    const estimate = await bench.estimates.provision(environmentId, { customerRefId: 'acme', planRefId: 'team' })
    expect(estimate.isPlanDowngrade).to.equal(true)
    expect(estimate.proration).to.deep.equal({
      at: at('2027-04-16T00:00:00'),
      credit: '-60',
      creditCurrency: 'USD',
      debit: '42',
    })
    expect(estimate.total).to.equal('-18')
  })

  it('answer nothing now for a plan change that waits, whatever is agreed for then, and refuse what cannot be', async () => {
    await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'business', quantities: seats(3) })
    const asked = (couponRefId: string) => ({
      customerRefId: 'acme',
      planRefId: 'team',
      scheduleStrategy: 'END_OF_BILLING_PERIOD' as const,
      billing: { coupon: { couponRefId } },
    })
    const estimate = await bench.estimates.provision(environmentId, asked('tenth'))
    expect(estimate).to.deep.include({ total: '0', lines: [], proration: null, isPlanDowngrade: true, hasScheduledUpdates: true })
    const { subscription } = await bench.subscriptions.provision(environmentId, asked('tenth'))
    expect(await invoicesOf(bench, environmentId, subscription.id)).to.have.length(1)
    expect(await reasonOf(bench.estimates.provision(environmentId, asked('nothing')))).to.equal('COUPON_NOT_FOUND')
  })

  it('answer the first invoice of a subscription that starts later', async () => {
    const startDate = at('2027-06-10T08:00:00')
    const estimate = await bench.estimates.provision(environmentId, { customerRefId: 'acme', planRefId: 'team', startDate })
    expect(estimate).to.deep.include({ total: '42', period: { start: startDate, end: at('2027-07-10T08:00:00') } })
  })

  it('answer the next invoice with the usage of now', async () => {
    await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'business', subscriptionRefId: 'b' })
    const { draft, balance } = await bench.estimates.nextInvoice(environmentId, 'b')
    expect(draft).to.deep.include({
      total: '120',
      reason: 'BILLING_CYCLE',
      period: { start: at('2027-05-01T00:00:00'), end: at('2027-06-01T00:00:00') },
    })
    expect(balance).to.equal('0')
  })

  it('name every invoice of the change, the usage of what is replaced too, and the credit that they use together', async () => {
    const request = { customerRefId: 'acme', planRefId: 'business' }
    const business = (await bench.subscriptions.provision(environmentId, request)).subscription
    await bench.testClocks.advance(environmentId, at('2027-04-20T00:00:00'))
    // As after a credit note of 40.
    const [{ id: invoiceId } = { id: '' }] = await invoicesOf(bench, environmentId, business.id)
    const { id: customerId } = (await bench.customers.get(environmentId, 'acme'))!
    const credit = {
      invoiceId,
      chargeId: invoiceId,
      kind: 'CREDIT',
      customerId,
      currency: 'USD',
      amount: 40,
      createdAt: new Date(),
    } as const
    await bench.prisma.balanceEntry.create({ data: { environmentId, ...credit } })
    await storeCalls(bench, environmentId, 150_000, '2027-04-18T00:00:00')
    const asked = { customerRefId: 'acme', planRefId: 'team', billingPeriod: 'ANNUALLY' as const }
    const estimate = await bench.estimates.provision(environmentId, asked)
    const { id } = (await bench.subscriptions.provision(environmentId, asked)).subscription
    // Of the 40 the calls of the plan before take 15.
    expect(estimate.balance).to.deep.equal({ initial: '40', used: '40' })
    const usage = (await invoicesOf(bench, environmentId, business.id)).at(-1)!
    const first = (await invoicesOf(bench, environmentId, id)).at(-1)!
    expect([usage.total, usage.creditApplied, first.creditApplied]).to.deep.equal(['15', '15', '25'])
    expect(estimate.total).to.equal(decimal.add(usage.total, first.total))
    expect(estimate.amountDue).to.equal(first.amountDue)
    expect(estimate.lines.map(({ amount }) => amount)).to.deep.equal([...usage.lines, ...first.lines].map(({ amount }) => amount))
  })

  it('write nothing', async () => {
    const tables = [
      'subscription',
      'customer_resource',
      'invoice',
      'billing_intent',
      'subscription_billing',
      'outbox_message',
      'coupon_redemption',
    ]
    const counts = () => Promise.all(tables.map(async (table) => (await bench.pool.query(`select count(*) from ${table}`)).rows))
    const before = await counts()
    await bench.estimates.provision(environmentId, {
      customerRefId: 'acme',
      planRefId: 'team',
      resourceRefId: 'unheard of',
      billing: { coupon: { couponRefId: 'tenth' } },
    })
    expect(await counts()).to.deep.equal(before)
  })
})
