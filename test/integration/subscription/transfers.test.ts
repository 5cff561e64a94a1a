import { expect } from 'chai'
import * as decimal from '../../../src/kernel/decimal.js'
import { RecomputationWorker } from '../../../src/metering/corrections/recomputation.js'
import { Bindings } from '../../../src/metering/counting/bindings.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { createEnvironment, event, historyOf, type MeteringBench, openMeteringBench, report } from '../metering/fixture.js'

const metered = ['requests', 'tokens', 'max', 'min', 'avg', 'unique']

describe('moving a subscription to another resource', () => {
  let bench: MeteringBench
  let environmentId: string
  let serial = 0
  let customerId: string

  before(async () => {
    bench = await openMeteringBench()
    bench.startIngestion()
    environmentId = await createEnvironment(bench)
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    customerId = `customer-${++serial}`
    await bench.app.customers.provision(environmentId, { refId: customerId })
    await bench.app.subscriptions.provision(environmentId, {
      customerRefId: customerId,
      resourceRefId: 'r1',
      subscriptionRefId: `${customerId}-sub`,
      planRefId: 'free',
    })
  })

  const usages = async (resourceId: string | null, featureIds = metered) => {
    const { entitlements } = await bench.app.entitlements.state(environmentId, customerId, resourceId)
    return featureIds.map((id) => entitlements.find(({ feature }) => feature.refId === id)?.usage?.currentUsage)
  }
  const count = async (resourceId: string, key: string, value: number) => {
    const dimensions = { tokens: value, user: key }
    await bench.usage.reportEvents(environmentId, [event(customerId, `${customerId}-${key}`, { resourceId, dimensions })])
    const { rows } = await bench.pool.query<{ id: string }>('SELECT id FROM pending_batch WHERE environment_id = $1', [environmentId])
    for (const { id } of rows) await bench.newAggregation().aggregate({ v: 1, environmentId, batchId: id, stored: null })
  }
  const transfer = (resourceRefId: string) => bench.app.transfers.transferToResource(environmentId, `${customerId}-sub`, resourceRefId)
  const recomputeAll = async () => {
    for (const featureId of metered)
      await bench.usage.recomputations.request(environmentId, { featureId, customerId, from: null, to: null })
    const bindings = new Bindings(bench.app.heldSeries)
    await new RecomputationWorker({ pool: bench.pool, bindings, changed: () => undefined, log: silentLogger() }).run()
  }

  it('takes what was counted of events along, and counting them anew gives the same', async () => {
    await count('r1', 'a', 5)
    await count('r1', 'b', 2)
    const before = await usages('r1')
    expect(before).to.deep.equal(['2', '7', '5', '2', '3.5', '2'])
    await transfer('r2')
    expect(await usages('r2')).to.deep.equal(before)
    await recomputeAll()
    expect(await usages('r2')).to.deep.equal(before)
    await count('r2', 'c', 9)
    expect(await usages('r2')).to.deep.equal(['3', '16', '9', '2', '5.333333333', '3'])
    await recomputeAll()
    expect(await usages('r2')).to.deep.equal(['3', '16', '9', '2', '5.333333333', '3'])
  })

  it('takes reports and history along', async () => {
    await bench.usage.report(environmentId, [report(customerId, 4, { resourceId: 'r1' })])
    await count('r1', 'a', 5)
    await transfer('r2')
    const lastOf = async (featureId: string, resourceId: string) => {
      const { lines } = await bench.usage.history.read(environmentId, historyOf(customerId, featureId, { resourceId }))
      return lines[0]?.points.at(-1)?.value
    }
    expect(await usages('r2', ['calls'])).to.deep.equal(['4'])
    expect([await lastOf('calls', 'r2'), await lastOf('tokens', 'r2')]).to.deep.equal(['4', '5'])
  })

  it('leaves events where another subscription stays, whose usage they are too', async () => {
    await bench.app.catalog.apply(
      environmentId,
      {
        products: [{ refId: 'second', displayName: 'Second', settings: { multipleSubscriptions: true } }],
        plans: [
          {
            refId: 'other',
            product: 'second',
            displayName: 'other',
            entitlements: [{ feature: 'requests', limit: 10, resetPeriod: 'MONTH' }],
          },
        ],
      },
      { dryRun: false, archiveMissing: false },
    )
    await bench.app.subscriptions.provision(environmentId, { customerRefId: customerId, resourceRefId: 'r1', planRefId: 'other' })
    await count('r1', 'a', 5)
    await transfer('r2')
    await recomputeAll()
    expect(await usages('r1', ['requests'])).to.deep.equal(['1'])
    expect(decimal.toNumber((await usages('r2', ['seats']))[0] ?? decimal.zero)).to.equal(0)
  })
})
