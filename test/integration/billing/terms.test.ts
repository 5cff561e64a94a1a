import { expect } from 'chai'
import { amounts, at, type Bench, catalog, invoicesOf, newAcme, openBench, reasonOf, storeCalls, units } from './fixture.js'

describe('what was agreed about money', () => {
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
  const provision = async (planRefId: string, request: Partial<Request> = {}) =>
    (await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId, subscriptionRefId: planRefId, ...request }))
      .subscription
  const seats = (quantity: number) => [{ featureRefId: 'seats', quantity: units(quantity) }]
  const update = (subscriptionRefId: string, request: Omit<Parameters<Bench['subscriptionChanges']['update']>[1], 'subscriptionRefId'>) =>
    bench.subscriptionChanges.update(environmentId, { subscriptionRefId, ...request })
  const totals = async (id: string) => (await invoicesOf(bench, environmentId, id)).map(({ total }) => total)
  const reportCalls = (value: number, occurredAt: string) => storeCalls(bench, environmentId, value, occurredAt)

  describe('coupons', () => {
    const limited = (max: number) => `${catalog}  - { refId: few, percentOff: 50, maxRedemptions: ${max} }\n`
    const few = { coupon: { couponRefId: 'few' } }

    it('are given no more often than they may, whatever is asked at once', async () => {
      await bench.catalog.apply(environmentId, limited(3), { dryRun: false, archiveMissing: false })
      const customers = Array.from({ length: 10 }, (_, index) => `customer-${index}`)
      for (const refId of customers) await bench.customers.provision(environmentId, { refId })
      const outcomes = await Promise.all(
        customers.map((customerRefId) =>
          reasonOf(bench.subscriptions.provision(environmentId, { customerRefId, planRefId: 'team', billing: few })),
        ),
      )
      expect(outcomes.filter((reason) => reason === null)).to.have.length(3)
      expect(outcomes.filter((reason) => reason === 'BAD_USER_INPUT')).to.have.length(7)
      expect(await bench.prisma.couponRedemption.count({ where: { environmentId } })).to.equal(3)
      // Who was refused has no subscription either.
      expect(await bench.prisma.subscription.count({ where: { environmentId } })).to.equal(3)
    })

    it('are given to no more customers and subscriptions together than they may, and are estimated so', async () => {
      await bench.catalog.apply(environmentId, limited(3), { dryRun: false, archiveMissing: false })
      const customers = Array.from({ length: 8 }, (_, index) => `customer-${index}`)
      const given = customers.map((refId) => reasonOf(bench.customers.provision(environmentId, { refId, couponRefId: 'few' })))
      const outcomes = await Promise.all([...given, reasonOf(provision('team', { billing: few }))])
      expect(outcomes.filter((reason) => reason === null)).to.have.length(3)
      expect(outcomes.filter((reason) => reason === 'BAD_USER_INPUT')).to.have.length(6)
      const holders = await bench.prisma.customer.findMany({ where: { environmentId, couponId: { not: null } } })
      expect(holders.length + (await bench.prisma.couponRedemption.count({ where: { environmentId } }))).to.equal(3)
      // Who has it may be told so again.
      await bench.customers.provision(environmentId, { refId: holders[0]!.refId, couponRefId: 'few' })
      await bench.customers.provision(environmentId, { refId: 'late' })
      const asked = { customerRefId: 'late', planRefId: 'team', billing: few }
      expect(await reasonOf(bench.estimates.provision(environmentId, asked))).to.equal('BAD_USER_INPUT')
      // It is free again where it was taken away.
      await bench.customers.update(environmentId, holders[0]!.refId, { couponRefId: null })
      expect((await bench.estimates.provision(environmentId, asked)).total).to.equal('21')
    })

    it('count once for the same subscription', async () => {
      await bench.catalog.apply(environmentId, limited(1), { dryRun: false, archiveMissing: false })
      await provision('team', { billing: few })
      await update('team', { quantities: seats(2), billing: few })
      expect(await bench.prisma.couponRedemption.count({ where: { environmentId } })).to.equal(1)
    })

    it('are refused once they are archived, and stay where they were given', async () => {
      const { id } = await provision('team', { billing: { coupon: { couponRefId: 'tenth' } } })
      const withoutCoupons = catalog.slice(0, catalog.indexOf('coupons:'))
      await bench.catalog.apply(environmentId, withoutCoupons, { dryRun: false, archiveMissing: true })
      expect(await reasonOf(provision('business', { billing: { coupon: { couponRefId: 'tenth' } } }))).to.equal('ENTITY_IS_ARCHIVED')
      await bench.testClocks.advance(environmentId, at('2027-05-02T00:00:00'))
      expect(await totals(id)).to.deep.equal(['37.8', '37.8'])
    })

    it('of the customer hold where the subscription has none of its own, and never beside one', async () => {
      await bench.customers.update(environmentId, 'acme', { couponRefId: 'tenth' })
      expect(await totals((await provision('team')).id)).to.deep.equal(['37.8'])
      const half = { discount: { name: 'half', percentOff: units(50), amountsOff: null, durationInMonths: null } }
      const [first] = await invoicesOf(bench, environmentId, (await provision('business', { billing: { coupon: half } })).id)
      expect(first!.lines.filter(({ isProration }) => !isProration).map(({ amount }) => amount)).to.deep.equal(['100', '20'])
      expect(first!.total).to.equal('22.2')
    })

    it('end after their months', async () => {
      const twoMonths = {
        discount: { name: null, percentOff: null, amountsOff: [{ amount: units(5), currency: 'USD' }], durationInMonths: 2 },
      }
      const { id } = await provision('team', { billing: { coupon: twoMonths } })
      await bench.testClocks.advance(environmentId, at('2027-07-02T00:00:00'))
      expect(await totals(id)).to.deep.equal(['37', '37', '42', '42'])
    })
  })

  describe('changes of a running period', () => {
    const half = at('2027-04-16T00:00:00')

    it('wait for the next invoice with CREATE_PRORATIONS', async () => {
      const { id } = await provision('team', { quantities: seats(1) })
      await bench.testClocks.advance(environmentId, half)
      await update('team', { quantities: seats(3), billing: { proration: 'CREATE_PRORATIONS' } })
      expect(await totals(id)).to.deep.equal(['42'])
      await bench.testClocks.advance(environmentId, at('2027-05-01T00:00:00'))
      expect(await totals(id)).to.deep.equal(['42', '78'])
    })

    it('cost nothing until the next period with NONE, and are not credited later', async () => {
      const { id } = await provision('team', { quantities: seats(1) })
      await bench.testClocks.advance(environmentId, half)
      await update('team', { quantities: seats(9), billing: { proration: 'NONE' } })
      await update('team', { quantities: seats(1) })
      expect(await totals(id)).to.deep.equal(['42'])
    })

    it('begin a new period where the billing period changes, with the credit of the old one', async () => {
      const { id } = await provision('team', { quantities: seats(1) })
      await bench.testClocks.advance(environmentId, half)
      await update('team', { billingPeriod: 'ANNUALLY' })
      expect(await totals(id)).to.deep.equal(['42', '399'])
      const change = (await invoicesOf(bench, environmentId, id)).at(-1)!
      expect(amounts(change).map(([, , amount]) => amount)).to.deep.equal(['-15', '-6', '300', '120'])
      expect(change.periodEnd).to.equal(at('2028-04-16T00:00:00'))
    })

    it('are taken over by the plan that is scheduled for the end of the period: it is charged by the renewal', async () => {
      const { id } = await provision('business', { quantities: seats(1) })
      const later = await provision('team', { subscriptionRefId: null, quantities: seats(1), scheduleStrategy: 'END_OF_BILLING_PERIOD' })
      expect(later.id).to.equal(id)
      await bench.testClocks.advance(environmentId, at('2027-05-01T00:00:00'))
      expect(await totals(id)).to.deep.equal(['120', '42'])
    })
  })

  it('fills a period up to the agreed minimum', async () => {
    const { id } = await provision('business', { quantities: seats(1), billing: { minimumSpend: { amount: units(150), currency: 'USD' } } })
    await bench.testClocks.advance(environmentId, at('2027-05-01T00:00:00'))
    const [, renewal] = await invoicesOf(bench, environmentId, id)
    expect(amounts(renewal!)).to.deep.equal([
      ['business', '1', '100'],
      ['business: seats', '1', '20'],
      ['business: calls', '0', '0'],
      ['To the agreed minimum', '1', '30'],
    ])
  })

  it('charges usage that came after the invoice of its period with the next one', async () => {
    const { id } = await provision('business', { quantities: seats(1) })
    await reportCalls(10_000, '2027-04-10T00:00:00')
    await bench.testClocks.advance(environmentId, at('2027-05-01T00:00:00'))
    await reportCalls(20_000, '2027-04-30T23:00:00')
    await reportCalls(50_000, '2027-05-03T00:00:00')
    await bench.testClocks.advance(environmentId, at('2027-06-01T00:00:00'))
    const [, april, may] = await invoicesOf(bench, environmentId, id)
    expect(amounts(april!).at(-1)).to.deep.equal(['business: calls', '10000', '1'])
    expect(amounts(may!).slice(2)).to.deep.equal([
      ['Late usage: business: calls', '30000', '2'],
      ['business: calls', '50000', '5'],
    ])
  })

  it('charges usage that came late when another version is held by then, by the price of its time', async () => {
    const { id } = await provision('business', { quantities: seats(1) })
    await reportCalls(10_000, '2027-04-10T00:00:00')
    await bench.testClocks.advance(environmentId, at('2027-05-02T00:00:00'))
    const dearer = catalog.replace('amount: 0.0001, feature: calls', 'amount: 0.001, feature: calls')
    await bench.catalog.apply(environmentId, dearer, { dryRun: false, archiveMissing: false })
    await bench.subscriptionChanges.migrateToLatest(environmentId, 'business', 'IMMEDIATE')
    await reportCalls(20_000, '2027-04-30T23:00:00')
    await reportCalls(50_000, '2027-05-03T00:00:00')
    await bench.testClocks.advance(environmentId, at('2027-06-01T00:00:00'))
    const may = (await invoicesOf(bench, environmentId, id)).at(-1)!
    expect(amounts(may).slice(2)).to.deep.equal([
      ['Late usage: business: calls', '30000', '2'],
      ['business: calls', '50000', '50'],
    ])
  })

  it('charges usage of the plan before that came late once, when no more can come, and not with the one that took its place', async () => {
    const { id: replaced } = await provision('business', { quantities: seats(1) })
    await reportCalls(10_000, '2027-04-10T00:00:00')
    await bench.testClocks.advance(environmentId, at('2027-04-16T00:00:00'))
    const { id } = await provision('team', { quantities: seats(1) })
    await reportCalls(20_000, '2027-04-15T23:00:00')
    // Of the new plan's time, which does not sell calls.
    await reportCalls(50_000, '2027-04-16T01:00:00')
    await bench.testClocks.advance(environmentId, at('2027-07-20T00:00:00'))
    const late = (await invoicesOf(bench, environmentId, replaced)).at(-1)!
    expect(amounts(late)).to.deep.equal([['Late usage: business: calls', '30000', '2']])
    expect(new Date(late.createdAt).toISOString().slice(0, 10)).to.equal('2027-05-21')
    expect((await invoicesOf(bench, environmentId, id)).slice(1).map(({ total }) => total)).to.deep.equal(['42', '42', '42'])
  })

  it('charges the usage of what ends, and gives back only what was asked back', async () => {
    const { id } = await provision('business', { quantities: seats(1) })
    await reportCalls(10_000, '2027-04-10T00:00:00')
    await bench.testClocks.advance(environmentId, at('2027-04-16T00:00:00'))
    await bench.cancellations.cancel(environmentId, { subscriptionRefId: 'business', time: 'IMMEDIATE' })
    expect(await totals(id)).to.deep.equal(['120', '1'])
  })

  it('gives unused time back at the date for which that was asked', async () => {
    const { id } = await provision('team', { quantities: seats(1) })
    const endDate = at('2027-04-16T00:00:00')
    await bench.cancellations.cancel(environmentId, {
      subscriptionRefId: 'team',
      time: 'SPECIFIC_DATE',
      endDate,
      billing: { creditsUnused: true },
    })
    expect(await totals(id)).to.deep.equal(['42'])
    await bench.testClocks.advance(environmentId, endDate)
    expect(await totals(id)).to.deep.equal(['42', '-21'])
  })

  it('invoices the customer that pays for another one', async () => {
    await bench.customers.provision(environmentId, { refId: 'parent' })
    const { id } = await provision('team', { payingCustomerRefId: 'parent' })
    const [invoice] = await invoicesOf(bench, environmentId, id)
    expect(invoice!.customerId).to.equal((await bench.customers.get(environmentId, 'parent'))!.id)
  })
})
