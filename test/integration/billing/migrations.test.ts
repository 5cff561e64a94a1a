import { expect } from 'chai'
import { amounts, at, type Bench, catalog, invoicesOf, newAcme, openBench, reasonOf, units } from './fixture.js'

describe('the migration to a dearer version', () => {
  let bench: Bench
  let environmentId: string
  const half = at('2027-04-16T00:00:00')
  const renewal = at('2027-05-01T00:00:00')

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await newAcme(bench)
  })

  /** 30 and 12 a seat become 60 and 20 a seat. */
  const dearer = catalog
    .replace(
      '{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 30 }',
      '{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 60 }',
    )
    .replace('amount: 12, feature: seats', 'amount: 20, feature: seats')
  const addon = `  - refId: storage
    product: cloud
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 5 }]
coupons:`
  const publish = (text = dearer) => bench.catalog.apply(environmentId, text, { dryRun: false, archiveMissing: false })
  const provision = async (terms: Partial<Parameters<Bench['subscriptions']['provision']>[1]> = {}) => {
    const quantities = [{ featureRefId: 'seats', quantity: units(2) }]
    const request = { customerRefId: 'acme', planRefId: 'team', subscriptionRefId: 'team', quantities, ...terms }
    return (await bench.subscriptions.provision(environmentId, request)).subscription
  }
  const migrate = (time: 'IMMEDIATE' | 'END_OF_BILLING_PERIOD') => bench.subscriptionChanges.migrateToLatest(environmentId, 'team', time)
  const totals = async (id: string) => (await invoicesOf(bench, environmentId, id)).map(({ total }) => total)

  it('charges the difference for the rest of the period at once, line by line, and the new price from the next one on', async () => {
    const { id } = await provision()
    await bench.testClocks.advance(environmentId, half)
    await publish()
    expect(await totals(id), 'nobody moves by himself').to.deep.equal(['54'])
    await migrate('IMMEDIATE')
    const change = (await invoicesOf(bench, environmentId, id)).at(-1)!
    expect(amounts(change)).to.deep.equal([
      ['Unused: team', '1', '-15'],
      ['Unused: team: seats', '2', '-12'],
      ['team', '1', '30'],
      ['team: seats', '2', '20'],
    ])
    expect(change).to.include({ reason: 'SUBSCRIPTION_UPDATE', periodEnd: renewal })
    await bench.testClocks.advance(environmentId, renewal)
    expect(await totals(id)).to.deep.equal(['54', '23', '100'])
    expect(await reasonOf(migrate('IMMEDIATE'))).to.equal('SUBSCRIPTION_ALREADY_ON_LATEST_PLAN')
  })

  it('waits for the end of the period: no proration, the next period by the new price', async () => {
    const { id } = await provision()
    await bench.testClocks.advance(environmentId, half)
    await publish()
    await migrate('END_OF_BILLING_PERIOD')
    expect(await totals(id)).to.deep.equal(['54'])
    await bench.testClocks.advance(environmentId, renewal)
    expect(await totals(id)).to.deep.equal(['54', '100'])
    expect((await invoicesOf(bench, environmentId, id)).at(-1)!.lines.some(({ isProration }) => isProration)).to.equal(false)
  })

  it('that waits makes no invoice, in whatever order the add-ons were bought', async () => {
    const withTwo = `${catalog.replaceAll('compatibleAddons: [support]', 'compatibleAddons: [support, storage]').replace('coupons:', addon)}`
    await publish(withTwo)
    const held = (...addons: [string, number][]) => addons.map(([addonRefId, quantity]) => ({ addonRefId, quantity }))
    const { id } = await provision({ addons: held(['support', 1], ['storage', 1]) })
    const more = held(['storage', 1], ['support', 2])
    await bench.subscriptionChanges.update(environmentId, { subscriptionRefId: 'team', addons: more })
    await publish(withTwo.replace('currency: USD, amount: 30 }', 'currency: USD, amount: 60 }'))
    await bench.testClocks.advance(environmentId, half)
    await migrate('END_OF_BILLING_PERIOD')
    expect(await totals(id)).to.have.length(2)
  })

  it('credits when the new version is cheaper, never more than was charged', async () => {
    await publish()
    const { id } = await provision()
    await bench.testClocks.advance(environmentId, half)
    await publish(catalog)
    await migrate('IMMEDIATE')
    expect(await totals(id)).to.deep.equal(['100', '-23'])
  })

  it('keeps discount and agreed prices', async () => {
    const half50 = { discount: { name: null, percentOff: units(50), amountsOff: null, durationInMonths: null } }
    const own = { addonRefId: null, featureRefId: 'seats', amount: units(5), tiers: null, blockSize: null }
    const { id } = await provision({ billing: { coupon: half50, priceOverrides: [own] } })
    await bench.testClocks.advance(environmentId, half)
    await publish()
    await migrate('IMMEDIATE')
    expect(await totals(id)).to.deep.equal(['20', '7.5'])
    expect(await bench.estimates.nextInvoice(environmentId, 'team').then(({ draft }) => draft.total)).to.equal('35')
  })

  it('costs nothing in a trial, which converts to the new price', async () => {
    const { subscription } = await bench.subscriptions.provision(environmentId, {
      customerRefId: 'acme',
      planRefId: 'tried',
      subscriptionRefId: 'team',
    })
    await publish(catalog.replace('amount: 55.5', 'amount: 77.7'))
    await migrate('IMMEDIATE')
    expect(await totals(subscription.id)).to.deep.equal([])
    await bench.testClocks.advance(environmentId, at('2027-04-15T00:00:00'))
    expect(await totals(subscription.id)).to.deep.equal(['77.7'])
  })
})
