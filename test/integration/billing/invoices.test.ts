import { expect } from 'chai'
import { amounts, at, type Bench, invoicesOf, newAcme, openBench, storeCalls, units } from './fixture.js'

describe('invoices of a subscription', () => {
  let bench: Bench
  let environmentId: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await newAcme(bench)
  })

  type Request = Parameters<Bench['subscriptions']['provision']>[1]
  const provision = async (planRefId: string, request: Partial<Request> = {}) => {
    const { subscription } = await bench.subscriptions.provision(environmentId, {
      customerRefId: 'acme',
      planRefId,
      subscriptionRefId: planRefId,
      ...request,
    })
    await bench.billing.deliverAll(environmentId, subscription.id)
    return subscription
  }
  const seats = (quantity: number) => [{ featureRefId: 'seats', quantity: units(quantity) }]
  const update = async (
    subscriptionRefId: string,
    request: Omit<Parameters<Bench['subscriptionChanges']['update']>[1], 'subscriptionRefId'>,
  ) => bench.subscriptionChanges.update(environmentId, { subscriptionRefId, ...request })
  const invoices = (subscriptionId: string) => invoicesOf(bench, environmentId, subscriptionId)

  it('charges the first period in advance, line by line', async () => {
    const { id } = await provision('team', { quantities: seats(3), addons: [{ addonRefId: 'support', quantity: 2 }] })
    const [invoice, ...others] = await invoices(id)
    expect(others).to.deep.equal([])
    expect(amounts(invoice!)).to.deep.equal([
      ['team', '1', '30'],
      ['team: seats', '3', '36'],
      ['support', '2', '99.98'],
    ])
    expect(invoice).to.deep.include({
      total: '165.98',
      amountDue: '165.98',
      status: 'OPEN',
      number: 'INV-000001',
      reason: 'SUBSCRIPTION_CREATION',
    })
    expect(invoice!.billingId).to.be.a('string')
    expect([invoice!.periodStart, invoice!.periodEnd]).to.deep.equal([at('2027-04-01T00:00:00'), at('2027-05-01T00:00:00')])
  })

  it('charges in the customer’s currency where the plan is sold in it', async () => {
    await bench.customers.provision(environmentId, { refId: 'acme', billingCurrency: 'JPY' })
    const { id } = await provision('team', { quantities: seats(2) })
    expect((await invoices(id)).map(({ currency, total }) => [currency, total])).to.deep.equal([['JPY', '5400']])
  })

  it('credits and debits the unused half of the month when seats change', async () => {
    const { id } = await provision('team', { quantities: seats(1) })
    await bench.testClocks.advance(environmentId, at('2027-04-16T00:00:00'))
    await update('team', { quantities: seats(3) })
    const [, change] = await invoices(id)
    expect(amounts(change!)).to.deep.equal([
      ['Unused: team', '1', '-15'],
      ['Unused: team: seats', '1', '-6'],
      ['team', '1', '15'],
      ['team: seats', '3', '18'],
    ])
    expect(change).to.deep.include({ total: '12', reason: 'SUBSCRIPTION_UPDATE' })
  })

  it('renews each period once, with the usage of the one that ended', async () => {
    const { id } = await provision('business', { quantities: seats(1) })
    await storeCalls(bench, environmentId, 12_345, '2027-04-20T00:00:00')
    await bench.testClocks.advance(environmentId, at('2027-06-15T00:00:00'))
    const all = await invoices(id)
    expect(all.map(({ total, reason }) => [total, reason])).to.deep.equal([
      ['120', 'SUBSCRIPTION_CREATION'],
      ['121.23', 'BILLING_CYCLE'],
      ['120', 'BILLING_CYCLE'],
    ])
    expect(amounts(all[1]!).at(-1)).to.deep.equal(['business: calls', '12345', '1.23'])
  })

  it('puts the credit of the replaced plan on the first invoice of the new one', async () => {
    const team = await provision('team', { quantities: seats(1) })
    await bench.testClocks.advance(environmentId, at('2027-04-16T00:00:00'))
    const business = await provision('business', { quantities: seats(1) })
    expect(await invoices(team.id)).to.have.length(1)
    const [first] = await invoices(business.id)
    expect(first).to.deep.include({ total: '99', subTotal: '99' })
    expect(amounts(first!).map(([, , amount]) => amount)).to.deep.equal(['-15', '-6', '100', '20'])
  })

  it('charges nothing in a trial, and a whole period when it converts', async () => {
    const { id } = await provision('tried')
    expect(await invoices(id)).to.deep.equal([])
    await bench.testClocks.advance(environmentId, at('2027-04-15T00:00:00'))
    expect((await invoices(id)).map(({ total, periodStart }) => [total, periodStart])).to.deep.equal([['55.5', at('2027-04-15T00:00:00')]])
  })

  it('gives unused time back when that is asked, and uses it for the next invoice', async () => {
    const team = await provision('team', { quantities: seats(1) })
    await bench.testClocks.advance(environmentId, at('2027-04-16T00:00:00'))
    await bench.cancellations.cancel(environmentId, { subscriptionRefId: 'team', time: 'IMMEDIATE', billing: { creditsUnused: true } })
    const [, credit] = await invoices(team.id)
    expect(credit).to.deep.include({ total: '-21', amountDue: '0' })
    const { id } = await provision('business', { quantities: seats(1) })
    expect((await invoices(id))[0]).to.deep.include({ total: '120', creditApplied: '21', amountDue: '99' })
  })

  it('takes the discount off every invoice, and the difference off a change', async () => {
    const { id } = await provision('team', { quantities: seats(1), billing: { coupon: { couponRefId: 'tenth' } } })
    await bench.testClocks.advance(environmentId, at('2027-04-16T00:00:00'))
    await update('team', { quantities: seats(3) })
    expect((await invoices(id)).map(({ subTotal, discount, total }) => [subTotal, discount, total])).to.deep.equal([
      ['42', '4.2', '37.8'],
      ['12', '1.2', '10.8'],
    ])
  })

  it('gives unused time back in the currency in which it was paid, when the customer’s currency changes', async () => {
    const team = await provision('team', { quantities: seats(1) })
    await bench.testClocks.advance(environmentId, at('2027-04-16T00:00:00'))
    await bench.customers.provision(environmentId, { refId: 'acme', billingCurrency: 'JPY' })
    await update('team', { quantities: seats(1) })
    expect(
      (await invoices(team.id)).map(({ currency }) => currency),
      'what is sold goes on in its currency',
    ).to.deep.equal(['USD'])

    const { id } = await provision('team', { subscriptionRefId: 'in yen', addons: [], quantities: seats(2), billingPeriod: 'ANNUALLY' })
    expect((await invoices(id)).map(({ currency, total }) => [currency, total])).to.deep.equal([['USD', '519']])

    await bench.testClocks.advance(environmentId, at('2027-04-20T00:00:00'))
    const business = await provision('business', { quantities: seats(1) })
    expect(
      (await invoices(business.id)).map(({ currency }) => currency),
      'business is not sold in yen',
    ).to.deep.equal(['USD'])
    const asked = { customerRefId: 'acme', planRefId: 'team', quantities: seats(2), billingPeriod: 'MONTHLY' as const }
    const { total, proration } = await bench.estimates.provision(environmentId, asked)
    expect([total, proration?.credit, proration?.creditCurrency, proration?.debit]).to.deep.equal(['5400', '-120', 'USD', '5400'])
    const monthly = await provision('team', { subscriptionRefId: 'monthly', quantities: seats(2), billingPeriod: 'MONTHLY' })
    const [credit, first] = await invoices(monthly.id)
    expect(credit).to.include({ currency: 'USD', amountDue: '0', status: 'PAID', reason: 'SUBSCRIPTION_UPDATE' })
    expect(credit!.total).to.equal('-120')
    expect(first).to.include({ currency: 'JPY', total: '5400', amountDue: '5400', creditApplied: '0' })
  })
})
