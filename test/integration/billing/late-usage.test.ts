import { expect } from 'chai'
import { findUsagePeriods } from '../../../src/wiring/usage-periods.js'
import { amounts, at, type Bench, invoicesOf, openBench, start, storeCalls } from './fixture.js'

/** Calls at 0.001 in a month, at 0.002 in a year; in euros at 0.003. */
const catalog = `
features:
  - { refId: calls, type: NUMBER, meter: Incremental }
products: [{ refId: cloud }]
plans:
  - refId: metered
    product: cloud
    prices:
      - { billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 10 }
      - { billingModel: FLAT_FEE, billingPeriod: ANNUALLY, currency: USD, amount: 100 }
      - { billingModel: USAGE_BASED, billingPeriod: MONTHLY, currency: USD, amount: 0.001, feature: calls }
      - { billingModel: USAGE_BASED, billingPeriod: ANNUALLY, currency: USD, amount: 0.002, feature: calls }
  - refId: abroad
    product: cloud
    prices:
      - { billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 20 }
      - { billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: EUR, amount: 30 }
      - { billingModel: USAGE_BASED, billingPeriod: MONTHLY, currency: USD, amount: 0.002, feature: calls }
      - { billingModel: USAGE_BASED, billingPeriod: MONTHLY, currency: EUR, amount: 0.003, feature: calls }
`

describe('usage that comes after the invoice of its period', () => {
  let bench: Bench
  let environmentId: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await bench.createEnvironment({ isTest: true, catalog })
    await bench.testClocks.create(environmentId, start)
    await bench.customers.provision(environmentId, { refId: 'acme' })
  })

  type Request = Parameters<Bench['subscriptions']['provision']>[1]
  const provision = async (planRefId: string, request: Partial<Request> = {}) =>
    (await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId, subscriptionRefId: planRefId, ...request }))
      .subscription.id
  const pass = (until: string) => bench.testClocks.advance(environmentId, at(until))
  const store = (value: number, occurredAt: string) => storeCalls(bench, environmentId, value, occurredAt)
  const totals = async (id: string) => (await invoicesOf(bench, environmentId, id)).map(({ total }) => total)
  const late = async (id: string) =>
    (await invoicesOf(bench, environmentId, id)).flatMap(amounts).filter(([description]) => String(description).startsWith('Late'))
  const next = async (refId: string) => (await bench.estimates.nextInvoice(environmentId, refId)).draft.total

  it('and after the one of the next period, is a line of the one that follows', async () => {
    const id = await provision('metered')
    await store(5_000, '2027-04-10T00:00:00')
    await pass('2027-06-03T00:00:00')
    await store(7_000, '2027-04-30T23:00:00')
    expect(await next('metered')).to.equal('17')
    await pass('2027-06-20T00:00:00')
    expect(await next('metered')).to.equal('17')
    await pass('2027-08-02T00:00:00')
    expect(await totals(id)).to.deep.equal(['10', '15', '10', '17', '10'])
    expect(await late(id)).to.deep.equal([['Late usage: metered: calls', '12000', '7']])
  })

  it('of a year, is a line of the next invoice, which may come a year later', async () => {
    const id = await provision('metered', { billingPeriod: 'ANNUALLY' })
    await store(5_000, '2027-10-10T00:00:00')
    await pass('2028-04-20T00:00:00')
    await store(7_000, '2028-03-31T23:00:00')
    expect(await next('metered')).to.equal('114')
    await pass('2028-09-01T00:00:00')
    expect(await next('metered')).to.equal('114')
    await pass('2029-04-02T00:00:00')
    expect(await totals(id)).to.deep.equal(['100', '110', '114'])
  })

  it('of a year, is charged at the end when that comes before', async () => {
    const id = await provision('metered', { billingPeriod: 'ANNUALLY' })
    await pass('2028-04-20T00:00:00')
    await store(7_000, '2028-03-31T23:00:00')
    await pass('2028-09-01T00:00:00')
    await bench.cancellations.cancel(environmentId, { subscriptionRefId: 'metered', time: 'IMMEDIATE' })
    expect(await totals(id)).to.deep.equal(['100', '100', '14'])
    await pass('2029-09-01T00:00:00')
    expect(await totals(id)).to.have.length(3)
  })

  it('of a year, comes with the invoice of a change, beside what that gives back and charges', async () => {
    const id = await provision('metered', { billingPeriod: 'ANNUALLY' })
    await pass('2028-04-20T00:00:00')
    await store(7_000, '2028-03-31T23:00:00')
    // Of 365 days 219 are left.
    await pass('2028-08-25T00:00:00')
    const change = { subscriptionRefId: 'metered', billingPeriod: 'MONTHLY' as const }
    const { total } = await bench.estimates.update(environmentId, change)
    await bench.subscriptionChanges.update(environmentId, change)
    expect(amounts((await invoicesOf(bench, environmentId, id)).at(-1)!)).to.deep.equal([
      ['Unused: metered', '1', '-60'],
      ['metered', '1', '10'],
      ['Late usage: metered: calls', '7000', '14'],
    ])
    expect(total).to.equal('-36')
    expect(await totals(id)).to.deep.equal(['100', '100', '-36'])
  })

  it('is looked for once, whoever looks', async () => {
    const id = await provision('metered')
    await pass('2027-06-03T00:00:00')
    await store(7_000, '2027-04-30T23:00:00')
    await bench.environments.moveTestClock(environmentId, at('2027-06-05T00:00:01'))
    await Promise.all([bench.billing.sweepLateUsage(), bench.billing.sweepLateUsage(), bench.billing.sweepLateUsage()])
    await bench.billing.sweepLateUsage()
    await pass('2027-07-02T00:00:00')
    expect(await totals(id)).to.deep.equal(['10', '10', '10', '17'])
  })

  it('is charged in the currency of its period, in which that goes on when nothing is to be prorated', async () => {
    await provision('metered')
    await pass('2027-04-16T00:00:00')
    await bench.customers.update(environmentId, 'acme', { billingCurrency: 'EUR' })
    const id = await provision('abroad', { billingCycleAnchor: 'UNCHANGED', billing: { proration: 'NONE' } })
    await store(1_000, '2027-04-20T00:00:00')
    await pass('2027-05-10T00:00:00')
    await store(2_000, '2027-04-21T00:00:00')
    await pass('2027-07-02T00:00:00')
    const charged = (await invoicesOf(bench, environmentId, id)).map(({ currency, total }) => [currency, total])
    expect(charged).to.deep.equal([
      ['USD', '2'],
      ['EUR', '30'],
      ['EUR', '30'],
      ['USD', '4'],
      ['EUR', '30'],
    ])
  })

  it('is there to be read: raw events are kept for as long as an invoice looks back', async () => {
    const before = await findUsagePeriods(bench.prisma)
    const events = '{ aggregation: COUNT, filters: [[{ field: eventName, operation: EQUALS, value: scan }]] }'
    const price = '{ billingModel: USAGE_BASED, billingPeriod: ANNUALLY, currency: USD, amount: 1, feature: scans }'
    await bench.createEnvironment({
      catalog: `
features: [{ refId: scans, type: NUMBER, meter: Incremental, events: ${events} }]
products: [{ refId: cloud }]
plans: [{ refId: yearly, product: cloud, entitlements: [{ feature: scans, limit: 9, resetPeriod: DAY }], prices: [${price}] }]
`,
    })
    expect(before).not.to.include('YEAR')
    expect(await findUsagePeriods(bench.prisma)).to.include('YEAR')
  })
})
