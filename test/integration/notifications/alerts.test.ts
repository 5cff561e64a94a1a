import { expect } from 'chai'
import { type AlertBench, type AlertEnvironment, openAlertBench, share } from './alert-bench.js'

describe('alerts', function () {
  this.timeout(60_000)
  let bench: AlertBench
  let environment: AlertEnvironment

  before(async () => {
    bench = await openAlertBench()
  })
  beforeEach(async () => {
    environment = await bench.openEnvironment()
    await bench.app.customers.provision(environment.id, { refId: 'acme', subscription: { planRefId: 'free' } })
    await environment.news()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  it('tell once that a threshold was reached, with what was used', async () => {
    const alertId = await environment.createAlert({ thresholds: [share(80), share(100)] })
    await environment.use('acme', 7)
    expect(await environment.news()).to.deep.equal([])
    await environment.use('acme', 1)
    const [event] = await environment.news()
    expect(event).to.deep.include({ type: 'usage.threshold_reached' })
    expect(event!.data).to.deep.include({
      alertId,
      crossingId: event!.id,
      customerId: 'acme',
      resourceId: null,
      featureId: 'calls',
      currentUsage: '8',
      usageLimit: '10',
      threshold: { kind: 'SHARE', value: '80' },
    })
    await environment.use('acme', 1)
    expect(await environment.types(), 'it is known').to.deep.equal([])
    await environment.use('acme', 5)
    expect(await environment.types()).to.deep.equal(['usage.limit_reached'])
  })
})
