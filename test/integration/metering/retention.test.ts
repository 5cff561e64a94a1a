import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { newId } from '../../../src/kernel/id.js'
import { RecomputationWorker } from '../../../src/metering/corrections/recomputation.js'
import { Bindings } from '../../../src/metering/counting/bindings.js'
import { EventRetention } from '../../../src/metering/retention/event-retention.js'
import { KeyPruning } from '../../../src/metering/retention/key-pruning.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { createMetrics } from '../../../src/platform/metrics.js'
import { findUsagePeriods } from '../../../src/wiring/usage-periods.js'
import {
  count,
  createEnvironment,
  event,
  eventually,
  historyOf,
  type MeteringBench,
  openMeteringBench,
  problemOf,
  usageOf,
} from './fixture.js'

const day = 86_400_000

describe('retention', () => {
  let bench: MeteringBench

  before(async () => {
    bench = await openMeteringBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  const metrics = () => createMetrics('retention')
  const retention = (keptDays = 0, registry = metrics()) =>
    new EventRetention({
      pool: bench.pool,
      log: silentLogger(),
      metrics: registry,
      keptDays,
      usagePeriods: () => findUsagePeriods(bench.prisma),
    })

  it('deletes identities that no repeat can need, and only those', async () => {
    const environmentId = await createEnvironment(bench)
    const insert = (keys: number, age: string) =>
      bench.pool.query(
        'INSERT INTO ingestion_key (environment_id, hash, record_id, created_at) SELECT $1::uuid, hash, $2::uuid, now() - $4::interval FROM unnest($3::bytea[]) AS hash',
        [environmentId, newId(), Array.from({ length: keys }, () => randomBytes(32)), age],
      )
    await insert(500, '41 days')
    await insert(300, '39 days')
    const pruning = new KeyPruning(bench.pool)
    let deleted = 0
    for (let step = 0; step < 16; step++) deleted += await pruning.step()
    expect(deleted).to.equal(500)
    expect(await count(bench.pool, 'ingestion_key', environmentId)).to.equal(300)
  })

  it('knows a repeat that comes after midnight, in the next month, and when its event is gone', async () => {
    bench.startIngestion()
    const environmentId = await createEnvironment(bench)
    await bench.app.customers.provision(environmentId, { refId: 'customer', subscription: { planRefId: 'free' } })
    const send = () => bench.usage.reportEvents(environmentId, [event('customer', 'a'), event('customer', 'b')])
    await send()
    for (const daysBack of [1, 32]) {
      await bench.pool.query(
        'UPDATE raw_event SET occurred_at = occurred_at - make_interval(days => $2::int) WHERE environment_id = $1::uuid',
        [environmentId, daysBack],
      )
      await bench.pool.query(
        'UPDATE ingestion_key SET created_at = created_at - make_interval(days => $2::int) WHERE environment_id = $1::uuid',
        [environmentId, daysBack],
      )
      await send()
      expect(await count(bench.pool, 'raw_event', environmentId)).to.equal(2)
    }
    await bench.pool.query('DELETE FROM raw_event WHERE environment_id = $1::uuid', [environmentId])
    await send()
    expect(await count(bench.pool, 'raw_event', environmentId)).to.equal(0)
  })

  const insertEvent = (environmentId: string, daysBack: number, { customerId = newId(), batchId = newId(), tokens = 1 } = {}) =>
    bench.pool.query(
      `INSERT INTO raw_event (environment_id, batch_id, position, occurred_at, customer_id, event_name, dimensions)
       VALUES ($1::uuid, $2::uuid, 0, now() - make_interval(secs => $3), $4::uuid, 'request', jsonb_build_object('tokens', $5::int))`,
      [environmentId, batchId, daysBack * 86_400, customerId, tokens],
    )
  /** The months that the range of days back has, as a platform that has run for so long has them. */
  const makeMonths = (daysBack: number) =>
    bench.pool.query("SELECT ensure_raw_event_partitions(now() - make_interval(days => $1::int), now() + interval '62 days')", [daysBack])
  const keptSince = async (environmentId: string) =>
    (await bench.prisma.environment.findUniqueOrThrow({ where: { id: environmentId } })).eventsKeptSince?.getTime() ?? null

  it('has a month for every time that events may be stored with', async () => {
    await bench.pool.query('DROP TABLE IF EXISTS raw_event_default')
    await Promise.all([retention().run(), retention().run()])
    const environmentId = await createEnvironment(bench)
    for (const days of [35, 0, -31, -61]) await insertEvent(environmentId, days)
    expect(await count(bench.pool, 'raw_event', environmentId)).to.equal(4)
    await bench.pool.query('CREATE TABLE raw_event_default PARTITION OF raw_event_by_month DEFAULT')
  })

  it('makes a month whose events have come before it, and takes them over', async () => {
    const environmentId = await createEnvironment(bench)
    for (const days of [-200, -200, -400]) await insertEvent(environmentId, days)
    await bench.pool.query("SELECT ensure_raw_event_partitions(now() + interval '199 days', now() + interval '201 days')")
    expect(await count(bench.pool, 'raw_event_default', environmentId)).to.equal(1)
    expect(await count(bench.pool, 'raw_event', environmentId)).to.equal(3)
  })

  it('keeps what a test clock stores ahead apart: making its month moves nothing, and it is counted once', async () => {
    bench.startIngestion()
    bench.startAggregation()
    const environmentId = await createEnvironment(bench)
    await bench.prisma.environment.update({ where: { id: environmentId }, data: { isTest: true } })
    await bench.app.customers.provision(environmentId, { refId: 'customer', subscription: { planRefId: 'free' } })
    const at = Date.now() + 500 * day
    await bench.app.testClocks.create(environmentId, at)
    await bench.usage.reportEvents(environmentId, [event('customer', 'a'), event('customer', 'b', { timestamp: at - 2 * day })])
    const places = async () => {
      const { rows } = await bench.pool.query<{ place: string }>(
        'SELECT tableoid::regclass::text || ctid::text AS place FROM raw_event WHERE environment_id = $1::uuid ORDER BY occurred_at',
        [environmentId],
      )
      return rows.map(({ place }) => place)
    }
    const before = await places()
    expect(before).to.have.length(2)
    await bench.pool.query("SELECT ensure_raw_event_partitions(now() + interval '490 days', now() + interval '501 days')")
    expect(await places()).to.deep.equal(before)
    await bench.usage.reportEvents(environmentId, [event('customer', 'a'), event('customer', 'c')])
    await eventually(
      () => count(bench.pool, 'pending_batch', environmentId),
      (waiting) => waiting === 0,
    )
    expect(await count(bench.pool, 'raw_event', environmentId)).to.equal(3)
    expect(await usageOf(bench, environmentId, 'customer', 'requests')).to.equal('3')
    await bench.usage.corrections.changeEvent(environmentId, event('customer', 'a'), null)
    expect(await usageOf(bench, environmentId, 'customer', 'requests')).to.equal('2')
  })

  it('leaves a month where it is when everybody would wait for its events to move, and makes the next', async function () {
    this.timeout(60_000)
    const environmentId = await createEnvironment(bench)
    const insert = (events: number) =>
      bench.pool.query(
        `INSERT INTO raw_event (environment_id, batch_id, position, occurred_at, customer_id, event_name, dimensions)
         SELECT $1::uuid, $2::uuid, n, now() + interval '600 days', $2::uuid, 'request', '{}' FROM generate_series(1, $3::int) AS n`,
        [environmentId, newId(), events],
      )
    const ensure = () => bench.pool.query("SELECT ensure_raw_event_partitions(now() + interval '600 days', now() + interval '640 days')")
    const made = async (days: number) => {
      const name = "'raw_event_' || to_char((now() + make_interval(days => $1::int)) AT TIME ZONE 'UTC', 'YYYYMM')"
      return (await bench.pool.query(`SELECT to_regclass(${name}) IS NOT NULL AS made`, [days])).rows[0].made
    }
    await insert(100_001)
    await ensure()
    expect([await made(600), await made(640)]).to.deep.equal([false, true])
    await bench.pool.query('DELETE FROM raw_event WHERE environment_id = $1::uuid AND position > 10', [environmentId])
    await ensure()
    expect(await made(600)).to.equal(true)
    expect([
      await count(bench.pool, 'raw_event_default', environmentId),
      await count(bench.pool, 'raw_event', environmentId),
    ]).to.deep.equal([0, 10])
  })

  describe('of raw events', () => {
    it('ends also where a month can not be made, and takes with it what is as old and in no month', async () => {
      const environmentId = await createEnvironment(bench)
      await makeMonths(300)
      const batchId = newId()
      await insertEvent(environmentId, 290)
      for (const isWaiting of [false, true])
        await bench.pool.query(
          `INSERT INTO raw_event (environment_id, batch_id, position, is_ahead, occurred_at, customer_id, event_name, dimensions)
           SELECT $1::uuid, $2::uuid, n, true, now() - make_interval(days => n), $2::uuid, 'request', '{}' FROM unnest(ARRAY[3, 200, 250]) AS n`,
          [environmentId, isWaiting ? batchId : newId()],
        )
      await bench.pool.query('INSERT INTO pending_batch (environment_id, id) VALUES ($1::uuid, $2::uuid)', [environmentId, batchId])
      // given: a month that has events beside it can't be made
      const { rows } = await bench.pool.query<{ name: string }>(
        "SELECT 'raw_event_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMM') AS name",
      )
      await bench.pool.query(
        `DROP TABLE ${rows[0]!.name};
         CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'never'; END $$;
         CREATE TRIGGER refuse BEFORE DELETE ON raw_event_default FOR EACH ROW EXECUTE FUNCTION refuse()`,
      )
      await insertEvent(environmentId, 0)
      const failure = await retention()
        .run()
        .catch(({ message }: Error) => message)
      await bench.pool.query('DROP TRIGGER refuse ON raw_event_default; DROP FUNCTION refuse()')
      expect(failure).to.equal('never')
      expect(await keptSince(environmentId)).to.be.a('number')
      // What waits stays, and what is not old.
      expect(await count(bench.pool, 'raw_event', environmentId)).to.equal(5)
      await bench.pool.query('DELETE FROM pending_batch WHERE id = $1::uuid', [batchId])
      await makeMonths(300)
    })

    it('ends with the longest usage period of the catalog and the time for changes, in whole months, and the rest stays', async () => {
      const environmentId = await createEnvironment(bench)
      await makeMonths(300)
      for (const days of [290, 140, 72, 3]) await insertEvent(environmentId, days)
      // given: the longest period is a month, so 73 days are needed, and the operator wants 200
      await retention(200).run()
      expect(await count(bench.pool, 'raw_event', environmentId)).to.equal(3)
      const registry = metrics()
      await Promise.all([retention(0, registry).run(), retention().run()])
      expect(await count(bench.pool, 'raw_event', environmentId)).to.equal(2)
      const since = await keptSince(environmentId)
      expect(since).to.be.within(Date.now() - 105 * day, Date.now() - 73 * day)
      expect(await registry.metrics()).to.include(`tollgate_raw_events_kept_since_seconds{process="retention"} ${since! / 1_000}`)
    })

    it('never ends while usage that is never reset is counted from them, and not for what still waits to be counted', async () => {
      const environmentId = await createEnvironment(bench)
      await makeMonths(300)
      const batchId = newId()
      await insertEvent(environmentId, 290, { batchId })
      await bench.app.customers.provision(environmentId, { refId: 'customer' })
      await bench.pool.query(
        `INSERT INTO promotional_entitlement (environment_id, id, customer_id, feature_id, period, has_unlimited_usage, start_date, updated_at)
         SELECT customer.environment_id, $2::uuid, customer.id, feature.id, 'LIFETIME', true, now(), now() FROM customer JOIN feature USING (environment_id)
         WHERE environment_id = $1::uuid AND feature.ref_id = 'tokens'`,
        [environmentId, newId()],
      )
      await retention().run()
      expect(await count(bench.pool, 'raw_event', environmentId)).to.equal(1)
      await bench.pool.query('DELETE FROM promotional_entitlement WHERE environment_id = $1::uuid', [environmentId])
      await bench.pool.query('INSERT INTO pending_batch (environment_id, id) VALUES ($1::uuid, $2::uuid)', [environmentId, batchId])
      await retention().run()
      expect(await count(bench.pool, 'raw_event', environmentId)).to.equal(1)
      await bench.pool.query('DELETE FROM pending_batch WHERE id = $1::uuid', [batchId])
      await retention().run()
      expect(await count(bench.pool, 'raw_event', environmentId)).to.equal(0)
    })

    it('waits for who reads them, and holds up nobody who writes meanwhile for long', async () => {
      const environmentId = await createEnvironment(bench)
      await makeMonths(300)
      await insertEvent(environmentId, 290)
      const reader = await bench.pool.connect()
      await reader.query('BEGIN')
      await reader.query('SELECT count(*) FROM raw_event')
      const dropping = retention().run()
      const slowest = await (async () => {
        let longest = 0
        for (const end = performance.now() + 1_500; performance.now() < end; ) {
          const startedAt = performance.now()
          await insertEvent(environmentId, 1)
          longest = Math.max(longest, performance.now() - startedAt)
        }
        return longest
      })()
      await reader.query('COMMIT')
      reader.release()
      await dropping
      expect(slowest).to.be.below(1_500)
      expect(await keptSince(environmentId)).to.be.a('number')
    })
  })

  describe('and counting anew', () => {
    it('refuses a time of which events have been dropped, and lowers no usage of it', async () => {
      const environmentId = await createEnvironment(bench)
      await bench.app.customers.provision(environmentId, { refId: 'customer', subscription: { planRefId: 'free' } })
      const { id: customerId } = await bench.prisma.customer.findFirstOrThrow({ where: { environmentId } })
      await makeMonths(300)
      // given: a subscription that is old, with usage of 290 days ago and of now
      await bench.pool.query(
        `UPDATE subscription SET start_date = now() - interval '300 days', usage_anchor = now() - interval '300 days' WHERE environment_id = $1::uuid`,
        [environmentId],
      )
      await bench.pool.query(
        `UPDATE customer_state SET access_version = version + 1, version = version + 1 WHERE environment_id = $1::uuid`,
        [environmentId],
      )
      for (const [days, tokens] of [
        [290, 5],
        [0, 7],
      ] as const)
        await insertEvent(environmentId, days, { customerId, tokens })
      const recompute = async (from: number | null) => {
        const asked = await bench.usage.recomputations.request(environmentId, { featureId: 'tokens', customerId: null, from, to: null })
        await new RecomputationWorker({
          pool: bench.pool,
          bindings: new Bindings(bench.app.heldSeries),
          changed: () => undefined,
          log: silentLogger(),
        }).run()
        return bench.usage.recomputations.progress(environmentId, asked.id)
      }
      const total = async () => {
        const { rows } = await bench.pool.query<{ sum: string }>(
          `SELECT sum(usage)::text AS sum FROM usage_counter JOIN usage_series ON usage_series.environment_id = usage_counter.environment_id AND usage_series.id = series_id
           WHERE usage_counter.environment_id = $1::uuid AND feature_id = (SELECT id FROM feature WHERE environment_id = $1::uuid AND ref_id = 'tokens')`,
          [environmentId],
        )
        return rows[0]!.sum
      }
      const history = async () => {
        const { lines } = await bench.usage.history.read(
          environmentId,
          historyOf('customer', 'tokens', { start: Date.now() - 299 * day, reset: { period: 'YEAR', rule: 'SubscriptionStart' } }),
        )
        return lines[0]!.points.reduce((sum, { value }) => sum + Number(value), 0)
      }
      expect(await recompute(null)).to.include({ countersLeft: 0, customersTotal: 1, customersDone: 1 })
      expect([await total(), await usageOf(bench, environmentId, 'customer', 'tokens')]).to.deep.equal(['12', '7'])
      const drawn = await history()
      await retention().run()
      expect(await count(bench.pool, 'raw_event', environmentId)).to.equal(1)
      const refused = await problemOf(recompute(Date.now() - 290 * day))
      expect(refused).to.include({ code: 'FAILED_PRECONDITION', reason: 'RAW_EVENTS_DROPPED' })
      expect(refused.details).to.deep.equal({ startDate: new Date((await keptSince(environmentId))!).toISOString() })
      // when: everything that can be is counted anew
      const done = await recompute(null)
      expect(done.countersLeft).to.equal(1)
      expect([await total(), await usageOf(bench, environmentId, 'customer', 'tokens')]).to.deep.equal(['12', '7'])
      expect(await history()).to.equal(drawn)
    })
  })
})
