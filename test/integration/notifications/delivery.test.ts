import { expect } from 'chai'
import { eventually } from '../../support/eventually.js'
import { WebhookReceiver } from '../../support/webhook-receiver.js'
import { openWebhookBench, type WebhookBench } from './fixture.js'

describe('delivery of webhooks', function () {
  this.timeout(120_000)
  let bench: WebhookBench
  let receiver: WebhookReceiver

  before(async () => {
    bench = await openWebhookBench()
    await bench.startWorker()
  })
  beforeEach(async () => {
    receiver = await new WebhookReceiver().listen()
  })
  afterEach(() => receiver.close())
  after(async () => {
    expect(await bench.closeAll()).to.deep.equal([])
  })

  it('sends what happens to a customer, signed, in its order', async () => {
    const environmentId = await bench.createEnvironment()
    const { secret, endpoint } = await bench.webhooks.create(environmentId, {
      url: receiver.url,
      eventTypes: ['customer.created', 'customer.updated'],
    })
    await bench.customers.create(environmentId, { refId: 'acme', name: 'Acme', email: 'a@acme.example' })
    await bench.customers.update(environmentId, 'acme', { timeZone: 'Europe/Berlin' })
    await eventually('both to be heard', () => receiver.heard.length === 2)
    const [created, updated] = receiver.verified(secret)
    expect(created).to.deep.include({ type: 'customer.created', id: created!.headers['webhook-id'] })
    expect(created!.body).to.have.keys('id', 'type', 'version', 'timestamp', 'order', 'data')
    expect(created!.data).to.have.nested.property('customer.customerId', 'acme')
    expect(updated!.data).to.have.nested.property('customer.timezone', 'Europe/Berlin')
    expect([created!.order!.index, updated!.order!.index]).to.deep.equal([1, 2])
    expect(receiver.heard.map(({ text }) => text).join()).to.not.include('Acme')
    const { deliveries } = await eventually('both to be recorded', async () => {
      const page = await bench.webhooks.deliveries(environmentId, { endpointId: endpoint.id, status: 'DELIVERED', first: 10 })
      return page.deliveries.length === 2 ? page : null
    })
    expect(deliveries[0]!.attempts).to.have.lengthOf(1)
    expect(deliveries[0]!.attempts[0]).to.deep.include({ number: 1, statusCode: 204, response: '', error: null })
  })

  it('is read as of one instant: what an attempt has changed, and the attempt', async () => {
    const environmentId = await bench.createEnvironment()
    const { endpoint } = await bench.webhooks.create(environmentId, { url: receiver.url })
    await bench.customers.create(environmentId, { refId: 'acme' })
    for (const timeZone of Intl.supportedValuesOf('timeZone').slice(0, 60))
      await bench.customers.update(environmentId, 'acme', { timeZone })
    await eventually(
      'all to be delivered',
      async () => {
        const { deliveries } = await bench.webhooks.deliveries(environmentId, { endpointId: endpoint.id, first: 100 })
        for (const { status, attemptCount, attempts } of deliveries) {
          expect(attempts).to.have.lengthOf(attemptCount)
          expect(status).to.equal(attempts.length === 0 ? 'PENDING' : 'DELIVERED')
        }
        return deliveries.every(({ status }) => status === 'DELIVERED')
      },
      60_000,
    )
  })

  it('records nothing where nobody listens', async () => {
    const environmentId = await bench.createEnvironment()
    await bench.customers.create(environmentId, { refId: 'acme' })
    expect(await bench.prisma.notificationEvent.count({ where: { environmentId } })).to.equal(0)
  })
})
