import { expect } from 'chai'
import * as decimal from '../../../src/kernel/decimal.js'
import { Corrections } from '../../../src/metering/corrections/corrections.js'
import { mostMoved } from '../../../src/metering/corrections/move-usage.js'
import { RecomputationWorker } from '../../../src/metering/corrections/recomputation.js'
import { Bindings } from '../../../src/metering/counting/bindings.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { createEnvironment, event, eventually, historyOf, type MeteringBench, openMeteringBench, report } from '../metering/fixture.js'

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

  it('is refused, and changes nothing, where more would go along than can at once', async () => {
    await bench.usage.report(environmentId, [report(customerId, 1, { resourceId: 'r1' })])
    const before = await usages('r1', ['calls'])
    // What was reported, so many times more.
    await bench.pool.query({
      text: `
        INSERT INTO usage_measurement (environment_id, id, customer_id, resource_id, feature_id, value, behavior, occurred_at)
        SELECT environment_id, gen_random_uuid(), customer_id, resource_id, feature_id, 0, behavior, occurred_at
        FROM usage_measurement CROSS JOIN generate_series(1, $3::int)
        WHERE environment_id = $1::uuid AND customer_id = (SELECT id FROM customer WHERE environment_id = $1::uuid AND ref_id = $2)`,
      values: [environmentId, customerId, mostMoved],
    })
    const refused = await transfer('r2').catch((error: unknown) => error)
    expect(refused).to.include({ code: 'INVALID_ARGUMENT' })
    expect((refused as Error).message).to.match(/^More than 200,000 reports .* provision one/)
    expect(await usages('r1', ['calls'])).to.deep.equal(before)
    await bench.pool.query({
      text: `DELETE FROM usage_measurement WHERE environment_id = $1::uuid AND id = (SELECT id FROM usage_measurement WHERE environment_id = $1::uuid AND value = 0 LIMIT 1)`,
      values: [environmentId],
    })
    await transfer('r2')
    expect(await usages('r2', ['calls'])).to.deep.equal(before)
  }).timeout(120_000)

  describe('where others of the customer have usage', () => {
    beforeEach(async () => {
      // Its limits are above those of the customer's own plan, so that what the resource has is what it is measured by.
      await bench.app.catalog.apply(
        environmentId,
        {
          products: [{ refId: 'second', displayName: 'Second', settings: { multipleSubscriptions: true } }],
          plans: [
            {
              refId: 'other',
              product: 'second',
              displayName: 'other',
              entitlements: [
                { feature: 'requests', limit: 5_000, resetPeriod: 'MONTH' },
                { feature: 'calls', limit: 20, resetPeriod: 'MONTH' },
                { feature: 'seats', limit: 10 },
              ],
            },
          ],
        },
        { dryRun: false, archiveMissing: false },
      )
      await bench.app.subscriptions.provision(environmentId, { customerRefId: customerId, planRefId: 'free' })
    })
    const provisionOther = (resourceRefId: string) =>
      bench.app.subscriptions.provision(environmentId, { customerRefId: customerId, resourceRefId, planRefId: 'other' })
    const tell = (resourceId: string, value: number, more: object = {}) =>
      bench.usage.report(environmentId, [report(customerId, value, { resourceId, featureId: 'seats', ...more })])
    const set = { behavior: 'SET' }
    /** Of the customer, and of both resources. */
    const seats = async () => (await Promise.all([null, 'r1', 'r2'].map((id) => usages(id, ['seats'])))).flat()
    const lastOf = async (featureId: string, resourceId: string) => {
      const { lines } = await bench.usage.history.read(environmentId, historyOf(customerId, featureId, { resourceId }))
      return lines[0]?.points.at(-1)?.value
    }

    it('has the last SET of both say what there is, and goes on from there', async () => {
      await provisionOther('r2')
      await tell('r1', 10, set)
      await tell('r2', 5, set)
      expect(await seats()).to.deep.equal(['15', '10', '5'])
      await transfer('r2')
      expect([(await seats())[0], (await seats())[2]]).to.deep.equal(['5', '5'])
      await tell('r2', 7, set)
      expect([(await seats())[0], (await seats())[2]]).to.deep.equal(['7', '7'])
      await tell('r2', 1)
      expect([(await seats())[0], (await seats())[2]]).to.deep.equal(['8', '8'])
    })

    it('has what was added before a SET of the other count no more', async () => {
      await provisionOther('r2')
      await tell('r1', 3)
      await tell('r2', 5, set)
      await transfer('r2')
      expect([(await seats())[0], (await seats())[2]]).to.deep.equal(['5', '5'])
    })

    it('leaves what was set before the subscription began, which counts again', async () => {
      await tell('r1', 4, { ...set, timestamp: Date.now() - 3_600_000 })
      await tell('r1', 10, set)
      expect((await seats())[0]).to.equal('10')
      await transfer('r2')
      expect([(await seats())[0], (await seats())[2]]).to.deep.equal(['14', '10'])
      await tell('r2', 2, set)
      expect([(await seats())[0], (await seats())[2]]).to.deep.equal(['6', '2'])
    })

    it('moves what is being corrected at that moment, with what history says of it', async () => {
      const [reported] = await tell('r1', 3)
      let isMoved = false
      const corrections = new Corrections({
        pool: bench.pool,
        loadHeld: async (...asked) => {
          if (!isMoved) await transfer('r2')
          isMoved = true
          return bench.app.heldSeries(...asked)
        },
        changed: () => undefined,
      })
      await corrections.changeMeasurement(environmentId, { id: reported!.id }, 8)
      expect([(await seats())[2], await lastOf('seats', 'r2')]).to.deep.equal(['8', '8'])
    })

    it('adds to what the other has of itself', async () => {
      await provisionOther('r2')
      await tell('r1', 3)
      await tell('r2', 2)
      await tell('r2', 4, { featureId: 'calls' })
      await count('r1', 'a', 5)
      await count('r2', 'b', 5)
      await transfer('r2')
      const expected = ['5', '4', '2']
      expect(await usages('r2', ['seats', 'calls', 'requests'])).to.deep.equal(expected)
      expect(await usages(null, ['seats', 'calls', 'requests'])).to.deep.equal(expected)
      await recomputeAll()
      expect(await usages('r2', ['seats', 'calls', 'requests'])).to.deep.equal(expected)
      await tell('r2', 1)
      await count('r2', 'c', 5)
      expect(await usages('r2', ['seats', 'requests'])).to.deep.equal(['6', '3'])
    })

    it('leaves events where another subscription stays, whose usage they are too', async () => {
      await provisionOther('r1')
      await count('r1', 'a', 5)
      await transfer('r2')
      await recomputeAll()
      expect(await usages('r1', ['requests'])).to.deep.equal(['1'])
      expect(decimal.toNumber((await usages('r2', ['seats']))[0] ?? decimal.zero)).to.equal(0)
    })

    it('leaves events that are not counted yet where they are going to be counted', async () => {
      await provisionOther('r2')
      await bench.usage.reportEvents(environmentId, [event(customerId, `${customerId}-a`, { resourceId: 'r1' })])
      await transfer('r2')
      bench.startAggregation()
      expect(
        await eventually(
          async () => (await usages(null, ['requests']))[0],
          (usage) => usage === '1',
        ),
      ).to.equal('1')
      await recomputeAll()
      expect(await usages(null, ['requests'])).to.deep.equal(['1'])
      expect([await lastOf('requests', 'r1'), decimal.toNumber((await usages('r2', ['requests']))[0] ?? decimal.zero)]).to.deep.equal([
        '1',
        0,
      ])
    })
  })
})
