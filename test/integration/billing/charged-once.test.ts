import { expect } from 'chai'
import { findBalance } from '../../../src/billing/records/balance.js'
import { at, type Bench, invoicesOf, newAcme, openBench, storeCalls, units } from './fixture.js'
import { type Payer, payer } from './payer.js'

describe('what is used is charged once', () => {
  let bench: Bench
  let environmentId: string
  let acme: Payer

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await newAcme(bench)
    acme = await payer(bench, environmentId)
  })

  type Update = Omit<Parameters<Bench['subscriptionChanges']['update']>[1], 'subscriptionRefId'>
  const invoiced = { billing: { collectionMethod: 'INVOICE' } } as const
  const leastSpend = { billing: { collectionMethod: 'INVOICE', minimumSpend: { amount: units(100), currency: 'USD' } } } as const
  const none = { billing: { proration: 'NONE' } } as const
  const later = { scheduleStrategy: 'END_OF_BILLING_PERIOD' } as const
  const seats = (quantity: number) => [{ featureRefId: 'seats', quantity: units(quantity) }]
  const update = (request: Update, subscriptionRefId = 'team') =>
    bench.subscriptionChanges.update(environmentId, { subscriptionRefId, ...request })
  const deliver = async () => {
    await bench.billing.deliverEverywhere()
  }
  const pass = async (until: string) => {
    await bench.testClocks.advance(environmentId, at(until))
    await deliver()
  }
  const totals = async (id: string) => (await invoicesOf(bench, environmentId, id)).map(({ total }) => total)
  const cancel = (billing: { creditsUnused?: boolean } = {}, end: { endDate?: number } = {}) =>
    bench.cancellations.cancel(environmentId, {
      subscriptionRefId: 'team',
      time: end.endDate === undefined ? 'IMMEDIATE' : 'SPECIFIC_DATE',
      ...end,
      billing,
    })

  describe('by changes that wait for one instant', () => {
    const full = { ...invoiced, quantities: seats(5), addons: [{ addonRefId: 'support', quantity: 1 }] }

    it('which end the period together', async () => {
      const id = await acme.buy('team', full)
      await update({ quantities: seats(3), addons: [], ...later })
      const { draft } = await bench.estimates.nextInvoice(environmentId, 'team')
      expect(draft.total).to.equal('66')
      await pass('2027-06-02T00:00:00')
      expect(await totals(id)).to.deep.equal(['139.99', '66', '66'])
    })

    it('of which another billing period is the last, in whatever order they were asked for', async () => {
      const id = await acme.buy('team', full)
      await update({ billingPeriod: 'ANNUALLY', ...later })
      await update({ quantities: seats(2), addons: [], ...later })
      await pass('2027-05-02T00:00:00')
      expect(await totals(id)).to.deep.equal(['139.99', '540'])
    })
  })

  describe('where a change was not to be prorated', () => {
    it('and nothing else about it changes', async () => {
      const id = await acme.buy('team', { ...invoiced, quantities: seats(1) })
      await bench.customers.provision(environmentId, { refId: 'parent' })
      await pass('2027-04-16T00:00:00')
      await update({ quantities: seats(5), ...none })
      const asked = { subscriptionRefId: 'team', additionalMetaData: { floor: '2' } }
      expect((await bench.estimates.update(environmentId, asked)).total).to.equal('0')
      await update(asked)
      await bench.subscriptionChanges.delegate(environmentId, 'team', 'parent')
      await acme.tell(id, { status: 'FAILED', errorMessage: 'Card declined.' })
      await acme.tell(id, { status: 'PAID' })
      expect(await totals(id)).to.deep.equal(['42'])
      // What was never charged is not given back: 42 for the whole month.
      await pass('2027-04-22T00:00:00')
      await cancel({ creditsUnused: true })
      expect(await totals(id)).to.deep.equal(['42', '-12.6'])
    })

    it('and another change is', async () => {
      const id = await acme.buy('team', { ...invoiced, quantities: seats(1) })
      await pass('2027-04-16T00:00:00')
      await update({ quantities: seats(5), ...none })
      await update({ quantities: seats(6) })
      await pass('2027-05-02T00:00:00')
      expect(await totals(id)).to.deep.equal(['42', '30', '102'])
    })

    it('also in a plan that goes on in the period of another one', async () => {
      const id = await acme.buy('team', invoiced)
      await pass('2027-04-16T00:00:00')
      const business = await acme.buy('business', {
        billingCycleAnchor: 'UNCHANGED',
        billing: { collectionMethod: 'INVOICE', proration: 'NONE' },
      })
      await update({ additionalMetaData: { floor: '2' } }, 'business')
      await pass('2027-05-02T00:00:00')
      expect([await totals(id), await totals(business)]).to.deep.equal([['42'], ['120']])
    })
  })

  describe('when its customer is somewhere else', () => {
    // A boundary that is an hour or some days later or earlier there.
    for (const [from, to, since] of [
      ['UTC', 'America/New_York', '2027-12-10T00:00:00'],
      ['America/New_York', 'UTC', '2028-03-10T00:00:00'],
      ['America/New_York', 'UTC', '2027-09-10T00:00:00'],
      ['UTC', 'Pacific/Kiritimati', '2028-02-10T00:00:00'],
      ['Europe/Berlin', 'Pacific/Honolulu', '2028-02-28T00:00:00'],
    ] as const)
      it(`from ${from} to ${to} from ${since} on`, async () => {
        await bench.testClocks.advance(environmentId, at('2027-05-01T02:00:00'))
        await bench.customers.update(environmentId, 'acme', { timeZone: from })
        const id = await acme.buy('team', invoiced)
        await pass(since)
        await bench.customers.update(environmentId, 'acme', { timeZone: to })
        await pass('2028-06-10T00:00:00')
        const charged = await invoicesOf(bench, environmentId, id)
        expect(new Set(charged.map(({ total }) => total))).to.deep.equal(new Set(['42']))
        expect(charged.slice(1).map(({ periodStart }) => periodStart)).to.deep.equal(charged.slice(0, -1).map(({ periodEnd }) => periodEnd))
        const days = charged.map(({ periodStart, periodEnd }) => (periodEnd - periodStart) / 86_400_000)
        expect(Math.min(...days)).to.be.above(26)
        expect(Math.max(...days)).to.be.below(36)
      })
  })

  it('also where the first payment comes after a renewal of the plan before', async () => {
    const id = await acme.buy('team', invoiced)
    await pass('2027-04-30T12:00:00')
    const business = await acme.buy('business', { billingCycleAnchor: 'UNCHANGED' })
    await pass('2027-05-01T06:00:00')
    await acme.tell(business, { status: 'PAID' })
    // Half a day of 30 for 120 less the same of 42; then 738 of 744 hours.
    expect([await totals(id), await totals(business)]).to.deep.equal([
      ['42', '42'],
      ['1.3', '77.37'],
    ])
  })

  describe('up to the agreed minimum', () => {
    it('of what is spent in a period that is cut short, without what is given back', async () => {
      const id = await acme.buy('team', leastSpend)
      await pass('2027-04-16T00:00:00')
      await cancel({ creditsUnused: true })
      expect(await totals(id)).to.deep.equal(['42', '-21', '29'])
    })

    for (const [proration, closing, first] of [
      ['INVOICE_IMMEDIATELY', '29', '99'],
      ['NONE', '8', '120'],
    ] as const)
      it(`also when another plan is charged for the rest of it: ${proration}`, async () => {
        const id = await acme.buy('team', leastSpend)
        await pass('2027-04-16T00:00:00')
        const business = await acme.buy('business', { billing: { collectionMethod: 'INVOICE', proration } })
        expect([await totals(id), await totals(business)]).to.deep.equal([['42', closing], [first]])
      })
  })

  describe('and is given back as was asked last', () => {
    const withCredit = async () => {
      const id = await acme.buy('team', invoiced)
      await cancel({ creditsUnused: true }, { endDate: at('2027-04-21T00:00:00') })
      await pass('2027-04-16T00:00:00')
      return id
    }

    it('for an end that was asked for and comes', async () => {
      const id = await withCredit()
      await pass('2027-04-22T00:00:00')
      expect(await totals(id)).to.deep.equal(['42', '-14'])
    })

    it('for an end that was taken back', async () => {
      const id = await withCredit()
      await bench.subscriptionChanges.cancelSchedule(environmentId, 'team')
      await cancel()
      expect(await totals(id)).to.deep.equal(['42'])
    })

    it('for another end', async () => {
      const id = await withCredit()
      await cancel({}, { endDate: at('2027-04-25T00:00:00') })
      await pass('2027-04-26T00:00:00')
      expect(await totals(id)).to.deep.equal(['42'])
    })

    it('for an end at once', async () => {
      const id = await withCredit()
      await cancel()
      expect(await totals(id)).to.deep.equal(['42'])
    })
  })

  describe('and its payment is kept', () => {
    const balanceOf = async (refId: string) =>
      findBalance(bench.prisma, environmentId, (await bench.customers.get(environmentId, refId))!.id, 'USD')

    it('when what was charged became free meanwhile, and ended', async () => {
      const id = await acme.buy('team', invoiced)
      const first = await acme.latest(id)
      await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'free', ...later })
      await pass('2027-05-02T00:00:00')
      await cancel()
      await bench.billing.hear(environmentId, (await bench.billingProvider.tell(environmentId, first.billingId!, { status: 'PAID' }))!)
      expect(await acme.latest(id)).to.include({ status: 'PAID', refundedAmount: '0' })
    })

    /** Its second month is not paid. */
    const failing = async (planRefId: string) => {
      await acme.chargeCard()
      const id = await acme.buy(planRefId)
      await acme.removeCard()
      await pass('2027-05-01T00:00:00')
      await acme.tell(id, { status: 'FAILED', errorMessage: 'Card expired.' })
      return id
    }

    it('when it is for the usage until billing ended the subscription', async () => {
      const id = await failing('business')
      await storeCalls(bench, environmentId, 1_000_000, '2027-05-05T00:00:00')
      await pass('2027-05-16T00:00:00')
      expect((await acme.standing('business')).at(2)).to.equal('CancelledByBilling')
      await acme.tell(id, { status: 'PAID' })
      expect(await acme.latest(id)).to.include({ status: 'PAID', total: '100', refundedAmount: '0' })
    })

    it('and access ends also when the provider tells that the invoice was taken back before it answers the call', async () => {
      await failing('team')
      const sync = acme.syncWith({
        voidInvoice: async (call, invoice) => {
          const answer = await bench.billingProvider.voidInvoice(call, invoice)
          await bench.billing.hear(environmentId, answer)
          return answer
        },
      })
      await bench.environments.moveTestClock(environmentId, at('2027-05-15T00:00:01'))
      await sync.sweepDeadlines()
      await sync.deliverEverywhere()
      expect(await acme.standing('team')).to.deep.equal(['CANCELED', 'FAILED', 'CancelledByBilling'])
    })

    it('with what waited for the next invoice, by who paid until then', async () => {
      await bench.customers.provision(environmentId, { refId: 'parent' })
      const id = await acme.buy('team', { ...invoiced, quantities: seats(3), payingCustomerRefId: 'parent' })
      await pass('2027-04-16T00:00:00')
      await update({ quantities: seats(1), billing: { proration: 'CREATE_PRORATIONS' }, scheduleStrategy: 'IMMEDIATE' })
      await bench.subscriptionChanges.delegate(environmentId, 'team', null)
      await pass('2027-05-02T00:00:00')
      expect(await totals(id)).to.deep.equal(['66', '-12', '42'])
      expect([await balanceOf('parent'), await balanceOf('acme')]).to.deep.equal(['12', '0'])
    })

    it('with the balance that an invoice used, by its payer, when it is given up after another pays', async () => {
      for (const refId of ['parent', 'beta']) await bench.customers.provision(environmentId, { refId })
      const ofParent = { ...invoiced, payingCustomerRefId: 'parent' }
      await acme.buy('team', ofParent)
      await pass('2027-04-16T00:00:00')
      await cancel({ creditsUnused: true })
      const id = await acme.buy('business', { ...ofParent, customerRefId: 'beta' })
      expect(await acme.latest(id)).to.include({ total: '120', amountDue: '99' })
      await bench.subscriptionChanges.delegate(environmentId, 'business', 'acme')
      await acme.tell(id, { status: 'FAILED', errorMessage: 'Card declined.' })
      expect(await balanceOf('parent')).to.equal('0')
      await pass('2027-05-01T00:00:00')
      expect((await acme.standing('business')).at(2)).to.equal('CancelledByBilling')
      await acme.tell(id, { status: 'PAID' })
      await deliver()
      expect(await acme.latest(id)).to.include({ refundedAmount: '99' })
      for (const [refId, balance] of [
        ['parent', '21'],
        ['beta', '0'],
        ['acme', '0'],
      ] as const)
        expect(await balanceOf(refId), refId).to.equal(balance)
    })
  })

  it('with the coupon of the instant, however late that is recorded', async () => {
    await bench.customers.update(environmentId, 'acme', { couponRefId: 'tenth' })
    const id = await acme.buy('team', invoiced)
    await bench.environments.moveTestClock(environmentId, at('2027-05-01T00:00:05'))
    await bench.customers.update(environmentId, 'acme', { couponRefId: null })
    await pass('2027-06-02T00:00:00')
    expect(await totals(id)).to.deep.equal(['37.8', '37.8', '42'])
  })
})
