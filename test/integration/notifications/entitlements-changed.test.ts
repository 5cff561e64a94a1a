import { expect } from 'chai'
import { type AlertBench, type AlertEnvironment, openAlertBench } from './alert-bench.js'

describe('entitlements.changed', function () {
  this.timeout(60_000)
  let bench: AlertBench
  let environment: AlertEnvironment

  before(async () => {
    bench = await openAlertBench()
  })
  beforeEach(async () => {
    environment = await bench.openEnvironment()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  const provision = (refId: string, planRefId = 'free') =>
    bench.app.customers.provision(environment.id, { refId, subscription: { planRefId } })
  const change = (planRefId: string, more: object = {}) =>
    bench.app.subscriptions.provision(environment.id, { customerRefId: 'acme', planRefId, ...more })
  /** What was told since the last time: of which resource, what was gained, lost and changed. */
  const news = async () =>
    (await environment.news()).map(({ type, data }) => {
      expect(type).to.equal('entitlements.changed')
      const names = (key: string) => data[key].map(({ featureId }: { featureId: string }) => featureId).join(' ')
      return `${data.customerId} ${data.resourceId ?? '-'}: +${names('gained')} -${names('lost')} ~${names('changed')}`
    })

  it('tells what a customer gains, has on other terms, and loses', async () => {
    await provision('acme')
    expect(await news()).to.deep.equal(['acme -: +calls requests seats - ~'])
    await change('team')
    const [upgrade] = await environment.news()
    expect(upgrade!.data).to.deep.equal({
      customerId: 'acme',
      resourceId: null,
      gained: [{ featureId: 'sso', usageLimit: null, hasUnlimitedUsage: false, hasSoftLimit: false, resetPeriod: null, enumValues: [] }],
      lost: [],
      changed: [
        {
          featureId: 'calls',
          before: { usageLimit: '10', hasUnlimitedUsage: false, hasSoftLimit: false, resetPeriod: 'MONTH', enumValues: [] },
          after: { usageLimit: '100', hasUnlimitedUsage: false, hasSoftLimit: false, resetPeriod: 'MONTH', enumValues: [] },
        },
      ],
    })
    await bench.app.promotional.grant(environment.id, 'acme', [{ featureRefId: 'calls', period: 'LIFETIME', usageLimit: 5 }])
    expect(await news(), 'what changes nothing').to.deep.equal([])
    const [held] = await bench.app.subscriptionReads.active(environment.id, { customerRefId: 'acme' })
    await bench.app.cancellations.cancel(environment.id, { subscriptionRefId: held!.refId, time: 'IMMEDIATE' })
    expect(await news()).to.deep.equal(['acme -: + -sso ~calls'])
    await bench.app.customers.archive(environment.id, 'acme')
    expect(await news()).to.deep.equal(['acme -: + -calls requests seats ~'])
  })

  it('is not told of usage, and nothing is evaluated for it', async () => {
    await provision('acme')
    await news()
    await environment.use('acme', 3)
    expect(await bench.prisma.customerEvaluation.count({ where: { environmentId: environment.id } })).to.equal(0)
    expect(await news()).to.deep.equal([])
  })

  it('tells what a resource has beyond its customer, while it has subscriptions of its own', async () => {
    await provision('acme')
    await news()
    await bench.app.subscriptions.provision(environment.id, {
      customerRefId: 'acme',
      planRefId: 'room',
      resourceRefId: 'one',
      subscriptionRefId: 'r',
    })
    // Of five seats of its customer and twenty of its own the more generous hold.
    expect(await news()).to.deep.equal(['acme one: + - ~seats'])
    await change('team')
    expect(await news()).to.deep.equal(['acme -: +sso - ~calls', 'acme one: +sso - ~calls'])
    await bench.app.cancellations.cancel(environment.id, { subscriptionRefId: 'r', time: 'IMMEDIATE' })
    expect(await news()).to.deep.equal(['acme one: + - ~seats'])
    expect(await bench.prisma.toldEntitlements.count({ where: { environmentId: environment.id } })).to.equal(1)
  })

  it('tells of customers that were there before somebody heard what changes from then on', async () => {
    environment = await bench.openEnvironment({ hasEndpoint: false })
    await provision('acme')
    await provision('globex')
    await bench.app.webhooks.create(environment.id, { url: 'https://example.com/hooks' })
    expect(await news(), 'what they have is no news').to.deep.equal([])
    await change('team')
    expect(await news()).to.deep.equal(['acme -: +sso - ~calls'])
    await provision('initech')
    expect(await news()).to.deep.equal(['initech -: +calls requests seats - ~'])
  })
})
