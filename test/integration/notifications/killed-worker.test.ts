import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { eventually } from '../../support/eventually.js'
import { WebhookReceiver } from '../../support/webhook-receiver.js'
import { openWebhookBench, type WebhookBench, type Worker } from './fixture.js'

/** Milliseconds into its work at which the worker is killed: before, while and after it takes the endpoint, sends, and records. */
const moments = [0, 5, 15, 30, 60, 120, 250]

describe('a worker of webhooks that is killed', function () {
  this.timeout(120_000)
  let bench: WebhookBench
  let receiver: WebhookReceiver
  let environmentId: string

  before(async () => {
    bench = await openWebhookBench()
  })
  beforeEach(async () => {
    receiver = await new WebhookReceiver().listen()
    environmentId = await bench.createEnvironment()
  })
  afterEach(() => receiver.close())
  after(async () => {
    expect(await bench.closeAll()).to.deep.equal([])
  })

  const newCustomers = async (count: number) => {
    for (let n = 0; n < count; n++) await bench.customers.create(environmentId, { refId: `customer-${n}` })
    return bench.prisma.notificationEvent.findMany({ where: { environmentId } })
  }
  /** As if the lease of the one that was killed were over. */
  const endLeases = () => bench.prisma.webhookEndpoint.updateMany({ data: { leasedUntil: null } })

  it('leaves nothing behind that is not sent, and what is sent again has the id that it had', async () => {
    await bench.webhooks.create(environmentId, { url: receiver.url })
    receiver.answer = (_heard, response) => void setTimeout(() => response.writeHead(204).end(), 20)
    const events = await newCustomers(60)
    for (const moment of moments) {
      const worker = await bench.startWorker()
      await sleep(moment)
      await worker.kill()
      await endLeases()
    }
    const last = await bench.startWorker()
    await eventually(
      'everything',
      async () => (await bench.prisma.webhookDelivery.count({ where: { environmentId, status: 'DELIVERED' } })) === 60,
    )
    expect(new Set(receiver.heard.map(({ id }) => id))).to.deep.equal(new Set(events.map(({ id }) => id)))
    await last.stop()
  })

  it('between the answer and its record is as if it had not been answered', async () => {
    const killer: { worker?: Worker } = { worker: await bench.startWorker() }
    await bench.webhooks.create(environmentId, { url: receiver.url })
    receiver.answer = (_heard, response) => {
      // The answer arrives where nobody is left.
      if (receiver.heard.length === 1) void killer.worker!.kill().then(() => response.writeHead(204).end())
      else response.writeHead(204).end()
    }
    const [event] = await newCustomers(1)
    await eventually('the first attempt', () => receiver.heard.length === 1)
    const next = await bench.startWorker()
    await eventually('the second attempt, once the lease is over', () => receiver.heard.length === 2, 60_000)
    expect(receiver.heard.map(({ id }) => id)).to.deep.equal([event!.id, event!.id])
    await eventually(
      'the record',
      async () => (await bench.prisma.webhookDelivery.count({ where: { environmentId, status: 'DELIVERED' } })) === 1,
    )
    await next.stop()
  })

  it('shares the endpoints with others, and none is sent to by two at once', async () => {
    const workers = await Promise.all([bench.startWorker({ CONCURRENCY: '2' }), bench.startWorker({ CONCURRENCY: '2' })])
    const underWay = new Map<string, string>()
    let overlaps = 0
    receiver.answer = ({ data }, response, request) => {
      const key = `${request.url} ${data.customer.customerId}`
      if (underWay.has(key)) overlaps += 1
      underWay.set(key, key)
      setTimeout(() => {
        underWay.delete(key)
        response.writeHead(204).end()
      }, 10)
    }
    for (let n = 0; n < 6; n++) await bench.webhooks.create(environmentId, { url: `${receiver.url}/${n}` })
    await newCustomers(5)
    for (const timeZone of ['Europe/Berlin', 'Asia/Tokyo', 'America/Lima'])
      for (let n = 0; n < 5; n++) await bench.customers.update(environmentId, `customer-${n}`, { timeZone })
    await eventually('everything', () => receiver.heard.length === 6 * 20)
    expect(overlaps).to.equal(0)
    for (let endpoint = 0; endpoint < 6; endpoint++)
      for (let customer = 0; customer < 5; customer++) {
        const mine = receiver.heard.filter(
          ({ url, data }) => url.endsWith(`/${endpoint}`) && data.customer.customerId === `customer-${customer}`,
        )
        expect(mine.map(({ order }) => order!.index)).to.deep.equal([1, 2, 3, 4])
      }
    for (const worker of workers) await worker.stop()
  })
})
