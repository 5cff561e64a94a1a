import { expect } from 'chai'
import { atOnce, type Bench, day, openBench, reasonOf } from './fixture.js'

describe('provisioning a subscription', () => {
  let bench: Bench
  let environmentId: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await bench.createEnvironment()
    await bench.customers.provision(environmentId, { refId: 'acme' })
  })

  type Request = Parameters<Bench['subscriptions']['provision']>[1]
  const provision = (planRefId: string, request: Partial<Request> = {}) =>
    bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId, ...request })
  const active = (customerRefId = 'acme') => bench.subscriptionReads.active(environmentId, { customerRefId })
  const rows = (where: object = {}) => bench.prisma.subscription.findMany({ where: { environmentId, ...where }, orderBy: { id: 'asc' } })
  const changes = () => bench.prisma.outboxMessage.count({ where: { environmentId } })

  it('answers the subscription as it is stored, and what it entitles to', async () => {
    const { subscription, state } = await provision('business', {
      addons: [{ addonRefId: 'extra', quantity: 2 }],
      additionalMetaData: { seller: 'kim' },
    })
    expect(await active()).to.deep.equal([subscription])
    expect(state.version).to.equal(state.accessVersion)
    const calls = state.entitlements.find(({ feature }) => feature.refId === 'calls')!
    expect(calls.usageLimit).to.equal('1200')
    expect(calls.usage).to.include({ currentUsage: '0', periodStart: subscription.startDate, updatedAt: state.version })
    expect(state.entitlements.map(({ feature }) => feature.refId)).to.deep.equal(['calls', 'seats', 'sso'])
  })

  it('ends the plan that it replaces in the same transaction', async () => {
    const { subscription } = await provision('business')
    expect(await rows({ status: { not: 'ACTIVE' } })).to.have.length(1)
    const [free] = await rows({ status: 'CANCELED' })
    expect(free).to.include({ cancelReason: 'UpgradeOrDowngrade', dueAt: null })
    expect(free!.effectiveEndDate!.getTime()).to.equal(subscription.startDate)
  })

  it('makes one of eight identical requests at once', async () => {
    const answers = await atOnce(() => provision('business'))
    expect(new Set(answers.map(({ subscription }) => subscription.id)).size).to.equal(1)
    expect(await active()).to.have.length(1)
    expect(await rows()).to.have.length(2)
  })

  it('makes one trial of eight requests at once that name it', async () => {
    const answers = await atOnce(() => provision('team', { subscriptionRefId: 'sub-1' }))
    expect(new Set(answers.map(({ subscription }) => subscription.id)).size).to.equal(1)
    expect((await rows({ refId: 'sub-1' })).map(({ status }) => status)).to.deep.equal(['IN_TRIAL'])
  })

  it('makes one resource and one subscription for it of eight requests at once', async () => {
    await atOnce(() => provision('room', { resourceRefId: 'r1' }))
    expect(await bench.prisma.customerResource.count({ where: { environmentId } })).to.equal(1)
    expect(await rows({ resourceId: { not: null } })).to.have.length(1)
  })

  it('records one change with a growing version, and none when nothing changes', async () => {
    const before = await changes()
    const first = await provision('business')
    expect(await changes()).to.equal(before + 1)
    const again = await provision('business')
    expect(await changes()).to.equal(before + 1)
    expect(again.state.version).to.equal(first.state.version)
    const other = await provision('free')
    expect(other.state.version).to.be.greaterThan(first.state.version)
    const newest = await bench.prisma.outboxMessage.findFirst({ where: { environmentId }, orderBy: { version: 'desc' } })
    expect(newest).to.deep.include({ kind: 'entitlements', customerId: 'acme', resourceId: null, version: BigInt(other.state.version) })
  })

  describe('named by the caller', () => {
    it('answers a trial again, and does not make it paid', async () => {
      const first = await provision('team', { subscriptionRefId: 'sub-1' })
      const again = await provision('team', { subscriptionRefId: 'sub-1' })
      expect(again.subscription).to.deep.equal(first.subscription)
      expect(again.subscription.status).to.equal('IN_TRIAL')
    })
    it('answers what has ended meanwhile, and does not start it anew', async () => {
      await provision('business', { subscriptionRefId: 'sub-1' })
      await bench.cancellations.cancel(environmentId, { subscriptionRefId: 'sub-1' })
      expect((await provision('business', { subscriptionRefId: 'sub-1' })).subscription.status).to.equal('CANCELED')
    })
    it('changes the add-ons of what is active', async () => {
      const first = await provision('business', { subscriptionRefId: 'sub-1' })
      const { subscription, state } = await provision('business', {
        subscriptionRefId: 'sub-1',
        addons: [{ addonRefId: 'extra', quantity: 3 }],
      })
      expect(subscription.id).to.equal(first.subscription.id)
      expect(state.entitlements.find(({ feature }) => feature.refId === 'calls')!.usageLimit).to.equal('1300')
      expect(await active()).to.deep.equal([subscription])
    })
    it('refuses the name for another plan, resource, customer or start', async () => {
      await bench.customers.provision(environmentId, { refId: 'other' })
      await provision('business', { subscriptionRefId: 'sub-1' })
      const taken = 'DUPLICATED_ENTITY_NOT_ALLOWED'
      expect(await reasonOf(provision('team', { subscriptionRefId: 'sub-1' }))).to.equal(taken)
      expect(await reasonOf(provision('business', { subscriptionRefId: 'sub-1', resourceRefId: 'r1' }))).to.equal(taken)
      expect(await reasonOf(provision('business', { subscriptionRefId: 'sub-1', customerRefId: 'other' }))).to.equal(taken)
      expect(await reasonOf(provision('business', { subscriptionRefId: 'sub-1', startDate: Date.now() + day }))).to.equal(taken)
    })
  })

  describe('a trial', () => {
    const cancel = (subscriptionRefId: string) => bench.cancellations.cancel(environmentId, { subscriptionRefId })

    it('is given once for a product', async () => {
      const first = await provision('team')
      expect(first.subscription.status).to.equal('IN_TRIAL')
      await cancel(first.subscription.refId)
      expect((await provision('team')).subscription.status).to.equal('ACTIVE')
    })
    it('is not given to who has paid for the product', async () => {
      await provision('business')
      expect((await provision('team')).subscription.status).to.equal('ACTIVE')
    })
    it('is still to be had when the one before never began', async () => {
      const planned = await provision('team', { startDate: Date.now() + day })
      expect(planned.subscription.status).to.equal('NOT_STARTED')
      await cancel(planned.subscription.refId)
      expect((await provision('team')).subscription.status).to.equal('IN_TRIAL')
      // And that one is remembered.
      await cancel((await active()).find(({ status }) => status === 'IN_TRIAL')!.refId)
      expect((await provision('team')).subscription.status).to.equal('ACTIVE')
    })
    it('is spoken for by one that is yet to begin', async () => {
      await provision('team', { startDate: Date.now() + day })
      expect((await provision('team')).subscription.status).to.equal('ACTIVE')
    })
    it('that is asked for again without a name becomes paid', async () => {
      await provision('team')
      const { subscription } = await provision('team')
      expect(subscription.status).to.equal('ACTIVE')
      expect((await rows({ cancelReason: 'TrialConverted' })).map(({ status }) => status)).to.deep.equal(['CANCELED'])
    })
  })

  describe('refused', () => {
    const refusals: [string, Partial<Request> & { planRefId: string }, string][] = [
      ['an unknown customer', { planRefId: 'free', customerRefId: 'nobody' }, 'CUSTOMER_NOT_FOUND'],
      ['an unknown plan', { planRefId: 'gold' }, 'PLAN_NOT_FOUND'],
      ['an unknown add-on', { planRefId: 'team', addons: [{ addonRefId: 'gold', quantity: 1 }] }, 'ADDON_NOT_FOUND'],
      [
        'an add-on of another plan',
        { planRefId: 'room', resourceRefId: 'r1', addons: [{ addonRefId: 'extra', quantity: 1 }] },
        'INCOMPATIBLE_SUBSCRIPTION_ADDON',
      ],
      [
        'an add-on named twice',
        { planRefId: 'team', addons: [1, 2].map((quantity) => ({ addonRefId: 'extra', quantity })) },
        'BAD_USER_INPUT',
      ],
      ['a second place of a product that has one', { planRefId: 'team', resourceRefId: 'r1' }, 'BAD_USER_INPUT'],
      ['a blank subscription id', { planRefId: 'team', subscriptionRefId: ' ' }, 'BAD_USER_INPUT'],
    ]
    for (const [name, request, reason] of refusals) {
      it(`${name}: ${reason}, and nothing is left behind`, async () => {
        const before = [await rows(), await changes()]
        expect(await reasonOf(provision(request.planRefId, request))).to.equal(reason)
        expect([await rows(), await changes()]).to.deep.equal(before)
        expect(await bench.prisma.customerResource.count({ where: { environmentId } })).to.equal(0)
      })
    }
    it('an archived customer', async () => {
      await bench.prisma.customer.updateMany({ where: { environmentId }, data: { archivedAt: new Date(), name: null, email: null } })
      expect(await reasonOf(provision('business'))).to.equal('ENTITY_IS_ARCHIVED')
    })
  })
})
