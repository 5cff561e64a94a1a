import { expect } from 'chai'
import { administer } from '../../../../support/database.js'
import { type FrontDoor, openFrontDoor } from '../../front-door.js'

const create = `mutation ($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) {
  secret endpoint { id url description eventTypes status disabledReason failingSince previousSecretExpiresAt } } }`
const update =
  'mutation ($input: UpdateWebhookEndpointInput!) { updateWebhookEndpoint(input: $input) { url description eventTypes status } }'
const remove = 'mutation ($input: WebhookEndpointInput!) { deleteWebhookEndpoint(input: $input) }'
const test = 'mutation ($input: WebhookEndpointInput!) { testWebhookEndpoint(input: $input) { eventId } }'
const rotate = `mutation ($input: RotateWebhookSecretInput!) { rotateWebhookSecret(input: $input) { secret endpoint { previousSecretExpiresAt } } }`
const list = '{ webhookEndpoints { id } }'
const deliveries = `query ($input: WebhookDeliveriesInput!) { webhookDeliveries(input: $input) {
  nextCursor deliveries { eventId eventType status attemptCount nextAttemptAt finishedAt body attempts { number } } } }`
const resend = 'mutation ($input: ResendWebhookDeliveriesInput!) { resendWebhookDeliveries(input: $input) { count } }'

