import { expect } from 'chai'
import fc from 'fast-check'
import type pg from 'pg'
import { leaseChanges } from '../../../src/changes/outbox.js'
import * as decimal from '../../../src/kernel/decimal.js'
import { newId } from '../../../src/kernel/id.js'
import { Bindings } from '../../../src/metering/counting/bindings.js'
import { findHolders } from '../../../src/metering/counting/holder-repository.js'
import { createIngestionMetrics } from '../../../src/metering/ingestion/batch/batch-metrics.js'
import { type NewEvent, storeEvents } from '../../../src/metering/ingestion/events/fast/store-events.js'
import { ReportIngestion } from '../../../src/metering/ingestion/reports/report-ingestion.js'
import { type Holder, holderKey } from '../../../src/metering/model/holder.js'
import type { Dimensions, EventItem, ReportItem } from '../../../src/metering/model/report.js'
import type { Call } from '../../../src/metering/wire/call.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { createMetrics } from '../../../src/platform/metrics.js'
import { createEnvironment, type MeteringBench, openMeteringBench } from './fixture.js'

const minute = 60_000

/** A pool of which it is known how often the short way was taken to its end. */
function watched(pool: pg.Pool) {
  const counted = { short: 0 }
  const query = (...args: Parameters<pg.Pool['query']>) => {
    const answer = pool.query(...args) as unknown as Promise<unknown>
    if ((args[0] as { name?: string }).name !== 'count_reports') return answer
    return answer.then((result) => {
      counted.short += 1
      return result
    })
  }
  const proxy = new Proxy(pool, {
    get(target, key) {
      if (key === 'query') return query
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { pool: proxy, counted }
}

/** What is reported, without identifiers of a run. */
interface Given extends Holder {
  featureId: string
  value: number
  behavior: 'DELTA' | 'SET'
  /** Minutes before the time in the environment; below 0: ahead of it. */
  minutesBack: number | null
  key: string | null
  dimensions: Dimensions | null
}

const rarely = <T>(value: fc.Arbitrary<T>, weight = 1) =>
  fc.oneof({ arbitrary: fc.constant(null), weight: 12 }, { arbitrary: value, weight })
const anyHolder: fc.Arbitrary<Holder> = fc.oneof(
  fc.record({ customerId: fc.constantFrom('free', 'paid', 'none', 'parted'), resourceId: fc.constant(null) }),
  fc.record({ customerId: fc.constant('parted'), resourceId: fc.constantFrom('a', 'b') }),
)
const anyPlain: fc.Arbitrary<Given> = fc
  .record({
    holder: anyHolder,
    featureId: fc.constantFrom('calls', 'seats', 'unheld'),
    value: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom(0.1, 0.000000001, 123456.5)),
    key: fc.option(
      fc.nat({ max: 10_000 }).map((n) => `rare-${n}`),
      { freq: 4 },
    ),
    dimensions: rarely(fc.constantFrom<Dimensions>({ region: 'eu' }, {}), 3),
  })
  .map(({ holder, ...given }) => ({ ...holder, ...given, behavior: 'DELTA', minutesBack: null }))
const anything: fc.Arbitrary<Given> = fc
  .record({
    plain: anyPlain,
    unknown: rarely(
      fc.constantFrom<Partial<Given>>(
        { customerId: 'nobody', resourceId: null },
        { customerId: 'parted', resourceId: 'nothing' },
        { featureId: 'nothing' },
        { featureId: 'sso' },
        { featureId: 'requests' },
        { featureId: 'calls', value: -1 },
      ),
    ),
    isSet: fc.oneof({ arbitrary: fc.constant(false), weight: 4 }, { arbitrary: fc.constant(true), weight: 1 }),
    minutesBack: rarely(fc.integer({ min: 0, max: 90 }), 3),
    key: rarely(fc.constantFrom('k1', 'k2', 'k3'), 4),
    ahead: rarely(fc.constantFrom(-2)),
  })
  .map(({ plain, unknown, isSet, minutesBack, key, ahead }): Given => {
    const given: Given = { ...plain, behavior: isSet ? 'SET' : 'DELTA', minutesBack, key: key ?? plain.key, ...unknown }
    // Whose order matters from then on is not counted the short way for a while: not everything, or nothing would be any more.
    return ahead !== null && given.customerId === 'none' && given.featureId === 'unheld' ? { ...given, minutesBack: ahead } : given
  })
const batchOf = (item: fc.Arbitrary<Given>) => fc.array(fc.array(item, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 5 })
const anyBatch = fc.oneof({ arbitrary: batchOf(anyPlain), weight: 2 }, { arbitrary: batchOf(anything), weight: 1 })

describe('what has a short way and a long one', () => {
  let bench: MeteringBench
  before(async () => {
    bench = await openMeteringBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  /** With customers with and without limits, and one with resources that have subscriptions of their own. */
  const environment = async (clock: number | null) => {
    const id = await createEnvironment(bench)
    if (clock !== null) {
      await bench.prisma.environment.update({ where: { id }, data: { isTest: true } })
      await bench.app.testClocks.create(id, clock)
    }
    await bench.app.customers.provision(id, { refId: 'free', subscription: { planRefId: 'free' } })
    await bench.app.customers.provision(id, { refId: 'paid', subscription: { planRefId: 'paid' } })
    await bench.app.customers.provision(id, { refId: 'none' })
    await bench.app.customers.provision(id, { refId: 'parted', subscription: { planRefId: 'free' } })
    for (const resourceRefId of ['a', 'b'])
      await bench.app.subscriptions.provision(id, { customerRefId: 'parted', planRefId: 'paid', resourceRefId })
    await bench.prisma.outboxMessage.deleteMany({ where: { environmentId: id } })
    return id
  }
  const ingestionOn = (pool: pg.Pool) =>
    new ReportIngestion({
      pool,
      bindings: new Bindings(bench.app.heldSeries),
      metrics: createIngestionMetrics(createMetrics('two ways')),
      log: silentLogger(),
      clock: bench.app.clock,
    })

  /** All that counting writes, without ids that differ from environment to environment. */
  const written = async (environmentId: string) => {
    const read = async (text: string) => (await bench.pool.query<Record<string, unknown>>(text, [environmentId])).rows
    const { changes } = await leaseChanges(bench.pool, environmentId, { limit: 100_000, seconds: 0 })
    const told = changes.map(({ id, createdAt, ...change }) => change)
    const order = (change: object) => JSON.stringify(change)
    return {
      measurements: await read(`
        SELECT m.id, customer.ref_id AS customer, resource.ref_id AS resource, feature.ref_id AS feature, m.value::text, m.behavior, m.occurred_at, m.dimensions,
          encode(key.body_hash, 'hex') AS body
        FROM usage_measurement AS m
        JOIN customer ON customer.id = m.customer_id JOIN feature ON feature.id = m.feature_id
        LEFT JOIN customer_resource AS resource ON resource.id = m.resource_id
        LEFT JOIN ingestion_key AS key ON key.environment_id = m.environment_id AND key.record_id = m.id
        WHERE m.environment_id = $1 ORDER BY m.sequence`),
      counters: await read(`
        SELECT customer.ref_id AS customer, resource.ref_id AS resource, feature.ref_id AS feature, series.reset_period, series.reset_rule, series.anchor,
          series.timezone, c.period_start::text, c.period_end::text, trim_scale(c.usage)::text AS usage, c.version, c.events, c.total, c.meter_version
        FROM usage_series AS series
        JOIN customer ON customer.id = series.customer_id JOIN feature ON feature.id = series.feature_id
        LEFT JOIN customer_resource AS resource ON resource.id = series.resource_id
        LEFT JOIN usage_counter AS c ON c.environment_id = series.environment_id AND c.series_id = series.id
        WHERE series.environment_id = $1 ORDER BY customer, resource, feature, anchor, reset_period, c.period_start`),
      rollups: await read(`
        SELECT customer.ref_id AS customer, resource.ref_id AS part, feature.ref_id AS feature, r.bucket_start, trim_scale(r.usage)::text AS usage, r.events,
          r.is_level
        FROM usage_rollup AS r
        JOIN customer ON customer.id = r.customer_id JOIN feature ON feature.id = r.feature_id
        LEFT JOIN customer_resource AS resource ON resource.id = r.part_id
        WHERE r.environment_id = $1 ORDER BY customer, part, feature, r.bucket_start`),
      states: await read(`
        SELECT customer.ref_id AS customer, state.version, state.access_version FROM customer_state AS state
        JOIN customer ON customer.id = state.customer_id WHERE state.environment_id = $1 ORDER BY customer`),
      told: told.sort((a, b) => (order(a) < order(b) ? -1 : 1)),
    }
  }

  /** Counts the same batches in two environments, in one of them never the short way. `seen`: what has to be the same of what each has. */
  const countBothWays = async (
    { short, long, runs, now }: { short: string; long: string; runs: number; now: () => number },
    seen: (all: object) => unknown,
  ) => {
    const { pool, counted } = watched(bench.pool)
    const [ofShort, ofLong] = [ingestionOn(pool), ingestionOn(bench.pool)]
    // Once each, so that the short way soon knows where it is to count.
    const holders = fc.sample(anyHolder, { numRuns: 40, seed: 1 })
    const everything = holders.flatMap((holder) =>
      ['calls', 'seats', 'unheld'].map((featureId): Given => {
        return { ...holder, featureId, value: 1, behavior: 'DELTA', minutesBack: null, key: null, dimensions: null }
      }),
    )
    await fc.assert(
      fc.asyncProperty(anyBatch, async (batch) => {
        const at = now()
        const calls = batch.map(
          (items): Call<ReportItem> => ({
            deadline: Date.now() + minute,
            items: items.map(({ value, minutesBack, key, ...item }) => ({
              ...item,
              id: newId(),
              value: decimal.fromNumber(value),
              timestamp: minutesBack === null ? null : at - minutesBack * minute,
              idempotencyKey: key,
            })),
          }),
        )
        const answers = [await ofShort.ingest(short, calls, false), await ofLong.ingest(long, calls, true)]
        const [a, b] = [await written(short), await written(long)]
        expect(seen({ answers: answers[0], ...a })).to.deep.equal(seen({ answers: answers[1], ...b }))
        await bench.prisma.outboxMessage.deleteMany({ where: { environmentId: { in: [short, long] } } })
      }),
      { numRuns: runs, endOnFailure: true, examples: [[[everything]], [[everything]], [[everything]]] },
    )
    return counted.short
  }

  it('ends in the same rows, answers, versions and messages for reports, where a test clock makes time the same', async function () {
    this.timeout(120_000)
    const start = Date.now() + 10_000
    const [short, long] = [await environment(start), await environment(start)]
    // The short way is planned with the time of the database, which has to have come to what the customers began with.
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, start - Date.now()) + 100))
    const time = start + 120 * minute
    for (const id of [short, long]) await bench.app.testClocks.advance(id, time)
    await bench.prisma.outboxMessage.deleteMany({ where: { environmentId: { in: [short, long] } } })
    const taken = await countBothWays({ short, long, runs: 60, now: () => time }, (all) => all)
    expect(taken).to.be.above(8)
  })

  it('ends in the same but for times for reports, by the clock of the database', async function () {
    this.timeout(120_000)
    const [short, long] = [await environment(null), await environment(null)]
    const times = new Set(['version', 'access_version', 'updatedAt', 'timestamp', 'occurred_at', 'bucket_start', 'anchor'])
    const periods = new Set(['period_start', 'period_end', 'periodStart', 'periodEnd'])
    const withoutTimes = (all: object) =>
      JSON.parse(JSON.stringify(all, (key, value) => (times.has(key) ? undefined : periods.has(key) && value !== null ? 'given' : value)))
    const taken = await countBothWays({ short, long, runs: 40, now: Date.now }, withoutTimes)
    expect(taken).to.be.above(8)
  })

  it('stores the same events, and says the same of them, whether it looks for repeats first or not', async function () {
    this.timeout(60_000)
    const at = Date.now() + 60 * minute
    const environments = [await environment(at), await environment(at)]
    const holders: Holder[] = [
      { customerId: 'free', resourceId: null },
      { customerId: 'parted', resourceId: null },
      { customerId: 'parted', resourceId: 'a' },
      { customerId: 'none', resourceId: null },
    ]
    const found = await Promise.all(environments.map((id) => findHolders(bench.pool, id, holders)))
    for (const id of environments) await bench.app.customers.archive(id, 'none')
    const anyEvent = fc.record({
      identity: fc.integer({ min: 0, max: 60 }).map((n) => String.fromCharCode(n).repeat(32)),
      // The archived one seldom: with it nothing is stored.
      holder: fc.oneof({ arbitrary: fc.constantFrom(0, 1, 2), weight: 40 }, { arbitrary: fc.constant(3), weight: 1 }),
      eventName: fc.constantFrom('request', 'login'),
      timestamp: fc.option(fc.integer({ min: 0, max: 90 }).map((back) => at - back * minute)),
      dimensions: fc.constantFrom<Dimensions>({}, { tokens: 3 }, { region: 'eu', tokens: null }),
    })
    const anyEvents = fc.uniqueArray(anyEvent, { selector: ({ identity }) => identity, minLength: 1, maxLength: 12 })
    const anyDeadline = fc.oneof({ arbitrary: fc.constant(minute), weight: 15 }, { arbitrary: fc.constant(-minute), weight: 1 })
    const stored = async (environmentId: string) =>
      (
        await bench.pool.query(
          `SELECT event.batch_id, event.position, customer.ref_id AS customer, resource.ref_id AS resource, event_name, dimensions, occurred_at,
             encode(key.hash, 'hex') AS identity, pending.id AS waiting
           FROM raw_event AS event JOIN customer ON customer.id = event.customer_id
           LEFT JOIN customer_resource AS resource ON resource.id = event.resource_id
           LEFT JOIN ingestion_key AS key ON key.environment_id = $1 AND key.record_id = event.batch_id AND key.position = event.position
           LEFT JOIN pending_batch AS pending ON pending.environment_id = $1 AND pending.id = event.batch_id
           WHERE event.environment_id = $1 ORDER BY event.batch_id, event.position`,
          [environmentId],
        )
      ).rows
    const keys = async (environmentId: string) =>
      (await bench.pool.query('SELECT count(*) FROM ingestion_key WHERE environment_id = $1', [environmentId])).rows[0]
    let repeats = 0
    await fc.assert(
      fc.asyncProperty(anyEvents, anyDeadline, async (given, inMs) => {
        const batchId = newId()
        const deadline = Date.now() + inMs
        const sorted = [...given].sort((a, b) => (a.identity < b.identity ? -1 : 1))
        const [quick, careful] = await Promise.all(
          environments.map(async (id, index) => {
            const events = sorted.map(({ identity, holder, ...event }): NewEvent => {
              const item: EventItem = { ...holders[holder]!, ...event, idempotencyKey: identity }
              return { event: item, identity, holder: found[index]!.get(holderKey(item))! }
            })
            const { time, isNew } = await storeEvents(bench.pool, id, { batchId, deadline, mayRepeat: index === 1, events })
            return { answer: { time, isNew }, stored: await stored(id), keys: await keys(id) }
          }),
        )
        expect(quick).to.deep.equal(careful)
        if (quick!.answer.isNew) repeats += 1
      }),
      { numRuns: 60, endOnFailure: true },
    )
    expect(repeats).to.be.above(10)
  })
})
