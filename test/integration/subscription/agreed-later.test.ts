import { expect } from 'chai'
import * as decimal from '../../../src/kernel/decimal.js'
import type { Subscription } from '../../../src/subscription/rules/subscription.js'
import { type Bench, day, openBench, reasonOf } from './fixture.js'

const start = Date.parse('2044-01-01T00:00:00Z')
const catalog = `
features:
  - { refId: calls, type: NUMBER, meter: Incremental }
  - { refId: seats, type: NUMBER, meter: Fluctuating }
products: [{ refId: desk, settings: { downgradeTiming: END_OF_BILLING_PERIOD } }]
plans:
  - refId: basic
    product: desk
    entitlements: [{ feature: calls, limit: 100, resetPeriod: MONTH }]
    prices:
      - { billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 20 }
      - { billingModel: PER_UNIT, billingPeriod: MONTHLY, currency: USD, amount: 5, feature: seats, minQuantity: 1, maxQuantity: 50 }
  - refId: pro
    product: desk
    entitlements: [{ feature: calls, limit: 1000, resetPeriod: MONTH }]
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 100 }]
coupons:
  - { refId: half, name: Half, percentOff: 50 }
`

describe('what is agreed with a plan change that waits', () => {
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
    await bench.customers.provision(environmentId, { refId: 'parent' })
    await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', subscriptionRefId: 'sub', planRefId: 'pro' })
  })

  const number = (value: number) => decimal.fromNumber(value)
  const downgrade = (more: Partial<Parameters<Bench['subscriptions']['provision']>[1]> = {}) =>
    bench.subscriptions.provision(environmentId, {
      customerRefId: 'acme',
      planRefId: 'basic',
      quantities: [{ featureRefId: 'seats', quantity: number(2) }],
      ownEntitlements: [{ featureRefId: 'calls', usageLimit: number(250), resetPeriod: 'MONTH' }],
      additionalMetaData: { deal: 7 },
      budget: { limit: number(40), hasSoftLimit: true },
      payingCustomerRefId: 'parent',
      billing: {
        coupon: { couponRefId: 'half' },
        priceOverrides: [
          { addonRefId: null, featureRefId: null, amount: number(12), tiers: null, blockSize: null },
          { addonRefId: null, featureRefId: 'seats', amount: number(4), tiers: null, blockSize: null },
        ],
      },
      ...more,
    })
  const invoices = async () => {
    const rows = await bench.prisma.invoice.findMany({ where: { environmentId }, orderBy: { createdAt: 'asc' } })
    return rows.map(({ reason, total, discount }) => [reason, total.toFixed(), discount.toFixed()])
  }
  const limit = async () => {
    const { entitlements } = await bench.entitlements.state(environmentId, 'acme', null)
    return entitlements.find(({ feature }) => feature.refId === 'calls')!.usageLimit
  }
  const kept = ({ additionalMetaData, budget, payingCustomerId, ownEntitlements, plan }: Subscription) => ({
    plan: plan.refId,
    additionalMetaData,
    budget,
    isPaidByOther: payingCustomerId !== null,
    own: ownEntitlements.map(({ usageLimit }) => usageLimit),
  })

  it('holds from the change on, and nothing of it before', async () => {
    const { subscription } = await downgrade()
    expect(subscription.refId).to.equal('sub')
    expect(kept(subscription)).to.deep.equal({ plan: 'pro', additionalMetaData: null, budget: null, isPaidByOther: false, own: [] })
    expect(await invoices()).to.deep.equal([['SUBSCRIPTION_CREATION', '100', '0']])
    expect(await limit()).to.equal('1000')

    // given a coupon that is not given away any more, and a plan that is sold without seats
    const changed = catalog.replace(/ {6}- \{ billingModel: PER_UNIT.*\n/, '').replace(/coupons:\n.*\n/, '')
    await bench.catalog.apply(environmentId, changed, { dryRun: false, archiveMissing: true })
    await bench.testClocks.advance(environmentId, start + 40 * day)

    // then what was agreed is kept, as far as there is something to keep it for
    const after = await bench.subscriptionReads.get(environmentId, 'sub')
    expect(kept(after)).to.deep.equal({
      plan: 'basic',
      additionalMetaData: { deal: 7 },
      budget: { limit: '40', hasSoftLimit: true },
      isPaidByOther: true,
      own: ['250'],
    })
    expect((await invoices()).slice(1)).to.deep.equal([['BILLING_CYCLE', '6', '6']])
    expect(await limit()).to.equal('250')
  })

  it('is charged as was agreed', async () => {
    await downgrade()
    await bench.testClocks.advance(environmentId, start + 40 * day)
    // Half of 12 and of two seats at 4.
    expect((await invoices()).slice(1)).to.deep.equal([['BILLING_CYCLE', '10', '10']])
  })

  it('asked for again is the same; with something else in it takes its place', async () => {
    const first = await downgrade()
    const again = await downgrade()
    expect(again.subscription.scheduled).to.deep.equal(first.subscription.scheduled)
    const other = await downgrade({ additionalMetaData: { deal: 8 } })
    expect(other.subscription.scheduled).to.have.length(1)
    expect(other.subscription.scheduled[0]!.id).to.not.equal(first.subscription.scheduled[0]!.id)
    await bench.testClocks.advance(environmentId, start + 40 * day)
    expect((await bench.subscriptionReads.get(environmentId, 'sub')).additionalMetaData).to.deep.equal({ deal: 8 })
  })

  it('is refused when it is asked for, where it could not be agreed, and dates are for a subscription that begins', async () => {
    const override = { addonRefId: null, featureRefId: 'calls', amount: number(1), tiers: null, blockSize: null }
    expect(await reasonOf(downgrade({ billing: { priceOverrides: [override] } }))).to.equal('BAD_USER_INPUT')
    expect(await reasonOf(downgrade({ billing: { coupon: { couponRefId: 'nothing' } } }))).to.equal('COUPON_NOT_FOUND')
    for (const dates of [{ endDate: start + 90 * day }, { cancellationDate: start + 90 * day }, { billingCountryCode: 'DE' }])
      expect(await reasonOf(downgrade(dates)), JSON.stringify(dates)).to.equal('BAD_USER_INPUT')
    expect((await bench.subscriptionReads.get(environmentId, 'sub')).scheduled).to.deep.equal([])
  })
})
