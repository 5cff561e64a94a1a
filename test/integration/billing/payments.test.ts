import { expect } from 'chai'
import type { BillingProvider } from '../../../src/billing/provider.js'
import { BillingSync } from '../../../src/billing/sync.js'
import { findCustomer } from '../../../src/customer/repository.js'
import { invalidInput, unavailable } from '../../../src/kernel/problem.js'
import { SubscriptionService } from '../../../src/subscription/service.js'
import { settlePayments } from '../../../src/subscription/service-payments.js'
import { at, type Bench, invoicesOf, newAcme, openBench, reasonOf, start } from './bench.js'

const hour = 3_600_000

describe('payments', () => {
  let bench: Bench
  let environmentId: string
  let customerId: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await newAcme(bench)
    customerId = (await bench.customers.get(environmentId, 'acme'))!.id
  })

  type Request = Parameters<Bench['subscriptions']['provision']>[1]
  const provision = async (planRefId: string, { billing = {}, ...request }: Partial<Request> = {}) =>
    (
      await bench.subscriptions.provision(environmentId, {
        customerRefId: 'acme',
        planRefId,
        subscriptionRefId: planRefId,
        billing: { collectionMethod: 'CHARGE', ...billing },
        ...request,
      })
    ).subscription
  /** Provisions and makes the calls, as a mutation does. */
  const buy = async (planRefId: string, request: Partial<Request> = {}) => {
    const { id } = await provision(planRefId, request)
    await bench.billing.deliverAll(environmentId, id)
    return id
  }
  const subscription = (refId: string) => bench.subscriptions.get(environmentId, refId)
  const standing = async (refId: string) => {
    const { status, paymentCollection, cancelReason } = await subscription(refId)
    return [status, paymentCollection, cancelReason]
  }
  const latest = async (id: string) => (await invoicesOf(bench, environmentId, id)).at(-1)!
  const tell = async (id: string, news: Parameters<typeof bench.billingProvider.tell>[2]) =>
    bench.billing.hear(environmentId, (await bench.billingProvider.tell(environmentId, (await latest(id)).billingId!, news))!)
  const removeCard = () => bench.billingProvider.setPaymentMethod({ environmentId, customerId }, null)
  const chargeCard = () => bench.billingProvider.setPaymentMethod({ environmentId, customerId }, 'card')
  const statusOfBuiltin = async () => (await bench.prisma.builtinInvoice.findMany({ where: { environmentId } })).map(({ status }) => status)

  describe('of a beginning', () => {
    it('gives access at once where an invoice is sent', async () => {
      await buy('team', { billing: { collectionMethod: 'INVOICE' } })
      expect(await standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
    })

    it('gives access at once where a payment method is charged', async () => {
      await chargeCard()
      const id = await buy('team')
      expect(await standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
      expect(await latest(id)).to.deep.include({ status: 'PAID', attemptCount: 1, paymentUrl: null })
    })

    it('gives access at once where nobody waits for the payment', async () => {
      await buy('team', { billing: { awaitsPayment: false } })
      expect(await standing('team')).to.deep.equal(['ACTIVE', 'PROCESSING', null])
    })

    it('waits for the payment, tells where to pay, and leaves the plan before as it is until then', async () => {
      await buy('team', { billing: { collectionMethod: 'INVOICE' } })
      const id = await buy('business')
      expect(await standing('business')).to.deep.equal(['PAYMENT_PENDING', 'ACTION_REQUIRED', null])
      expect(await standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
      const invoice = await latest(id)
      expect(invoice).to.deep.include({ status: 'OPEN' })
      expect(invoice.paymentUrl).to.match(/^https:/)
      expect(invoice.paymentSecret).to.match(/_secret_/)

      await tell(id, { status: 'PAID' })
      expect(await standing('business')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
      expect(await standing('team')).to.deep.equal(['CANCELED', 'NOT_REQUIRED', 'UpgradeOrDowngrade'])
      // The credit for the other plan was on that invoice: there is no second one.
      expect(await invoicesOf(bench, environmentId, id)).to.have.length(1)
    })

    it('ends when the payment is refused, after the invoice was taken back', async () => {
      const id = await buy('team')
      await tell(id, { status: 'FAILED', errorMessage: 'Card declined.' })
      expect(await standing('team')).to.deep.equal(['CANCELED', 'FAILED', 'PendingPaymentExpired'])
      expect(await latest(id)).to.deep.include({ status: 'CANCELED' })
    })

    it('ends when nobody pays in time', async () => {
      const id = await buy('team')
      await bench.testClocks.advance(environmentId, start + 22 * hour)
      expect(await bench.billing.sweepDeadlines()).to.equal(0)
      await bench.testClocks.advance(environmentId, start + 24 * hour)
      expect(await bench.billing.sweepDeadlines()).to.equal(1)
      await bench.billing.deliverAll(environmentId, id)
      expect(await standing('team')).to.deep.equal(['CANCELED', 'ACTION_REQUIRED', 'PendingPaymentExpired'])
      expect((await bench.subscriptions.active(environmentId, { customerRefId: 'acme' })).map(({ plan }) => plan.refId)).to.deep.equal([])
    })

    it('is active when it was paid just before the invoice was taken back', async () => {
      const id = await buy('team')
      await bench.billingProvider.tell(environmentId, (await latest(id)).billingId!, { status: 'PAID' })
      await bench.testClocks.advance(environmentId, start + 24 * hour)
      await bench.billing.sweepDeadlines()
      await bench.billing.deliverAll(environmentId, id)
      expect(await standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
    })

    it('gives a payment back that comes too late, and says so', async () => {
      const id = await buy('team')
      await tell(id, { status: 'FAILED', errorMessage: 'Card declined.' })
      await tell(id, { status: 'PAID' })
      expect(await standing('team')).to.deep.equal(['CANCELED', 'FAILED', 'PendingPaymentExpired'])
      expect(await latest(id)).to.deep.include({ status: 'PAID', refundedAmount: '42' })
      const { syncError } = await bench.prisma.subscriptionBilling.findFirstOrThrow({ where: { environmentId } })
      expect(syncError).to.match(/given back/)
    })

    it('waits when it starts, where that is later, and leaves what is held until it is paid', async () => {
      await buy('team', { billing: { collectionMethod: 'INVOICE' } })
      const id = await buy('business', { startDate: at('2027-04-10T00:00:00') })
      expect(await standing('business')).to.deep.equal(['NOT_STARTED', 'NOT_REQUIRED', null])
      await bench.testClocks.advance(environmentId, at('2027-04-11T00:00:00'))
      await bench.billing.deliverAll(environmentId, id)
      expect(await standing('business')).to.deep.equal(['PAYMENT_PENDING', 'ACTION_REQUIRED', null])
      expect(await standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
      // 21 of 30 days of the other plan are credited: the start counts, not the instant of the payment.
      expect(await latest(id)).to.deep.include({ total: '90.6' })
      await tell(id, { status: 'PAID' })
      expect(await standing('business')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
      expect((await standing('team')).at(0)).to.equal('CANCELED')
      await bench.testClocks.advance(environmentId, at('2027-04-13T00:00:00'))
      expect(await bench.billing.sweepDeadlines()).to.equal(0)
    })
  })

  /** The builtin one, with a fault in its way. */
  const syncWith = (faulty: Partial<BillingProvider>) => {
    const { prisma, catalog, ledger, after, billingProvider } = bench
    const provider = Object.assign(Object.create(billingProvider) as BillingProvider, faulty)
    const parts = { prisma, catalog, findCustomer, billing: ledger, after }
    return new BillingSync({ prisma, provider, settle: settlePayments(parts) })
  }
  const again = () =>
    bench.prisma.billingIntent.updateMany({ where: { environmentId }, data: { nextAttemptAt: new Date(0), leasedUntil: null } })

  describe('of what is not wanted any more before it was paid', () => {
    const cancel = (subscriptions = bench.subscriptions) => subscriptions.cancel(environmentId, { subscriptionRefId: 'team' })
    const subscriptionsWith = (faulty: Partial<BillingProvider>) => {
      const { prisma, catalog, entitlements, ledger, environments, after, providerRequests: provider } = bench
      const sync = syncWith(faulty)
      const makeCalls = sync.deliverAll.bind(sync)
      return new SubscriptionService({
        prisma,
        catalog,
        entitlements,
        findCustomer,
        billing: ledger,
        provider,
        time: environments,
        after,
        makeCalls,
      })
    }
    const isAway = () => Promise.reject(unavailable('no route'))
    const replace = (subscriptions = bench.subscriptions) =>
      subscriptions.provision(environmentId, {
        customerRefId: 'acme',
        planRefId: 'business',
        subscriptionRefId: 'business',
        billing: { collectionMethod: 'CHARGE' },
      })
    const syncError = async () =>
      (await bench.prisma.subscriptionBilling.findFirstOrThrow({ where: { environmentId, subscription: { refId: 'team' } } })).syncError
    /** Told to the provider only: nobody has heard of it yet. */
    const payUnheard = async (id: string) => bench.billingProvider.tell(environmentId, (await latest(id)).billingId!, { status: 'PAID' })

    it('takes the invoice back, and only then ends it', async () => {
      const id = await buy('team')
      const statuses: string[] = []
      const watched = subscriptionsWith({
        voidInvoice: async (...call) => {
          statuses.push((await subscription('team')).status)
          return bench.billingProvider.voidInvoice(...call)
        },
      })
      expect(await cancel(watched)).to.include({ status: 'CANCELED', cancelReason: 'Immediate' })
      expect(statuses).to.deep.equal(['PAYMENT_PENDING'])
      expect(await statusOfBuiltin()).to.deep.equal(['CANCELED'])
      expect(await latest(id)).to.include({ status: 'CANCELED' })
      expect(await reasonOf(cancel())).to.equal('SUBSCRIPTION_ALREADY_CANCELED_OR_EXPIRED')
    })

    it('cancels the running subscription, when it turns out to be paid', async () => {
      const id = await buy('team')
      await payUnheard(id)
      const canceled = await cancel()
      expect(canceled).to.include({ status: 'CANCELED', cancelReason: 'Immediate' })
      expect(canceled.currentPeriod).not.to.equal(null)
      expect(await latest(id)).to.include({ status: 'PAID', refundedAmount: '0' })
    })

    it('waits while the provider is away, says so, and ends it when it is back', async () => {
      const id = await buy('team')
      expect(await cancel(subscriptionsWith({ voidInvoice: isAway }))).to.include({ status: 'PAYMENT_PENDING', cancelReason: null })
      expect(await syncError()).to.match(/could not be reached/)
      expect((await bench.billingReads.unfinishedCalls(environmentId)).map(({ kind }) => kind)).to.deep.equal(['VOID'])
      await again()
      await bench.billing.deliverAll(environmentId, id)
      expect(await standing('team')).to.deep.equal(['CANCELED', 'ACTION_REQUIRED', 'Immediate'])
      expect(await syncError()).to.equal(null)
    })

    it('begins when it was paid while the provider was away', async () => {
      const id = await buy('team')
      await cancel(subscriptionsWith({ voidInvoice: isAway }))
      await payUnheard(id)
      await again()
      await bench.billing.deliverAll(environmentId, id)
      expect(await standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
    })

    it('ends once, where the provider takes it back, dies, and answers twice', async () => {
      const id = await buy('team')
      const dies = subscriptionsWith({
        voidInvoice: async (...call) => {
          await bench.billingProvider.voidInvoice(...call)
          throw unavailable('connection reset')
        },
      })
      await cancel(dies)
      await again()
      await Promise.all([1, 2, 3].map(() => bench.billing.deliverAll(environmentId, id)))
      expect(await standing('team')).to.deep.equal(['CANCELED', 'ACTION_REQUIRED', 'Immediate'])
      expect(await bench.prisma.billingIntent.count({ where: { environmentId, kind: 'VOID' } })).to.equal(1)
      expect(await bench.billingReads.unfinishedCalls(environmentId)).to.deep.equal([])
    })

    it('ends as was asked, where the provider tells of it before it answers', async () => {
      await buy('team')
      const tells = subscriptionsWith({
        voidInvoice: async (...call) => {
          const news = await bench.billingProvider.voidInvoice(...call)
          await bench.billing.hear(environmentId, news)
          throw unavailable('connection reset')
        },
      })
      expect(await cancel(tells)).to.include({ status: 'CANCELED', cancelReason: 'Immediate' })
    })

    it('is not charged for, where the provider has never heard of it', async () => {
      await chargeCard()
      await provision('team')
      expect(await cancel()).to.include({ status: 'CANCELED', cancelReason: 'Immediate' })
      expect(await statusOfBuiltin()).to.deep.equal(['CANCELED'])
    })

    it('ends without a call, where the provider refused to make the invoice, and is not made later', async () => {
      const refuses = syncWith({ createInvoice: () => Promise.reject(invalidInput('No such customer.')) })
      const { id } = await provision('team')
      await refuses.deliverAll(environmentId, id)
      expect(await cancel()).to.include({ status: 'CANCELED', cancelReason: 'Immediate' })
      expect(await latest(id)).to.include({ status: 'CANCELED', billingId: null })
      expect(await bench.billing.retry(environmentId)).to.equal(0)
      expect(await bench.billingReads.unfinishedCalls(environmentId)).to.deep.equal([])
      expect(await statusOfBuiltin()).to.deep.equal([])
    })

    it('makes room for the plan that takes its place', async () => {
      await buy('team')
      await replace()
      expect(await standing('team')).to.deep.equal(['CANCELED', 'ACTION_REQUIRED', 'UpgradeOrDowngrade'])
      expect((await standing('business')).at(0)).to.equal('PAYMENT_PENDING')
      expect(await statusOfBuiltin()).to.deep.equal(['CANCELED'])
    })

    it('is replaced as a running one, when it turns out to be paid', async () => {
      const id = await buy('team')
      await payUnheard(id)
      const { subscription: business } = await replace()
      // It goes on until the other one is paid, whose invoice has the credit.
      expect(await standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
      expect((await latest(business.id)).lines.filter(({ isProration }) => isProration)).to.have.length(2)
    })

    it('is not replaced while the provider is away: nothing is provisioned', async () => {
      await buy('team')
      expect(await reasonOf(replace(subscriptionsWith({ voidInvoice: isAway })))).to.equal('UNAVAILABLE')
      expect((await standing('team')).at(0)).to.equal('PAYMENT_PENDING')
      expect(await bench.prisma.subscription.count({ where: { environmentId } })).to.equal(1)
      await again()
      await replace()
      expect((await standing('team')).at(2)).to.equal('UpgradeOrDowngrade')
      expect((await standing('business')).at(0)).to.equal('PAYMENT_PENDING')
    })

    it('is replaced once by two requests at once', async () => {
      await buy('team')
      await Promise.all([reasonOf(replace()), reasonOf(replace())])
      await replace()
      expect(await bench.prisma.subscription.count({ where: { environmentId } })).to.equal(2)
      expect(await statusOfBuiltin()).to.include('CANCELED')
    })

    it('is given back when it is paid after its customer was archived', async () => {
      const id = await buy('team')
      await bench.customers.archive(environmentId, 'acme')
      await payUnheard(id)
      await bench.billing.deliverAll(environmentId, id)
      expect(await standing('team')).to.deep.equal(['CANCELED', 'ACTION_REQUIRED', 'CustomerArchived'])
      expect(await latest(id)).to.include({ status: 'PAID', refundedAmount: '42' })
    })
  })

  describe('of a running subscription', () => {
    it('is tried again on a schedule when it fails, and clears when it succeeds', async () => {
      await chargeCard()
      const id = await buy('team')
      await removeCard()
      await bench.testClocks.advance(environmentId, at('2027-05-01T00:00:00'))
      await bench.billing.deliverAll(environmentId, id)
      await tell(id, { status: 'FAILED', errorMessage: 'Card expired.' })
      expect(await standing('team')).to.deep.equal(['ACTIVE', 'FAILED', null])
      expect(await latest(id)).to.deep.include({ status: 'FAILED', errorMessage: 'Card expired.' })
      await chargeCard()
      expect(await bench.billing.deliver({ of: { environmentId, subscriptionId: id } })).to.equal(0)
      await bench.testClocks.advance(environmentId, at('2027-05-02T00:00:01'))
      await bench.billing.deliverAll(environmentId, id)
      expect(await standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
      expect(await latest(id)).to.deep.include({ status: 'PAID', errorMessage: null })
    })

    it('is tried after 1, 3, 6 and 9 days, then left to the customer, and missed for 14 days in all', async () => {
      await chargeCard()
      const id = await buy('team')
      await removeCard()
      const failedAt = at('2027-05-01T00:00:00')
      await bench.testClocks.advance(environmentId, failedAt)
      await bench.billing.deliverAll(environmentId, id)
      await tell(id, { status: 'FAILED', errorMessage: 'Card expired.' })
      const attempts: number[] = []
      const days: number[] = []
      for (let day = 1; day <= 14; day++) {
        await bench.testClocks.advance(environmentId, failedAt + day * 24 * hour + 60_000)
        if (day < 14) expect(await bench.billing.sweepDeadlines()).to.equal(0)
        await bench.billing.deliverAll(environmentId, id)
        const { attemptCount } = await latest(id)
        if (attemptCount !== attempts.at(-1)) days.push(day)
        attempts.push(attemptCount)
      }
      expect(attempts).to.deep.equal([2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 5, 5, 5])
      expect(days).to.deep.equal([1, 3, 6, 9])
      expect(await standing('team')).to.deep.equal(['ACTIVE', 'FAILED', null])
      expect(await bench.billing.sweepDeadlines()).to.equal(1)
      await bench.billing.deliverAll(environmentId, id)
      expect(await standing('team')).to.deep.equal(['CANCELED', 'FAILED', 'CancelledByBilling'])
      expect(await latest(id)).to.include({ status: 'CANCELED' })
    })

    it('is collected once, where the provider dies before it answers', async () => {
      await chargeCard()
      const id = await buy('team')
      await removeCard()
      await bench.testClocks.advance(environmentId, at('2027-05-01T00:00:00'))
      await bench.billing.deliverAll(environmentId, id)
      await tell(id, { status: 'FAILED', errorMessage: 'Card expired.' })
      await chargeCard()
      await bench.testClocks.advance(environmentId, at('2027-05-02T00:00:01'))
      const dies = syncWith({
        collect: async (...call) => {
          await bench.billingProvider.collect(...call)
          throw unavailable('connection reset')
        },
      })
      await dies.deliverAll(environmentId, id)
      expect((await standing('team')).at(1)).to.equal('FAILED')
      await again()
      await bench.billing.deliverAll(environmentId, id)
      expect(await standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
      expect(await latest(id)).to.include({ status: 'PAID', attemptCount: 2 })
    })

    it('is told to be missing as long as one invoice is not paid, whatever a newer one says', async () => {
      await chargeCard()
      const id = await buy('team')
      await removeCard()
      await bench.testClocks.advance(environmentId, at('2027-05-01T00:00:00'))
      await bench.billing.deliverAll(environmentId, id)
      await tell(id, { status: 'FAILED', errorMessage: 'Card expired.' })
      await chargeCard()
      await bench.subscriptionChanges.update(environmentId, { subscriptionRefId: 'team', addons: [{ addonRefId: 'support', quantity: 1 }] })
      await bench.billing.deliverAll(environmentId, id)
      expect(await latest(id)).to.deep.include({ status: 'PAID' })
      expect(await standing('team')).to.deep.equal(['ACTIVE', 'FAILED', null])
    })

    it('cancels the subscription when it is missing for 14 days', async () => {
      await chargeCard()
      const id = await buy('team')
      await removeCard()
      await bench.testClocks.advance(environmentId, at('2027-05-01T00:00:00'))
      await bench.billing.deliverAll(environmentId, id)
      await tell(id, { requiresAction: true })
      expect(await standing('team')).to.deep.equal(['ACTIVE', 'ACTION_REQUIRED', null])
      await bench.testClocks.advance(environmentId, at('2027-05-16T00:00:00'))
      expect(await bench.billing.sweepDeadlines()).to.equal(1)
      await bench.billing.deliverAll(environmentId, id)
      expect((await standing('team')).at(0)).to.equal('CANCELED')
      expect((await standing('team')).at(2)).to.equal('CancelledByBilling')
    })
  })

  describe('with a provider that', () => {
    const waiting = () => bench.prisma.billingIntent.findFirstOrThrow({ where: { environmentId, state: 'WAITING' } })

    it('is down: the subscription waits, says why, and the call is made when it is back', async () => {
      const { id } = await provision('team')
      await syncWith({ createInvoice: () => Promise.reject(unavailable('no route')) }).deliverAll(environmentId, id)
      expect(await standing('team')).to.deep.equal(['PAYMENT_PENDING', 'PROCESSING', null])
      expect(await waiting()).to.deep.include({ attempts: 1, lastError: 'no route' })
      const { syncError } = await bench.prisma.subscriptionBilling.findFirstOrThrow({ where: { environmentId } })
      expect(syncError).to.match(/could not be reached/)
      expect((await bench.billing.counts()).waiting).to.be.at.least(1)

      await again()
      await bench.billing.deliverAll(environmentId, id)
      expect(await statusOfBuiltin()).to.deep.equal(['OPEN'])
      expect((await bench.prisma.subscriptionBilling.findFirstOrThrow({ where: { environmentId } })).syncError).to.equal(null)
    })

    it('refuses: the call is given up, is told, and is made again when somebody says so', async () => {
      const { id } = await provision('team')
      const refuses = syncWith({ createInvoice: () => Promise.reject(invalidInput('No such tax rate.')) })
      await refuses.deliverAll(environmentId, id)
      const [call] = await bench.billingReads.unfinishedCalls(environmentId)
      expect(call).to.include({ kind: 'CREATE_INVOICE', subscriptionId: 'team', isGivenUp: true, lastError: 'No such tax rate.' })
      await bench.billing.deliverAll(environmentId, id)
      expect(await statusOfBuiltin()).to.deep.equal([])
      expect(await bench.billing.retry(environmentId)).to.equal(1)
      await bench.billing.deliverAll(environmentId, id)
      expect(await statusOfBuiltin()).to.deep.equal(['OPEN'])
      expect(await bench.billingReads.unfinishedCalls(environmentId)).to.deep.equal([])
    })

    it('made the invoice and died before it answered: nothing is charged twice', async () => {
      await chargeCard()
      const { id } = await provision('team')
      const dies = syncWith({
        createInvoice: async (...call) => {
          await bench.billingProvider.createInvoice(...call)
          throw unavailable('connection reset')
        },
      })
      await dies.deliverAll(environmentId, id)
      await again()
      await bench.billing.deliverAll(environmentId, id)
      expect(await statusOfBuiltin()).to.deep.equal(['PAID'])
      expect(await standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
    })

    it('is slow: the call is given up and made again with the same key', async () => {
      const { id } = await provision('team')
      const keys: string[] = []
      const slow = syncWith({
        createInvoice: (call) => {
          keys.push(call.idempotencyKey)
          return new Promise((_, reject) => call.signal.addEventListener('abort', () => reject(unavailable('timed out'))))
        },
      })
      await slow.deliver({ of: { environmentId, subscriptionId: id }, signal: AbortSignal.timeout(50) })
      await again()
      await slow.deliver({ of: { environmentId, subscriptionId: id }, signal: AbortSignal.timeout(50) })
      expect(new Set(keys).size).to.equal(1)
      expect(keys).to.have.length(2)
    })

    it('answers twice and out of order: what is newest stays', async () => {
      const id = await buy('team')
      const { billingId } = await latest(id)
      const open = (await bench.billingProvider.tell(environmentId, billingId!, { requiresAction: true }))!
      const paid = (await bench.billingProvider.tell(environmentId, billingId!, { status: 'PAID' }))!
      for (const news of [paid, open, paid]) await bench.billing.hear(environmentId, news)
      expect(await standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
      expect(await latest(id)).to.deep.include({ status: 'PAID', requiresAction: false })
    })

    it('is called by eight workers at once: one invoice', async () => {
      const { id } = await provision('team')
      await Promise.all(Array.from({ length: 8 }, () => bench.billing.deliverAll(environmentId, id)))
      expect(await statusOfBuiltin()).to.deep.equal(['OPEN'])
    })
  })
})
