import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { type CrossingFilter, pageOfCrossings } from '../../../src/notifications/alerts/records/lists.js'

import type { Paging } from '../../../src/platform/list/request.js'
import { lookedAt } from '../../support/looked-at.js'
import { type AlertBench, type AlertEnvironment, amount, openAlertBench } from './alert-bench.js'

/** As many are deleted by one statement at most. */
const mostAtOnce = 5_000
/** An index may lead to a few more than a page; a look through the list would meet all of it. */
const mostLookedAt = 500

describe('crossings of alerts, when there are many', function () {
  this.timeout(120_000)
  let bench: AlertBench
  let environment: AlertEnvironment
  let acme: string

  before(async () => {
    bench = await openAlertBench()
    // What each statement deletes, also one of a foreign key.
    await bench.pool.query(`
      CREATE TABLE deleted_crossings (transaction xid8, count int);
      CREATE FUNCTION note_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO deleted_crossings SELECT pg_current_xact_id(), count(*) FROM gone HAVING count(*) > 0; RETURN NULL;
      END $$;
      CREATE TRIGGER note_deleted AFTER DELETE ON alert_crossing REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_deleted()`)
  })
  const begin = async () => {
    await bench.pool.query('DELETE FROM alert_crossing')
    await bench.pool.query('DELETE FROM deleted_crossings')
    environment = await bench.openEnvironment()
    acme = await newCustomer('acme')
    await environment.news()
  }
  after(async () => expect(await bench.close()).to.deep.equal([]))

  const newCustomer = async (refId: string) => {
    await bench.app.customers.provision(environment.id, { refId, subscription: { planRefId: 'free' } })
    return (await bench.prisma.customer.findFirstOrThrow({ where: { environmentId: environment.id, refId } })).id
  }
  /** So many of a customer, a minute after the other, the last of them so many days ago. */
  const insert = (
    count: number,
    {
      alertId,
      customerId = acme,
      daysAgo = 0,
      isReached = false,
    }: { alertId: string; customerId?: string; daysAgo?: number; isReached?: boolean },
  ) =>
    bench.pool.query(
      `INSERT INTO alert_crossing (environment_id, id, alert_id, customer_id, subject_id, threshold_kind, threshold_value, usage, reached_at, created_at, ended_at, end_reason)
       SELECT $1::uuid, gen_random_uuid(), $2::uuid, $3::uuid, $4::uuid, 'AMOUNT', 1000 + n, 2000, at, at,
         CASE WHEN $6 THEN NULL ELSE at + interval '1 second' END, CASE WHEN $6 THEN NULL ELSE 'BACK_UNDER' END
       FROM generate_series(1, $5::int) AS n, CAST(now() - $7 * interval '1 day' - n * interval '1 minute' AS timestamptz) AS at`,
      [environment.id, alertId, customerId, randomUUID(), count, isReached, daysAgo],
    )
  const crossings = (filter: CrossingFilter = {}, paging: Paging = { first: 100 }) =>
    bench.app.alerts.crossings(environment.id, filter, paging)
  const stored = () => bench.prisma.alertCrossing.count({ where: { environmentId: environment.id } })
  const deletedCounts = async () => {
    const { rows } = await bench.pool.query<{ transaction: string; count: number }>(
      'SELECT transaction::text, count FROM deleted_crossings',
    )
    expect(new Set(rows.map(({ transaction }) => transaction)).size, 'each in a transaction of its own').to.equal(rows.length)
    return rows.map(({ count }) => count)
  }
  const { signal } = new AbortController()

  describe('in the course of time', () => {
    beforeEach(begin)

    it('are forgotten 90 days after they began when they were left, in lots, by several workers too', async () => {
      const alertId = await environment.createAlert({})
      await insert(10_000, { alertId, daysAgo: 90 })
      await insert(300, { alertId, daysAgo: 90, isReached: true })
      // The youngest of them began 89 days ago, the oldest not quite 90.
      await insert(1_000, { alertId, daysAgo: 89 })
      await Promise.all([bench.evaluator, bench.newEvaluator()].map((evaluator) => evaluator.forgetOld(90, signal)))
      expect(await stored()).to.equal(1_300)
      expect((await crossings({ isReached: true })).rows).to.have.lengthOf(100)
      const counts = await deletedCounts()
      expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(10_000)
      expect(Math.max(...counts)).to.be.at.most(mostAtOnce)
    })

    it('go with their alert, in lots, and nobody is told anew of what was reached', async () => {
      const alertId = await environment.createAlert({ thresholds: [amount(5)] })
      const kept = await environment.createAlert({ featureId: 'seats', thresholds: [amount(1)] })
      await environment.use('acme', 6)
      await environment.use('acme', 1, { featureId: 'seats' })
      expect(await environment.types()).to.have.members(['usage.threshold_reached', 'usage.threshold_reached'])
      const other = await newCustomer('globex')
      await environment.news()
      await insert(50_000, { alertId, customerId: other, isReached: true })
      let isDeleted = false
      const deleting = (async () => {
        await bench.app.alerts.delete(environment.id, alertId)
        expect((await crossings({ alertId })).rows, 'as soon as it is deleted').to.deep.equal([])
        expect((await crossings()).rows.map(({ item }) => item.alertId)).to.deep.equal([kept])
        expect((await bench.app.alerts.list(environment.id, null)).rows.map(({ item }) => item.id)).to.deep.equal([kept])
        await bench.evaluator.forgetDeleted(signal)
      })().finally(() => {
        isDeleted = true
      })
      const told: string[] = []
      while (!isDeleted) {
        await environment.use('acme', 1)
        told.push(...(await environment.types()))
      }
      await deleting
      expect(told).to.deep.equal([])
      expect(await stored()).to.equal(1)
      expect(await bench.prisma.alert.count({ where: { environmentId: environment.id } })).to.equal(1)
      expect(Math.max(...(await deletedCounts()))).to.be.at.most(mostAtOnce)
    })

    it('are walked to the end, each once', async () => {
      const alertId = await environment.createAlert({})
      await insert(1_050, { alertId })
      const seen: string[] = []
      for (let after: string | null = null, isMore = true; isMore; ) {
        const page = await crossings({ alertId, customerId: 'acme', isReached: false }, { first: 100, ...(after !== null && { after }) })
        seen.push(...page.rows.map(({ item }) => item.id))
        after = page.rows.at(-1)!.cursor
        isMore = page.hasNextPage
      }
      expect(seen).to.have.lengthOf(1_050)
      expect(new Set(seen).size).to.equal(1_050)
    })
  })

  describe('of which few are looked for', () => {
    const rare = { alertId: '', customerId: 'rare' }

    before(async () => {
      await begin()
      const common = await environment.createAlert({})
      rare.alertId = await environment.createAlert({ thresholds: [amount(1)] })
      const customerId = await newCustomer('rare')
      await insert(50_000, { alertId: common })
      // Rare, and older than all others.
      await insert(20_000, { alertId: common, customerId: await newCustomer('others'), daysAgo: 40, isReached: true })
      await insert(5, { alertId: common, daysAgo: 60, isReached: true })
      await insert(5, { alertId: rare.alertId, daysAgo: 61 })
      await insert(5, { alertId: common, customerId, daysAgo: 62 })
      await bench.pool.query('ANALYZE alert_crossing')
    })

    const cases: [string, () => CrossingFilter, number][] = [
      ['nothing', () => ({}), 10],
      ['an alert of which few are', () => ({ alertId: rare.alertId }), 5],
      ['what is no id of an alert', () => ({ alertId: 'nothing' }), 0],
      ['a customer who has few', () => ({ customerId: rare.customerId }), 5],
      ['a customer whom there is not', () => ({ customerId: 'nobody' }), 0],
      ['a customer who has almost all', () => ({ customerId: 'acme' }), 10],
      ['what is reached now', () => ({ isReached: true }), 10],
      ['what was left', () => ({ isReached: false }), 10],
      ['an alert, and what is reached', () => ({ alertId: rare.alertId, isReached: true }), 0],
      ['a customer, and what is reached', () => ({ customerId: 'acme', isReached: true }), 5],
      ['a customer and an alert', () => ({ customerId: rare.customerId, alertId: rare.alertId }), 0],
    ]
    for (const [what, filter, expected] of cases)
      it(`are found by ${what} without looking through all of them`, async () => {
        const { rows } = await crossings(filter(), { first: 10 })
        expect(rows).to.have.lengthOf(expected)
        const pages: Paging[] = [{ first: 10 }, ...(rows.length > 1 ? [{ first: 10, after: rows[1]!.cursor }] : [])]
        for (const paging of pages)
          for (const { rows, plan } of await lookedAt(bench, (prisma) => pageOfCrossings(prisma, environment.id, filter(), paging)))
            expect(rows, plan).to.be.below(mostLookedAt)
      })
  })
})