describe('webhooks over GraphQL', () => {
  let door: FrontDoor

  before(async () => {
    door = await openFrontDoor()
  })
  after(async () => expect(await door.close()).to.deep.equal([]))
  afterEach(async () => {
    for (const { id } of (await must(list)).webhookEndpoints) await must(remove, { id })
  })

  // biome-ignore lint/suspicious/noExplicitAny: answers are read as JSON
  async function must(query: string, input: object = {}): Promise<any> {
    const { data, errors } = await door.ask(query, { input })
    expect(errors).to.equal(undefined)
    return data
  }
  const refusalOf = async (query: string, input: object, headers?: Record<string, string>) => {
    const { errors } = await door.ask(query, { input }, headers)
    return errors?.[0]?.extensions.code
  }
  const newEndpoint = async (more: object = {}) =>
    (await must(create, { url: 'https://app.example.com/hooks', ...more })).createWebhookEndpoint

  it('are made, changed, and deleted', async () => {
    const { secret, endpoint } = await newEndpoint({ description: 'Ours', eventTypes: ['customer.created', 'customer.created'] })
    expect(secret).to.match(/^whsec_/)
    const { id, ...rest } = endpoint
    expect(rest).to.deep.equal({
      url: 'https://app.example.com/hooks',
      description: 'Ours',
      eventTypes: ['customer.created'],
      status: 'ACTIVE',
      disabledReason: null,
      failingSince: null,
      previousSecretExpiresAt: null,
    })
    expect((await must(update, { id, isPaused: true })).updateWebhookEndpoint).to.include({ status: 'PAUSED', description: 'Ours' })
    const change = { id, isPaused: false, description: null, eventTypes: [], url: 'https://app.example.com/other' }
    expect((await must(update, change)).updateWebhookEndpoint).to.deep.equal({
      url: 'https://app.example.com/other',
      description: null,
      eventTypes: [],
      status: 'ACTIVE',
    })
    const rotated = (await must(rotate, { id, overlapSeconds: 3_600 })).rotateWebhookSecret
    expect(rotated.secret).to.not.equal(secret)
    expect(Date.parse(rotated.endpoint.previousSecretExpiresAt) - Date.now()).to.be.closeTo(3_600_000, 60_000)
    expect((await must(remove, { id })).deleteWebhookEndpoint).to.equal(id)
    expect(await refusalOf(remove, { id })).to.equal('BadUserInput')
  })

  it('show what is to be delivered, in pages, and have it made once more', async () => {
    const { endpoint } = await newEndpoint()
    for (let n = 0; n < 5; n++) await door.app.customers.create(door.environmentId, { refId: `customer-${n}` })
    const { eventId } = (await must(test, { id: endpoint.id })).testWebhookEndpoint
    const first = (await must(deliveries, { endpointId: endpoint.id, first: 4 })).webhookDeliveries
    expect(first.deliveries[0]).to.deep.include({
      eventId,
      eventType: 'webhook_endpoint.tested',
      status: 'PENDING',
      attemptCount: 0,
      finishedAt: null,
    })
    const rest = (await must(deliveries, { endpointId: endpoint.id, first: 4, after: first.nextCursor })).webhookDeliveries
    expect(rest.nextCursor).to.equal(null)
    const all = [...first.deliveries, ...rest.deliveries]
    expect(new Set(all.map((delivery) => delivery.eventId)).size).to.equal(6)
    expect(all.at(-1).body.data.customer.customerId).to.equal('customer-0')
    const one = (await must(deliveries, { endpointId: endpoint.id, eventId, status: 'PENDING' })).webhookDeliveries
    expect(one.deliveries).to.have.lengthOf(1)
    expect((await must(resend, { endpointId: endpoint.id, eventId })).resendWebhookDeliveries.count).to.equal(1)
    const since = new Date(Date.now() - 3_600_000).toISOString()
    expect((await must(resend, { endpointId: endpoint.id, since })).resendWebhookDeliveries.count, 'what waits is not made twice').to.equal(
      0,
    )
  })

  it('refuse what is wrong', async () => {
    const { endpoint } = await newEndpoint()
    const { id } = endpoint
    for (const url of [
      'http://app.example.com',
      'https://10.0.0.1',
      'https://[fd00::1]',
      'https://0x0a000001',
      'no url',
      `https://a.example.com/${'a'.repeat(3_000)}`,
    ])
      expect(await refusalOf(create, { url }), url).to.equal('BadUserInput')
    expect(await refusalOf(create, { url: 'https://a.example.com', eventTypes: ['customer.exploded'] })).to.equal('BadUserInput')
    expect(await refusalOf(create, { url: 'https://a.example.com', description: 'a'.repeat(1_001) })).to.equal('BadUserInput')
    expect(await refusalOf(rotate, { id, overlapSeconds: -1 })).to.equal('BadUserInput')
    expect(await refusalOf(deliveries, { endpointId: id, first: 101 })).to.equal('BadUserInput')
    expect(await refusalOf(deliveries, { endpointId: id, after: 'nowhere' })).to.equal('BadUserInput')
    expect(await refusalOf(resend, { endpointId: id })).to.equal('BadUserInput')
    for (const unknown of ['no id', '019ad0c5-3a50-7b61-a4d2-5e8f7a6b9c33']) {
      expect(await refusalOf(test, { id: unknown })).to.equal('BadUserInput')
      expect(await refusalOf(update, { id: unknown, isPaused: true })).to.equal('BadUserInput')
      expect(await refusalOf(deliveries, { endpointId: unknown })).to.equal('BadUserInput')
      expect(await refusalOf(resend, { endpointId: id, eventId: unknown })).to.equal('BadUserInput')
    }
    await must(update, { id, isPaused: true })
    expect(await refusalOf(test, { id })).to.equal('BadUserInput')
  })

  it('are twenty at most, also when many are made at once', async () => {
    const outcomes = await Promise.all(
      Array.from(
        { length: 24 },
        async (_, n) => (await door.ask(create, { input: { url: `https://app.example.com/${n}` } })).errors?.[0]?.extensions.code,
      ),
    )
    expect(outcomes.filter((code) => code === undefined)).to.have.lengthOf(20)
    expect((await must(list)).webhookEndpoints).to.have.lengthOf(20)
  })

  it('are for server keys', async () => {
    expect(await refusalOf(create, { url: 'https://a.example.com' }, { 'x-api-key': door.clientKey })).to.equal('IdentityForbidden')
    expect((await door.ask(list, {}, { 'x-api-key': door.clientKey })).errors?.[0]?.extensions.code).to.equal('IdentityForbidden')
  })

  it('keep secrets encrypted, and events only while there is an endpoint', async () => {
    const { secret, endpoint } = await newEndpoint()
    await administer(door.databaseUrl, async (client) => {
      const { rows } = await client.query<{ row: string }>('SELECT w::text AS row FROM webhook_endpoint AS w')
      const bytes = secret.slice('whsec_'.length)
      for (const text of [secret, bytes, Buffer.from(secret).toString('hex'), Buffer.from(bytes, 'base64').toString('hex')])
        expect(rows.map(({ row }) => row).join()).to.not.include(text)
    })
    await must(remove, { id: endpoint.id })
    await door.app.customers.create(door.environmentId, { refId: 'unheard' })
    const again = (await newEndpoint()).endpoint
    expect((await must(deliveries, { endpointId: again.id })).webhookDeliveries.deliveries).to.deep.equal([])
  })
})
