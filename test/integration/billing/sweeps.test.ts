import { expect } from 'chai'
import { BillingSync } from '../../../src/billing/sync.js'
import { settlePayments } from '../../../src/subscription/use-cases/pay.js'
import { type Bench, newAcme, openBench } from './fixture.js'

describe('what billing does by itself', () => {
  let bench: Bench
  let environmentId: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await newAcme(bench)
  })

  /** Our ids of subscriptions, each of a customer of its own, with something due since long ago: the first the longest. */
  async function overdue(names: readonly string[]): Promise<string[]> {
    const ids: string[] = []
    for (const [index, customerRefId] of names.entries()) {
      await bench.customers.provision(environmentId, { refId: customerRefId })
      const request = { customerRefId, planRefId: 'team', billing: { collectionMethod: 'INVOICE' as const } }
      const { id } = (await bench.subscriptions.provision(environmentId, request)).subscription
      ids.push(id)
      await bench.prisma.subscriptionBilling.updateMany({
        where: { environmentId, subscriptionId: id },
        data: { lateUsageDueAt: new Date(1_000 + index), paymentDueAt: new Date(1_000 + index) },
      })
    }
    return ids
  }
  /** As a worker has it; `charge` fails for some. */
  function workerFailing(failing: ReadonlySet<string>, asked: string[]): BillingSync {
    const { prisma, catalog, ledger, after, billingProvider } = bench
    const settle = settlePayments({ prisma, catalog, billing: ledger, after })
    return new BillingSync({
      prisma,
      provider: billingProvider,
      settle: async (environment, subscriptionId, decide) => {
        asked.push(subscriptionId)
        if (failing.has(subscriptionId)) throw new Error('cannot be charged')
        return settle(environment, subscriptionId, decide)
      },
      ledger,
    })
  }

  it('goes on with the others when one fails, however many of those are the oldest, and leaves that alone for a while', async () => {
    const ids = await overdue(['a', 'b', 'c', 'd'])
    const asked: string[] = []
    const worker = workerFailing(new Set(ids.slice(0, 2)), asked)
    const failed = await worker.sweepLateUsage({ limit: 2 }).catch((error: Error) => error.message)
    expect(failed).to.equal('cannot be charged')
    expect(asked).to.deep.equal(ids.slice(0, 2))
    expect(await worker.sweepLateUsage({ limit: 2 })).to.equal(2)
    expect(asked).to.deep.equal(ids)
  })

  it('takes back what nobody paid although that fails for another', async () => {
    const [broken, other] = await overdue(['a', 'b'])
    // A call of that key is refused by the table.
    await bench.pool.query(`
      CREATE FUNCTION refuse_call() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
      CREATE TRIGGER refuse_call BEFORE INSERT ON billing_intent FOR EACH ROW WHEN (NEW.subscription_id = '${broken}') EXECUTE FUNCTION refuse_call()`)
    try {
      const worker = workerFailing(new Set(), [])
      expect(await worker.sweepDeadlines().then(String, (error: Error) => error.message)).to.include('refused')
      const calls = await bench.prisma.billingIntent.findMany({ where: { environmentId, kind: 'VOID' } })
      expect(calls.map(({ subscriptionId }) => subscriptionId)).to.deep.equal([other])
      expect(await worker.sweepDeadlines()).to.equal(0)
    } finally {
      await bench.pool.query('DROP TRIGGER refuse_call ON billing_intent; DROP FUNCTION refuse_call()')
    }
  })
})
