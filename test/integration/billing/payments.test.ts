import { expect } from 'chai'
import { claimIntent } from '../../../src/billing/records/intents.js'
import { invalidInput, unavailable } from '../../../src/kernel/problem.js'
import { at, type Bench, invoicesOf, newAcme, openBench, start } from './fixture.js'
import { type Payer, payer } from './payer.js'

const hour = 3_600_000

describe('payments', () => {
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

  describe('of a beginning', () => {
    it('gives access at once where an invoice is sent', async () => {
      await acme.buy('team', { billing: { collectionMethod: 'INVOICE' } })
      expect(await acme.standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
    })

    it('gives access at once where a payment method is charged', async () => {
      await acme.chargeCard()
      const id = await acme.buy('team')
      expect(await acme.standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
      expect(await acme.latest(id)).to.deep.include({ status: 'PAID', attemptCount: 1, paymentUrl: null })
    })

    it('gives access at once where nobody waits for the payment', async () => {
      await acme.buy('team', { billing: { awaitsPayment: false } })
      expect(await acme.standing('team')).to.deep.equal(['ACTIVE', 'PROCESSING', null])
    })

    it('waits for the payment, tells where to pay, and leaves the plan before as it is until then', async () => {
      await acme.buy('team', { billing: { collectionMethod: 'INVOICE' } })
      const id = await acme.buy('business')
      expect(await acme.standing('business')).to.deep.equal(['PAYMENT_PENDING', 'ACTION_REQUIRED', null])
      expect(await acme.standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
      const invoice = await acme.latest(id)
      expect(invoice).to.deep.include({ status: 'OPEN' })
      expect(invoice.paymentUrl).to.match(/^https:/)
      expect(invoice.paymentSecret).to.match(/_secret_/)

      await acme.tell(id, { status: 'PAID' })
      expect(await acme.standing('business')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
      expect(await acme.standing('team')).to.deep.equal(['CANCELED', 'NOT_REQUIRED', 'UpgradeOrDowngrade'])
      // The credit for the other plan was on that invoice: there is no second one.
      expect(await invoicesOf(bench, environmentId, id)).to.have.length(1)
    })

    it('ends when the payment is refused, after the invoice was taken back', async () => {
      const id = await acme.buy('team')
      await acme.tell(id, { status: 'FAILED', errorMessage: 'Card declined.' })
      expect(await acme.standing('team')).to.deep.equal(['CANCELED', 'FAILED', 'PendingPaymentExpired'])
      expect(await acme.latest(id)).to.deep.include({ status: 'CANCELED' })
    })

    it('ends when nobody pays in time', async () => {
      const id = await acme.buy('team')
      const { startDate } = await acme.subscription('team')
      await bench.testClocks.advance(environmentId, start + 22 * hour)
      expect(await acme.standing('team')).to.deep.equal(['PAYMENT_PENDING', 'ACTION_REQUIRED', null])
      await bench.testClocks.advance(environmentId, start + 500 * hour)
      expect((await acme.subscription('team')).effectiveEndDate).to.equal(startDate + 23 * hour)
      expect(await acme.latest(id)).to.include({ status: 'CANCELED' })
      expect(await acme.standing('team')).to.deep.equal(['CANCELED', 'ACTION_REQUIRED', 'PendingPaymentExpired'])
      expect((await bench.subscriptionReads.active(environmentId, { customerRefId: 'acme' })).map(({ plan }) => plan.refId)).to.deep.equal(
        [],
      )
    })

    it('is active when it was paid just before the invoice was taken back', async () => {
      const id = await acme.buy('team')
      await bench.billingProvider.tell(environmentId, (await acme.latest(id)).billingId!, { status: 'PAID' })
      await bench.testClocks.advance(environmentId, start + 24 * hour)
      expect(await acme.standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
    })

    it('gives a payment back that comes too late, and says so', async () => {
      const id = await acme.buy('team')
      await acme.tell(id, { status: 'FAILED', errorMessage: 'Card declined.' })
      await acme.tell(id, { status: 'PAID' })
      expect(await acme.standing('team')).to.deep.equal(['CANCELED', 'FAILED', 'PendingPaymentExpired'])
      expect(await acme.latest(id)).to.deep.include({ status: 'PAID', refundedAmount: '42' })
      const { syncError } = await bench.prisma.subscriptionBilling.findFirstOrThrow({ where: { environmentId } })
      expect(syncError).to.match(/given back/)
    })

    it('waits when it starts, where that is later, and leaves what is held until it is paid', async () => {
      await acme.buy('team', { billing: { collectionMethod: 'INVOICE' } })
      const id = await acme.buy('business', { startDate: at('2027-04-10T00:00:00') })
      expect(await acme.standing('business')).to.deep.equal(['NOT_STARTED', 'NOT_REQUIRED', null])
      await bench.testClocks.advance(environmentId, at('2027-04-10T22:00:00'))
      expect(await acme.standing('business')).to.deep.equal(['PAYMENT_PENDING', 'ACTION_REQUIRED', null])
      expect(await acme.standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
      // 21 of 30 days of the other plan are credited: the start counts, not the instant of the payment.
      expect(await acme.latest(id)).to.deep.include({ total: '90.6' })
      await acme.tell(id, { status: 'PAID' })
      expect(await acme.standing('business')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
      expect((await acme.standing('team')).at(0)).to.equal('CANCELED')
      await bench.testClocks.advance(environmentId, at('2027-04-13T00:00:00'))
      expect(await bench.billing.sweepDeadlines()).to.equal(0)
    })
  })

  describe('of a running subscription', () => {
    it('is tried again on a schedule when it fails, and clears when it succeeds', async () => {
      await acme.chargeCard()
      const id = await acme.buy('team')
      await acme.removeCard()
      await bench.testClocks.advance(environmentId, at('2027-05-01T00:00:00'))
      await bench.billing.deliverAll(environmentId, id)
      await acme.tell(id, { status: 'FAILED', errorMessage: 'Card expired.' })
      expect(await acme.standing('team')).to.deep.equal(['ACTIVE', 'FAILED', null])
      expect(await acme.latest(id)).to.deep.include({ status: 'FAILED', errorMessage: 'Card expired.' })
      await acme.chargeCard()
      expect(await bench.billing.deliver({ of: { environmentId, subscriptionId: id } })).to.equal(0)
      await bench.testClocks.advance(environmentId, at('2027-05-02T00:00:01'))
      await bench.billing.deliverAll(environmentId, id)
      expect(await acme.standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
      expect(await acme.latest(id)).to.deep.include({ status: 'PAID', errorMessage: null })
    })

    it('is tried after 1, 3, 6 and 9 days, then left to the customer, and missed for 14 days in all', async () => {
      await acme.chargeCard()
      const id = await acme.buy('team')
      await acme.removeCard()
      const failedAt = at('2027-05-01T00:00:00')
      await bench.testClocks.advance(environmentId, failedAt)
      await bench.billing.deliverAll(environmentId, id)
      await acme.tell(id, { status: 'FAILED', errorMessage: 'Card expired.' })
      const attempts: number[] = []
      const days: number[] = []
      for (let day = 1; day <= 14; day++) {
        await bench.testClocks.advance(environmentId, failedAt + day * 24 * hour + 60_000)
        expect((await acme.standing('team')).at(0)).to.equal(day < 14 ? 'ACTIVE' : 'CANCELED')
        const { attemptCount } = await acme.latest(id)
        if (attemptCount !== attempts.at(-1)) days.push(day)
        attempts.push(attemptCount)
      }
      expect(attempts).to.deep.equal([2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 5, 5, 5])
      expect(days).to.deep.equal([1, 3, 6, 9])
      expect(await acme.standing('team')).to.deep.equal(['CANCELED', 'FAILED', 'CancelledByBilling'])
      expect((await acme.subscription('team')).effectiveEndDate).to.equal(failedAt + 14 * 24 * hour)
      expect(await acme.latest(id)).to.include({ status: 'CANCELED' })
    })

    it('is collected once, where the provider dies before it answers', async () => {
      await acme.chargeCard()
      const id = await acme.buy('team')
      await acme.removeCard()
      await bench.testClocks.advance(environmentId, at('2027-05-01T00:00:00'))
      await bench.billing.deliverAll(environmentId, id)
      await acme.tell(id, { status: 'FAILED', errorMessage: 'Card expired.' })
      await acme.chargeCard()
      await bench.environments.moveTestClock(environmentId, at('2027-05-02T00:00:01'))
      const dies = acme.syncWith({
        collect: async (...call) => {
          await bench.billingProvider.collect(...call)
          throw unavailable('connection reset')
        },
      })
      await dies.deliverAll(environmentId, id)
      expect((await acme.standing('team')).at(1)).to.equal('FAILED')
      await acme.again()
      await bench.billing.deliverAll(environmentId, id)
      expect(await acme.standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
      expect(await acme.latest(id)).to.include({ status: 'PAID', attemptCount: 2 })
    })

    it('is told to be missing as long as one invoice is not paid, whatever a newer one says', async () => {
      await acme.chargeCard()
      const id = await acme.buy('team')
      await acme.removeCard()
      await bench.testClocks.advance(environmentId, at('2027-05-01T00:00:00'))
      await bench.billing.deliverAll(environmentId, id)
      await acme.tell(id, { status: 'FAILED', errorMessage: 'Card expired.' })
      await acme.chargeCard()
      await bench.subscriptionChanges.update(environmentId, { subscriptionRefId: 'team', addons: [{ addonRefId: 'support', quantity: 1 }] })
      await bench.billing.deliverAll(environmentId, id)
      expect(await acme.latest(id)).to.deep.include({ status: 'PAID' })
      expect(await acme.standing('team')).to.deep.equal(['ACTIVE', 'FAILED', null])
    })

    it('cancels the subscription when it is missing for 14 days', async () => {
      await acme.chargeCard()
      const id = await acme.buy('team')
      await acme.removeCard()
      await bench.testClocks.advance(environmentId, at('2027-05-01T00:00:00'))
      await bench.billing.deliverAll(environmentId, id)
      await acme.tell(id, { requiresAction: true })
      expect(await acme.standing('team')).to.deep.equal(['ACTIVE', 'ACTION_REQUIRED', null])
      await bench.testClocks.advance(environmentId, at('2027-05-16T00:00:00'))
      expect((await acme.standing('team')).at(0)).to.equal('CANCELED')
      expect((await acme.subscription('team')).effectiveEndDate).to.equal(at('2027-05-15T00:00:00'))
      expect((await acme.standing('team')).at(2)).to.equal('CancelledByBilling')
    })
  })

  describe('with a provider that', () => {
    const waiting = () => bench.prisma.billingIntent.findFirstOrThrow({ where: { environmentId, state: 'WAITING' } })

    it('is down: the subscription waits, says why, and the call is made when it is back', async () => {
      const { id } = await acme.provision('team')
      await acme.syncWith({ createInvoice: () => Promise.reject(unavailable('no route')) }).deliverAll(environmentId, id)
      expect(await acme.standing('team')).to.deep.equal(['PAYMENT_PENDING', 'PROCESSING', null])
      expect(await waiting()).to.deep.include({ attempts: 1, lastError: 'no route' })
      const { syncError } = await bench.prisma.subscriptionBilling.findFirstOrThrow({ where: { environmentId } })
      expect(syncError).to.match(/could not be reached/)
      expect((await bench.billing.counts()).waiting).to.be.at.least(1)

      await acme.again()
      await bench.billing.deliverAll(environmentId, id)
      expect(await acme.statusOfBuiltin()).to.deep.equal(['OPEN'])
      expect((await bench.prisma.subscriptionBilling.findFirstOrThrow({ where: { environmentId } })).syncError).to.equal(null)
    })

    it('refuses: the call is given up, is told, and is made again when somebody says so', async () => {
      const { id } = await acme.provision('team')
      const refuses = acme.syncWith({ createInvoice: () => Promise.reject(invalidInput('No such tax rate.')) })
      await refuses.deliverAll(environmentId, id)
      const [call] = await bench.billingReads.unfinishedCalls(environmentId)
      expect(call).to.include({ kind: 'CREATE_INVOICE', subscriptionId: 'team', isGivenUp: true, lastError: 'No such tax rate.' })
      await bench.billing.deliverAll(environmentId, id)
      expect(await acme.statusOfBuiltin()).to.deep.equal([])
      expect(await bench.billing.retry(environmentId)).to.equal(1)
      await bench.billing.deliverAll(environmentId, id)
      expect(await acme.statusOfBuiltin()).to.deep.equal(['OPEN'])
      expect(await bench.billingReads.unfinishedCalls(environmentId)).to.deep.equal([])
    })

    it('made the invoice and died before it answered: nothing is charged twice', async () => {
      await acme.chargeCard()
      const { id } = await acme.provision('team')
      const dies = acme.syncWith({
        createInvoice: async (...call) => {
          await bench.billingProvider.createInvoice(...call)
          throw unavailable('connection reset')
        },
      })
      await dies.deliverAll(environmentId, id)
      await acme.again()
      await bench.billing.deliverAll(environmentId, id)
      expect(await acme.statusOfBuiltin()).to.deep.equal(['PAID'])
      expect(await acme.standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
    })

    it('is slow: the call is given up and made again with the same key', async () => {
      const { id } = await acme.provision('team')
      const keys: string[] = []
      const slow = acme.syncWith({
        createInvoice: (call) => {
          keys.push(call.idempotencyKey)
          return new Promise((_, reject) => call.signal.addEventListener('abort', () => reject(unavailable('timed out'))))
        },
      })
      await slow.deliver({ of: { environmentId, subscriptionId: id }, signal: AbortSignal.timeout(50) })
      await acme.again()
      await slow.deliver({ of: { environmentId, subscriptionId: id }, signal: AbortSignal.timeout(50) })
      expect(new Set(keys).size).to.equal(1)
      expect(keys).to.have.length(2)
    })

    it('is slow: no call is claimed before it is made, so that nobody else makes those behind it', async () => {
      for (const customerRefId of ['first', 'second', 'third']) {
        await bench.customers.provision(environmentId, { refId: customerRefId })
        const request = { customerRefId, planRefId: 'team', billing: { collectionMethod: 'CHARGE' as const } }
        await bench.subscriptions.provision(environmentId, request)
      }
      const claimed: number[] = []
      const slow = acme.syncWith({
        createInvoice: async (...call) => {
          const where = { environmentId, state: 'WAITING' as const, leasedUntil: { gt: new Date() } }
          claimed.push(await bench.prisma.billingIntent.count({ where }))
          return bench.billingProvider.createInvoice(...call)
        },
      })
      expect(await slow.deliver({ of: { environmentId } })).to.equal(3)
      expect(claimed).to.deep.equal([1, 1, 1])
    })

    it('fails a call that somebody else has made since: it stays made, and nothing is said to have gone wrong', async () => {
      const { id } = await acme.provision('team')
      const late = acme.syncWith({
        createInvoice: async () => {
          // The lease ran out meanwhile.
          await acme.again()
          await bench.billing.deliverAll(environmentId, id)
          throw unavailable('timed out')
        },
      })
      await late.deliver({ of: { environmentId, subscriptionId: id } })
      expect(await bench.billingReads.unfinishedCalls(environmentId)).to.deep.equal([])
      expect(await acme.statusOfBuiltin()).to.deep.equal(['OPEN'])
      const { syncError } = await bench.prisma.subscriptionBilling.findFirstOrThrow({ where: { environmentId, subscriptionId: id } })
      expect(syncError).to.equal(null)
    })

    it('refuses a call that somebody else is making again: it is not given up', async () => {
      const { id } = await acme.provision('team')
      const late = acme.syncWith({
        createInvoice: async () => {
          await acme.again()
          const again = acme.syncWith({ createInvoice: () => Promise.reject(unavailable('away')) })
          await again.deliver({ of: { environmentId, subscriptionId: id } })
          throw invalidInput('No such tax rate.')
        },
      })
      await late.deliver({ of: { environmentId, subscriptionId: id } })
      const [call] = await bench.billingReads.unfinishedCalls(environmentId)
      expect(call).to.include({ isGivenUp: false, attempts: 2 })
    })

    it('gets a subscription’s calls in the order in which they were written, whatever the clocks of who wrote them', async () => {
      const { id } = await acme.provision('team')
      const creation = await bench.prisma.billingIntent.findFirstOrThrow({ where: { environmentId, subscriptionId: id } })
      // Written later by a process whose clock is behind.
      const { sequence: _, ...columns } = creation
      const earlierId = '00000000-0000-7000-8000-000000000000'
      await bench.prisma.billingIntent.create({
        data: { ...columns, payload: creation.payload as object, id: earlierId, kind: 'VOID', idempotencyKey: 'void:late' },
      })
      const of = { environmentId, subscriptionId: id }
      expect((await claimIntent(bench.prisma, { leaseMs: 1_000, of }))!.kind).to.equal('CREATE_INVOICE')
      expect(await claimIntent(bench.prisma, { leaseMs: 1_000, of })).to.equal(null)
    })

    it('answers twice and out of order: what is newest stays', async () => {
      const id = await acme.buy('team')
      const { billingId } = await acme.latest(id)
      const open = (await bench.billingProvider.tell(environmentId, billingId!, { requiresAction: true }))!
      const paid = (await bench.billingProvider.tell(environmentId, billingId!, { status: 'PAID' }))!
      for (const news of [paid, open, paid]) await bench.billing.hear(environmentId, news)
      expect(await acme.standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
      expect(await acme.latest(id)).to.deep.include({ status: 'PAID', requiresAction: false })
    })

    it('is called by eight workers at once: one invoice', async () => {
      const { id } = await acme.provision('team')
      await Promise.all(Array.from({ length: 8 }, () => bench.billing.deliverAll(environmentId, id)))
      expect(await acme.statusOfBuiltin()).to.deep.equal(['OPEN'])
    })
  })
})
