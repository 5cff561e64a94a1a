import { expect } from 'chai'
import type { BillingProvider } from '../../../src/billing/rules/provider.js'
import { invalidInput, unavailable } from '../../../src/kernel/problem.js'
import { SubscriptionProvisioning } from '../../../src/provisioning/subscriptions.js'
import { CancellationService } from '../../../src/subscription/use-cases/cancel.js'
import { ProvisionService } from '../../../src/subscription/use-cases/provision.js'
import { type Bench, newAcme, openBench, reasonOf } from './fixture.js'
import { type Payer, payer } from './payer.js'

describe('what is not wanted any more before it was paid', () => {
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

  const cancel = ({ cancellations }: Pick<Bench, 'cancellations'> = bench) =>
    cancellations.cancel(environmentId, { subscriptionRefId: 'team' })
  const servicesWith = (faulty: Partial<BillingProvider>) => {
    const { prisma, catalog, entitlements, ledger, after, providerRequests: provider, subscriptionReads: reads } = bench
    const sync = acme.syncWith(faulty)
    const parts = { prisma, catalog, billing: ledger, after, makeCalls: sync.deliverAll.bind(sync) }
    const provisions = new ProvisionService({ ...parts, provider })
    return {
      cancellations: new CancellationService({ ...parts, reads }),
      subscriptions: new SubscriptionProvisioning({ prisma, provisions, entitlements }),
    }
  }
  const isAway = () => Promise.reject(unavailable('no route'))
  const replace = ({ subscriptions }: Pick<Bench, 'subscriptions'> = bench) =>
    subscriptions.provision(environmentId, {
      customerRefId: 'acme',
      planRefId: 'business',
      subscriptionRefId: 'business',
      billing: { collectionMethod: 'CHARGE' },
    })
  const syncError = async () =>
    (await bench.prisma.subscriptionBilling.findFirstOrThrow({ where: { environmentId, subscription: { refId: 'team' } } })).syncError
  /** Told to the provider only: nobody has heard of it yet. */
  const payUnheard = async (id: string) => bench.billingProvider.tell(environmentId, (await acme.latest(id)).billingId!, { status: 'PAID' })

  it('takes the invoice back, and only then ends it', async () => {
    const id = await acme.buy('team')
    const statuses: string[] = []
    const watched = servicesWith({
      voidInvoice: async (...call) => {
        statuses.push((await acme.subscription('team')).status)
        return bench.billingProvider.voidInvoice(...call)
      },
    })
    expect(await cancel(watched)).to.include({ status: 'CANCELED', cancelReason: 'Immediate' })
    expect(statuses).to.deep.equal(['PAYMENT_PENDING'])
    expect(await acme.statusOfBuiltin()).to.deep.equal(['CANCELED'])
    expect(await acme.latest(id)).to.include({ status: 'CANCELED' })
    expect(await reasonOf(cancel())).to.equal('SUBSCRIPTION_ALREADY_CANCELED_OR_EXPIRED')
  })

  it('cancels the running subscription, when it turns out to be paid', async () => {
    const id = await acme.buy('team')
    await payUnheard(id)
    const canceled = await cancel()
    expect(canceled).to.include({ status: 'CANCELED', cancelReason: 'Immediate' })
    expect(canceled.currentPeriod).not.to.equal(null)
    expect(await acme.latest(id)).to.include({ status: 'PAID', refundedAmount: '0' })
  })

  it('waits while the provider is away, says so, and ends it when it is back', async () => {
    const id = await acme.buy('team')
    expect(await cancel(servicesWith({ voidInvoice: isAway }))).to.include({ status: 'PAYMENT_PENDING', cancelReason: null })
    expect(await syncError()).to.match(/could not be reached/)
    expect((await bench.billingReads.unfinishedCalls(environmentId)).map(({ kind }) => kind)).to.deep.equal(['VOID'])
    await acme.again()
    await bench.billing.deliverAll(environmentId, id)
    expect(await acme.standing('team')).to.deep.equal(['CANCELED', 'ACTION_REQUIRED', 'Immediate'])
    expect(await syncError()).to.equal(null)
  })

  it('begins when it was paid while the provider was away', async () => {
    const id = await acme.buy('team')
    await cancel(servicesWith({ voidInvoice: isAway }))
    await payUnheard(id)
    await acme.again()
    await bench.billing.deliverAll(environmentId, id)
    expect(await acme.standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
  })

  it('ends once, where the provider takes it back, dies, and answers twice', async () => {
    const id = await acme.buy('team')
    const dies = servicesWith({
      voidInvoice: async (...call) => {
        await bench.billingProvider.voidInvoice(...call)
        throw unavailable('connection reset')
      },
    })
    await cancel(dies)
    await acme.again()
    await Promise.all([1, 2, 3].map(() => bench.billing.deliverAll(environmentId, id)))
    expect(await acme.standing('team')).to.deep.equal(['CANCELED', 'ACTION_REQUIRED', 'Immediate'])
    expect(await bench.prisma.billingIntent.count({ where: { environmentId, kind: 'VOID' } })).to.equal(1)
    expect(await bench.billingReads.unfinishedCalls(environmentId)).to.deep.equal([])
  })

  it('ends as was asked, where the provider tells of it before it answers', async () => {
    await acme.buy('team')
    const tells = servicesWith({
      voidInvoice: async (...call) => {
        const news = await bench.billingProvider.voidInvoice(...call)
        await bench.billing.hear(environmentId, news)
        throw unavailable('connection reset')
      },
    })
    expect(await cancel(tells)).to.include({ status: 'CANCELED', cancelReason: 'Immediate' })
  })

  it('is not charged for, where the provider has never heard of it', async () => {
    await acme.chargeCard()
    await acme.provision('team')
    expect(await cancel()).to.include({ status: 'CANCELED', cancelReason: 'Immediate' })
    expect(await acme.statusOfBuiltin()).to.deep.equal(['CANCELED'])
  })

  it('ends without a call, where the provider refused to make the invoice, and is not made later', async () => {
    const refuses = acme.syncWith({ createInvoice: () => Promise.reject(invalidInput('No such customer.')) })
    const { id } = await acme.provision('team')
    await refuses.deliverAll(environmentId, id)
    expect(await cancel()).to.include({ status: 'CANCELED', cancelReason: 'Immediate' })
    expect(await acme.latest(id)).to.include({ status: 'CANCELED', billingId: null })
    expect(await bench.billing.retry(environmentId)).to.equal(0)
    expect(await bench.billingReads.unfinishedCalls(environmentId)).to.deep.equal([])
    expect(await acme.statusOfBuiltin()).to.deep.equal([])
  })

  it('ends in time, where the provider was away or refused all the while, and charges nobody then', async () => {
    await acme.chargeCard()
    for (const failure of [unavailable('no route'), invalidInput('No such customer.')]) {
      const planRefId = failure.isRetryable ? 'team' : 'business'
      const { id } = await acme.provision(planRefId)
      await acme.syncWith({ createInvoice: () => Promise.reject(failure) }).deliverAll(environmentId, id)
      const { now } = (await bench.testClocks.find(environmentId))!
      await bench.testClocks.advance(environmentId, now + 24 * 3_600_000)
      await acme.again()
      await bench.billing.deliverAll(environmentId, id)
      expect((await acme.standing(planRefId)).at(2)).to.equal('PendingPaymentExpired')
    }
    expect(await acme.statusOfBuiltin()).to.deep.equal(['CANCELED'])
  })

  it('makes room for the plan that takes its place', async () => {
    await acme.buy('team')
    await replace()
    expect(await acme.standing('team')).to.deep.equal(['CANCELED', 'ACTION_REQUIRED', 'UpgradeOrDowngrade'])
    expect((await acme.standing('business')).at(0)).to.equal('PAYMENT_PENDING')
    expect(await acme.statusOfBuiltin()).to.deep.equal(['CANCELED'])
  })

  it('uses up no trial, however it ends', async () => {
    const customerId = (await bench.customers.get(environmentId, 'acme'))!.id
    const mayTry = async () => (await bench.subscriptionReads.eligibility(environmentId, [customerId]))[0]!.map(({ eligible }) => eligible)
    const inAnHour = async () => {
      const { now } = (await bench.testClocks.find(environmentId))!
      await bench.testClocks.advance(environmentId, now + 3_600_000)
      await acme.again()
    }
    await acme.buy('team')
    await inAnHour()
    await replace()
    expect(await mayTry(), 'replaced').to.deep.equal([true])
    await inAnHour()
    await bench.cancellations.cancel(environmentId, { subscriptionRefId: 'business' })
    expect(await mayTry(), 'canceled').to.deep.equal([true])
    await acme.tell(await acme.buy('team', { subscriptionRefId: 'paid' }), { status: 'PAID' })
    expect(await mayTry(), 'paid').to.deep.equal([false])
  })

  it('is replaced as a running one, when it turns out to be paid', async () => {
    const id = await acme.buy('team')
    await payUnheard(id)
    const { subscription: business } = await replace()
    // It goes on until the other one is paid, whose invoice has the credit.
    expect(await acme.standing('team')).to.deep.equal(['ACTIVE', 'NOT_REQUIRED', null])
    expect((await acme.latest(business.id)).lines.filter(({ isProration }) => isProration)).to.have.length(2)
  })

  it('is not replaced while the provider is away: nothing is provisioned', async () => {
    await acme.buy('team')
    expect(await reasonOf(replace(servicesWith({ voidInvoice: isAway })))).to.equal('UNAVAILABLE')
    expect((await acme.standing('team')).at(0)).to.equal('PAYMENT_PENDING')
    expect(await bench.prisma.subscription.count({ where: { environmentId } })).to.equal(1)
    await acme.again()
    await replace()
    expect((await acme.standing('team')).at(2)).to.equal('UpgradeOrDowngrade')
    expect((await acme.standing('business')).at(0)).to.equal('PAYMENT_PENDING')
  })

  it('is replaced once by two requests at once', async () => {
    await acme.buy('team')
    await Promise.all([reasonOf(replace()), reasonOf(replace())])
    await replace()
    expect(await bench.prisma.subscription.count({ where: { environmentId } })).to.equal(2)
    expect(await acme.statusOfBuiltin()).to.include('CANCELED')
  })

  it('is given back when it is paid after its customer was archived', async () => {
    const id = await acme.buy('team')
    await bench.customers.archive(environmentId, 'acme')
    await payUnheard(id)
    await bench.billing.deliverAll(environmentId, id)
    expect(await acme.standing('team')).to.deep.equal(['CANCELED', 'ACTION_REQUIRED', 'CustomerArchived'])
    expect(await acme.latest(id)).to.include({ status: 'PAID', refundedAmount: '42' })
  })
})
