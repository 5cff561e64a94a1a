import { Queue } from 'bullmq'
import { expect } from 'chai'
import fc from 'fast-check'
import * as decimal from '../../../src/kernel/decimal.js'
import { type ComputedRange, type ComputeOptions, computeUsage } from '../../../src/metering/counting/compute-usage.js'
import { loadMeters } from '../../../src/metering/counting/meter-repository.js'
import { aggregateEvents } from '../../../src/metering/wire/jobs.js'
import { queuePrefix as prefixOf } from '../../../src/platform/redis/slots.js'
import { inPoolTransaction } from '../../../src/platform/transaction.js'
import { count, createEnvironment, event, eventually, type MeteringBench, openMeteringBench, report } from './fixture.js'

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
const metered = ['requests', 'tokens', 'max', 'min', 'avg', 'unique']

describe('usage of a range', () => {
  let bench: MeteringBench
  let environmentId: string
  let counting: Queue
  let end: number
  let serial = 0

  before(async () => {
    bench = await openMeteringBench()
    bench.startIngestion()
    bench.startAggregation()
    environmentId = await createEnvironment(bench)
    // Buckets are read from when there was a meter.
    await bench.pool.query("UPDATE meter_version SET valid_from = now() - interval '40 days' WHERE environment_id = $1::uuid", [
      environmentId,
    ])
    counting = new Queue(aggregateEvents.queue, { connection: bench.redis, prefix: prefixOf(bench.queues.prefix, aggregateEvents.queue) })
    end = Date.now() - minute
  })
  after(async () => {
    await counting.close()
    expect(await bench.close()).to.deep.equal([])
  })

  const idsOf = async (table: 'customer' | 'feature') => {
    const { rows } = await bench.pool.query<{ ref: string; id: string }>(
      `SELECT ref_id AS ref, id FROM ${table} WHERE environment_id = $1::uuid`,
      [environmentId],
    )
    return new Map(rows.map(({ ref, id }) => [ref, id]))
  }

  const withParts = async (customerRefId: string) => {
    await bench.app.customers.provision(environmentId, { refId: customerRefId, subscription: { planRefId: 'free' } })
    for (const resourceRefId of ['a', 'b'])
      await bench.app.subscriptions.provision(environmentId, { customerRefId, planRefId: 'paid', resourceRefId })
  }

  const compute = (ranges: ComputedRange[], options?: ComputeOptions) =>
    inPoolTransaction(bench.pool, async (db) => {
      const meters = new Map((await loadMeters(db, environmentId)).map((meter) => [meter.featureId, meter]))
      return computeUsage(db, environmentId, ranges, meters, options)
    })

  const allCounted = () =>
    eventually(
      () => count(bench.pool, 'pending_batch', environmentId),
      (waiting) => waiting === 0,
    )

  /** Of three hours: some bounds lie within buckets, some on them, some are none. */
  const aRange = fc
    .tuple(fc.option(fc.nat(180), { freq: 5 }), fc.option(fc.nat(180), { freq: 5 }))
    .filter(([from, to]) => from === null || to === null || from < to)
  const timed = ([from, to]: [number | null, number | null]) => ({
    from: from === null ? null : end - 3 * hour + from * minute,
    to: to === null ? null : end - 3 * hour + to * minute,
  })

  it('of reports is the last SET of each part and what follows it, wherever the range begins and ends', async () => {
    const aReport = fc.record({
      minute: fc.nat(179),
      value: fc.integer({ min: -5, max: 9 }),
      isSet: fc.boolean(),
      part: fc.constantFrom(null, 'a', 'b'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(aReport, { minLength: 1, maxLength: 25 }), fc.array(aRange, { maxLength: 8 }), async (reports, ranges) => {
        const customerId = `reporter-${++serial}`
        await withParts(customerId)
        for (const { minute: at, value, isSet, part } of reports)
          await bench.usage.report(environmentId, [
            report(customerId, isSet ? Math.abs(value) : value, {
              featureId: 'seats',
              resourceId: part,
              timestamp: end - 3 * hour + at * minute,
              behavior: isSet ? 'SET' : 'DELTA',
            }),
          ])
        const [customer, feature] = [(await idsOf('customer')).get(customerId)!, (await idsOf('feature')).get('seats')!]
        const bounds = [...ranges, [null, null] as [null, null]].map(timed)
        const common = { customerId: customer, featureId: feature, periodStart: null, meterVersion: null }
        const computed = await compute(bounds.map((range) => ({ ...common, ...range, resourceId: null })))
        const expected = bounds.map(({ from, to }) => {
          const parts = new Map<string | null, number>()
          const inRange = reports
            .map((one, order) => ({ ...one, order, at: end - 3 * hour + one.minute * minute }))
            .filter(({ at }) => (from === null || at >= from) && (to === null || at < to))
            .sort((one, other) => one.at - other.at || one.order - other.order)
          for (const { part, value, isSet } of inRange) parts.set(part, isSet ? Math.abs(value) : (parts.get(part) ?? 0) + value)
          return [...parts.values()].reduce((sum, value) => sum + value, 0)
        })
        expect(computed.map(({ usage }) => Number(usage))).to.deep.equal(expected)
      }),
      { numRuns: 12 },
    )
  }).timeout(40_000)

  it('of events is what each of them says, counted ones alone or with those that wait', async () => {
    const anEvent = fc.record({
      minute: fc.nat(179),
      tokens: fc.integer({ min: -3, max: 9 }),
      user: fc.nat(4),
      part: fc.constantFrom(null, 'a'),
    })
    const events = (customerId: string, list: readonly { minute: number; tokens: number; user: number; part: string | null }[]) =>
      list.map(({ minute: at, part, ...dimensions }) =>
        event(customerId, `${++serial}`, { timestamp: end - 3 * hour + at * minute, resourceId: part, dimensions }),
      )
    await fc.assert(
      fc.asyncProperty(
        fc.array(anEvent, { minLength: 1, maxLength: 40 }),
        fc.array(anEvent, { minLength: 1, maxLength: 10 }),
        fc.array(aRange, { maxLength: 5 }),
        async (counted, waiting, ranges) => {
          const customerId = `user-${++serial}`
          await withParts(customerId)
          await bench.usage.reportEvents(environmentId, events(customerId, counted))
          await allCounted()
          await counting.pause()
          try {
            await bench.usage.reportEvents(environmentId, events(customerId, waiting))
            const [customer, features] = [(await idsOf('customer')).get(customerId)!, await idsOf('feature')]
            const asked = metered.flatMap((refId) =>
              [...ranges, [null, null] as [null, null]].map((range) => ({
                customerId: customer,
                featureId: features.get(refId)!,
                resourceId: null,
                periodStart: null,
                meterVersion: null,
                ...timed(range),
              })),
            )
            for (const evenWaiting of [false, true]) {
              const [byBuckets, byEvents] = [await compute(asked, { evenWaiting }), await compute(asked, { evenWaiting, anew: true })]
              const facts = (computed: typeof byBuckets) =>
                computed.map(({ usage, value, events: all, members }) => ({ usage, value, all, members: members.length }))
              expect(facts(byBuckets)).to.deep.equal(facts(byEvents))
            }
          } finally {
            await counting.resume()
          }
          await allCounted()
        },
      ),
      { numRuns: 8 },
    )
  }).timeout(40_000)

  it('costs as much as its quarters of an hour, not as its reports: those in the middle are not looked at', async () => {
    await bench.app.customers.provision(environmentId, { refId: 'hot', subscription: { planRefId: 'free' } })
    await bench.usage.report(
      environmentId,
      [30, 60, 90, 120].map((ago) => report('hot', 100, { featureId: 'seats', timestamp: end - ago * minute })),
    )
    const customer = (await idsOf('customer')).get('hot')!
    // What no one does, so that it shows where usage is read from.
    await bench.pool.query('UPDATE usage_measurement SET value = 7 WHERE environment_id = $1::uuid AND customer_id = $2::uuid', [
      environmentId,
      customer,
    ])
    const [answer] = await bench.usage.report(environmentId, [report('hot', 1, { featureId: 'seats', timestamp: end - day })])
    expect(answer).to.deep.include({ currentUsage: decimal.fromNumber(401) })
  })
})
