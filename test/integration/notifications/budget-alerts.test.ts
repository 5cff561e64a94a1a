import { expect } from 'chai'
import * as decimal from '../../../src/kernel/decimal.js'
import { type AlertBench, type AlertEnvironment, openAlertBench, share } from './alert-bench.js'

const day = 86_400_000
const begin = Date.UTC(2044, 0, 1)

describe('alerts of budgets', function () {
  this.timeout(60_000)
  let bench: AlertBench
  let environment: AlertEnvironment

  before(async () => {
    bench = await openAlertBench()
  })
  beforeEach(async () => {
    environment = await bench.openEnvironment({ clockAt: begin })
    await bench.app.customers.provision(environment.id, { refId: 'acme', subscription: { planRefId: 'free' } })
    await bench.app.subscriptions.provision(environment.id, {
      customerRefId: 'acme',
      planRefId: 'metered',
      subscriptionRefId: 'sub',
      budget: { limit: decimal.fromNumber(10), hasSoftLimit: false },
    })
    await environment.createAlert({ featureId: null, thresholds: [share(50), share(100)] })
    await environment.news()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  it('watch what is spent, and a budget that is raised', async () => {
    await environment.use('acme', 5)
    const [half] = await environment.news()
    expect(half).to.deep.include({ type: 'budget.threshold_reached' })
    expect(half!.data).to.deep.include({ subscriptionId: 'sub', spent: '5', budget: '10', threshold: { kind: 'SHARE', value: '50' } })
    await environment.use('acme', 5)
    expect(await environment.types(), 'and what it denies is not held').to.deep.equal(['entitlements.changed', 'budget.exceeded'])
    await bench.app.subscriptionChanges.update(environment.id, {
      subscriptionRefId: 'sub',
      budget: { limit: decimal.fromNumber(100), hasSoftLimit: false },
    })
    expect(await environment.types()).to.deep.equal(['entitlements.changed', 'budget.back_under', 'budget.back_under'])
  })

  it('begin anew with the billing period', async () => {
    await environment.use('acme', 6)
    const [half] = await environment.news()
    await bench.app.testClocks.advance(environment.id, begin + 30 * day)
    expect(await environment.types()).to.deep.equal([])
    await bench.app.testClocks.advance(environment.id, begin + 31 * day)
    const [reset] = await environment.news()
    expect(reset).to.deep.include({ type: 'budget.reset' })
    expect(reset!.data).to.deep.include({ crossingId: half!.id, subscriptionId: 'sub', spent: '0', budget: '10' })
    await environment.use('acme', 7)
    const [again] = await environment.news()
    expect(again).to.deep.include({ type: 'budget.threshold_reached' })
    expect(again!.id).to.not.equal(half!.id)
  })
})
