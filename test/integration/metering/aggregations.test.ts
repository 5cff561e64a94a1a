import { expect } from 'chai'
import fc from 'fast-check'
import * as decimal from '../../../src/kernel/decimal.js'
import type { UsageEvent } from '../../../src/metering/model/report.js'
import { createEnvironment, event, type MeteringBench, openMeteringBench, report, usageOf } from './fixture.js'

const hour = 3_600_000

/** What a feature's usage must be: a few lines over the whole list. */
const naive: Record<string, (events: UsageEvent[]) => string> = {
  requests: (events) => String(events.length),
  tokens: (events) => numbers(events.filter(({ dimensions }) => dimensions.status !== 'failed')).reduce(decimal.add, decimal.zero),
  max: (events) => numbers(events).reduce<decimal.Decimal | null>((a, b) => (a === null ? b : decimal.max(a, b)), null) ?? '0',
  min: (events) => numbers(events).sort(decimal.compare)[0] ?? '0',
  avg: (events) => {
    const all = numbers(events)
    return all.length === 0 ? '0' : decimal.divide(all.reduce(decimal.add, decimal.zero), decimal.fromNumber(all.length))
  },
  unique: (events) => String(new Set(events.flatMap(({ dimensions }) => dimensions.user ?? [])).size),
}
const numbers = (events: UsageEvent[]) =>
  events.flatMap(({ dimensions: { tokens } }) => (typeof tokens === 'number' ? [decimal.fromNumber(tokens)] : []))

describe('aggregating events', () => {
  let bench: MeteringBench
  let environmentId: string
  let serial = 0

  before(async () => {
    bench = await openMeteringBench()
    bench.startIngestion()
    environmentId = await createEnvironment(bench)
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  const pending = async () =>
    (await bench.pool.query<{ id: string }>('SELECT id FROM pending_batch WHERE environment_id = $1::uuid', [environmentId])).rows
  const aggregateAll = async (aggregation = bench.newAggregation()) => {
    const waiting = await pending()
    await Promise.all(waiting.map(({ id }) => aggregation.aggregate({ v: 1, environmentId, batchId: id, stored: null })))
  }
  /** Every usage of the customer as it is told, and as the list says it is. */
  const compare = async (customerId: string, events: UsageEvent[]) => {
    const state = await bench.app.entitlements.state(environmentId, customerId, null)
    for (const { feature, usage, reset } of state.entitlements) {
      const count = naive[feature.refId]
      if (!count || !usage) continue
      const from = Math.max(usage.periodStart ?? 0, reset?.anchor ?? 0)
      const counted = events.filter(({ timestamp }) => Number(timestamp) >= from && Number(timestamp) < (usage.periodEnd ?? Infinity))
      expect(usage.currentUsage, feature.refId).to.equal(count(counted))
    }
  }

  it('counts the same as a naive count, however events come and what is held changes meanwhile', async function () {
    this.timeout(120_000)
    const anEvent = fc.record({
      key: fc.integer({ min: 0, max: 12 }),
      hoursBack: fc.constantFrom(0, 0, 0, 1, 3),
      tokens: fc.constantFrom(1, 0.1, -2.5, 7, 'many', null),
      user: fc.constantFrom('a', 'b', 'c', null),
      status: fc.constantFrom('ok', 'failed'),
    })
    const aStep = fc.oneof(
      { weight: 5, arbitrary: fc.array(anEvent, { minLength: 1, maxLength: 5 }).map((events) => ({ do: 'send' as const, events })) },
      { weight: 3, arbitrary: fc.constant({ do: 'aggregate' as const }) },
      { weight: 1, arbitrary: fc.constant({ do: 'forget' as const }) },
      { weight: 1, arbitrary: fc.constantFrom('free', 'paid').map((plan) => ({ do: 'plan' as const, plan })) },
      { weight: 1, arbitrary: fc.constant({ do: 'check' as const }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(aStep, { minLength: 3, maxLength: 12 }), async (steps) => {
        const customerId = `random-${++serial}`
        await bench.app.customers.provision(environmentId, { refId: customerId, subscription: { planRefId: 'free' } })
        const start = Date.now()
        const sent = new Map<string, UsageEvent>()
        let aggregation = bench.newAggregation()
        for (const step of steps) {
          if (step.do === 'send') {
            const events = step.events.map(({ key, hoursBack, ...dimensions }) =>
              event(customerId, `${key}`, { timestamp: start - hoursBack * hour, dimensions }),
            )
            // A repeat of the identity keeps the first, whatever else it says.
            for (const one of events)
              if (!sent.has(`${one.idempotencyKey}|${one.timestamp}`)) sent.set(`${one.idempotencyKey}|${one.timestamp}`, one)
            await bench.usage.reportEvents(environmentId, events)
          } else if (step.do === 'forget') aggregation = bench.newAggregation()
          else if (step.do === 'plan')
            await bench.app.subscriptions.provision(environmentId, { customerRefId: customerId, planRefId: step.plan })
          else {
            await aggregateAll(aggregation)
            if (step.do === 'check') await compare(customerId, [...sent.values()])
          }
        }
        await aggregateAll(aggregation)
        await compare(customerId, [...sent.values()])
      }),
      { numRuns: 12 },
    )
  })

  it('tells usage that was reported before its series began to win', async () => {
    const customerId = `late-winner-${++serial}`
    await bench.app.customers.provision(environmentId, { refId: customerId })
    // given: seats are reported while nobody is entitled to them, and events while their series has no counter
    await bench.usage.report(environmentId, [report(customerId, 3, { featureId: 'seats' })])
    await bench.app.subscriptions.provision(environmentId, { customerRefId: customerId, planRefId: 'free' })
    // then: the series that wins has no counter yet, and its usage is there all the same
    expect(await usageOf(bench, environmentId, customerId, 'seats')).to.equal('3')
  })

  it('counts a period to its end with the meter that it began with', async () => {
    const customerId = `old-filter-${++serial}`
    await bench.app.customers.provision(environmentId, { refId: customerId, subscription: { planRefId: 'free' } })
    const send = (key: string, eventName = 'request') => bench.usage.reportEvents(environmentId, [event(customerId, key, { eventName })])
    await send('a')
    await aggregateAll()
    await bench.pool.query(
      `UPDATE meter SET filters = '[[{"field":"eventName","operation":"EQUALS","value":"other"}]]'
       FROM feature WHERE feature.id = meter.feature_id AND feature.ref_id = 'requests' AND meter.environment_id = $1::uuid`,
      [environmentId],
    )
    await send('b')
    await send('c', 'other')
    await aggregateAll()
    expect(await usageOf(bench, environmentId, customerId, 'requests')).to.equal('2')
  })
})
