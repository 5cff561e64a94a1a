import { expect } from 'chai'
import { atOnce, type Bench, day, openBench, reasonOf } from './fixture.js'

const at = (text: string) => Date.parse(text)

describe('a test clock', () => {
  let bench: Bench
  let environmentId: string
  const start = at('2044-01-31T09:00:00Z')

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await bench.createEnvironment({ isTest: true })
    await bench.testClocks.create(environmentId, start)
  })

  const provision = (customerRefId: string, planRefId: string, request: { subscriptionRefId?: string; skipTrial?: boolean } = {}) =>
    bench.subscriptions.provision(environmentId, { customerRefId, planRefId, ...request })
  const advance = (to: number) => bench.testClocks.advance(environmentId, to)
  const active = async (customerRefId: string) => {
    const held = await bench.subscriptionReads.active(environmentId, { customerRefId })
    return held.map(({ plan, status }) => `${plan.refId} ${status}`)
  }

  it('is the time of everything that is dated in its environment', async () => {
    const { customer } = await bench.customers.provision(environmentId, { refId: 'acme' })
    const { subscription, state } = await provision('acme', 'business')
    expect(subscription.startDate).to.be.within(start, start + 1_000)
    expect(subscription.currentPeriod).to.deep.equal({
      start: subscription.startDate,
      end: at('2044-02-29T09:00:00Z') + (subscription.startDate - start),
    })
    const calls = state.entitlements.find(({ feature }) => feature.refId === 'calls')!
    expect(calls.usage!.periodStart).to.equal(subscription.usageAnchor)
    expect((await bench.environments.now(environmentId)) - start).to.equal(0)
    expect(customer.refId).to.equal('acme')
  })

  it('gives no trial to who has paid, also when what was paid for has become a free plan since', async () => {
    await bench.customers.provision(environmentId, { refId: 'acme' })
    await provision('acme', 'business')
    await bench.subscriptions.provision(environmentId, {
      customerRefId: 'acme',
      planRefId: 'free',
      scheduleStrategy: 'END_OF_BILLING_PERIOD',
    })
    await advance(start + 40 * day)
    expect(await active('acme')).to.deep.equal(['free ACTIVE'])
    expect((await provision('acme', 'team')).subscription.status).to.equal('ACTIVE')
  })

  it('leaves the other environments where they are', async () => {
    const other = await bench.createEnvironment()
    expect(Math.abs((await bench.environments.now(other)) - Date.now())).to.be.below(60_000)
  })

  it('advanced, lets every transition happen at its instant and in order, and tells of each', async () => {
    await bench.customers.provision(environmentId, { refId: 'acme' })
    await bench.customers.provision(environmentId, { refId: 'beta' })
    await provision('acme', 'team', { subscriptionRefId: 'trial' })
    await provision('beta', 'business', { subscriptionRefId: 'paid' })
    await bench.prisma.outboxMessage.deleteMany({ where: { environmentId } })
    const told: string[] = []
    const original = bench.after.changed
    bench.after.changed = (id) => {
      told.push(id)
      original(id)
    }
    expect(await advance(start + 100 * day)).to.deep.equal({ now: start + 100 * day })
    bench.after.changed = original
    const rows = await bench.prisma.subscription.findMany({ where: { environmentId, refId: 'trial' } })
    expect(
      rows.map(({ status, effectiveEndDate, trialEndDate }) => [status, effectiveEndDate!.getTime() - trialEndDate!.getTime()]),
    ).to.deep.equal([['EXPIRED', 0]])
    const renewals = await bench.prisma.subscriptionRenewal.findMany({ where: { environmentId }, orderBy: { periodStart: 'asc' } })
    expect(renewals.map(({ periodStart }) => periodStart.toISOString().slice(0, 10))).to.deep.equal([
      '2044-02-29',
      '2044-03-31',
      '2044-04-30',
    ])
    expect(told.length).to.be.above(1)
    // The trial's end, and then both customers anew.
    const messages = await bench.prisma.outboxMessage.findMany({ where: { environmentId }, orderBy: { version: 'asc' } })
    expect(messages.map(({ customerId }) => customerId)).to.include.members(['acme', 'beta'])
    expect(Number(messages.at(-1)!.version)).to.be.at.least(start + 100 * day)
    expect(await active('acme')).to.deep.equal(['free ACTIVE'])
  })

  it('advanced over all of it in one jump, has a trial end, its renewal, the end of its failed payment and another’s scheduled change each at its instant', async () => {
    const catalog = `
products: [{ refId: cloud, settings: { downgradeTiming: END_OF_BILLING_PERIOD } }]
plans:
  - refId: team
    product: cloud
    defaultTrial: { duration: 14, units: DAY, endBehavior: CONVERT_TO_PAID }
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 29 }]
  - refId: small
    product: cloud
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 9 }]
`
    const clocked = await bench.createEnvironment({ isTest: true, catalog })
    await bench.testClocks.create(clocked, start)
    const ids = new Map<string, string>()
    for (const refId of ['payer', 'other']) {
      const { customer } = await bench.customers.provision(clocked, { refId })
      ids.set(refId, customer.id)
      await bench.billingProvider.setPaymentMethod({ environmentId: clocked, customerId: customer.id }, 'card')
    }
    const buy = (customerRefId: string, planRefId: string, skipTrial: boolean) =>
      bench.subscriptions.provision(clocked, {
        customerRefId,
        planRefId,
        skipTrial,
        subscriptionRefId: customerRefId,
        billing: { collectionMethod: 'CHARGE' },
      })
    const { subscription: trial } = await buy('payer', 'team', false)
    await buy('other', 'team', true)
    const [conversion, renewal, deadline] = [trial.trialEndDate!, Date.parse('2044-03-14T09:00:00Z'), Date.parse('2044-03-28T09:00:00Z')]
    await bench.billing.applyDue(clocked)
    // Its first month is paid, the second is not: a provider that refuses from then on.
    const { collect, createInvoice } = bench.billingProvider
    const refused = { status: 'FAILED', errorMessage: 'Card expired.' } as const
    bench.billingProvider.createInvoice = async function (call, invoice) {
      if ((await bench.environments.now(clocked)) >= renewal && call.customerId === ids.get('payer'))
        await this.setPaymentMethod({ environmentId: clocked, customerId: call.customerId }, null)
      const made = await createInvoice.call(this, call, invoice)
      return made.status === 'OPEN' && call.environmentId === clocked ? (await this.tell(clocked, made.billingId, refused))! : made
    }
    await bench.subscriptions.provision(clocked, { customerRefId: 'other', planRefId: 'small', skipTrial: true })
    await bench.testClocks.advance(clocked, start + 100 * day)
    Object.assign(bench.billingProvider, { collect, createInvoice })

    const ended = await bench.subscriptionReads.get(clocked, 'payer')
    expect([ended.status, ended.cancelReason]).to.deep.equal(['CANCELED', 'CancelledByBilling'])
    expect(ended.effectiveEndDate! - (conversion - start - 14 * day)).to.equal(deadline)
    const invoices = await bench.prisma.invoice.findMany({
      where: { environmentId: clocked },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    })
    const told = invoices.map(({ subscriptionId, status, createdAt, total }) =>
      [subscriptionId === trial.id ? 'payer' : 'other', status, createdAt.toISOString().slice(0, 10), total.toString()].join(' '),
    )
    expect(told).to.deep.equal([
      'other PAID 2044-01-31 29',
      'payer PAID 2044-02-14 29',
      'other PAID 2044-02-29 9',
      'payer CANCELED 2044-03-14 29',
      'other PAID 2044-03-31 9',
      'other PAID 2044-04-30 9',
    ])
    expect((await bench.subscriptionReads.get(clocked, 'other')).plan.refId).to.equal('small')
  })

  it('turns usage periods over for who only reads', async () => {
    await bench.customers.provision(environmentId, { refId: 'acme' })
    await provision('acme', 'business')
    const periodStart = async () => {
      const { entitlements } = await bench.entitlements.state(environmentId, 'acme', null)
      return entitlements.find(({ feature }) => feature.refId === 'calls')!.usage!.periodStart!
    }
    const first = await periodStart()
    await advance(start + 45 * day)
    expect(new Date(await periodStart()).toISOString().slice(0, 10)).to.equal('2044-02-29')
    expect(await periodStart()).to.be.above(first)
  })

  it('goes forward only, and only where there is one', async () => {
    expect(await reasonOf(advance(start - 1))).to.equal('BAD_USER_INPUT')
    expect(await reasonOf(bench.testClocks.create(environmentId, start))).to.equal('DUPLICATED_ENTITY_NOT_ALLOWED')
    const production = await bench.createEnvironment()
    expect(await reasonOf(bench.testClocks.create(production, start))).to.equal('NO_TEST_ENVIRONMENT')
    expect(await reasonOf(bench.testClocks.advance(production, start))).to.equal('NO_TEST_CLOCK')
    const fresh = await bench.createEnvironment({ isTest: true })
    expect(await reasonOf(bench.testClocks.create(fresh, Date.now() - day))).to.equal('BAD_USER_INPUT')
    expect(await bench.testClocks.find(fresh)).to.equal(null)
  })

  it('advanced by several at once, ends at the latest, and nothing happens twice', async () => {
    await bench.customers.provision(environmentId, { refId: 'acme' })
    await provision('acme', 'business')
    await atOnce((index) => advance(start + (index + 1) * 30 * day).catch((error: Error) => error.message))
    expect((await bench.testClocks.find(environmentId))!.now).to.equal(start + 240 * day)
    expect(await bench.prisma.subscriptionRenewal.count({ where: { environmentId } })).to.equal(7)
  })
})
