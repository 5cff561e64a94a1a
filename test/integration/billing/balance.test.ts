import { expect } from 'chai'
import { findBalance } from '../../../src/billing/records/balance.js'
import { at, type Bench, invoicesOf, newAcme, openBench, storeCalls, units } from './fixture.js'
import { type Payer, payer } from './payer.js'

const hour = 3_600_000

describe('what a payer has to its credit', () => {
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

  const customerId = async (refId = 'acme') => (await bench.customers.get(environmentId, refId))!.id
  const balance = async (refId = 'acme', currency = 'USD') => findBalance(bench.prisma, environmentId, await customerId(refId), currency)
  const entries = async () =>
    (await bench.prisma.balanceEntry.findMany({ where: { environmentId }, orderBy: [{ createdAt: 'asc' }, { kind: 'asc' }] })).map(
      ({ kind, amount }) => [kind, amount.toFixed()],
    )
  const pass = async (until: string) => {
    await bench.testClocks.advance(environmentId, at(until))
    await deliver()
  }
  const deliver = async () => {
    await bench.billing.deliverEverywhere()
  }
  const invoiced = { billing: { collectionMethod: 'INVOICE' } } as const
  const seats = (quantity: number) => [{ featureRefId: 'seats', quantity: units(quantity) }]
  const cancelWithCredit = async (subscriptionRefId: string) => {
    await bench.cancellations.cancel(environmentId, { subscriptionRefId, time: 'IMMEDIATE', billing: { creditsUnused: true } })
    await deliver()
  }
  /** Its first month is paid, its second one is not; of that 0.6 are left after 12.4 days. */
  const failing = async (planRefId = 'team') => {
    await acme.chargeCard()
    const id = await acme.buy(planRefId)
    await acme.removeCard()
    await pass('2027-05-01T00:00:00')
    await acme.tell(id, { status: 'FAILED', errorMessage: 'Card expired.' })
    return id
  }
  const tellAbout = async ({ billingId }: { billingId: string | null }, news: Parameters<typeof bench.billingProvider.tell>[2]) =>
    bench.billing.hear(environmentId, (await bench.billingProvider.tell(environmentId, billingId!, news))!)
  const takeBack = async ({ billingId }: { billingId: string | null }) => {
    const call = { environmentId, customerId: await customerId(), idempotencyKey: `test ${billingId}`, signal: AbortSignal.timeout(5_000) }
    await bench.billing.hear(environmentId, await bench.billingProvider.voidInvoice(call, { billingId: billingId! }))
  }

  describe('for time that was not paid yet', () => {
    it('waits until it is paid, and then pays for what comes next', async () => {
      const id = await failing()
      const [, unpaid] = await invoicesOf(bench, environmentId, id)
      await pass('2027-05-13T09:36:00')
      await cancelWithCredit('team')
      expect(await balance()).to.equal('0')
      expect(await invoicesOf(bench, environmentId, id)).to.have.length(2)
      const business = await acme.buy('business', { ...invoiced, quantities: seats(1) })
      expect(await acme.latest(business)).to.include({ total: '120', amountDue: '120', creditApplied: '0' })
      await tellAbout(unpaid!, { status: 'PAID' })
      expect(await entries()).to.deep.equal([
        ['WAITING', '25.2'],
        ['RELEASED', '25.2'],
      ])
      expect(await balance()).to.equal('25.2')
      await pass('2027-06-14T00:00:00')
      expect(await acme.latest(business)).to.include({ total: '120', amountDue: '94.8', creditApplied: '25.2' })
    })

    it('never comes, when it is taken back', async () => {
      const id = await failing()
      const [, unpaid] = await invoicesOf(bench, environmentId, id)
      await pass('2027-05-13T09:36:00')
      await cancelWithCredit('team')
      await takeBack(unpaid!)
      expect(await balance()).to.equal('0')
      expect(await entries()).to.deep.equal([
        ['WAITING', '25.2'],
        ['DROPPED', '-25.2'],
      ])
      // Paid all the same, and given back or not: it was nobody's any more.
      await tellAbout(unpaid!, { status: 'PAID' })
      await deliver()
      expect(await balance()).to.equal('0')
      expect(await entries()).to.have.length(2)
    })

    it('waits of fewer seats and of another plan too, and an estimate says so', async () => {
      for (const planRefId of ['team', 'business']) {
        environmentId = await newAcme(bench)
        acme = await payer(bench, environmentId)
        const id = await failing()
        await pass('2027-05-13T09:36:00')
        const change = { customerRefId: 'acme', planRefId, quantities: seats(planRefId === 'team' ? 3 : 1), ...invoiced }
        const estimate = await bench.estimates.provision(environmentId, change)
        const { subscription } = await bench.subscriptions.provision(environmentId, change)
        await deliver()
        const changed = await acme.latest(subscription.id)
        const [charged, credit] = planRefId === 'team' ? ['39.6', '25.2'] : ['120', '25.2']
        expect([changed.total, changed.amountDue], planRefId).to.deep.equal([charged, charged])
        expect([estimate.total, estimate.proration?.credit ?? '0'], planRefId).to.deep.equal([charged, '0'])
        const unpaid = (await invoicesOf(bench, environmentId, id)).find(({ status }) => status === 'FAILED')!
        await tellAbout(unpaid, { status: 'PAID' })
        expect(await balance(), planRefId).to.equal(credit)
      }
    })

    it('is given at once where nothing has gone wrong yet, and is a debit when it is not paid after all', async () => {
      const id = await acme.buy('team', invoiced)
      const first = await acme.latest(id)
      await pass('2027-04-16T00:00:00')
      await cancelWithCredit('team')
      expect(await balance()).to.equal('21')
      const business = await acme.buy('business', invoiced)
      expect(await acme.latest(business)).to.include({ total: '120', amountDue: '99', creditApplied: '21' })
      await tellAbout(first, { status: 'FAILED', errorMessage: 'Card declined.' })
      expect(await balance(), 'it can be paid still').to.equal('0')
      await takeBack(first)
      expect(await balance()).to.equal('-21')
      await pass('2027-05-16T00:00:00')
      expect(await acme.latest(business)).to.include({ total: '120', amountDue: '141', creditApplied: '-21' })
      expect(await balance()).to.equal('0')
    })
  })

  describe('when what is not charged takes the place of a plan', () => {
    for (const planRefId of ['free', 'custom']) {
      const now = { customerRefId: 'acme', planRefId, scheduleStrategy: 'IMMEDIATE' } as const
      it(`is what was not used: ${planRefId}`, async () => {
        const id = await acme.buy('team', invoiced)
        await pass('2027-04-16T00:00:00')
        const estimate = await bench.estimates.provision(environmentId, now)
        expect([estimate.total, estimate.proration?.credit]).to.deep.equal(['-21', '-21'])
        await bench.subscriptions.provision(environmentId, now)
        expect((await invoicesOf(bench, environmentId, id)).map(({ total }) => total)).to.deep.equal(['42', '-21'])
        expect(await balance()).to.equal('21')
      })

      it(`is not, where nothing is to be prorated: ${planRefId}`, async () => {
        await acme.buy('team', invoiced)
        await pass('2027-04-16T00:00:00')
        await bench.subscriptions.provision(environmentId, { ...now, billing: { proration: 'NONE' } })
        expect(await balance()).to.equal('0')
      })
    }

    it('pays the usage of the same instant first', async () => {
      const id = await acme.buy('business', invoiced)
      await storeCalls(bench, environmentId, 250_000, '2027-04-05T00:00:00')
      await pass('2027-04-16T00:00:00')
      const change = { customerRefId: 'acme', planRefId: 'free', scheduleStrategy: 'IMMEDIATE' } as const
      const estimate = await bench.estimates.provision(environmentId, change)
      await bench.subscriptions.provision(environmentId, change)
      const [, credit, usage] = await invoicesOf(bench, environmentId, id)
      expect([credit!.total, usage!.total, usage!.amountDue]).to.deep.equal(['-60', '25', '0'])
      expect([estimate.total, estimate.amountDue]).to.deep.equal(['-35', '0'])
      expect(await balance()).to.equal('35')
    })

    it('is known before, and given, where that begins later', async () => {
      const id = await acme.buy('team', invoiced)
      const later = { customerRefId: 'acme', planRefId: 'custom', startDate: at('2027-04-21T00:00:00') }
      expect((await bench.estimates.provision(environmentId, later)).total).to.equal('-14')
      await bench.subscriptions.provision(environmentId, later)
      await pass('2027-04-22T00:00:00')
      expect((await acme.latest(id)).total).to.equal('-14')
      expect(await balance()).to.equal('14')
    })

    it('is nothing after an end, which decided itself', async () => {
      await acme.buy('team', invoiced)
      await pass('2027-04-16T00:00:00')
      await bench.cancellations.cancel(environmentId, { subscriptionRefId: 'team', time: 'IMMEDIATE' })
      expect(await balance()).to.equal('0')
    })
  })

  describe('that an invoice uses', () => {
    const withCredit = async () => {
      await acme.buy('team', invoiced)
      await pass('2027-04-16T00:00:00')
      await cancelWithCredit('team')
      expect(await balance()).to.equal('21')
    }

    it('comes back once, when that is taken back, whatever is paid and given back later', async () => {
      await withCredit()
      const id = await acme.buy('business')
      expect(await balance(), 'reserved while it waits').to.equal('0')
      await acme.tell(id, { status: 'FAILED', errorMessage: 'Card declined.' })
      expect(await acme.latest(id)).to.include({ status: 'CANCELED', errorMessage: 'Card declined.' })
      expect(await balance()).to.equal('21')
      await acme.tell(id, { status: 'PAID' })
      expect(await acme.latest(id)).to.include({ status: 'PAID', refundedAmount: '99', errorMessage: null })
      expect(await balance()).to.equal('21')
    })

    it('is foreseen to come back where another plan is asked for while the first payment is waited for', async () => {
      await withCredit()
      await acme.buy('business')
      const request = { customerRefId: 'acme', planRefId: 'team', quantities: seats(2), ...invoiced }
      for (const startDate of [at('2027-05-16T00:00:00'), null]) {
        const { total, amountDue, balance: told } = await bench.estimates.provision(environmentId, { ...request, startDate })
        expect([total, amountDue, told?.initial]).to.deep.equal(['54', '33', '21'])
      }
      const { subscription } = await bench.subscriptions.provision(environmentId, request)
      await deliver()
      expect(await acme.latest(subscription.id)).to.include({ total: '54', amountDue: '33', creditApplied: '21' })
    })

    it('is reserved while that has failed and can be paid still', async () => {
      await withCredit()
      const id = await acme.buy('business', { billing: { awaitsPayment: false } })
      await acme.tell(id, { status: 'FAILED', errorMessage: 'Card declined.' })
      expect(await balance()).to.equal('0')
      await acme.tell(id, { status: 'PAID' })
      expect(await balance()).to.equal('0')
    })

    it('is the credit of what goes on, where the other one never began', async () => {
      await acme.buy('team', invoiced)
      await pass('2027-04-16T00:00:00')
      const id = await acme.buy('business')
      expect(await acme.latest(id)).to.include({ total: '99', status: 'OPEN' })
      await pass('2027-04-16T12:00:00')
      await bench.testClocks.advance(environmentId, at('2027-04-17T00:00:00') + hour)
      await bench.billing.sweepDeadlines()
      await deliver()
      expect((await acme.standing('business')).at(0)).to.equal('CANCELED')
      expect((await acme.standing('team')).at(0)).to.equal('ACTIVE')
      expect(await balance()).to.equal('0')
    })
  })

  it('is given once for what is canceled while its successor waits', async () => {
    await acme.buy('team', invoiced)
    await pass('2027-04-16T00:00:00')
    const id = await acme.buy('business')
    expect(await acme.latest(id)).to.include({ total: '99', status: 'OPEN' })
    await cancelWithCredit('team')
    expect(await balance()).to.equal('21')
    await acme.tell(id, { status: 'PAID' })
    expect(await balance(), 'one on the invoice, or one to spend').to.equal('0')
  })

  it('is given once where what was charged waited for its invoice while the successor waited for its payment', async () => {
    const waiting = { subscriptionRefId: 'team', quantities: seats(3), billing: { proration: 'CREATE_PRORATIONS' } } as const
    const begin = async () => {
      environmentId = await newAcme(bench)
      acme = await payer(bench, environmentId)
      await acme.buy('team', invoiced)
      await pass('2027-04-16T00:00:00')
      await bench.subscriptionChanges.update(environmentId, waiting)
      const id = await acme.buy('business')
      expect(await acme.latest(id)).to.include({ total: '120', status: 'OPEN' })
      return id
    }
    const canceled = await begin()
    await cancelWithCredit('team')
    expect(await balance(), '33 that are left, less 12 that waited').to.equal('21')
    await acme.tell(canceled, { status: 'PAID' })
    expect(await balance()).to.equal('21')
    const replacing = await begin()
    await acme.tell(replacing, { status: 'PAID' })
    expect(await balance(), '12 are invoiced before').to.equal('33')
  })

  it('is given for what a change charged anew while the successor waits', async () => {
    await acme.buy('team', invoiced)
    await pass('2027-04-16T00:00:00')
    const id = await acme.buy('business')
    await bench.subscriptionChanges.update(environmentId, { subscriptionRefId: 'team', quantities: seats(3) })
    await acme.tell(id, { status: 'PAID' })
    expect(await balance(), '33 for what was changed, less 21 that was given twice').to.equal('12')
  })

  describe('of others', () => {
    const customers = ['a', 'b', 'c', 'd']

    it('is used once, by whatever is due together', async () => {
      await bench.customers.provision(environmentId, { refId: 'parent' })
      for (const customerRefId of customers) {
        await bench.customers.provision(environmentId, { refId: customerRefId })
        const request = { customerRefId, planRefId: 'team', subscriptionRefId: customerRefId, payingCustomerRefId: 'parent', ...invoiced }
        await bench.subscriptions.provision(environmentId, request)
      }
      await bench.subscriptions.provision(environmentId, { customerRefId: 'parent', planRefId: 'team', subscriptionRefId: 'own' })
      await pass('2027-04-10T00:00:00')
      await cancelWithCredit('own')
      expect(await balance('parent')).to.equal('29.4')
      await bench.environments.moveTestClock(environmentId, at('2027-05-01T00:00:00'))
      const ids = await Promise.all(customers.map(customerId))
      await Promise.all([
        bench.dueTransitions.applyDueTogether(environmentId, ids.slice(0, 2)),
        ...ids.slice(1).map((id) => bench.dueTransitions.applyDue(environmentId, id)),
        bench.dueTransitions.applyDueTogether(environmentId, ids.toReversed()),
      ])
      await bench.dueTransitions.applyDueTogether(environmentId, ids)
      expect(await balance('parent')).to.equal('0')
      const renewals = await bench.prisma.invoice.findMany({ where: { environmentId, reason: 'BILLING_CYCLE' } })
      const applied = renewals.map(({ creditApplied }) => creditApplied.toFixed()).toSorted()
      expect(applied).to.deep.equal(['0', '0', '0', '29.4'])
    })

    it('is that of who paid for the time, whoever pays by now', async () => {
      await bench.customers.provision(environmentId, { refId: 'parent' })
      const id = await acme.buy('team', { ...invoiced, payingCustomerRefId: 'parent' })
      await pass('2027-04-16T00:00:00')
      await bench.subscriptionChanges.delegate(environmentId, 'team', null)
      await bench.subscriptionChanges.update(environmentId, { subscriptionRefId: 'team', quantities: seats(3) })
      const [, ...changed] = await invoicesOf(bench, environmentId, id)
      expect(changed.map(({ total }) => total)).to.have.members(['-21', '33'])
      expect([await balance('parent'), await balance()]).to.deep.equal(['21', '0'])
    })
  })

  it('is not more for a customer that comes and goes', async () => {
    const id = await acme.buy('team', invoiced)
    await pass('2027-04-16T00:00:00')
    await bench.subscriptionChanges.update(environmentId, { subscriptionRefId: 'team', quantities: seats(3) })
    await deliver()
    const [first, second] = await invoicesOf(bench, environmentId, id)
    await takeBack(second!)
    expect(await balance(), 'the credit on what was taken back').to.equal('21')
    await cancelWithCredit('team')
    expect(await balance(), 'nothing for what nobody pays').to.equal('21')
    await takeBack(first!)
    expect(await balance()).to.equal('0')
  })
})
