import { expect } from 'chai'
import type { BillingProvider } from '../../../src/billing/rules/provider.js'
import { unavailable } from '../../../src/kernel/problem.js'
import { eventually } from '../../support/eventually.js'
import { type Bench, newAcme, openBench } from './fixture.js'
import { payer } from './payer.js'

/** More than a process calls of one environment at the same time. */
const many = 6

describe('calls of the billing provider of several environments', () => {
  let bench: Bench
  let slow: string
  let quick: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    slow = await newAcme(bench)
    quick = await newAcme(bench)
  })

  afterEach(() => bench.prisma.billingIntent.updateMany({ data: { state: 'DONE' } }))

  /** Calls that wait, of as many subscriptions, the first the longest. */
  async function addCalls(environmentId: string, count: number, { ofOnePayer = false } = {}): Promise<void> {
    for (let index = 0; index < count; index++) {
      const customerRefId = `customer-${index}`
      const payingCustomerRefId = ofOnePayer ? 'acme' : null
      await bench.customers.provision(environmentId, { refId: customerRefId })
      const billing = { collectionMethod: 'INVOICE' as const, awaitsPayment: false }
      const request = { customerRefId, payingCustomerRefId, planRefId: 'team', subscriptionRefId: `${index}`, billing }
      await bench.subscriptions.provision(environmentId, request)
    }
  }
  const waiting = (environmentId: string) => bench.prisma.billingIntent.count({ where: { environmentId, state: 'WAITING' } })
  type CreateInvoice = BillingProvider['createInvoice']
  const syncWith = async (createInvoice: CreateInvoice) => (await payer(bench, slow)).syncWith({ createInvoice })

  it('are made for others while the provider of one does not answer, which has few under way', async function () {
    this.timeout(120_000)
    await addCalls(slow, many)
    let underWay = 0
    let most = 0
    const stop = new AbortController()
    const sync = await syncWith(async (call, invoice) => {
      if (call.environmentId !== slow) return bench.billingProvider.createInvoice(call, invoice)
      most = Math.max(most, ++underWay)
      return new Promise((_, reject) => call.signal.addEventListener('abort', () => reject(unavailable('timed out'))))
    })
    const ended = sync.deliverEverywhere({ lookEveryMs: 20, signal: stop.signal })
    try {
      await eventually('the slow one to be called', () => underWay > 0)
      await addCalls(quick, 2)
      await eventually('the calls of the quick one', async () => (await waiting(quick)) === 0)
      expect(most).to.be.below(many)
      expect(await waiting(slow)).to.equal(many)
    } finally {
      stop.abort()
      await ended
    }
  })

  it('are made one after the other for a payer, in the order in which they were written', async function () {
    this.timeout(120_000)
    await addCalls(slow, 3, { ofOnePayer: true })
    const written = await bench.prisma.billingIntent.findMany({ where: { environmentId: slow }, orderBy: { sequence: 'asc' } })
    const keys: string[] = []
    let underWay = 0
    let most = 0
    const sync = await syncWith(async (call, invoice) => {
      most = Math.max(most, ++underWay)
      keys.push(call.idempotencyKey)
      const made = await bench.billingProvider.createInvoice(call, invoice)
      underWay -= 1
      return made
    })
    await sync.deliverEverywhere()
    expect(most).to.equal(1)
    expect(keys).to.deep.equal(written.map(({ idempotencyKey }) => idempotencyKey))
  })

  it('end when one cannot be put off, those under way first, also when that happens while another one is claimed', async function () {
    this.timeout(120_000)
    await addCalls(slow, 2)
    const [first, second] = await bench.prisma.billingIntent.findMany({ where: { environmentId: slow }, orderBy: { sequence: 'asc' } })
    const sync = await syncWith(async (call, invoice) => {
      if (call.idempotencyKey === first!.idempotencyKey) throw unavailable('away')
      return bench.billingProvider.createInvoice(call, invoice)
    })
    await bench.pool.query(`
      CREATE FUNCTION refuse_or_wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.subscription_id = '${second!.subscriptionId}' THEN PERFORM pg_sleep(1); RETURN NEW; END IF;
        IF OLD.leased_until IS NULL THEN RETURN NEW; END IF;
        RAISE EXCEPTION 'refused';
      END $$;
      CREATE TRIGGER refuse_or_wait BEFORE UPDATE ON billing_intent FOR EACH ROW EXECUTE FUNCTION refuse_or_wait()`)
    try {
      expect(await sync.deliverEverywhere().then(String, (error: Error) => error.message)).to.include('refused')
    } finally {
      await bench.pool.query('DROP TRIGGER refuse_or_wait ON billing_intent; DROP FUNCTION refuse_or_wait()')
    }
    const { state } = await bench.prisma.billingIntent.findFirstOrThrow({ where: { environmentId: slow, id: second!.id } })
    expect(state).to.equal('DONE')
  })
})
