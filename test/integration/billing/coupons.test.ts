import { expect } from 'chai'
import { at, type Bench, catalog, invoicesOf, newAcme, openBench, storeCalls, units } from './fixture.js'

describe("the customer's coupon", () => {
  let bench: Bench
  let environmentId: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await newAcme(bench)
    const more = '  - { refId: half-twice, percentOff: 50, durationInMonths: 2 }\n  - { refId: third, percentOff: 33 }\n'
    await bench.catalog.apply(environmentId, `${catalog}${more}`, { dryRun: false, archiveMissing: false })
  })

  type Request = Parameters<Bench['subscriptions']['provision']>[1]
  const provision = async (planRefId: string, request: Partial<Request> = {}) =>
    (await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId, subscriptionRefId: planRefId, ...request }))
      .subscription
  const give = (couponRefId: string | null) => bench.customers.update(environmentId, 'acme', { couponRefId })
  const goTo = (text: string) => bench.testClocks.advance(environmentId, at(text))
  const totals = async (id: string) => (await invoicesOf(bench, environmentId, id)).map(({ total }) => total)
  const next = async (refId: string) => (await bench.estimates.nextInvoice(environmentId, refId)).draft.total
  const reportCalls = (value: number, occurredAt: string) => storeCalls(bench, environmentId, value, occurredAt)

  it('that is given in the seventh month for two discounts the two months after it', async () => {
    const { id } = await provision('team')
    await goTo('2027-10-10T00:00:00')
    await give('half-twice')
    expect(await next('team')).to.equal('21')
    await goTo('2028-02-02T00:00:00')
    expect(await totals(id)).to.deep.equal(['42', '42', '42', '42', '42', '42', '42', '21', '21', '42', '42'])
  })

  it('counts for each of its subscriptions, and not while nothing is charged', async () => {
    await give('half-twice')
    const { id: tried } = await provision('tried')
    await goTo('2027-08-02T00:00:00')
    // From the 15th of April on, when the trial is over.
    expect(await totals(tried)).to.deep.equal(['27.75', '27.75', '55.5', '55.5'])
    const { id: yearly } = await provision('team', { billingPeriod: 'ANNUALLY' })
    await goTo('2029-08-03T00:00:00')
    const charges = (await invoicesOf(bench, environmentId, yearly)).map(({ lines, discount }) => [
      lines.filter(({ isProration }) => !isProration).map(({ amount }) => amount),
      discount,
    ])
    expect(charges.slice(1)).to.deep.equal([
      [['300', '120'], '0'],
      [['300', '120'], '0'],
    ])
    expect(charges[0]![0]).to.deep.equal(['300', '120'])
    expect(Number(charges[0]![1])).to.be.above(180)
  })

  it('is asked for at each invoice: replaced or cleared it is so at once, in previews too', async () => {
    const { id } = await provision('team')
    await goTo('2027-04-20T00:00:00')
    await give('tenth')
    expect(await next('team')).to.equal('37.8')
    await goTo('2027-05-10T00:00:00')
    await give('third')
    expect(await next('team')).to.equal('28.14')
    await goTo('2027-06-10T00:00:00')
    await give(null)
    expect(await next('team')).to.equal('42')
    await goTo('2027-07-02T00:00:00')
    expect(await totals(id)).to.deep.equal(['42', '37.8', '28.14', '42'])
  })

  it('keeps its months when it is given once more', async () => {
    const { id } = await provision('team')
    await goTo('2027-04-20T00:00:00')
    for (const date of ['2027-05-02T00:00:00', '2027-06-02T00:00:00', '2027-07-02T00:00:00', '2027-08-02T00:00:00']) {
      await give('half-twice')
      await goTo(date)
    }
    expect(await totals(id)).to.deep.equal(['42', '21', '21', '42', '42'])
  })

  it('makes no invoice by itself, and changes what a change charges, not what it gives back', async () => {
    const seats = (quantity: number) => [{ featureRefId: 'seats', quantity: units(quantity) }]
    const { id } = await provision('team', { quantities: seats(1) })
    await goTo('2027-04-16T00:00:00')
    await give('tenth')
    await bench.subscriptionChanges.update(environmentId, { subscriptionRefId: 'team', additionalMetaData: { a: 1 } })
    expect(await totals(id)).to.deep.equal(['42'])
    const change = { subscriptionRefId: 'team', quantities: seats(2) }
    const { total } = await bench.estimates.update(environmentId, change)
    await bench.subscriptionChanges.update(environmentId, change)
    // Half of 54 less a tenth, less half of the 42 that were charged.
    expect([total, ...(await totals(id))]).to.deep.equal(['3.3', '42', '3.3'])
  })

  it('discounts usage when it is the one at the invoice', async () => {
    const { id } = await provision('business')
    await reportCalls(100_000, '2027-04-10T00:00:00')
    await goTo('2027-04-20T00:00:00')
    await give('tenth')
    expect(await next('business')).to.equal('117')
    await goTo('2027-05-01T00:00:00')
    await reportCalls(100_000, '2027-05-10T00:00:00')
    await goTo('2027-05-20T00:00:00')
    await give(null)
    expect(await next('business')).to.equal('130')
    await goTo('2027-06-01T00:00:00')
    expect(await totals(id)).to.deep.equal(['120', '117', '130'])
  })

  it("comes after the subscription's own, and when that is over", async () => {
    await give('tenth')
    const once = { discount: { name: null, percentOff: units(50), amountsOff: null, durationInMonths: 1 } }
    const { id } = await provision('team', { billing: { coupon: once } })
    await goTo('2027-06-02T00:00:00')
    expect(await totals(id)).to.deep.equal(['21', '37.8', '37.8'])
    expect((await bench.billingReads.ofSubscriptions(environmentId, [id]))[0]!.terms?.discount?.source).to.equal('adHoc')
    await bench.subscriptionChanges.update(environmentId, {
      subscriptionRefId: 'team',
      billing: { coupon: { discount: { ...once.discount, percentOff: units(25), durationInMonths: null } } },
    })
    expect(await next('team')).to.equal('31.5')
    await bench.subscriptionChanges.update(environmentId, { subscriptionRefId: 'team', billing: { coupon: null } })
    expect(await next('team')).to.equal('37.8')
  })

  it('goes on counting where a caller names the same coupon of the subscription again', async () => {
    const coupon = { couponRefId: 'half-twice' }
    const { id } = await provision('team', { billing: { coupon } })
    for (const date of ['2027-04-10T00:00:00', '2027-05-10T00:00:00', '2027-06-10T00:00:00']) {
      await goTo(date)
      await bench.subscriptionChanges.update(environmentId, { subscriptionRefId: 'team', billing: { coupon } })
    }
    expect(await totals(id)).to.deep.equal(['21', '21', '42'])
  })
})
