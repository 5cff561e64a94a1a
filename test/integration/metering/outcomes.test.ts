import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { newId } from '../../../src/kernel/id.js'
import { Problem } from '../../../src/kernel/problem.js'
import { patienceOf } from '../../../src/metering/intake/patience.js'
import type { UsageReport } from '../../../src/metering/model/report.js'
import { administer } from '../../support/database.js'
import { stallingSession, whileCommitsStall } from '../../support/stalled-commits.js'
import {
  count,
  createEnvironment,
  event,
  eventually,
  type MeteringBench,
  openMeteringBench,
  problemOf,
  report,
  usageOf,
} from './fixture.js'

/** What nobody acknowledged is called what it is: not counted, or unknown under a key that a repeat counts once with. */
describe('usage that is not acknowledged', () => {
  let bench: MeteringBench
  let environmentId: string

  beforeEach(async () => {
    bench = await openMeteringBench({ shards: 1, session: stallingSession })
    environmentId = await createEnvironment(bench)
    await bench.app.customers.provision(environmentId, { refId: 'customer', subscription: { planRefId: 'free' } })
  })
  afterEach(async () => expect(await bench.close()).to.deep.equal([]))

  const usage = (featureId = 'calls') => usageOf(bench, environmentId, 'customer', featureId)
  const expectUnknown = (problem: Problem, details: object) => {
    expect(problem).to.include({ code: 'DEADLINE_EXCEEDED', reason: 'USAGE_OUTCOME_UNKNOWN' })
    expect(problem.details).to.deep.equal({ outcome: 'unknown', ...details })
  }

  describe('while its commit stalls', () => {
    const ways: [way: string, more: () => Partial<UsageReport>, counted: string][] = [
      ['counted the short way', () => ({}), '4'],
      ['counted the long way', () => ({ behavior: 'SET' }), '3'],
      ['dated', () => ({ timestamp: Date.now() }), '4'],
    ]
    for (const [way, more, counted] of ways) {
      it(`and is ${way}, may be counted: it is, and under its key only once`, async function () {
        this.timeout(20_000)
        bench.startIngestion()
        // What it is to be added to is known.
        await bench.usage.report(environmentId, [report('customer', 1)])
        const door = bench.newUsage({ answerWithinMs: 2_000 })
        const sent = report('customer', 3, { idempotencyKey: 'chosen', ...more() })
        await whileCommitsStall(bench.databaseUrl, async () => {
          expectUnknown(await problemOf(door.report(environmentId, [sent])), { idempotencyKey: 'chosen' })
          expect(await usage()).to.equal('1')
        })
        expect(await eventually(usage, (known) => known === counted)).to.equal(counted)
        const [again] = await door.report(environmentId, [sent])
        expect(again!.currentUsage).to.equal(counted)
        expect(await count(bench.pool, 'usage_measurement', environmentId)).to.equal(2)
      })
    }

    it('has a key to be sent again under, also without one of its own', async function () {
      this.timeout(20_000)
      bench.startIngestion()
      const door = bench.newUsage({ answerWithinMs: 1_500 })
      const sent = [report('customer', 2), report('customer', 5, { idempotencyKey: 'chosen' })]
      let keys: string[] = []
      await whileCommitsStall(bench.databaseUrl, async () => {
        const problem = await problemOf(door.report(environmentId, sent))
        keys = problem.details.idempotencyKeys as string[]
        expectUnknown(problem, { idempotencyKeys: keys })
        expect(keys).to.have.length(2)
        expect(keys[1]).to.equal('chosen')
      })
      const again = await door.report(
        environmentId,
        sent.map((item, index) => ({ ...item, idempotencyKey: keys[index]! })),
      )
      expect(again.map(({ currentUsage }) => currentUsage)).to.deep.equal(['7', '7'])
      expect(await usage()).to.equal('7')
      // One of somebody else is none of its own.
      await bench.app.customers.provision(environmentId, { refId: 'other', subscription: { planRefId: 'free' } })
      const taken = await problemOf(door.report(environmentId, [report('other', 2, { idempotencyKey: keys[0]! })]))
      expect(taken).to.include({ code: 'ALREADY_EXISTS' })
    })

    it('is answered when it is sent again before that is over', async function () {
      this.timeout(20_000)
      bench.startIngestion()
      const door = bench.newUsage({ answerWithinMs: 1_000 })
      const sent = [report('customer', 3, { idempotencyKey: 'chosen' })]
      const again = await whileCommitsStall(bench.databaseUrl, async () => {
        expectUnknown(await problemOf(door.report(environmentId, sent)), { idempotencyKey: 'chosen' })
        return { answer: bench.usage.report(environmentId, sent) }
      })
      expect((await again.answer)[0]!.currentUsage).to.equal('3')
      expect(await usage()).to.equal('3')
    })

    it('may be counted where it is an event, too', async function () {
      this.timeout(20_000)
      bench.startIngestion()
      bench.startAggregation()
      const door = bench.newUsage({ answerWithinMs: 1_000 })
      await whileCommitsStall(bench.databaseUrl, async () => {
        expectUnknown(await problemOf(door.reportEvents(environmentId, [event('customer', 'a')])), { idempotencyKey: 'a' })
        const several = [event('customer', 'b'), event('customer', 'c')]
        expectUnknown(await problemOf(door.reportEvents(environmentId, several)), { idempotencyKeys: ['b', 'c'] })
      })
      await door.reportEvents(environmentId, [event('customer', 'a'), event('customer', 'b'), event('customer', 'd')])
      expect(
        await eventually(
          () => usage('requests'),
          (known) => known === '4',
        ),
      ).to.equal('4')
      expect(await count(bench.pool, 'raw_event', environmentId)).to.equal(4)
    })
  })

  it('may be counted when its caller goes after it was handed over', async function () {
    this.timeout(20_000)
    const sent = [report('customer', 3, { idempotencyKey: 'chosen' })]
    const problem = await problemOf(bench.usage.report(environmentId, sent, patienceOf(AbortSignal.timeout(300))))
    expectUnknown(problem, { idempotencyKey: 'chosen' })
    bench.startIngestion()
    expect(await eventually(usage, (known) => known === '3')).to.equal('3')
    expect((await bench.usage.report(environmentId, sent))[0]!.currentUsage).to.equal('3')
  })

  it('is acknowledged all the same when the process stood still past its time, and the answer had come', async function () {
    this.timeout(20_000)
    bench.startIngestion()
    const door = bench.newUsage({ answerWithinMs: 3_000 })
    await door.report(environmentId, [report('customer', 1)])
    const caller = new AbortController()
    const sent = door.report(environmentId, [report('customer', 2)], patienceOf(caller.signal))
    // when its job has left, and the commit is done, as PostgreSQL sees it
    await eventually(
      () => count(bench.pool, 'usage_measurement', environmentId),
      (stored) => stored === 2,
    )
    // then nothing is heard for longer than it waits
    const until = performance.now() + 2_200
    while (performance.now() < until);
    setTimeout(() => caller.abort())
    expect((await sent)[0]!.currentUsage).to.equal('3')
  })

  it('is counted when the database was read-only for a moment', async function () {
    this.timeout(30_000)
    bench.startIngestion()
    bench.startAggregation()
    await bench.usage.report(environmentId, [report('customer', 1)])
    const name = new URL(bench.databaseUrl).pathname.slice(1)
    // As a server that is demoted, and another that takes over: sessions end, and new ones find what is there.
    const setReadOnly = (sql: string) =>
      administer(bench.databaseUrl.replace(/\/[^/]*$/, '/postgres'), async (client) => {
        await client.query(`ALTER DATABASE ${name} ${sql}`)
        await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name])
      })
    await setReadOnly('SET default_transaction_read_only = on')
    const sent = Promise.all([
      bench.usage.report(environmentId, [report('customer', 3)]),
      bench.usage.reportEvents(environmentId, [event('customer', newId())]),
    ])
    try {
      await sleep(2_000)
    } finally {
      await setReadOnly('RESET default_transaction_read_only')
    }
    const [[answer]] = await sent
    expect(answer!.currentUsage).to.equal('4')
    expect(
      await eventually(
        () => usage('requests'),
        (known) => known === '1',
      ),
    ).to.equal('1')
  })
})
