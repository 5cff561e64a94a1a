import { expect } from 'chai'
import * as decimal from '../../../src/kernel/decimal.js'
import { RecomputationWorker } from '../../../src/metering/corrections/recomputation.js'
import { Bindings } from '../../../src/metering/counting/bindings.js'
import type { UsageEvent } from '../../../src/metering/model/report.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { createEnvironment, event, historyOf, type MeteringBench, openMeteringBench, problemOf, report, usageOf } from './fixture.js'

const minute = 60_000

describe('correcting usage', () => {
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
    await bench.app.customers.provision(environmentId, { refId: customerId, subscription: { planRefId: 'free' } })
  })

  const usage = (featureId: string) => usageOf(bench, environmentId, customerId, featureId)
  const usages = () => Promise.all(['requests', 'tokens', 'max', 'min', 'avg', 'unique'].map(usage))
  const tokens = (key: string, value: number, user = key) => event(customerId, key, { dimensions: { tokens: value, user } })
  const name = ({ dimensions, ...rest }: UsageEvent) => rest
  const aggregateAll = async (aggregation = bench.newAggregation()) => {
    const { rows } = await bench.pool.query<{ id: string }>('SELECT id FROM pending_batch WHERE environment_id = $1::uuid', [environmentId])
    for (const { id } of rows) await aggregation.aggregate({ v: 1, environmentId, batchId: id, stored: null })
  }
  const count = async (...events: UsageEvent[]) => {
    await bench.usage.reportEvents(environmentId, events)
    await aggregateAll()
  }
  /** What history says stands at the end. */
  const lastOf = async (featureId: string) => {
    const { lines } = await bench.usage.history.read(environmentId, historyOf(customerId, featureId, { start: Date.now() - 60 * minute }))
    return lines[0]!.points.at(-1)!.value
  }

  it('takes an event out of every number that followed from it', async () => {
    await count(tokens('a', 1), tokens('b', 7), tokens('c', 4))
    expect(await usages()).to.deep.equal(['3', '12', '7', '1', '4', '3'])
    await bench.usage.corrections.changeEvent(environmentId, name(tokens('b', 7)), null)
    expect(await usages()).to.deep.equal(['2', '5', '4', '1', '2.5', '2'])
    expect([await lastOf('requests'), await lastOf('tokens')]).to.deep.equal(['2', '5'])
    // A repeat of what was removed is a repeat still.
    await count(tokens('b', 7))
    expect(await usage('requests')).to.equal('2')
  })

  it('finds an event by the time it was reported with, for as long as its identity is kept', async () => {
    const ofTest = (await bench.app.environments.create({ refId: `corrected-late-${++serial}`, isTest: true })).environment.id
    const begin = Date.now() + 60_000
    await bench.app.testClocks.create(ofTest, begin)
    await bench.app.customers.provision(ofTest, { refId: 'acme' })
    const dated = { ...event('acme', 'dated', { dimensions: { tokens: 1 } }), timestamp: begin }
    await bench.usage.reportEvents(ofTest, [dated])
    const { rows } = await bench.pool.query<{ id: string }>('SELECT id FROM pending_batch WHERE environment_id = $1::uuid', [ofTest])
    for (const { id } of rows) await bench.newAggregation().aggregate({ v: 1, environmentId: ofTest, batchId: id, stored: null })
    await bench.app.testClocks.advance(ofTest, begin + 37 * 86_400_000)
    expect(await problemOf(bench.usage.reportEvents(ofTest, [dated]))).to.include({ code: 'INVALID_ARGUMENT' })
    await bench.usage.corrections.changeEvent(ofTest, name(dated), null)
    expect(await problemOf(bench.usage.corrections.changeEvent(ofTest, { ...name(dated), timestamp: begin - 1 }, null))).to.include({
      code: 'NOT_FOUND',
    })
  })

  it('replaces what an event said, and goes on from there', async () => {
    await count(tokens('a', 1), tokens('b', 7))
    await bench.usage.corrections.changeEvent(environmentId, name(tokens('b', 7)), { tokens: 2, user: 'a' })
    expect(await usages()).to.deep.equal(['2', '3', '2', '1', '1.5', '1'])
    await count(tokens('c', 0))
    expect(await usages()).to.deep.equal(['3', '3', '2', '0', '1', '2'])
  })

  it('counts a member again that was taken back, also in a worker that has seen it', async () => {
    const worker = bench.newAggregation()
    const countThere = async (...events: UsageEvent[]) => {
      await bench.usage.reportEvents(environmentId, events)
      await aggregateAll(worker)
    }
    await countThere(tokens('a', 1, 'ann'), tokens('b', 1, 'ben'))
    await countThere(tokens('c', 1, 'ann'))
    expect(await usage('unique')).to.equal('2')
    for (const key of ['a', 'c']) await bench.usage.corrections.changeEvent(environmentId, name(tokens(key, 1)), null)
    expect(await usage('unique')).to.equal('1')
    await countThere(tokens('d', 1, 'ann'))
    expect(await usage('unique')).to.equal('2')
  })

  it('refuses an event that it does not know, or that is being counted at the moment', async () => {
    expect(await problemOf(bench.usage.corrections.changeEvent(environmentId, name(tokens('a', 1)), null))).to.include({
      reason: 'USAGE_EVENT_NOT_FOUND',
    })
    await bench.usage.reportEvents(environmentId, [tokens('a', 1)])
    const problem = await problemOf(bench.usage.corrections.changeEvent(environmentId, name(tokens('a', 1)), null))
    expect(problem).to.include({ code: 'ABORTED', isRetryable: true })
  })

  it('takes back and replaces measurements, by key and by id', async () => {
    const [first] = await bench.usage.report(environmentId, [report(customerId, 3, { idempotencyKey: `${customerId}-a` })])
    const [second] = await bench.usage.report(environmentId, [report(customerId, 4)])
    await bench.usage.corrections.changeMeasurement(environmentId, { idempotencyKey: `${customerId}-a` }, 10)
    expect([await usage('calls'), await lastOf('calls')]).to.deep.equal(['14', '14'])
    await bench.usage.corrections.changeMeasurement(environmentId, { id: second!.id }, null)
    expect([await usage('calls'), await lastOf('calls')]).to.deep.equal(['10', '10'])
    await bench.usage.report(environmentId, [report(customerId, 3, { idempotencyKey: `${customerId}-a` }), report(customerId, 1)])
    expect(await usage('calls')).to.equal('11')
    expect(await problemOf(bench.usage.corrections.changeMeasurement(environmentId, { id: second!.id }, 1))).to.include({
      code: 'NOT_FOUND',
    })
    expect(first!.id).to.not.equal(second!.id)
  })

  it('takes back what was reported for a customer that is archived, for when it comes back', async () => {
    const seats = { featureId: 'seats', idempotencyKey: `${customerId}-seats` }
    await bench.usage.report(environmentId, [report(customerId, 100, { ...seats, behavior: 'SET' })])
    expect(await usage('seats')).to.equal('100')
    await bench.app.customers.archive(environmentId, customerId)
    await bench.usage.corrections.changeMeasurement(environmentId, { idempotencyKey: seats.idempotencyKey }, null)
    await bench.app.customers.unarchive(environmentId, customerId)
    await bench.app.subscriptions.provision(environmentId, { customerRefId: customerId, planRefId: 'free' })
    expect([(await usage('seats')) ?? '0', await lastOf('seats')]).to.deep.equal(['0', '0'])
    await bench.usage.report(environmentId, [report(customerId, 2, { featureId: 'seats' })])
    expect([await usage('seats'), await lastOf('seats')]).to.deep.equal(['2', '2'])
  })

  describe('by counting anew', () => {
    const worker = () =>
      new RecomputationWorker({
        pool: bench.pool,
        bindings: new Bindings(bench.app.heldSeries),
        changed: () => undefined,
        log: silentLogger(),
      })
    const recompute = async (featureId: string, of: string | null = null) => {
      const asked = await bench.usage.recomputations.request(environmentId, { featureId, customerId: of, from: null, to: null })
      await Promise.all([worker().run(), worker().run()])
      return bench.usage.recomputations.progress(environmentId, asked.id)
    }

    it('answers the same as counting did, for every aggregation, and says how far it is', async () => {
      await count(tokens('a', 1), tokens('b', 7), tokens('c', 4, 'a'), tokens('d', -2.5))
      await count(tokens('e', 3, 'b'))
      const before = await usages()
      for (const featureId of ['requests', 'tokens', 'max', 'min', 'avg', 'unique']) {
        const done = await recompute(featureId)
        expect(done.finishedAt).to.be.a('number')
        expect(done.customersDone).to.be.at.least(1).and.equal(done.customersTotal)
      }
      expect(await usages()).to.deep.equal(before)
      await count(tokens('f', 8, 'z'))
      expect(await usages()).to.deep.equal(['6', '20.5', '8', '-2.5', '3.416666667', '4'])
    })

    it('counts with the filters as they are now, from then on too', async () => {
      await count(tokens('a', 1), event(customerId, 'b', { eventName: 'other' }))
      const filters = (eventName: string) => `[[{"field":"eventName","operation":"EQUALS","value":"${eventName}"}]]`
      const change = (eventName: string) =>
        bench.pool.query(
          `UPDATE meter SET filters = $2::jsonb FROM feature
           WHERE feature.id = meter.feature_id AND feature.ref_id = 'requests' AND meter.environment_id = $1::uuid`,
          [environmentId, filters(eventName)],
        )
      await change('other')
      expect(await usage('requests')).to.equal('1')
      await recompute('requests', customerId)
      await count(event(customerId, 'c', { eventName: 'other' }), tokens('d', 1))
      expect(await usage('requests')).to.equal('2')
      await change('request')
    })

    it('refuses a feature without a meter on events', async () => {
      const asked = bench.usage.recomputations.request(environmentId, { featureId: 'calls', customerId: null, from: null, to: null })
      expect((await problemOf(asked)).code).to.equal('FAILED_PRECONDITION')
    })
  })

  describe('reading history', () => {
    const hour = 60 * minute
    const read = async (featureId: string, more: object = {}) =>
      bench.usage.history.read(environmentId, historyOf(customerId, featureId, more))
    /** Values that differ from the point before. */
    const steps = (points: { value: decimal.Decimal }[]) => points.map(({ value }) => value).filter((value, i, all) => value !== all[i - 1])

    it('draws seats as a level, over the customer and its resources', async () => {
      await bench.app.subscriptions.provision(environmentId, { customerRefId: customerId, planRefId: 'paid', resourceRefId: 'a' })
      const seats = (value: number, hoursBack: number, more: object) =>
        report(customerId, value, { featureId: 'seats', timestamp: Date.now() - hoursBack * hour, ...more })
      await bench.usage.report(environmentId, [
        seats(5, 5, { behavior: 'SET' }),
        seats(1, 4, {}),
        seats(10, 3, { behavior: 'SET', resourceId: 'a' }),
        seats(2, 2, { behavior: 'SET' }),
      ])
      await bench.usage.report(environmentId, [report(customerId, 1, { featureId: 'seats' })])
      expect(steps((await read('seats')).lines[0]!.points)).to.deep.equal(['0', '5', '6', '16', '12', '13'])
      expect(steps((await read('seats', { resourceId: 'a' })).lines[0]!.points)).to.deep.equal(['0', '10'])
    })

    it('starts again at each reset, and marks it', async () => {
      await count(
        ...[3, 3, 2, 0].map((hoursBack, index) =>
          event(customerId, `${index}`, { timestamp: Date.now() - hoursBack * hour, dimensions: { tokens: index } }),
        ),
      )
      const { lines, resets } = await read('requests', { reset: { period: 'HOUR', rule: null } })
      const points = lines[0]!.points
      expect(points.every(({ isReset }) => isReset)).to.equal(true)
      expect(resets.length).to.be.within(6, 7)
      expect(points.map(({ value }) => Number(value)).slice(-4)).to.deep.equal([2, 1, 0, 1])
    })

    it('groups by dimensions', async () => {
      await count(tokens('a', 1, 'x'), tokens('b', 2, 'y'), tokens('c', 4, 'x'))
      const { lines } = await read('tokens', { groupBy: ['user'] })
      expect(lines.map(({ tags, points }) => [tags[0]!.value, points.at(-1)!.value]).sort()).to.deep.equal([
        ['x', '5'],
        ['y', '2'],
      ])
    })

    it('counts distinct members where they came first', async () => {
      await count(tokens('a', 1, 'x'), tokens('b', 1, 'y'), tokens('c', 1, 'x'))
      expect((await read('unique')).lines[0]!.points.at(-1)!.value).to.equal('2')
    })

    it('agrees with the current usage', async () => {
      await count(tokens('a', 1, 'x'), tokens('b', 9, 'y'), tokens('c', 2, 'x'))
      for (const featureId of ['requests', 'tokens', 'max', 'min', 'avg', 'unique'])
        expect((await read(featureId)).lines[0]!.points.at(-1)!.value, featureId).to.equal(await usage(featureId))
    })
  })
})
