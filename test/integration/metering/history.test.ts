import { expect } from 'chai'
import * as decimal from '../../../src/kernel/decimal.js'
import { RecomputationWorker } from '../../../src/metering/corrections/recomputation.js'
import { Bindings } from '../../../src/metering/counting/bindings.js'
import type { HistoryQuestion } from '../../../src/metering/history/usage-history.js'
import type { UsageEvent } from '../../../src/metering/model/report.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { type GraphqlBody, post } from '../web/front-door.js'
import { openWebProcess } from '../web/web-process.js'
import {
  count,
  createEnvironment,
  event,
  eventually,
  historyOf,
  type MeteringBench,
  openMeteringBench,
  problemOf,
  report,
} from './fixture.js'

const hour = 3_600_000
const weekdays = ['EverySunday', 'EveryMonday', 'EveryTuesday', 'EveryWednesday', 'EveryThursday', 'EveryFriday', 'EverySaturday'] as const
const features = ['requests', 'tokens', 'max', 'min', 'avg', 'unique']

describe('usage history', () => {
  let bench: MeteringBench
  let environmentId: string
  let serial = 0
  let customerId: string

  before(async () => {
    bench = await openMeteringBench()
    bench.startIngestion()
    bench.startAggregation()
    environmentId = await createEnvironment(bench)
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    customerId = `customer-${++serial}`
    await bench.app.customers.provision(environmentId, { refId: customerId, subscription: { planRefId: 'free' } })
  })

  /** A week that began some days ago, whatever day it is: nothing is reset in the last hours. */
  const wholeWeek: HistoryQuestion['reset'] = { period: 'WEEK', rule: weekdays[new Date(Date.now() - 72 * hour).getUTCDay()]! }
  const read = (featureId: string, more: Partial<HistoryQuestion> = {}) =>
    bench.usage.history.read(environmentId, historyOf(customerId, featureId, { reset: wholeWeek, ...more }))
  /** The last value of each group. */
  const last = async (featureId: string, more: Partial<HistoryQuestion> = { groupBy: ['model'] }) => {
    const { lines } = await read(featureId, more)
    return Object.fromEntries(lines.map(({ tags, points }) => [tags.map(({ value }) => value).join('/'), points.at(-1)!.value]))
  }
  const send = async (...events: UsageEvent[]) => {
    await bench.usage.reportEvents(environmentId, events)
    await eventually(
      () => count(bench.pool, 'pending_batch', environmentId),
      (waiting) => waiting === 0,
    )
  }
  const request = (key: string, model: string | null, tokens: number, more: { user?: string; hoursBack?: number } = {}) =>
    event(customerId, key, {
      dimensions: { model, tokens, user: more.user ?? key },
      timestamp: Date.now() - (more.hoursBack ?? 0) * hour,
    })

  describe('by dimensions', () => {
    /** What the groups must have: a few lines over the whole list. */
    const naive = (featureId: string, events: UsageEvent[]) => {
      const groups = new Map<string, UsageEvent[]>()
      for (const one of events) {
        const model = String(one.dimensions.model ?? '')
        groups.set(model, [...(groups.get(model) ?? []), one])
      }
      const usage = (of: UsageEvent[]) => {
        const numbers = of.map(({ dimensions }) => decimal.fromNumber(dimensions.tokens as number))
        const sum = numbers.reduce(decimal.add)
        if (featureId === 'requests') return String(of.length)
        if (featureId === 'tokens') return sum
        if (featureId === 'max') return numbers.reduce(decimal.max)
        if (featureId === 'min') return numbers.sort(decimal.compare)[0]
        if (featureId === 'avg') return decimal.divide(sum, decimal.fromNumber(of.length))
        return String(new Set(of.map(({ dimensions }) => dimensions.user)).size)
      }
      return Object.fromEntries([...groups].map(([model, of]) => [model, usage(of)]))
    }
    const expectAll = async (events: UsageEvent[]) => {
      for (const featureId of features) expect(await last(featureId), featureId).to.deep.equal(naive(featureId, events))
    }

    it('is what the events say for every aggregation, and follows late events, corrections and counting anew', async function () {
      this.timeout(60_000)
      const events = [
        request('a', 'x', 1, { hoursBack: 3, user: 'u' }),
        request('b', 'y', 7, { hoursBack: 3, user: 'u' }),
        request('c', 'x', 4, { hoursBack: 1, user: 'v' }),
        request('d', null, 2, { user: 'u' }),
      ]
      await send(...events)
      await expectAll(events)
      // when: more comes, late too, into quarters of an hour that were grouped already
      const more = [request('e', 'x', 0.5, { hoursBack: 3, user: 'w' }), request('f', 'y', 9, { user: 'u' })]
      await send(...more)
      await expectAll([...events, ...more])
      // when: what an event says is replaced so that no total changes, and one is taken out
      const { dimensions: _, ...name } = events[0]!
      await bench.usage.corrections.changeEvent(environmentId, name, { ...events[0]!.dimensions, model: 'z' })
      const { dimensions: __, ...gone } = more[1]!
      await bench.usage.corrections.changeEvent(environmentId, gone, null)
      const now = [{ ...events[0]!, dimensions: { ...events[0]!.dimensions, model: 'z' } }, ...events.slice(1), more[0]!]
      await expectAll(now)
      for (const featureId of features)
        await bench.usage.recomputations.request(environmentId, { featureId, customerId, from: null, to: null })
      await new RecomputationWorker({
        pool: bench.pool,
        bindings: new Bindings(bench.app.heldSeries),
        changed: () => undefined,
        log: silentLogger(),
      }).run()
      await expectAll(now)
    })

    it('reads an event once: asked again, it costs what quarters of an hour cost', async () => {
      await send(
        ...Array.from({ length: 300 }, (_, index) =>
          request(`${index}`, `m${index % 3}`, 1, { hoursBack: index % 5, user: `u${index % 7}` }),
        ),
      )
      const before = await Promise.all(features.map((feature) => last(feature)))
      await bench.pool.query(
        'DELETE FROM raw_event WHERE customer_id = (SELECT id FROM customer WHERE environment_id = $1::uuid AND ref_id = $2)',
        [environmentId, customerId],
      )
      expect(await Promise.all(features.map((feature) => last(feature)))).to.deep.equal(before)
      expect(before[0]).to.deep.equal({ m0: '100', m1: '100', m2: '100' })
      // By two dimensions is another question: its answer would have to come from the events.
      expect(await last('requests', { groupBy: ['model', 'user'] })).to.deep.equal({})
    })

    it('misses nothing that is counted while it is read', async () => {
      const rounds = Array.from({ length: 12 }, (_, round) => round)
      const calls = rounds.map((round) =>
        bench.usage.reportEvents(
          environmentId,
          Array.from({ length: 20 }, (_, index) =>
            request(`${round}-${index}`, `m${index % 2}`, 1, { hoursBack: index % 3, user: `${index}` }),
          ),
        ),
      )
      const readings = rounds.flatMap(() => [last('tokens'), last('unique')])
      await Promise.all([...calls, ...readings])
      await send()
      expect([await last('tokens'), await last('unique')]).to.deep.equal([
        { m0: '120', m1: '120' },
        { m0: '10', m1: '10' },
      ])
    })

    it('draws where each group stood, with its resets', async () => {
      await send(request('a', 'x', 1, { hoursBack: 3 }), request('b', 'y', 2, { hoursBack: 2 }), request('c', 'x', 4, { hoursBack: 0 }))
      const line = async (reset: HistoryQuestion['reset']) => {
        const { lines } = await read('tokens', { groupBy: ['model'], reset })
        return Object.fromEntries(lines.map(({ tags, points }) => [tags[0]!.value, points.slice(-4).map(({ value }) => Number(value))]))
      }
      expect(await line({ period: 'HOUR', rule: null })).to.deep.equal({ x: [1, 0, 0, 4], y: [0, 2, 0, 0] })
      const whole = await read('tokens', { groupBy: ['model'] })
      expect(whole.lines.map(({ points }) => points.at(-1)!.value)).to.deep.equal(['5', '2'])
    })

    it('groups reported usage, of which a SET replaces what all groups of its resource had', async () => {
      await bench.app.subscriptions.provision(environmentId, { customerRefId: customerId, planRefId: 'paid', resourceRefId: 'a' })
      const seats = (value: number, team: string, hoursBack: number, more: object = {}) =>
        report(customerId, value, { featureId: 'seats', dimensions: { team }, timestamp: Date.now() - hoursBack * hour, ...more })
      await bench.usage.report(environmentId, [
        seats(5, 'red', 5),
        seats(3, 'blue', 4),
        seats(10, 'red', 4, { resourceId: 'a' }),
        seats(2, 'blue', 3, { behavior: 'SET' }),
        seats(1, 'red', 2),
      ])
      expect(await last('seats', { groupBy: ['team'] })).to.deep.equal({ blue: '2', red: '11' })
      await bench.usage.report(environmentId, [seats(4, 'red', 1)])
      expect(await last('seats', { groupBy: ['team'] })).to.deep.equal({ blue: '2', red: '15' })
      expect(await last('seats', { groupBy: ['team'], resourceId: 'a' })).to.deep.equal({ red: '10' })
    })

    it('answers a page of the series, in the order of their values', async () => {
      await send(...['c', 'a', 'b', 'd'].map((model) => request(model, model, 1)))
      const page = async (paging: object) => {
        const all = { first: null, last: null, after: null, before: null, ...paging }
        return Object.keys(await last('tokens', { groupBy: ['model'], paging: all }))
      }
      expect(await page({ first: 2 })).to.deep.equal(['a', 'b'])
      expect(await page({ last: 1 })).to.deep.equal(['d'])
      expect(Object.keys(await last('tokens'))).to.deep.equal(['a', 'b', 'c', 'd'])
    })

    it('refuses a dimension with too many values, and keeps nothing of it', async () => {
      const many = (from: number) => Array.from({ length: 600 }, (_, index) => request(`${from + index}`, `m${from + index}`, 1))
      await send(...many(0))
      expect(Object.keys(await last('tokens'))).to.have.length(600)
      await send(...many(600))
      expect(await problemOf(last('tokens'))).to.include({ code: 'INVALID_ARGUMENT' })
    })
  })

  it('starts again with the subscription’s periods where only their length is said, and with the calendar’s where nothing is held', async () => {
    const web = await openWebProcess(bench, 'history')
    const { refId } = (await bench.app.environments.list()).find(({ id }) => id === environmentId)!
    const { key } = await bench.app.environments.createKey({ environment: refId, kind: 'SERVER', name: 'history', expiresAt: null })
    // In the middle of a month, so that no month of the calendar begins in the range.
    const now = new Date()
    const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
    const startDate = Date.UTC(year, month - 2, 17, 10, 30)
    const asked = {
      customerRefId: 'older',
      startDate: new Date(Date.UTC(year, month - 1, 15)),
      endDate: new Date(Date.UTC(year, month - 1, 20)),
    }
    await bench.app.customers.provision(environmentId, { refId: 'older', subscription: { planRefId: 'free', startDate } })
    const resets = async (featureRefId: string, more: object) => {
      const query = 'query($input: UsageHistoryInput!) { usageHistory(usageHistoryInput: $input) { markers { timestamp type } } }'
      const response = await post(web.url, { query, variables: { input: { ...asked, featureRefId, ...more } } }, { 'x-api-key': key })
      const { data, errors } = (await response.json()) as GraphqlBody<{ usageHistory: { markers: { timestamp: string; type: string }[] } }>
      expect(errors).to.equal(undefined)
      return data!.usageHistory.markers.map(({ timestamp }) => timestamp)
    }
    const at = (day: number, time = '10:30:00.000Z') => `${new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10)}T${time}`
    try {
      expect(await resets('calls', { resetPeriod: 'MONTH' })).to.deep.equal([at(17)])
      // Reset by the hour, and not at all: the same start counts.
      expect(await resets('unique', { resetPeriod: 'MONTH' })).to.deep.equal([at(17)])
      expect(await resets('calls', { resetPeriod: 'DAY' })).to.deep.equal([15, 16, 17, 18, 19].map((day) => at(day)))
      expect(
        await resets('calls', { resetPeriod: 'MONTH', monthlyResetPeriodConfiguration: { accordingTo: 'StartOfTheMonth' } }),
      ).to.deep.equal([])
      expect(await resets('unheld', { resetPeriod: 'MONTH' })).to.deep.equal([])
      expect(await resets('unheld', { resetPeriod: 'DAY' })).to.deep.equal([15, 16, 17, 18, 19].map((day) => at(day, '00:00:00.000Z')))
    } finally {
      expect(await web.life.stop()).to.deep.equal([])
    }
  })

  it('leaves out what came under subscriptions that have ended, when that is asked for', async () => {
    const back = (hours: number) => new Date(Date.now() - hours * hour).toISOString()
    await send(request('a', 'x', 1, { hoursBack: 5 }), request('b', 'x', 2, { hoursBack: 3 }), request('c', 'y', 4))
    const { rows } = await bench.pool.query<{ id: string }>(
      `UPDATE subscription SET start_date = $3::timestamptz FROM customer
       WHERE customer.environment_id = subscription.environment_id AND customer.id = customer_id AND subscription.environment_id = $1::uuid AND customer.ref_id = $2
       RETURNING subscription.id`,
      [environmentId, customerId, back(4)],
    )
    expect(rows).to.have.length(1)
    const both = async (isOfActiveOnly: boolean) => [
      await last('tokens', { isOfActiveOnly, groupBy: ['model'] }),
      await last('tokens', { isOfActiveOnly }),
      await last('unique', { isOfActiveOnly }),
    ]
    expect(await both(false)).to.deep.equal([{ x: '3', y: '4' }, { '': '7' }, { '': '1' }])
    expect(await both(true)).to.deep.equal([{ x: '2', y: '4' }, { '': '6' }, { '': '1' }])
    // Nobody is entitled to it: nothing came under what is in force.
    await bench.usage.report(environmentId, [report(customerId, 5, { featureId: 'unheld' })])
    expect(await last('unheld', { isOfActiveOnly: false })).to.deep.equal({ '': '5' })
    expect(await last('unheld', { isOfActiveOnly: true })).to.deep.equal({ '': '0' })
  })
})
