import { expect } from 'chai'
import { administer } from '../../../../support/database.js'
import { type FrontDoor, openFrontDoor } from '../../front-door.js'

const operations = {
  create:
    'mutation ($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { secret endpoint { id url description } } }',
  update: 'mutation ($input: UpdateWebhookEndpointInput!) { updateWebhookEndpoint(input: $input) { id url description } }',
  remove: 'mutation ($input: WebhookEndpointInput!) { deleteWebhookEndpoint(input: $input) }',
  test: 'mutation ($input: WebhookEndpointInput!) { testWebhookEndpoint(input: $input) { eventId } }',
  rotate: 'mutation ($input: RotateWebhookSecretInput!) { rotateWebhookSecret(input: $input) { secret } }',
  resend: 'mutation ($input: ResendWebhookDeliveriesInput!) { resendWebhookDeliveries(input: $input) { count } }',
  list: '{ webhookEndpoints { id } }',
  deliveries:
    'query ($input: WebhookDeliveriesInput!) { webhookDeliveries(input: $input) { nextCursor deliveries { eventId body attempts { number } } } }',
}
type Operation = keyof typeof operations

const url = 'https://app.example.com/hooks'
const cursorOf = (text: string) => Buffer.from(text).toString('base64url')

describe('webhook endpoints asked by a hostile caller', () => {
  let door: FrontDoor
  let own: string
  let foreign: { id: string; environmentId: string; eventId: string }

  before(async () => {
    door = await openFrontDoor()
    const { environment } = await door.app.environments.create({ refId: 'other' })
    const { endpoint } = await door.app.webhooks.create(environment.id, { url })
    const eventId = await door.app.webhooks.test(environment.id, endpoint.id)
    foreign = { id: endpoint.id, environmentId: environment.id, eventId }
    own = (await door.app.webhooks.create(door.environmentId, { url })).endpoint.id
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  const ask = (operation: Operation, input: object, headers?: Record<string, string>) =>
    door.ask(operations[operation], operation === 'list' ? {} : { input }, headers)
  const codeOf = async (operation: Operation, input: object, headers?: Record<string, string>) =>
    (await ask(operation, input, headers)).errors?.[0]?.extensions.code ?? 'done'
  const since = new Date(0).toISOString()

  it('are out of reach of a client key, by whichever operation', async () => {
    const inputs: Record<Operation, object> = {
      create: { url },
      update: { id: own, isPaused: true },
      remove: { id: own },
      test: { id: own },
      rotate: { id: own, overlapSeconds: 0 },
      resend: { endpointId: own, since },
      list: {},
      deliveries: { endpointId: own },
    }
    for (const [operation, input] of Object.entries(inputs))
      expect(await codeOf(operation as Operation, input, { 'x-api-key': door.clientKey }), operation).to.equal('IdentityForbidden')
  })

  it('of another environment are as those that there are not', async () => {
    const { id, eventId } = foreign
    const asked: [Operation, object][] = [
      ['update', { id, url: 'https://attacker.example.com' }],
      ['remove', { id }],
      ['test', { id }],
      ['rotate', { id, overlapSeconds: 0 }],
      ['resend', { endpointId: id, since }],
      ['resend', { endpointId: id, eventId }],
      ['resend', { endpointId: own, eventId }],
      ['deliveries', { endpointId: id }],
      ['deliveries', { endpointId: id, eventId }],
    ]
    for (const [operation, input] of asked) {
      expect(await codeOf(operation, input), operation).to.equal('BadUserInput')
      const message = (await ask(operation, input)).errors![0]!.message
      expect(message).to.match(/^There is no webhook endpoint|^No event/)
    }
    const { data } = await ask('deliveries', { endpointId: own, eventId })
    expect(data).to.deep.equal({ webhookDeliveries: { nextCursor: null, deliveries: [] } })
    expect((await door.app.webhooks.list(foreign.environmentId)).map((endpoint) => [endpoint.id, endpoint.url])).to.deep.equal([[id, url]])
    expect(JSON.stringify(await ask('list', {}))).to.not.include(id)
  })

  const strange: [Operation, string, () => object][] = [
    ['create', 'a URL with a character 0', () => ({ url: `${url}\0` })],
    ['create', 'a URL of two lines', () => ({ url: 'https://app.exa\nmple.com/\r\nhooks' })],
    ['create', 'a URL with half a character', () => ({ url: `${url}/\ud800` })],
    ['create', 'a URL with a zone', () => ({ url: 'https://[fe80::1%25eth0]/' })],
    ['create', 'a URL with a port that there is not', () => ({ url: 'https://app.example.com:99999/' })],
    ['create', 'a URL of a host without an end', () => ({ url: `https://${'a.'.repeat(900)}example.com/` })],
    ['create', 'a description with a character 0', () => ({ url, description: 'a\0b' })],
    ['create', 'a description with half a character', () => ({ url, description: 'a\ud800' })],
    ['create', 'a type with a character 0', () => ({ url, eventTypes: ['\0'] })],
    ['create', 'a type of the prototype', () => ({ url, eventTypes: ['constructor', '__proto__'] })],
    ['create', 'the same type ten thousand times', () => ({ url, eventTypes: Array(10_000).fill('customer.created') })],
    ['update', 'nothing to be changed', () => ({ id: own })],
    ['update', 'everything null', () => ({ id: own, url: null, description: null, eventTypes: null, isPaused: null })],
    ['update', 'an id with a character 0', () => ({ id: `${own.slice(0, -1)}\0` })],
    ['rotate', 'the longest number', () => ({ id: own, overlapSeconds: 2_147_483_647 })],
    ['resend', 'the first year', () => ({ endpointId: own, since })],
    ['resend', 'the last year', () => ({ endpointId: own, since: '9999-12-31T23:59:59.999Z' })],
    ['resend', 'an id in capitals', () => ({ endpointId: own.toUpperCase(), since })],
    ['deliveries', 'no page', () => ({ endpointId: own, first: 0 })],
    ['deliveries', 'less than a page', () => ({ endpointId: own, first: -1 })],
    ['deliveries', 'the longest number', () => ({ endpointId: own, first: 2_147_483_647 })],
    ['deliveries', 'a cursor of a time that there is not', () => ({ endpointId: own, after: cursorOf(`999999999999999 ${own}`) })],
    ['deliveries', 'a cursor of the first time', () => ({ endpointId: own, after: cursorOf(`0 ${own}`) })],
    ['deliveries', 'a cursor with more behind it', () => ({ endpointId: own, after: cursorOf(`1 ${own} 1`) })],
    ['deliveries', 'a cursor with a character 0', () => ({ endpointId: own, after: cursorOf('1 \0') })],
    ['deliveries', 'an event with a character 0', () => ({ endpointId: own, eventId: '\0' })],
  ]
  for (const [operation, what, input] of strange)
    it(`answer ${operation} with ${what}, and not by an error of ours`, async () => {
      expect(await codeOf(operation, input())).to.be.oneOf(['done', 'BadUserInput'])
      for (const { id } of await door.app.webhooks.list(door.environmentId))
        if (id !== own) await door.app.webhooks.delete(door.environmentId, id)
    })

  it('show a secret once: nothing else that can be asked has it', async () => {
    const { data } = await ask('create', { url, description: 'secret' })
    const { secret, endpoint } = (data as { createWebhookEndpoint: { secret: string; endpoint: { id: string } } }).createWebhookEndpoint
    const { id } = endpoint
    const answers = [
      await ask('update', { id, description: 'other' }),
      await ask('list', {}),
      await ask('test', { id }),
      await ask('deliveries', { endpointId: id }),
      await ask('rotate', { id, overlapSeconds: 60 }),
      await door.ask('{ __type(name: "WebhookEndpoint") { fields { name } } }', {}),
      await ask('remove', { id }),
    ]
    expect(JSON.stringify(answers)).to.not.include(secret)
    const fields = (answers[5]!.data as { __type: { fields: { name: string }[] } }).__type.fields.map(({ name }) => name)
    expect(fields.filter((name) => /secret$/i.test(name))).to.deep.equal([])
  })

  it('are resent in lots, each delivery once, also while some are delivered again', async () => {
    const { endpoint } = await door.app.webhooks.create(door.environmentId, { url, eventTypes: ['import.finished'] })
    const { id } = endpoint
    await administer(door.databaseUrl, async (client) => {
      await client.query(
        `INSERT INTO notification_event (environment_id, id, type, payload_version, payload, occurred_at)
         SELECT $1::uuid, gen_random_uuid(), 'import.finished', 1, '{}', now() FROM generate_series(1, 12000)`,
        [door.environmentId],
      )
      const end = `UPDATE webhook_delivery SET status = 'DELIVERED', attempts = 1, tries = 1, finished_at = clock_timestamp() WHERE endpoint_id = '${id}'`
      await client.query(end)
      // As a worker that delivers at once what waits again.
      let isOver = false
      const worker = (async () => {
        while (!isOver)
          await client.query(
            `${end} AND event_id = (SELECT event_id FROM webhook_delivery WHERE endpoint_id = '${id}' AND status = 'PENDING' LIMIT 1)`,
          )
      })()
      const answers = await Promise.all([1, 2].map(() => ask('resend', { endpointId: id, since })))
      isOver = true
      await worker
      expect(answers.flatMap(({ errors = [] }) => errors)).to.deep.equal([])
      const counts = answers.map(({ data }) => (data as { resendWebhookDeliveries: { count: number } }).resendWebhookDeliveries.count)
      // Two at once share them; what the worker has delivered in between may be the second one's once more.
      expect(counts[0]! + counts[1]!).to.be.within(12_000, 24_000)
    })
    expect((await ask('resend', { endpointId: id, since, onlyFailed: true })).data).to.deep.equal({ resendWebhookDeliveries: { count: 0 } })
    await door.app.webhooks.delete(door.environmentId, id)
  })
})
