import { expect } from 'chai'
import fc from 'fast-check'
import type pg from 'pg'
import * as decimal from '../../../src/kernel/decimal.js'
import { newId } from '../../../src/kernel/id.js'
import { Bindings } from '../../../src/metering/counting/bindings.js'
import { createIngestionMetrics } from '../../../src/metering/ingestion/batch/batch-metrics.js'
import { ReportIngestion } from '../../../src/metering/ingestion/reports/report-ingestion.js'
import { bucketMs, bucketOf } from '../../../src/metering/model/bucket.js'
import type { ReportItem } from '../../../src/metering/model/report.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { createMetrics } from '../../../src/platform/metrics.js'
import { createEnvironment, type MeteringBench, openMeteringBench, report } from './fixture.js'

const [minute, hour] = [60_000, 3_600_000]

/** Usage that is reset every hour, and a resource whose own subscription gives nothing. */
const more = {
  features: [{ refId: 'hourly', displayName: 'Hourly', type: 'NUMBER', meter: 'Incremental', units: 'call', unitsPlural: 'calls' }],
  products: [{ refId: 'timed', displayName: 'Timed', settings: { multipleSubscriptions: true } }],
  plans: [
    { refId: 'by-the-hour', product: 'timed', displayName: 'By the hour', pricingType: 'FREE' },
    { refId: 'bare', product: 'timed', displayName: 'Bare', pricingType: 'FREE' },
  ].map((plan, index) => ({
    ...plan,
    entitlements:
      index === 1
        ? []
        : [
            { feature: 'hourly', limit: 5, resetPeriod: 'HOUR' },
            { feature: 'calls', limit: 5, resetPeriod: 'MONTH' },
            { feature: 'seats', limit: 5 },
          ],
  })),
}

interface Stored {
  customer: string
  feature: string
  part: string | null
  value: string
  isSet: boolean
  at: number
}

/** The plain way: per part, each report after the other. `stored` in the order of (time, sequence). */
function usageIn(stored: readonly Stored[]): { usage: string; isLevel: boolean } {
  const parts = new Map<string | null, decimal.Decimal>()
  for (const { part, value, isSet } of stored)
    parts.set(part, isSet ? decimal.fromText(value) : decimal.add(parts.get(part) ?? decimal.zero, decimal.fromText(value)))
  return { usage: [...parts.values()].reduce(decimal.add, decimal.zero), isLevel: stored.some(({ isSet }) => isSet) }
}

