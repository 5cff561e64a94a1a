import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { administer, requiredVariable } from '../../support/database.js'
import { eventually } from '../../support/eventually.js'
import { WebhookReceiver } from '../../support/webhook-receiver.js'
import { openWebhookBench, type WebhookBench } from './fixture.js'

const hour = 3_600_000

describe('a worker of webhooks', function () {
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
  afterEach(async () => {
    await bench.stopWorkers()
    await receiver.close()
  })
  after(async () => {
    expect(await bench.closeAll()).to.deep.equal([])
  })

  const deliveries = async (endpointId: string) => (await bench.webhooks.deliveries(environmentId, { endpointId, first: 100 })).deliveries
  const endLeases = () => bench.prisma.webhookEndpoint.updateMany({ data: { leasedUntil: null } })

  it('that stood still until others had taken over takes back nothing of what they have done', async () => {
    const { endpoint } = await bench.webhooks.create(environmentId, { url: receiver.url })
    const still = await bench.startWorker()
    let loseFirst: () => void = () => undefined
    receiver.answer = (_heard, response, request) => {
      if (receiver.heard.length > 1) return void response.writeHead(204).end()
      loseFirst = () => void request.socket.destroy()
    }
    await bench.customers.create(environmentId, { refId: 'acme' })
    await eventually('the first attempt', () => receiver.heard.length === 1)
    still.child.kill('SIGSTOP')
    await endLeases()
    await bench.startWorker()
    await eventually('it to be delivered by the other', async () => (await deliveries(endpoint.id))[0]!.status === 'DELIVERED')
    still.child.kill('SIGCONT')
    loseFirst()
    const late = await eventually('the late record', async () => {
      const [found] = await deliveries(endpoint.id)
      return found!.attempts.length === 2 ? found! : null
    })
    expect(late.attempts.map(({ statusCode }) => statusCode)).to.deep.equal([204, null])
    expect(late).to.include({ status: 'DELIVERED', nextAttemptAt: null })
    await sleep(500)
    expect(receiver.heard).to.have.lengthOf(2)
  })

  it('loses nothing, and keeps to the order of each customer, while the database is away', async () => {
    await bench.startWorker()
    await bench.webhooks.create(environmentId, { url: receiver.url, eventTypes: ['customer.created', 'customer.updated'] })
    receiver.answer = (_heard, response) => void setTimeout(() => response.writeHead(204).end(), 60)
    const refIds = ['acme', 'globex', 'initech']
    for (const refId of refIds) await bench.customers.create(environmentId, { refId })
    for (const timeZone of Intl.supportedValuesOf('timeZone').slice(0, 20))
      for (const refId of refIds) await bench.customers.update(environmentId, refId, { timeZone })
    const database = new URL(bench.databaseUrl).pathname.slice(1)
    await eventually('it to have begun', () => receiver.heard.length > 3)
    await administer(requiredVariable('TEST_DATABASE_URL'), async (client) => {
      for (let outage = 0; outage < 3; outage++) {
        await client.query(`ALTER DATABASE "${database}" ALLOW_CONNECTIONS false`)
        await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [database])
        await sleep(700)
        await client.query(`ALTER DATABASE "${database}" ALLOW_CONNECTIONS true`)
        await endLeases().catch(() => endLeases())
        await sleep(500)
      }
    })
    const count = refIds.length * 21
    await eventually(
      'everything',
      async () => (await bench.prisma.webhookDelivery.count({ where: { environmentId, status: 'DELIVERED' } }).catch(() => 0)) === count,
      60_000,
    )
    for (const refId of refIds) {
      const heard = receiver.heard
        .filter(({ data }) => data.customer.customerId === refId)
        .map(({ id, order }) => ({ id, index: order!.index }))
      const firsts = heard.filter(({ id }, at) => heard.findIndex((other) => other.id === id) === at)
      expect(
        firsts.map(({ index }) => index),
        refId,
      ).to.deep.equal(firsts.map((_, at) => at + 1))
    }
  })

  for (const aheadMs of [hour, -hour])
    it(`whose clock is wrong by ${aheadMs / hour} h signs and waits by that of the database`, async () => {
      const clock = new URL(`../../support/shifted-clock.js?ahead=${aheadMs}`, import.meta.url)
      await bench.startWorker({ NODE_OPTIONS: `--import=${clock.href}` })
      const { secret, endpoint } = await bench.webhooks.create(environmentId, { url: receiver.url })
      receiver.answer = (_heard, response) =>
        void response
          .writeHead(receiver.heard.length === 1 ? 503 : 204, { 'retry-after': new Date(Date.now() + 60_000).toUTCString() })
          .end()
      await bench.customers.create(environmentId, { refId: 'acme' })
      const found = await eventually('the first attempt', async () => {
        const [first] = await deliveries(endpoint.id)
        return first!.attempts.length === 1 ? first! : null
      })
      receiver.verified(secret)
      expect(found.nextAttemptAt! - Date.now()).to.be.within(40_000, 62_000)
      expect(Math.abs(found.attempts[0]!.at - Date.now())).to.be.below(20_000)
    })

  it('has a lane for endpoints that are well however many are dead', async () => {
    receiver.answer = ({ url }, response) => void (url.includes('dead') || response.writeHead(204).end())
    for (let n = 0; n < 6; n++)
      await bench.webhooks.create(environmentId, { url: `${receiver.url}/dead-${n}`, eventTypes: ['customer.created'] })
    await bench.prisma.webhookEndpoint.updateMany({ where: { environmentId }, data: { failuresInRow: 9, failingSince: new Date() } })
    await bench.webhooks.create(environmentId, { url: `${receiver.url}/well`, eventTypes: ['customer.updated'] })
    await bench.customers.create(environmentId, { refId: 'acme' })
    await bench.startWorker({ CONCURRENCY: '4' })
    const heard = (what: string) => receiver.heard.filter(({ url }) => url.includes(what)).length
    await eventually('dead ones to be asked', () => heard('dead') >= 2)
    await bench.customers.update(environmentId, 'acme', { timeZone: 'Asia/Tokyo' })
    await eventually('the well one to hear', () => heard('well') === 1, 5_000)
    expect(heard('dead')).to.equal(2)
  })

  it('gives up an event that is too large for anybody, which says nothing of the endpoint', async () => {
    const { endpoint } = await bench.webhooks.create(environmentId, { url: receiver.url })
    await bench.prisma.$executeRaw`
      INSERT INTO notification_event (environment_id, id, type, payload_version, payload, occurred_at)
      SELECT ${environmentId}::uuid, gen_random_uuid(), 'import.finished', 1, jsonb_build_object('importId', repeat('x', 262144)), now()`
    await bench.startWorker()
    const [given] = await eventually('it to be given up', async () => {
      const all = await deliveries(endpoint.id)
      return all[0]!.status === 'FAILED' ? all : null
    })
    expect(given!.attempts.map(({ error }) => error)).to.deep.equal(['the body has more than 262144 bytes'])
    expect((await bench.webhooks.list(environmentId))[0]).to.include({ status: 'ACTIVE', failingSince: null })
    await bench.customers.create(environmentId, { refId: 'acme' })
    await eventually('the next one', () => receiver.heard.length === 1)
  })

  it('signs with all secrets whose overlap is not over, and with the new one alone when theirs is', async () => {
    await bench.startWorker()
    const { secret: first, endpoint } = await bench.webhooks.create(environmentId, { url: receiver.url })
    const next = async () => {
      receiver.heard.length = 0
      const id = await bench.webhooks.test(environmentId, endpoint.id)
      return eventually('the test', () => receiver.heard.find((heard) => heard.id === id))
    }
    const signatures = async () => String((await next()).headers['webhook-signature']).split(' ').length
    expect(await signatures()).to.equal(1)
    receiver.verified(first)
    // Its answer was lost: who rotates again must not lose the one that is in use.
    await bench.webhooks.rotateSecret(environmentId, endpoint.id, 60)
    const { secret: second } = await bench.webhooks.rotateSecret(environmentId, endpoint.id, 60)
    await eventually('all to be used', async () => (await signatures()) === 3, 30_000)
    receiver.verified(first)
    receiver.verified(second)
    await bench.prisma.webhookEndpoint.updateMany({
      where: { id: endpoint.id },
      data: { formerSecretsExpireAt: [1_000, 2_000].map((ms) => new Date(Date.now() - ms)) },
    })
    await eventually('the others to have ended', async () => (await signatures()) === 1, 30_000)
    receiver.verified(second)
    expect(() => receiver.verified(first)).to.throw()
    const { secret: third } = await bench.webhooks.rotateSecret(environmentId, endpoint.id, 0)
    await eventually('the second to have ended at once', async () => {
      await next()
      try {
        return receiver.verified(third).length === 1
      } catch {
        return false
      }
    })
    expect(String(receiver.heard[0]!.headers['webhook-signature']).split(' ')).to.have.lengthOf(1)
  })
})
