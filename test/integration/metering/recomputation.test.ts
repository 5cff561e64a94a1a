import { expect } from 'chai'
import fc from 'fast-check'
import { RecomputationWorker } from '../../../src/metering/corrections/recomputation.js'
import { Bindings } from '../../../src/metering/counting/bindings.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { effort } from '../../support/effort.js'
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
  usageOf,
} from './fixture.js'

const hour = 3_600_000
const features = ['requests', 'tokens', 'max', 'min', 'avg', 'unique']

describe('counting anew from raw events', () => {
  let bench: MeteringBench
  let environmentId: string
  let serial = 0

  before(async () => {
    bench = await openMeteringBench()
    bench.startIngestion()
    bench.startAggregation()
    environmentId = await createEnvironment(bench)
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  const worker = () =>
    new RecomputationWorker({
      pool: bench.pool,
      bindings: new Bindings(bench.app.heldSeries),
      changed: () => undefined,
      log: silentLogger(),
    })
  const recompute = async (featureId: string, customerId: string | null = null, of = environmentId) => {
    const asked = await bench.usage.recomputations.request(of, { featureId, customerId, from: null, to: null })
    await Promise.all([worker().run(), worker().run()])
    return bench.usage.recomputations.progress(of, asked.id)
  }
  const allCounted = (of = environmentId) =>
    eventually(
      () => count(bench.pool, 'pending_batch', of),
      (waiting) => waiting === 0,
    )
  /**
   * Everything that counting leaves behind of a customer: counters and members of all periods, and what history is read from. But for when a member came
   * first: a late event does not move it, and counting anew does.
   */
  const stored = async (customerId: string) => {
    const { rows } = await bench.pool.query<{ row: string }>(
      `WITH own AS (SELECT id FROM customer WHERE environment_id = $1::uuid AND ref_id = $2)
       SELECT concat_ws(' ', feature.ref_id, series.id, period_start, period_end, trim_scale(usage), events, trim_scale(total), meter_version) AS row
       FROM usage_counter AS counter JOIN usage_series AS series ON series.environment_id = counter.environment_id AND series.id = counter.series_id
       JOIN feature ON feature.environment_id = series.environment_id AND feature.id = series.feature_id
       WHERE counter.environment_id = $1::uuid AND series.customer_id = (SELECT id FROM own) AND (usage <> 0 OR events > 0)
       UNION ALL
       SELECT concat_ws(' ', series.id, period_start, encode(member, 'hex')) FROM usage_member AS member
       JOIN usage_series AS series ON series.environment_id = member.environment_id AND series.id = member.series_id
       WHERE member.environment_id = $1::uuid AND series.customer_id = (SELECT id FROM own)
       UNION ALL
       SELECT concat_ws(' ', feature.ref_id, part_id, bucket_start, trim_scale(usage), events, is_level) FROM usage_rollup AS rollup
       JOIN feature ON feature.environment_id = rollup.environment_id AND feature.id = rollup.feature_id
       WHERE rollup.environment_id = $1::uuid AND rollup.customer_id = (SELECT id FROM own) AND meter_type <> 'None'
       ORDER BY 1`,
      [environmentId, customerId],
    )
    return rows.map(({ row }) => row)
  }

  it('gives what incrementing gave, for every aggregation, with late events, repeats, retries and period boundaries in between', async function () {
    this.timeout(120_000)
    const anEvent = fc.record({
      key: fc.integer({ min: 0, max: 12 }),
      // The instants around the boundaries of hourly periods, and some that are late.
      offset: fc.constantFrom(0, 0, -1, 1, -hour, 1 - hour, -hour - 1, -3 * hour),
      resourceId: fc.constantFrom(null, null, 'a'),
      tokens: fc.constantFrom(1, 0.1, -2.5, 7, 'many', null),
      user: fc.constantFrom('a', 'b', 'c', null),
      status: fc.constantFrom('ok', 'failed'),
    })
    const aCall = fc.record({ events: fc.array(anEvent, { minLength: 1, maxLength: 5 }), isRetried: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(aCall, { minLength: 2, maxLength: 8 }), fc.constantFrom(...features), async (calls, first) => {
        const customerId = `random-${++serial}`
        await bench.app.customers.provision(environmentId, { refId: customerId, subscription: { planRefId: 'free' } })
        await bench.app.subscriptions.provision(environmentId, { customerRefId: customerId, planRefId: 'paid', resourceRefId: 'a' })
        // given: both subscriptions have run for hours, so that there are boundaries in the past
        const boundary = Math.floor(Date.now() / 1_000) * 1_000
        await bench.pool.query(
          `UPDATE subscription SET usage_anchor = $2::timestamptz, start_date = $2::timestamptz
           WHERE environment_id = $1::uuid AND customer_id = (SELECT id FROM customer WHERE environment_id = $1::uuid AND ref_id = $3)`,
          [environmentId, new Date(boundary - 5 * hour).toISOString(), customerId],
        )
        const send = async ({ events }: (typeof calls)[number]) => {
          const sent = events.map(({ key, offset, resourceId, ...dimensions }) =>
            event(customerId, `${key}`, { timestamp: boundary + Math.min(offset, 0), resourceId, dimensions }),
          )
          await bench.usage.reportEvents(environmentId, sent)
        }
        for (const call of calls) {
          await send(call)
          if (call.isRetried) await send(call)
        }
        await allCounted()
        const incremented = await stored(customerId)
        for (const featureId of [first, ...features.filter((other) => other !== first)]) await recompute(featureId, customerId)
        expect(await stored(customerId)).to.deep.equal(incremented)
      }),
      { numRuns: 5 * effort },
    )
  })

  it('counts for a meter that has come later, of all customers that have events, in every period and in history', async () => {
    const of = await createEnvironment(bench)
    const customers = Array.from({ length: 45 }, (_, index) => `customer-${index}`)
    for (const refId of customers) await bench.app.customers.provision(of, { refId, subscription: { planRefId: 'free' } })
    const now = Date.now()
    await bench.pool.query(
      'UPDATE subscription SET usage_anchor = $2::timestamptz, start_date = $2::timestamptz WHERE environment_id = $1::uuid',
      [of, new Date(now - 10 * hour).toISOString()],
    )
    // given: events that no meter wants
    await bench.usage.reportEvents(
      of,
      customers.flatMap((customerId) =>
        [0, 3].map((hoursBack) =>
          event(customerId, `${hoursBack}`, {
            eventName: 'later',
            timestamp: now - hoursBack * hour,
            dimensions: { tokens: hoursBack + 1, user: 'u' },
          }),
        ),
      ),
    )
    await allCounted(of)
    expect(await count(bench.pool, 'usage_series', of)).to.equal(0)
    // when: a meter wants them
    await bench.pool.query(
      `UPDATE meter SET filters = '[[{"field":"eventName","operation":"EQUALS","value":"later"}]]' WHERE environment_id = $1::uuid`,
      [of],
    )
    for (const featureId of ['max', 'unique', 'tokens'])
      expect(await recompute(featureId, null, of), featureId).to.deep.include({ customersDone: 45, customersTotal: 45, countersLeft: 0 })
    for (const refId of ['customer-0', 'customer-44']) {
      const usages = await Promise.all(['max', 'unique', 'tokens'].map((feature) => usageOf(bench, of, refId, feature)))
      expect(usages, refId).to.deep.equal(['1', '1', '5'])
      const points = async (featureId: string) => {
        const { lines } = await bench.usage.history.read(of, historyOf(refId, featureId, { start: now - 6 * hour, end: now + 1 }))
        return lines[0]!.points.map(({ value }) => value).filter((value, index, all) => value !== all[index - 1])
      }
      expect(await points('tokens'), refId).to.deep.equal(['0', '4', '5'])
      expect((await points('unique')).slice(0, 2), refId).to.deep.equal(['0', '1'])
    }
  })

  it('goes on where it was stopped, while events keep coming, and ends with what they say', async function () {
    this.timeout(60_000)
    const of = await createEnvironment(bench)
    const customers = Array.from({ length: 50 }, (_, index) => `customer-${index}`)
    for (const refId of customers) await bench.app.customers.provision(of, { refId, subscription: { planRefId: 'free' } })
    const send = (round: number) =>
      bench.usage.reportEvents(
        of,
        customers.map((customerId) => event(customerId, `${round}`, { dimensions: { tokens: round, user: `${round % 3}` } })),
      )
    await send(1)
    const { id } = await bench.usage.recomputations.request(of, { featureId: 'unique', customerId: null, from: null, to: null })
    const stop = new AbortController()
    // Stopped after its first step.
    const stopped = new RecomputationWorker({
      pool: bench.pool,
      bindings: new Bindings(bench.app.heldSeries),
      changed: () => stop.abort(),
      log: silentLogger(),
    })
    await Promise.all([stopped.run(stop.signal), send(2)])
    const halfway = await bench.usage.recomputations.progress(of, id)
    expect(halfway).to.deep.include({ finishedAt: null, customersTotal: 50 })
    expect(halfway.customersDone).to.be.within(1, 49)
    for (const featureId of ['requests', 'tokens', 'max'])
      await bench.usage.recomputations.request(of, { featureId, customerId: null, from: null, to: null })
    await Promise.all([worker().run(), worker().run(), ...[3, 4, 5, 6].map(send)])
    expect((await bench.usage.recomputations.progress(of, id)).finishedAt).to.be.a('number')
    await allCounted(of)
    for (const refId of customers) {
      const usages = await Promise.all(['requests', 'tokens', 'max', 'unique'].map((feature) => usageOf(bench, of, refId, feature)))
      expect(usages, refId).to.deep.equal(['6', '21', '6', '3'])
    }
  })

  it('counts the customer’s first event after it with the meter as it is now, though nothing had come before', async () => {
    const of = await createEnvironment(bench)
    await bench.app.customers.provision(of, { refId: 'quiet', subscription: { planRefId: 'free' } })
    await bench.pool.query(
      `UPDATE meter SET filters = '[[{"field":"eventName","operation":"EQUALS","value":"other"}]]' WHERE environment_id = $1::uuid`,
      [of],
    )
    const messages = () => bench.prisma.outboxMessage.count({ where: { environmentId: of } })
    const before = await messages()
    await recompute('requests', null, of)
    expect(await messages()).to.equal(before)
    await bench.usage.reportEvents(of, [event('quiet', 'a', { eventName: 'other' }), event('quiet', 'b')])
    await allCounted(of)
    expect(await usageOf(bench, of, 'quiet', 'requests')).to.equal('1')
  })

  it('leaves what was reported in the sum and in history, when a feature has come to be counted from events', async () => {
    const of = await createEnvironment(bench)
    await bench.app.customers.provision(of, { refId: 'reporter', subscription: { planRefId: 'free' } })
    await bench.usage.report(of, [report('reporter', 5)])
    await bench.pool.query(
      `INSERT INTO meter (environment_id, feature_id, aggregation, filters, updated_at)
       SELECT environment_id, id, 'COUNT', '[]', now() FROM feature WHERE environment_id = $1::uuid AND ref_id = 'calls'`,
      [of],
    )
    await bench.usage.reportEvents(of, [event('reporter', 'a'), event('reporter', 'b')])
    await allCounted(of)
    const last = async () => {
      const { lines } = await bench.usage.history.read(of, historyOf('reporter', 'calls'))
      return lines[0]!.points.at(-1)!.value
    }
    expect([await usageOf(bench, of, 'reporter', 'calls'), await last()]).to.deep.equal(['7', '7'])
    await recompute('calls', null, of)
    expect([await usageOf(bench, of, 'reporter', 'calls'), await last()]).to.deep.equal(['7', '7'])
  })

  it('goes on with the others while one can not be done, and comes back to that', async () => {
    const [broken, whole] = [await createEnvironment(bench), await createEnvironment(bench)]
    for (const of of [broken, whole]) {
      await bench.app.customers.provision(of, { refId: 'customer', subscription: { planRefId: 'free' } })
      await bench.usage.reportEvents(of, [event('customer', 'a', { dimensions: { tokens: 3 } })])
      await allCounted(of)
    }
    const asked = await bench.usage.recomputations.request(broken, { featureId: 'tokens', customerId: null, from: null, to: null })
    await bench.pool.query("UPDATE usage_recomputation SET due_at = due_at - interval '1 hour' WHERE id = $1::uuid", [asked.id])
    // It fails however often it is tried.
    await bench.pool.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF NEW.environment_id = '${broken}' AND NEW.customers_done > 0 THEN RAISE EXCEPTION 'never'; END IF; RETURN NEW; END $$;
       CREATE TRIGGER refuse BEFORE UPDATE ON usage_recomputation FOR EACH ROW EXECUTE FUNCTION refuse()`,
    )
    try {
      const done = await recompute('tokens', null, whole)
      expect(done.finishedAt).to.be.a('number')
      const stuck = await bench.usage.recomputations.progress(broken, asked.id)
      expect(stuck).to.deep.include({ finishedAt: null, customersDone: 0 })
      // On a slow machine its pause has passed, and it has failed again, before the other is done.
      const { rows } = await bench.pool.query(
        'SELECT failures > 0 AS failed, due_at > created_at AS later FROM usage_recomputation WHERE id = $1::uuid',
        [asked.id],
      )
      expect(rows).to.deep.equal([{ failed: true, later: true }])
    } finally {
      await bench.pool.query('DROP TRIGGER refuse ON usage_recomputation; DROP FUNCTION refuse()')
    }
    await bench.pool.query('UPDATE usage_recomputation SET due_at = now() WHERE id = $1::uuid', [asked.id])
    await worker().run()
    expect((await bench.usage.recomputations.progress(broken, asked.id)).finishedAt).to.be.a('number')
  })

  describe('of several environments', () => {
    const newEnvironment = async () => {
      const of = await createEnvironment(bench)
      await bench.app.customers.provision(of, { refId: 'customer', subscription: { planRefId: 'free' } })
      return of
    }
    const request = async (of: string, featureId: string, to: number | null = null) =>
      (await bench.usage.recomputations.request(of, { featureId, customerId: null, from: null, to })).id

    it('has their turns, however much one has asked for', async () => {
      const [loud, quiet] = [await newEnvironment(), await newEnvironment()]
      for (const featureId of features) await request(loud, featureId)
      await bench.pool.query("UPDATE usage_recomputation SET due_at = due_at - interval '1 hour' WHERE environment_id = $1::uuid", [loud])
      for (const featureId of ['requests', 'tokens']) await request(quiet, featureId)
      const steps: string[] = []
      const one = new RecomputationWorker({
        pool: bench.pool,
        bindings: new Bindings(bench.app.heldSeries),
        changed: (of) => steps.push(of),
        log: silentLogger(),
      })
      await one.run()
      expect(steps).to.have.length(features.length + 2)
      expect(steps.slice(0, 4).filter((of) => of === quiet)).to.have.length(2)
    })

    it('has smaller steps after a long one, of that alone; and begins again what is asked for again once it has begun', async function () {
      this.timeout(30_000)
      const [loud, quiet] = [await newEnvironment(), await newEnvironment()]
      const [first, other] = [await request(loud, 'requests'), await request(quiet, 'requests')]
      // Not begun: it is the same.
      expect(await request(loud, 'requests')).to.equal(first)
      expect(await request(loud, 'requests', Date.now())).to.not.equal(first)
      const holder = await bench.pool.connect()
      try {
        await holder.query('BEGIN')
        await holder.query('SELECT FROM customer_state WHERE environment_id = $1::uuid FOR UPDATE', [loud])
        const working = worker().run()
        await eventually(
          async () =>
            (await bench.pool.query("SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"))
              .rowCount,
          (waiting) => waiting === 1,
        )
        const again = await request(loud, 'requests')
        expect(again).to.not.equal(first)
        expect(await request(loud, 'requests')).to.equal(again)
        // What a step may take without being a long one.
        await holder.query('SELECT pg_sleep(1.1)')
        await holder.query('COMMIT')
        await working
        for (const id of [first, again]) expect((await bench.usage.recomputations.progress(loud, id)).finishedAt).to.be.a('number')
      } finally {
        holder.release()
      }
      const sizeOf = async (id: string) =>
        (await bench.prisma.usageRecomputation.findFirstOrThrow({ where: { id }, select: { stepSize: true } })).stepSize
      expect([await sizeOf(first), await sizeOf(other)]).to.deep.equal([10, 20])
    })

    it('has a bound of what an environment may ask for before it is done, equal requests aside', async () => {
      const [loud, quiet] = [await newEnvironment(), await newEnvironment()]
      const first = await request(loud, 'requests')
      await bench.pool.query(
        `INSERT INTO usage_recomputation (environment_id, id, feature_id, meter_version, customers_total)
         SELECT environment_id, gen_random_uuid(), feature_id, meter_version + n, 1 FROM usage_recomputation, generate_series(1, 999) AS n
         WHERE environment_id = $1::uuid`,
        [loud],
      )
      const refused = await problemOf(request(loud, 'tokens'))
      expect(refused).to.include({ code: 'RESOURCE_EXHAUSTED', reason: 'TOO_MANY_RECOMPUTATIONS' })
      expect(await request(loud, 'requests')).to.equal(first)
      await request(quiet, 'tokens')
      await bench.pool.query('DELETE FROM usage_recomputation WHERE environment_id = ANY($1::uuid[])', [[loud, quiet]])
      await request(loud, 'tokens')
      await worker().run()
    })
  })
})