/** A pool of which it is known how many rows of tables its last transaction read. */
function counting(pool: pg.Pool) {
  const rowsRead = { last: 0 }
  const readOf = async (client: pg.PoolClient) => {
    const { rows } = await client.query<{ rows: string }>(
      "SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) AS rows FROM pg_stat_xact_user_tables WHERE relname LIKE 'usage%'",
    )
    return Number(rows[0]!.rows)
  }
  const connect = async () => {
    const client = await pool.connect()
    let before = 0
    const query = async (...args: Parameters<pg.PoolClient['query']>) => {
      const text = args[0] as unknown
      if (typeof text === 'string' && text.endsWith('COMMIT')) rowsRead.last = (await readOf(client)) - before
      const answer: unknown = await client.query(...args)
      if (text === 'BEGIN') before = await readOf(client)
      return answer
    }
    return new Proxy(client, {
      get(target, key) {
        if (key === 'query') return query
        const value: unknown = Reflect.get(target, key)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }
  const proxy = new Proxy(pool, {
    get(target, key) {
      if (key === 'connect') return connect
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { pool: proxy, rowsRead }
}

describe('reports that are added to what is there', () => {
  let bench: MeteringBench
  let environmentId: string
  /** When the customers came: neither in an hour of the calendar nor in a quarter of one. */
  let start: number
  let now: number

  before(async () => {
    bench = await openMeteringBench()
    environmentId = await createEnvironment(bench)
    await bench.app.catalog.apply(environmentId, more, { dryRun: false, archiveMissing: false })
    await bench.prisma.environment.update({ where: { id: environmentId }, data: { isTest: true } })
    start = bucketOf(Date.now()) + 24 * hour + 7 * minute + 13_001
    now = start + 2 * hour + 40 * minute
    await bench.app.testClocks.create(environmentId, start)
    for (const refId of ['single', 'parted', 'hot', 'cold', 'hot-parts', 'cold-parts'])
      await bench.app.customers.provision(environmentId, { refId, subscription: { planRefId: 'by-the-hour' } })
    for (const customerRefId of ['parted', 'hot-parts', 'cold-parts']) {
      for (const [resourceRefId, planRefId] of [
        ['a', 'by-the-hour'],
        ['b', 'by-the-hour'],
        ['bare', 'bare'],
      ] as const)
        await bench.app.subscriptions.provision(environmentId, { customerRefId, planRefId, resourceRefId })
    }
    await bench.app.testClocks.advance(environmentId, now)
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  const ingestionOn = (pool: pg.Pool) =>
    new ReportIngestion({
      pool,
      bindings: new Bindings(bench.app.heldSeries),
      metrics: createIngestionMetrics(createMetrics('in place')),
      log: silentLogger(),
      clock: bench.app.clock,
    })
  const ingest = async (ingestion: ReportIngestion, batch: ReportItem[][], isRepeat = false) => {
    const calls = batch.map((items) => ({ deadline: Date.now() + minute, items }))
    const answers = await ingestion.ingest(environmentId, calls, isRepeat)
    for (const answer of answers) if ('problem' in answer) throw new Error(JSON.stringify(answer))
  }
  const read = async <Row extends object>(text: string) => (await bench.pool.query<Row>(text, [environmentId])).rows

  const readStored = () =>
    read<Stored>(`
      SELECT customer.ref_id AS customer, feature.ref_id AS feature, resource.ref_id AS part, value::text, behavior = 'SET' AS "isSet",
        floor(extract(epoch FROM occurred_at) * 1000)::float8 AS at
      FROM usage_measurement AS m JOIN customer ON customer.id = m.customer_id JOIN feature ON feature.id = m.feature_id
      LEFT JOIN customer_resource AS resource ON resource.id = m.resource_id
      WHERE m.environment_id = $1::uuid ORDER BY occurred_at, sequence`)
  /** What is kept of the reports, and what it has to be. */
  const keptAndPlain = async () => {
    const stored = await readStored()
    const counters = await read<{
      customer: string
      feature: string
      part: string | null
      from: number | null
      to: number | null
      usage: string
    }>(`
      SELECT customer.ref_id AS customer, feature.ref_id AS feature, resource.ref_id AS part, trim_scale(usage)::text AS usage,
        CASE WHEN isfinite(period_start) OR anchor IS NOT NULL
          THEN floor(extract(epoch FROM greatest(nullif(period_start, '-infinity'), anchor)) * 1000)::float8 END AS from,
        CASE WHEN isfinite(period_end) THEN floor(extract(epoch FROM period_end) * 1000)::float8 END AS to
      FROM usage_counter AS counter JOIN usage_series AS series ON series.id = counter.series_id
      JOIN customer ON customer.id = series.customer_id JOIN feature ON feature.id = series.feature_id
      LEFT JOIN customer_resource AS resource ON resource.id = series.resource_id
      WHERE counter.environment_id = $1::uuid`)
    const buckets = await read<{
      customer: string
      feature: string
      part: string | null
      bucket: number
      usage: string
      isLevel: boolean
    }>(`
      SELECT customer.ref_id AS customer, feature.ref_id AS feature, resource.ref_id AS part, trim_scale(usage)::text AS usage, is_level AS "isLevel",
        floor(extract(epoch FROM bucket_start) * 1000)::float8 AS bucket
      FROM usage_rollup AS r JOIN customer ON customer.id = r.customer_id JOIN feature ON feature.id = r.feature_id
      LEFT JOIN customer_resource AS resource ON resource.id = r.part_id
      WHERE r.environment_id = $1::uuid ORDER BY customer, feature, part, bucket`)
    const of = (customer: string, feature: string, from: number | null, to: number | null) =>
      stored.filter(
        (m) => m.customer === customer && m.feature === feature && (from === null || m.at >= from) && (to === null || m.at < to),
      )
    const keys = new Set(stored.map(({ customer, feature, part, at }) => JSON.stringify([customer, feature, part, bucketOf(at)])))
    return {
      kept: { counters: counters.map(({ usage }) => usage), buckets, numberOfBuckets: buckets.length },
      plain: {
        counters: counters.map(
          ({ customer, feature, part, from, to }) =>
            usageIn(of(customer, feature, from, to).filter((m) => part === null || m.part === part)).usage,
        ),
        buckets: buckets.map(({ customer, feature, part, bucket }) => ({
          ...{ customer, feature, part, bucket },
          ...usageIn(of(customer, feature, bucket, bucket + bucketMs).filter((m) => m.part === part)),
        })),
        numberOfBuckets: keys.size,
      },
      counters,
    }
  }

  const anyHolder = fc.constantFrom(
    { customerId: 'single', resourceId: null },
    { customerId: 'parted', resourceId: null },
    { customerId: 'parted', resourceId: 'a' },
    { customerId: 'parted', resourceId: 'a' },
    { customerId: 'parted', resourceId: 'b' },
    { customerId: 'parted', resourceId: 'bare' },
  )
  /** Null: now. Often where a period or a quarter of an hour begins, and twice the same. */
  const anyTime = fc.oneof(
    fc.constant(null),
    fc.nat(40).map((step) => (time: { start: number; now: number }) => time.now - step * 4 * minute),
    fc.tuple(fc.nat(3), fc.constantFrom(-2 * minute, -minute, -1, 0, 1, minute)).map(
      ([hours, ms]) =>
        (time: { start: number }) =>
          time.start + hours * hour + ms,
    ),
    fc.tuple(fc.nat(10), fc.constantFrom(-1, 0, 1)).map(
      ([quarters, ms]) =>
        (time: { start: number }) =>
          bucketOf(time.start) + quarters * bucketMs + ms,
    ),
    fc.constant((time: { now: number }) => time.now + minute),
  )
  const anyReport = fc.record({
    holder: anyHolder,
    featureId: fc.constantFrom('hourly', 'hourly', 'calls', 'seats', 'unheld'),
    value: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constantFrom(0.1, 0.000000001)),
    behavior: fc.oneof({ arbitrary: fc.constant('DELTA' as const), weight: 2 }, { arbitrary: fc.constant('SET' as const), weight: 1 }),
    time: anyTime,
    isTwice: fc.oneof({ arbitrary: fc.constant(false), weight: 6 }, { arbitrary: fc.constant(true), weight: 1 }),
  })
  const anyBatch = fc.array(fc.array(anyReport, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 })

  it('come to what all that is stored comes to, in whatever order they were made and in whatever batches they come', async function () {
    this.timeout(240_000)
    const everywhere = [0, 1, 2].flatMap((hours) =>
      ['single', 'parted'].flatMap((customerId) =>
        ['hourly', 'calls', 'seats', 'unheld'].flatMap((featureId) =>
          (customerId === 'single' ? [null] : [null, 'a', 'b', 'bare']).map((resourceId) => ({
            ...report(customerId, 1, { resourceId, featureId }),
            at: start + hours * hour + 20 * minute,
          })),
        ),
      ),
    )
    let counters = 0
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.array(anyBatch, { minLength: 2, maxLength: 6 }), async (isBegun, batches) => {
        await bench.pool.query('TRUNCATE usage_measurement, usage_rollup, usage_counter, outbox_message')
        await bench.pool.query('DELETE FROM ingestion_key WHERE environment_id = $1::uuid', [environmentId])
        const workers = [ingestionOn(bench.pool), ingestionOn(bench.pool)]
        // Counters that are there already are added to; the others are computed by what comes first.
        if (isBegun) await ingest(workers[0]!, [everywhere.map(({ at, ...item }) => ({ ...item, id: newId(), timestamp: at }))])
        for (const [index, batch] of batches.entries()) {
          const calls = batch.map((items) =>
            items.flatMap(({ holder, time, isTwice, ...given }): ReportItem[] => {
              const id = newId()
              const item = { ...report(holder.customerId, given.value), ...holder, ...given, value: decimal.fromNumber(given.value), id }
              const reported = { ...item, timestamp: time === null ? null : time({ start, now }), idempotencyKey: `key ${id}` }
              return isTwice ? [reported, { ...reported, id: newId() }] : [reported]
            }),
          )
          await ingest(workers[index % 2]!, calls)
          if (calls.flat().length % 3 === 0) await ingest(workers[(index + 1) % 2]!, calls, true)
          const { kept, plain, counters: all } = await keptAndPlain()
          expect(kept).to.deep.equal(plain)
          counters += all.length
        }
      }),
      { numRuns: 20, endOnFailure: true },
    )
    expect(counters).to.be.above(500)
  })

  it('take what a part had from the total when it is set late, also where the next period has set it in the same quarter of an hour', async () => {
    await bench.pool.query('TRUNCATE usage_measurement, usage_rollup, usage_counter, outbox_message')
    const reset = start + hour
    expect(bucketOf(reset - minute)).to.equal(bucketOf(reset + minute))
    const ingestion = ingestionOn(bench.pool)
    const given = [
      { value: 3, behavior: 'DELTA', timestamp: reset - 2 * minute },
      { value: 10, behavior: 'SET', timestamp: reset + minute },
      { value: 4, behavior: 'SET', timestamp: reset - minute },
    ] as const
    for (const { value, ...more } of given)
      await ingest(ingestion, [[{ ...report('parted', value, { resourceId: 'a', featureId: 'hourly' }), id: newId(), ...more }]])
    const { kept, plain, counters } = await keptAndPlain()
    expect(kept).to.deep.equal(plain)
    expect(counters.filter(({ part, to }) => part === null && to === reset).map(({ usage }) => usage)).to.deep.equal(['4'])
  })

  it('cost the same where thousands were reported in the quarter of an hour, the hour and ever as where nothing was', async function () {
    this.timeout(120_000)
    const many = 2_000
    const holders = (warmth: string) => [
      { customerId: warmth, resourceId: null },
      { customerId: `${warmth}-parts`, resourceId: null },
      { customerId: `${warmth}-parts`, resourceId: 'a' },
    ]
    const features = ['hourly', 'seats']
    const filled = holders('hot').flatMap((holder) =>
      features.map((featureId) =>
        Array.from({ length: many }, () => ({ ...report(holder.customerId, 1, { ...holder, featureId }), id: newId(), timestamp: null })),
      ),
    )
    const { pool, rowsRead } = counting(bench.pool)
    const ingestion = ingestionOn(pool)
    for (const holder of [...holders('hot'), ...holders('cold')])
      for (const featureId of features)
        await ingest(ingestion, [[{ ...report(holder.customerId, 1, { ...holder, featureId }), id: newId(), timestamp: null }]])
    for (const batch of filled) await ingest(ingestion, [batch])
    const kinds = [
      { behavior: 'DELTA', timestamp: now - 20_000 },
      { behavior: 'DELTA', timestamp: now - 20_000 },
      { behavior: 'SET', timestamp: null },
      { behavior: 'DELTA', timestamp: now - 20_000 },
      { behavior: 'SET', timestamp: now + 30_000 },
      { behavior: 'DELTA', timestamp: null },
      { behavior: 'DELTA', timestamp: now + 20_000 },
      { behavior: 'SET', timestamp: now - 20_000 },
    ] as const
    const costs = async (warmth: string) => {
      const rows: Record<string, number> = {}
      for (const { customerId, resourceId } of holders(warmth))
        for (const featureId of features)
          for (const [index, kind] of kinds.entries()) {
            rowsRead.last = 0
            await ingest(ingestion, [[{ ...report(customerId, 2, { resourceId, featureId }), id: newId(), ...kind }]])
            rows[`${customerId.replace(warmth, '')} ${resourceId} ${featureId} ${index}`] = rowsRead.last
          }
      return rows
    }
    const [cold, hot] = [await costs('cold'), await costs('hot')]
    for (const [what, rows] of Object.entries(hot)) expect(rows, what).to.be.below(cold[what]! + 10)
    expect(Math.max(...Object.values(cold))).to.be.below(100)
  })
})
