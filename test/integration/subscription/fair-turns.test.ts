import { expect } from 'chai'
import { silentLogger } from '../../../src/platform/logger.js'
import { Life } from '../../../src/platform/process.js'
import { consume } from '../../../src/platform/queue/consume.js'
import { openQueue } from '../../../src/platform/queue.js'
import { DueWakeUps, wakeUpOwners } from '../../../src/subscription/time/due-wake-ups.js'
import { applyDueTransitions } from '../../../src/subscription/time/jobs.js'
import type { MigrationFailure } from '../../../src/subscription/use-cases/migrate.js'
import { eventually } from '../../support/eventually.js'
import { type Bench, openBench } from './fixture.js'

/** More than have a turn together. */
const ofLoud = 60
const turn = 25

describe('work on the subscriptions of several environments', function () {
  this.timeout(240_000)
  let bench: Bench
  let loud: string
  let quiet: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    ;[loud, quiet] = [await bench.createEnvironment(), await bench.createEnvironment()]
  })

  const soon = (what: string, condition: () => Promise<boolean>) => eventually(what, condition, 60_000)

  describe('that move to a new version', () => {
    const customers = async (environmentId: string, count: number) => {
      for (let n = 0; n < count; n += 1) await bench.customers.provision(environmentId, { refId: `customer-${n}` })
    }
    const publish = (environmentId: string) =>
      bench.catalog.apply(
        environmentId,
        { plans: [{ refId: 'free', product: 'cloud', publish: 'ALL_CUSTOMERS', displayName: 'Free' }] },
        { dryRun: false, archiveMissing: false },
      )
    const progress = async (environmentId: string) => {
      const { migrated, total, finishedAt } = (await bench.packageMigrations.list(environmentId)).find(
        ({ packageRefId }) => packageRefId === 'free',
      )!
      return { migrated, total, isFinished: finishedAt !== null }
    }
    /** Works on what there is, and answers whose subscriptions were moved, in their order, and what failed. */
    const run = async () => {
      const moved: string[] = []
      const failures: MigrationFailure[] = []
      const { changed } = bench.after
      bench.after.changed = (environmentId) => {
        moved.push(environmentId)
        changed(environmentId)
      }
      try {
        await bench.packageMigrations.run(new AbortController().signal, (failure) => failures.push(failure))
      } finally {
        bench.after.changed = changed
      }
      return { moved, failures }
    }

    it('takes those of one that begins while many of another are being moved after one turn of that', async () => {
      await customers(loud, ofLoud)
      await customers(quiet, 2)
      await publish(loud)
      // given a run that is at the first of the loud one
      const db = await bench.pool.connect()
      await db.query('BEGIN')
      await db.query('SELECT FROM customer_state WHERE environment_id = $1::uuid FOR UPDATE', [loud])
      const running = run()
      await soon('a customer to be waited for', async () => {
        const { rows } = await bench.pool.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%customer_state%FOR UPDATE%'`,
        )
        return rows.length > 0
      })
      // when the quiet one publishes too
      await publish(quiet)
      await db.query('ROLLBACK')
      db.release()
      // then its customers come after those of the turn that had begun, and one more
      const { moved, failures } = await running
      expect(failures).to.deep.equal([])
      expect(moved.filter((environmentId) => environmentId === loud)).to.have.length(ofLoud)
      expect(moved.lastIndexOf(quiet)).to.be.within(1, 2 * turn + 1)
      expect(await progress(quiet)).to.deep.equal({ migrated: 2, total: 2, isFinished: true })
      expect(await progress(loud)).to.deep.equal({ migrated: ofLoud, total: ofLoud, isFinished: true })
    })

    it('goes on with all others when one cannot even be looked at, and leaves that alone for a while', async () => {
      await customers(loud, 1)
      await customers(quiet, 1)
      await publish(loud)
      await publish(quiet)
      await bench.pool.query(`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
        CREATE TRIGGER refuse BEFORE UPDATE ON package_migration FOR EACH ROW WHEN (NEW.environment_id = '${loud}') EXECUTE FUNCTION refuse()`)
      try {
        const { moved, failures } = await run()
        expect(moved).to.deep.equal([quiet])
        expect(new Set(failures.map(({ environmentId, customerId }) => `${environmentId} ${customerId}`))).to.deep.equal(
          new Set([`${loud} null`]),
        )
        expect((await progress(quiet)).isFinished).to.equal(true)
        expect(await run()).to.deep.equal({ moved: [], failures: [] })
      } finally {
        await bench.pool.query('DROP FUNCTION refuse CASCADE')
      }
    })

    it('ends when nobody can be moved now, having tried each once', async () => {
      await customers(loud, turn + 5)
      await publish(loud)
      await bench.pool.query(`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
        CREATE TRIGGER refuse BEFORE UPDATE ON subscription FOR EACH ROW WHEN (NEW.environment_id = '${loud}') EXECUTE FUNCTION refuse()`)
      try {
        const [first, second, third] = [await run(), await run(), await run()]
        expect([first, second, third].map(({ moved }) => moved.length)).to.deep.equal([0, 0, 0])
        const tried = [...first.failures, ...second.failures].map(({ customerId }) => customerId)
        expect(first.failures.length).to.be.at.most(turn)
        expect(new Set(tried).size).to.equal(tried.length)
        expect(third.failures).to.deep.equal([])
      } finally {
        await bench.pool.query('DROP FUNCTION refuse CASCADE')
      }
    })
  })

  it('wakes for those of one though a thousand jobs of another came before and none of them can be done', async () => {
    const life = new Life('transitions', silentLogger())
    const queue = openQueue(life, bench.queues, applyDueTransitions)
    // given more of the loud one than it may have in work
    const jobs = wakeUpOwners.mostJobs / 2 + 50
    await queue.addAll(Array.from({ length: jobs }, () => ({ v: 1 as const, environmentId: loud, customerId: crypto.randomUUID() })))
    await queue.add({ v: 1, environmentId: quiet, customerId: crypto.randomUUID() })
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const done: string[] = []
    const work = async (environmentId: string) => {
      if (environmentId === loud) await released
      done.push(environmentId)
    }
    const wakeUps = new DueWakeUps(
      {
        dueCustomers: async () => [],
        applyDue: (environmentId) => work(environmentId).then(() => true),
        applyDueTogether: (environmentId, customerIds) => work(environmentId).then(() => customerIds),
      },
      { lanes: 2 },
    )
    let taken = 0
    consume(life, bench.queues, applyDueTransitions, {
      concurrency: 2,
      owners: wakeUpOwners,
      handler: async ({ environmentId, customerId }) => {
        if (environmentId === loud) taken += 1
        await wakeUps.apply(environmentId, customerId)
      },
    })
    try {
      await soon('the quiet one to be done', async () => done.length > 0)
      expect(done).to.deep.equal([quiet])
      await soon('the rest to be left to the sweep', async () => (await queue.unfinished()) === wakeUpOwners.mostJobs / 2)
      expect(taken).to.equal(wakeUpOwners.mostJobs / 2)
      release()
      await soon('all to end', async () => (await queue.unfinished()) === 0)
    } finally {
      release()
      expect(await life.stop()).to.deep.equal([])
    }
  })
})
