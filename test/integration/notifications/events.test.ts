import { expect } from 'chai'
import { bodyOf, type EventType } from '../../../src/notifications/model/catalog.js'
import { toldBody } from '../../../src/notifications/webhooks/records/deliveries.js'
import { type Bench, day, openBench } from '../subscription/fixture.js'

describe('events', function () {
  this.timeout(120_000)
  let bench: Bench
  let environmentId: string
  let seen = new Set<string>()

  before(async () => {
    bench = await openBench()
  })
  beforeEach(async () => {
    seen = new Set()
    environmentId = await bench.createEnvironment({ isTest: true })
    await bench.webhooks.create(environmentId, { url: 'https://example.com/hooks' })
  })
  after(async () => {
    expect(await bench.close()).to.deep.equal([])
  })

  const events = async () => {
    const rows = await bench.prisma.notificationEvent.findMany({
      where: { environmentId },
      orderBy: [{ customerIndex: 'asc' }, { id: 'asc' }],
    })
    return rows.map((row) => toldBody(row))
  }
  /** Types of what was told since the last look, in their order; each valid by its schema. */
  const news = async () => {
    const all = await events()
    // Events of no customer have no index, and come after all that have one.
    const fresh = all.filter(({ id }) => !seen.has(id))
    seen = new Set(all.map(({ id }) => id))
    for (const event of fresh) {
      const read = bodyOf(event.type as EventType).safeParse(JSON.parse(JSON.stringify(event)))
      expect(read.error?.message, event.type).to.equal(undefined)
    }
    expect(all.flatMap(({ order }) => order?.index ?? [])).to.deep.equal(all.filter(({ order }) => order).map((_, index) => index + 1))
    return fresh.map(({ type }) => type)
  }
  const provision = (planRefId: string, more: object = {}) =>
    bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId, subscriptionRefId: planRefId, ...more })

  it('tell of a customer from its beginning to its end', async () => {
    await bench.customers.provision(environmentId, { refId: 'acme', name: 'Acme' })
    expect(await news()).to.deep.equal(['customer.created', 'subscription.created', 'subscription.activated'])
    await bench.customers.provision(environmentId, { refId: 'acme', name: 'Acme' })
    expect(await news(), 'nothing is new').to.deep.equal([])
    await bench.customers.update(environmentId, 'acme', { timeZone: 'Europe/Berlin' })
    expect(await news()).to.deep.equal(['customer.updated'])
    await bench.customers.archive(environmentId, 'acme')
    expect(await news()).to.deep.equal(['subscription.canceled', 'customer.archived'])
    await bench.customers.unarchive(environmentId, 'acme')
    expect(await news()).to.deep.equal(['customer.unarchived'])
  })

  it('tell of a trial: its beginning, that it ends soon, and its end', async () => {
    await bench.customers.provision(environmentId, { refId: 'acme', subscription: null })
    await bench.testClocks.create(environmentId, Date.now() + 1_000)
    await news()
    const now = await bench.environments.now(environmentId)
    await provision('team')
    expect(await news()).to.deep.equal(['subscription.created', 'subscription.trial_started'])
    await bench.testClocks.advance(environmentId, now + 10 * day)
    expect(await news()).to.deep.equal([])
    await bench.testClocks.advance(environmentId, now + 11.5 * day)
    expect(await news()).to.deep.equal(['subscription.trial_ending_soon'])
    expect(await bench.trialReminders.tellDue()).to.equal(0)
    await bench.testClocks.advance(environmentId, now + 15 * day)
    expect(await news()).to.deep.equal([
      'subscription.trial_ended',
      'subscription.expired',
      'subscription.created',
      'subscription.activated',
    ])
  })

  it('tell that a trial ends soon when time passes over it, at its instant', async () => {
    await bench.customers.provision(environmentId, { refId: 'acme', subscription: null })
    await bench.testClocks.create(environmentId, Date.now() + 1_000)
    const now = await bench.environments.now(environmentId)
    const trialEndDate = now + 14 * day
    await provision('team', { trialOverride: { isTrial: true, trialEndDate, trialEndBehavior: 'CONVERT_TO_PAID' } })
    await bench.testClocks.advance(environmentId, now + 20 * day)
    const all = await events()
    const reminder = all.find(({ type }) => type === 'subscription.trial_ending_soon')
    expect(Date.parse(reminder!.timestamp)).to.equal(trialEndDate - 3 * day)
    expect(await news()).to.include('subscription.trial_converted')
  })

  it('tell of paying: an invoice, a failure, a renewal, a change that waits, and the end', async () => {
    await bench.customers.provision(environmentId, { refId: 'acme', subscription: null })
    await bench.testClocks.create(environmentId, Date.now() + 1_000)
    const now = await bench.environments.now(environmentId)
    await news()
    const { id: customerId } = (await bench.customers.get(environmentId, 'acme'))!
    await bench.billingProvider.setPaymentMethod({ environmentId, customerId }, 'card')
    await bench.billingProvider.setPaymentMethod({ environmentId, customerId }, 'card')
    expect(await news()).to.deep.equal(['payment_method.changed'])
    const { subscription } = await provision('business', { billing: { collectionMethod: 'CHARGE' } })
    await bench.billing.deliverAll(environmentId, subscription.id)
    expect(await news()).to.deep.equal([
      'subscription.created',
      'subscription.payment_pending',
      'invoice.created',
      'invoice.paid',
      'subscription.activated',
    ])
    await bench.billingProvider.setPaymentMethod({ environmentId, customerId }, null)
    await bench.testClocks.advance(environmentId, now + 32 * day)
    const failing = await news()
    expect(failing.slice(0, 3)).to.deep.equal(['payment_method.changed', 'subscription.renewed', 'invoice.created'])
    const { billingId } = await bench.prisma.invoice.findFirstOrThrow({ where: { environmentId, status: 'OPEN' } })
    const failed = await bench.billingProvider.tell(environmentId, billingId!, { status: 'FAILED', errorMessage: 'The card was declined.' })
    await bench.billing.hear(environmentId, failed!)
    expect(await news()).to.deep.equal(['invoice.failed'])
    await bench.cancellations.cancel(environmentId, { subscriptionRefId: 'business', time: 'END_OF_BILLING_PERIOD' })
    expect(await news()).to.deep.equal(['subscription.change_scheduled'])
    await bench.subscriptionChanges.cancelSchedule(environmentId, 'business')
    expect(await news()).to.deep.equal(['subscription.updated'])
    await bench.cancellations.cancel(environmentId, { subscriptionRefId: 'business', time: 'IMMEDIATE' })
    expect((await news())[0]).to.equal('subscription.canceled')
  })

  it('tell of a trial that is bought, of add-ons, versions and resources', async () => {
    await bench.customers.provision(environmentId, { refId: 'acme', subscription: null })
    await provision('team')
    await news()
    await provision('team', { subscriptionRefId: 'bought', trialOverride: { isTrial: false } })
    const bought = await news()
    expect(bought.filter((type) => type.startsWith('subscription.'))).to.deep.equal([
      'subscription.trial_converted',
      'subscription.canceled',
      'subscription.created',
      'subscription.activated',
    ])
    await bench.subscriptionChanges.update(environmentId, { subscriptionRefId: 'bought', addons: [{ addonRefId: 'extra', quantity: 2 }] })
    expect(await news()).to.include('subscription.updated')
    await bench.subscriptions.provision(environmentId, {
      customerRefId: 'acme',
      planRefId: 'room',
      subscriptionRefId: 'room',
      resourceRefId: 'one',
    })
    await news()
    await bench.transfers.transferToResource(environmentId, 'room', 'two')
    expect(await news()).to.deep.equal(['subscription.transferred'])
  })

  it('tell of a version that is published, and of who is moved to it', async () => {
    await bench.customers.provision(environmentId, { refId: 'acme' })
    await news()
    const free = {
      refId: 'free',
      product: 'cloud',
      entitlements: [{ feature: 'calls', limit: 20, resetPeriod: 'MONTH' }],
      publish: 'ALL_CUSTOMERS',
    }
    await bench.catalog.apply(environmentId, { plans: [free] }, { dryRun: false, archiveMissing: false })
    // Plans that inherit from it have a new version too.
    expect(new Set(await news())).to.deep.equal(new Set(['package.published']))
    await bench.packageMigrations.run(new AbortController().signal, ({ error }) => {
      throw error
    })
    expect(await news()).to.deep.equal(['subscription.migrated'])
    expect((await events()).find(({ type }) => type === 'subscription.migrated')!.data).to.include({ previousPlanVersion: 1 })
  })

  it('tell that an import is finished, and how', async () => {
    const importId = await bench.imports.start(environmentId, 'CUSTOMERS', [{ refId: 'one' }, { refId: 'two', email: 'no address' }])
    await bench.imports.run(environmentId, importId, new AbortController().signal)
    expect(await news()).to.have.members(['customer.created', 'import.finished'])
    const finished = (await events()).find(({ type }) => type === 'import.finished')
    expect(finished).to.deep.include({ order: null, data: { importId, kind: 'CUSTOMERS', total: 2, failed: 1 } })
  })

  it('tell of nothing that was rolled back', async () => {
    await bench.customers.create(environmentId, { refId: 'acme' })
    await news()
    await bench.prisma
      .$transaction(async (db) => {
        await bench.customers.importIn(db, environmentId, { refId: 'other' })
        throw new Error('rolled back')
      })
      .catch(() => undefined)
    await bench.customers.create(environmentId, { refId: 'acme' }).catch(() => undefined)
    expect(await news()).to.deep.equal([])
  })

  it('are numbered without a gap when many changes of a customer come at once', async () => {
    await bench.customers.create(environmentId, { refId: 'acme' })
    const zones = Intl.supportedValuesOf('timeZone').slice(0, 20)
    await Promise.all(zones.map((timeZone) => bench.customers.update(environmentId, 'acme', { timeZone })))
    const all = await news()
    expect(all).to.have.lengthOf(21)
    const versions = (await events()).map(({ order }) => order!.version)
    expect(versions).to.deep.equal(versions.toSorted((a, b) => a - b))
  })
})
