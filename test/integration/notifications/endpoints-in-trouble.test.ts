import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { eventually } from '../../support/eventually.js'
import { WebhookReceiver } from '../../support/webhook-receiver.js'
import { openWebhookBench, type WebhookBench, type Worker } from './fixture.js'

/** Beside each: an endpoint that is well, which must not notice. */
describe('webhook endpoints in trouble', function () {
  this.timeout(60_000)
  let bench: WebhookBench
  let worker: Worker
  let receiver: WebhookReceiver
  let environmentId: string
  let endpointId: string
  let customers = 0

  before(async () => {
    bench = await openWebhookBench()
    worker = await bench.startWorker()
  })
  beforeEach(async () => {
    receiver = await new WebhookReceiver().listen()
    environmentId = await bench.createEnvironment()
    endpointId = (await bench.webhooks.create(environmentId, { url: receiver.url })).endpoint.id
  })
  afterEach(() => receiver.close())
  after(async () => {
    expect(await bench.closeAll()).to.deep.equal([])
  })

  const newCustomer = async (refId = `customer-${++customers}`) => {
    await bench.customers.create(environmentId, { refId })
    return refId
  }
  const delivery = async (index = 0) =>
    (await bench.webhooks.deliveries(environmentId, { endpointId, first: 50 })).deliveries.at(-1 - index)!
  const attempted = (count: number, index = 0) =>
    eventually(`${count} attempts`, async () => {
      const found = await delivery(index)
      // What was read before and after an attempt does not count.
      return found && found.attempts.length >= count && found.attempts.length === found.attemptCount ? found : null
    })
  const endpoint = async () => (await bench.webhooks.list(environmentId)).find(({ id }) => id === endpointId)!
  /** As if that much time had passed. */
  const passMs = (ms: number) =>
    bench.prisma
      .$executeRaw`UPDATE webhook_delivery SET due_at = due_at - ${ms} * interval '1 ms' WHERE environment_id = ${environmentId}::uuid`

  it('that never answer, of two other environments, leave lanes for this one', async () => {
    const busy = await bench.startWorker({ CONCURRENCY: '8' })
    const hanging = await new WebhookReceiver().listen()
    hanging.answer = () => undefined
    try {
      await worker.stop()
      for (let noisy = 0; noisy < 2; noisy++) {
        const other = await bench.createEnvironment()
        for (let n = 0; n < 6; n++) await bench.webhooks.create(other, { url: `${hanging.url}/${noisy}-${n}` })
        await bench.customers.create(other, { refId: 'noisy' })
      }
      const noisyHeard = () => new Set(hanging.heard.map(({ url }) => url.match(/hooks.(.)/)![1])).size
      await eventually('both to have lanes', () => hanging.heard.length >= 5 && noisyHeard() === 2)
      await newCustomer()
      await eventually('this one to be told', () => receiver.heard.length === 1, 5_000)
    } finally {
      await hanging.close()
      await busy.stop()
      worker = await bench.startWorker()
    }
  })

  it('are asked again after about 5 s, with the same id, and what they answered is kept', async () => {
    receiver.answer = (_heard, response) => void response.writeHead(receiver.heard.length === 1 ? 500 : 200).end('x'.repeat(5_000))
    await newCustomer()
    const first = await attempted(1)
    expect(first).to.deep.include({ status: 'PENDING', attemptCount: 1 })
    expect(first.attempts[0]).to.deep.include({ statusCode: 500, error: null, response: 'x'.repeat(1_024) })
    expect(first.nextAttemptAt! - first.attempts[0]!.at).to.be.within(4_900, 6_500)
    await eventually('the second attempt', () => receiver.heard.length === 2)
    expect(receiver.heard[0]!.headers['webhook-id']).to.equal(receiver.heard[1]!.headers['webhook-id'])
    await eventually('it to be delivered', async () => (await delivery()).status === 'DELIVERED')
    expect((await endpoint()).failingSince).to.equal(null)
  })

  it('are asked nine times over two days, and then an event is FAILED and can be resent', async () => {
    receiver.answer = (_heard, response) => void response.writeHead(503).end()
    await newCustomer()
    const pauses: number[] = []
    for (let attempts = 1; attempts <= 9; attempts++) {
      const { attempts: made, nextAttemptAt, status } = await attempted(attempts)
      const last = made.at(-1)!
      if (status === 'PENDING') pauses.push(Math.round((nextAttemptAt! - last.at - last.durationMs) / 1_000))
      await bench.prisma.webhookEndpoint.updateMany({ where: { id: endpointId }, data: { restsUntil: null } })
      await passMs(60 * 3_600_000)
    }
    const expected = [5, 60, 300, 1_800, 7_200, 18_000, 36_000, 86_400]
    for (const [index, seconds] of expected.entries()) expect(pauses[index], `pause ${index}`).to.be.within(seconds - 1, seconds * 1.2 + 1)
    expect(await delivery()).to.deep.include({ status: 'FAILED', attemptCount: 9, nextAttemptAt: null })
    receiver.answer = (_heard, response) => void response.writeHead(200).end()
    const { eventId } = await delivery()
    expect(await bench.webhooks.resend(environmentId, endpointId, { eventId })).to.equal(1)
    await eventually('it to be delivered', async () => (await delivery()).status === 'DELIVERED')
    expect(new Set(receiver.heard.map(({ id }) => id))).to.deep.equal(new Set([eventId]))
    expect((await delivery()).attempts.map(({ number }) => number)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('that answer 429 with Retry-After are left alone for so long', async () => {
    receiver.answer = (_heard, response) => void response.writeHead(receiver.heard.length === 1 ? 429 : 200, { 'retry-after': '9' }).end()
    await newCustomer()
    const { attempts, nextAttemptAt } = await attempted(1)
    expect(nextAttemptAt! - attempts[0]!.at).to.be.within(8_900, 10_500)
    await newCustomer()
    await sleep(1_500)
    expect(receiver.heard).to.have.lengthOf(1)
    await eventually('both to be heard', () => receiver.heard.length === 3, 15_000)
  })

  it('that answer 410 are disabled, which other endpoints hear; resumed, they get what waited', async () => {
    const other = await new WebhookReceiver().listen()
    const eventTypes = ['webhook_endpoint.disabled']
    await bench.webhooks.create(environmentId, { url: other.url, eventTypes })
    const paused = await bench.webhooks.create(environmentId, { url: `${other.url}/paused`, eventTypes, isPaused: true })
    receiver.answer = (_heard, response) => void response.writeHead(410).end()
    await newCustomer()
    const disabled = await eventually('it to be disabled', async () => ((await endpoint()).status === 'DISABLED' ? endpoint() : null))
    expect(disabled.disabledReason).to.equal('GONE')
    const { actorName, after } = await bench.prisma.auditEntry.findFirstOrThrow({ where: { environmentId, operation: 'webhookFailure' } })
    expect([actorName, after]).to.deep.equal(['webhookFailure', { status: 'DISABLED', disabledReason: 'GONE' }])
    await eventually('the other to hear of it', () => other.heard.length === 1)
    expect(other.heard[0]!.data).to.deep.equal({ endpointId, url: new URL(receiver.url).origin, reason: 'GONE' })
    expect(await worker.metrics()).to.match(/tollgate_webhook_endpoints_disabled_total\{reason="GONE",[^}]*\} 1\n/)
    receiver.answer = (_heard, response) => void response.writeHead(200).end()
    await newCustomer()
    await passMs(10_000)
    await sleep(500)
    expect(receiver.heard).to.have.lengthOf(1)
    expect(await bench.webhooks.update(environmentId, endpointId, { isPaused: false })).to.include({
      status: 'ACTIVE',
      disabledReason: null,
    })
    await eventually('what waited', () => receiver.heard.length === 3)
    await bench.webhooks.update(environmentId, paused.endpoint.id, { isPaused: false })
    await eventually('what waited for one that was paused', () => other.heard.length === 2)
    expect(other.heard[1]!.url).to.include('/paused')
    expect(other.heard[1]!.id).to.equal(other.heard[0]!.id)
    await other.close()
  })

  it('without one success in five days are disabled, which other endpoints, a line of the log and a metric tell', async () => {
    const other = await new WebhookReceiver().listen()
    await bench.webhooks.create(environmentId, { url: other.url, eventTypes: ['webhook_endpoint.disabled'] })
    receiver.answer = (_heard, response) => void response.writeHead(500).end()
    await newCustomer()
    await attempted(1)
    const failingSince = new Date(Date.now() - 5 * 86_400_000 - 1_000)
    expect((await endpoint()).status, 'after a failure').to.equal('ACTIVE')
    await bench.prisma.webhookEndpoint.updateMany({ where: { id: endpointId }, data: { failingSince } })
    await passMs(10_000)
    await eventually('it to be disabled', async () => (await endpoint()).disabledReason === 'NO_SUCCESS')
    await eventually('the other to hear of it', () => other.heard.length === 1)
    expect(other.heard[0]!.data).to.include({ endpointId, reason: 'NO_SUCCESS' })
    expect(await worker.metrics()).to.match(/tollgate_webhook_endpoints_disabled_total\{reason="NO_SUCCESS",[^}]*\} 1\n/)
    const told = worker.lines.map((text) => JSON.parse(text)).filter((logged) => logged.endpointId === endpointId)
    expect(told.map(({ level, msg, reason }) => [level, msg, reason])).to.deep.equal([['error', 'webhook endpoint disabled', 'NO_SUCCESS']])
    await other.close()
  })

  it('hold up no other when they never answer, or slowly, and no later event of others', async () => {
    const well = await new WebhookReceiver().listen()
    await bench.webhooks.create(environmentId, { url: well.url })
    receiver.answer = ({ data }, response) => {
      const { customerId } = data.customer
      if (customerId === 'never') return
      setTimeout(() => response.writeHead(200).end(), customerId === 'slow' ? 3_000 : 0)
    }
    const startedAt = performance.now()
    for (const refId of ['never', 'slow', 'quick']) await newCustomer(refId)
    await eventually('the well one to have heard all', () => well.heard.length === 3)
    await eventually('the quick one', () => receiver.heard.length === 3)
    expect(performance.now() - startedAt).to.be.below(3_000)
    const given = await eventually('the first to be given up', async () => (await delivery()).attempts[0], 20_000)
    expect(given).to.deep.include({ statusCode: null, error: 'no answer within 15 s' })
    expect(given.durationMs).to.be.within(14_500, 16_500)
    await well.close()
  })

  it('that answer with an endless body, or lead elsewhere, are read for a moment', async () => {
    let written = 0
    receiver.answer = ({ data }, response) => {
      const { customerId } = data.customer
      if (customerId === 'redirect') return void response.writeHead(302, { location: `${receiver.url}/elsewhere` }).end()
      response.writeHead(200)
      if (customerId === 'drip') return void response.write('drip')
      const more = () => {
        while (!response.destroyed && response.write('y'.repeat(65_536))) written += 65_536
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    }
    for (const refId of ['flood', 'drip', 'redirect']) await newCustomer(refId)
    const flood = await attempted(1)
    expect(flood).to.deep.include({ status: 'DELIVERED' })
    expect(flood.attempts[0]!.response).to.equal('y'.repeat(1_024))
    expect(written).to.be.below(8 * 1024 * 1024)
    expect((await attempted(1, 1)).attempts[0]).to.deep.include({ statusCode: 200, response: 'drip' })
    const redirected = await attempted(1, 2)
    expect(redirected).to.deep.include({ status: 'PENDING' })
    expect(redirected.attempts[0]).to.deep.include({ statusCode: 302 })
    expect(receiver.heard).to.have.lengthOf(3)
  })

  it('that are away get everything when they are back, each customer in its order', async () => {
    const { port } = receiver
    await receiver.close()
    const refIds = await Promise.all(Array.from({ length: 5 }, () => newCustomer()))
    for (const timeZone of ['Europe/Berlin', 'Asia/Tokyo'])
      for (const refId of refIds) await bench.customers.update(environmentId, refId, { timeZone })
    expect((await attempted(1)).attempts[0]!.error).to.equal('no connection (ECONNREFUSED)')
    receiver = await new WebhookReceiver().listen(port)
    await eventually('everything', () => new Set(receiver.heard.map(({ id }) => id)).size === 15, 45_000)
    // Those that no attempt had been made at are told in their order, between repeats of others.
    for (const refId of refIds) {
      const { rows } = await bench.pool.query<{ id: string }>(
        `SELECT event_id AS id FROM webhook_attempt AS attempt JOIN notification_event AS event ON event.environment_id = attempt.environment_id AND event.id = event_id
         WHERE attempt.environment_id = $1::uuid AND number = 1 AND payload -> 'customer' ->> 'customerId' = $2 ORDER BY at, customer_index`,
        [environmentId, refId],
      )
      const indexes = rows.map(({ id }) => receiver.heard.find((heard) => heard.id === id)!.order!.index)
      expect(indexes, refId).to.deep.equal([1, 2, 3])
    }
    const deliveries = await bench.prisma.notificationEvent.findMany({ where: { environmentId } })
    expect(new Set(receiver.heard.map(({ id }) => id))).to.deep.equal(new Set(deliveries.map(({ id }) => id)))
  })
})
