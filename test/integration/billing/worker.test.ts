import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { Ports } from '../../../src/local/processes/ports.js'
import { eventually } from '../../support/eventually.js'
import { at, type Bench, newAcme, openBench } from './fixture.js'

const worker = fileURLToPath(new URL('../../../workers/billing-sync.js', import.meta.url))

describe('the billing worker', () => {
  const ports = new Ports()
  let bench: Bench
  let stop = async () => {}

  before(async () => {
    bench = await openBench()
  })
  afterEach(() => stop())
  after(async () => {
    ports.release()
    expect(await bench.close()).to.deep.equal([])
  })

  /** The real process; answers its metrics. */
  async function start(): Promise<() => Promise<string>> {
    const port = await ports.take()
    const child = fork(worker, {
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: bench.databaseUrl,
        REDIS_URL: bench.queues.redisUrl,
        QUEUE_PREFIX: bench.queues.prefix,
        BIND_ADDRESS: '127.0.0.1',
        PORT: String(port),
        SWEEP_INTERVAL_MS: '50',
        LOG_LEVEL: 'warn',
      },
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    stop = async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      if (child.exitCode === null && child.kill('SIGTERM')) await ended
      stop = async () => {}
    }
    return async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text().catch(() => '')
  }

  it('makes the calls that nobody else has made, ends what nobody paid in time, and counts what waits and what was given up', async function () {
    this.timeout(60_000)
    const environmentId = await newAcme(bench)
    const provision = async (planRefId: string, subscriptionRefId: string, customerRefId = 'acme') => {
      const billing = { collectionMethod: 'CHARGE' as const }
      return (await bench.subscriptions.provision(environmentId, { customerRefId, planRefId, subscriptionRefId, billing })).subscription
    }
    const { id } = await provision('team', 'unpaid')
    await bench.customers.provision(environmentId, { refId: 'other' })
    const refused = await provision('team', 'refused', 'other')
    await bench.prisma.billingIntent.updateMany({ where: { environmentId, subscriptionId: refused.id }, data: { state: 'GIVEN_UP' } })
    const metrics = await start()
    const counted = (state: string, count: number) =>
      eventually(`${count} calls ${state}`, async () =>
        (await metrics().catch(() => '')).includes(`tollgate_billing_calls{state="${state}",process="billing-sync"} ${count}\n`),
      )
    const invoice = () => bench.prisma.invoice.findFirstOrThrow({ where: { environmentId, subscriptionId: id } })
    await eventually('the invoice to be made', async () => (await invoice()).billingId)
    await counted('given up', 1)
    await counted('waiting', 0)

    expect(await bench.billing.retry(environmentId)).to.equal(1)
    await counted('given up', 0)
    await eventually('the other invoice to be made', async () =>
      bench.prisma.invoice.findFirst({ where: { environmentId, subscriptionId: refused.id, billingId: { not: null } } }),
    )

    await bench.testClocks.advance(environmentId, at('2027-04-02T00:00:00'))
    const ended = await eventually('the unpaid one to end', async () => {
      const found = await bench.subscriptionReads.get(environmentId, 'unpaid')
      return found.status === 'CANCELED' ? found : null
    })
    expect(ended.cancelReason).to.equal('PendingPaymentExpired')
    expect((await invoice()).status).to.equal('CANCELED')
  })
})
