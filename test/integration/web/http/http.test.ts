import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect } from 'chai'
import { getIntrospectionQuery } from 'graphql'
import { newId } from '../../../../src/kernel/id.js'
import { ingestDirectUsage } from '../../../../src/metering/wire/jobs.js'
import { openQueue } from '../../../../src/platform/queue.js'
import { maxBodyBytes } from '../../../../src/web/http/body.js'
import { testRedisUrl } from '../../../support/redis.js'
import { type FrontDoor, type GraphqlBody, openFrontDoor, operatorKey, post } from '../front-door.js'

describe('the front door over HTTP', () => {
  let door: FrontDoor
  let headers: { 'x-api-key': string }

  before(async function () {
    this.timeout(20_000)
    door = await openFrontDoor()
    headers = { 'x-api-key': door.serverKey }
  })
  after(async function () {
    this.timeout(60_000)
    expect(await door.close()).to.deep.equal([])
  })

  const codes = ({ errors }: GraphqlBody) => errors?.map(({ extensions }) => extensions.code)
  const read = async (response: Response) => (await response.json()) as GraphqlBody

  describe('keys', () => {
    for (const [name, sent] of [
      ['no key', {}],
      ['an unknown key', { 'x-api-key': 'server-00000000000000000000000000000000' }],
      ['nonsense', { 'x-api-key': 'x' }],
    ] as const) {
      it(`refuses ${name} with status 200, so that it is not retried`, async () => {
        const response = await post(door.url, { query: '{ sdkConfiguration { showWatermark } }' }, sent)
        expect(response.status).to.equal(200)
        expect(codes(await read(response))).to.deep.equal(['Unauthenticated'])
      })
    }

    it('refuses a revoked key', async () => {
      const { key, record } = await door.app.environments.createKey({ environment: 'test', kind: 'SERVER', name: 'old', expiresAt: null })
      await door.app.environments.revokeKey(record.id)
      expect(codes(await door.ask('{ sdkConfiguration { showWatermark } }', {}, { 'x-api-key': key }))).to.deep.equal(['Unauthenticated'])
    })

    it('takes the key in the address for introspection only', async () => {
      const address = `${door.url}/graphql?apiKey=${door.serverKey}`
      const send = async (query: string) =>
        read(await fetch(address, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query }) }))
      expect((await send(getIntrospectionQuery())).data).to.have.property('__schema')
      expect(codes(await send('{ sdkConfiguration { showWatermark } }'))).to.deep.equal(['Unauthenticated'])
      expect(codes(await send('{ __schema { description } sdkConfiguration { showWatermark } }'))).to.deep.equal(['Unauthenticated'])
    })

    it('refuses introspection with a client key, wherever a fragment hides it', async () => {
      const query = 'query { ...Hidden } fragment Hidden on Query { ... { __type(name: "Query") { name } } }'
      expect(codes(await door.ask(query, {}, { 'x-api-key': door.clientKey }))).to.deep.equal(['IdentityForbidden'])
      expect((await door.ask(query)).data).to.deep.equal({ __type: { name: 'Query' } })
    })
  })

  describe('errors', () => {
    it('names an unknown field and gives a trace id', async () => {
      const response = await post(door.url, { query: '{ sdkConfiguration { nope } }' }, headers)
      const { errors, data } = await read(response)
      expect(response.status).to.equal(200)
      expect(data).to.equal(undefined)
      expect(errors?.[0]?.message).to.include('nope')
      expect(errors?.[0]?.extensions).to.deep.equal({ code: 'BadUserInput', traceId: response.headers.get('x-trace-id') })
    })

    it('names the place of a wrong variable', async () => {
      const query = 'query($q: FetchEntitlementQuery!) { entitlement(query: $q) { isGranted } }'
      const { errors } = await door.ask(query, { q: { customerId: 'a', featureId: 'f', shoe: 1 } })
      expect(errors?.[0]?.extensions.code).to.equal('BadUserInput')
      expect(errors?.[0]?.message).to.include('"shoe"')
    })

    it('refuses a malformed document', async () => {
      expect(codes(await door.ask('{ nope'))).to.deep.equal(['BadUserInput'])
    })

    it('hides the text of what went wrong inside', async () => {
      const original = door.app.customers.get
      door.app.customers.get = () => Promise.reject(new Error('secret of the database'))
      try {
        const { errors, data } = await door.ask('{ getCustomerByRefId(input: {customerId: "a"}) { id } }')
        expect(data).to.deep.equal({ getCustomerByRefId: null })
        expect(errors?.[0]?.extensions.code).to.equal('InternalServerError')
        expect(JSON.stringify(errors)).to.not.include('secret')
      } finally {
        door.app.customers.get = original
      }
    })

    it('refuses another environment than the key’s', async () => {
      const query = 'query($input: GetCustomerByRefIdInput!) { getCustomerByRefId(input: $input) { id } }'
      expect(codes(await door.ask(query, { input: { customerId: 'a', environmentId: 'other' } }))).to.deep.equal(['IdentityForbidden'])
      expect(await door.ask(query, { input: { customerId: 'a', environmentId: door.environmentId } })).to.deep.equal({
        data: { getCustomerByRefId: null },
      })
    })

    it('answers 400 to what is not a GraphQL request', async () => {
      for (const body of ['{', '"text"', '{}', '{"query": 1}']) {
        const response = await post(door.url, body, headers)
        expect(response.status, body).to.equal(400)
        expect(codes(await read(response)), body).to.deep.equal(['BadUserInput'])
      }
    })
  })

  describe('limits', () => {
    it('refuses a body over the size limit that says so', async () => {
      const response = await post(door.url, ' '.repeat(maxBodyBytes + 1), headers)
      expect(response.status).to.equal(413)
      expect(codes(await read(response))).to.deep.equal(['BadUserInput'])
    })

    it('stops reading a body over the size limit that does not say so', async () => {
      const status = await new Promise((resolve, reject) => {
        const sent = request(
          `${door.url}/graphql`,
          { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } },
          (response) => {
            resolve(response.statusCode)
            sent.destroy()
          },
        )
        sent.on('error', reject)
        const chunk = Buffer.alloc(64 * 1024, `"${'x'.repeat(997)}",`)
        const write = () => {
          if (!sent.destroyed) sent.write(chunk, () => setImmediate(write))
        }
        write()
      })
      expect(status).to.equal(413)
    })

    const hostile = {
      '10,000 aliases of one field': `{ ${Array.from({ length: 10_000 }, (_, n) => `a${n}: __typename`).join(' ')} }`,
      '10,000 repeated directives': `{ __typename ${'@include(if: true) '.repeat(10_000)} }`,
      'a query nested 50 deep': `{ __schema { types { ${'ofType { '.repeat(50)} name ${'}'.repeat(50)} } } }`,
      'fragments that spread each other in a circle': '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }',
    }
    for (const [name, query] of Object.entries(hostile)) {
      it(`refuses ${name}`, async () => {
        const { data, errors } = await door.ask(query)
        expect(data).to.equal(undefined)
        expect(new Set(codes({ errors }))).to.deep.equal(new Set(['BadUserInput']))
      })
    }
  })

  describe('lists of operations', () => {
    const operation = (n: number) => ({ query: `{ n${n}: __typename }` })

    it('answers 25 in order', async () => {
      const response = await post(
        door.url,
        Array.from({ length: 25 }, (_, n) => operation(n)),
        headers,
      )
      const answers = (await response.json()) as GraphqlBody[]
      expect(response.status).to.equal(200)
      expect(answers.map(({ data }) => Object.keys(data ?? {})[0])).to.deep.equal(Array.from({ length: 25 }, (_, n) => `n${n}`))
    })

    it('answers each for itself', async () => {
      const answers = (await (await post(door.url, [operation(1), { query: '{ nope }' }, 5], headers)).json()) as GraphqlBody[]
      expect(answers.map(codes)).to.deep.equal([undefined, ['BadUserInput'], ['BadUserInput']])
    })

    it('refuses 26, and none', async () => {
      for (const list of [Array.from({ length: 26 }, (_, n) => operation(n)), []]) {
        const response = await post(door.url, list, headers)
        expect(response.status).to.equal(400)
        expect(codes(await read(response))).to.deep.equal(['BadUserInput'])
      }
    })
  })

  it('executes queries by GET, and no mutation', async () => {
    const get = (query: string) => fetch(`${door.url}/graphql?query=${encodeURIComponent(query)}`, { headers })
    expect(await (await get('{ __typename }')).json()).to.deep.equal({ data: { __typename: 'Query' } })
    expect((await get('mutation { reportUsage(input: {customerId: "a", featureId: "f", value: 1}) { id } }')).status).to.equal(405)
  })

  it('sends subscriptions to the WebSocket', async () => {
    expect(codes(await door.ask('subscription { usageUpdated { usage { featureId } } }'))).to.deep.equal(['BadUserInput'])
  })

  describe('browsers', () => {
    it('may call from any page with the headers that clients send', async () => {
      const asked =
        'content-type,x-api-key,X-Customer-Key,source,apollographql-client-name,apollographql-client-version,x-graphql-operation-name,x-sdk-version,x-api-version,X-Anything-2'
      const response = await fetch(`${door.url}/graphql`, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://app.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': `${asked},cookie,x,authorization`,
        },
      })
      expect(response.status).to.equal(204)
      expect(response.headers.get('access-control-allow-origin')).to.equal('*')
      expect(response.headers.get('access-control-allow-headers')?.split(', ')).to.deep.equal(asked.toLowerCase().split(','))
    })

    it('read the answer', async () => {
      const response = await post(door.url, { query: '{ __typename }' }, { ...headers, origin: 'https://app.example' })
      expect(response.headers.get('access-control-allow-origin')).to.equal('*')
    })

    it('get GraphiQL with everything it needs from here', async () => {
      const page = await fetch(`${door.url}/graphql`, { headers: { accept: 'text/html,application/xhtml+xml' } })
      const html = await page.text()
      const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path!)
      expect(assets).to.have.length(6)
      expect(html).to.not.match(/(?:src|href)="(?!\/)/)
      for (const path of assets) {
        const asset = await fetch(`${door.url}${path}`)
        expect(asset.status, path).to.equal(200)
        expect((await asset.text()).length, path).to.be.greaterThan(100)
      }
    })
  })

  describe('docs', () => {
    it('are a list of pages that all exist', async () => {
      const html = await (await fetch(`${door.url}/docs`)).text()
      const links = [...html.matchAll(/href="(\/docs\/[\w-]+)"/g)].map(([, path]) => path!)
      expect(links).to.include.members(['/docs/index', '/docs/graphql-api', '/docs/errors', '/docs/operations', '/docs/catalog'])
      for (const link of new Set(links)) expect((await fetch(door.url + link)).status, link).to.equal(200)
    })

    it('fit a phone, and load nothing from elsewhere', async () => {
      const response = await fetch(`${door.url}/docs/errors`)
      const html = await response.text()
      expect(html).to.include('<meta name="viewport" content="width=device-width, initial-scale=1">')
      expect(html).to.include('<h1 id="errors">Errors</h1>')
      expect(response.headers.get('content-security-policy')).to.include("default-src 'none'")
    })

    it('have a reference made from the schema, whose links all lead somewhere', async () => {
      const html = await (await fetch(`${door.url}/docs/reference`)).text()
      expect(html).to.include('<h3 id="provisioncustomer">provisionCustomer</h3>').and.to.include('<h3 id="type-Customer">Customer</h3>')
      const places = new Set(Array.from(html.matchAll(/ id="([\w-]+)"/g), ([, id]) => id))
      expect(Array.from(html.matchAll(/href="#([\w-]+)"/g), ([, id]) => id).filter((id) => !places.has(id))).to.deep.equal([])
    })

    it('show their drawings', async () => {
      const html = await (await fetch(`${door.url}/docs/cost`)).text()
      const images = Array.from(html.matchAll(/<img src="([^"]+)" alt="[^"]+"/g), ([, source]) => source!)
      expect(images).to.deep.equal(['/docs/cost.svg'])
      const image = await fetch(door.url + images[0])
      expect(image.headers.get('content-type')).to.include('image/svg+xml')
      expect(await image.text()).to.match(/^<svg /)
    })

    it('say so when there is no such page', async () => {
      for (const path of ['/docs/nope', '/docs/..%2f..%2fpackage.json']) expect((await fetch(door.url + path)).status, path).to.equal(404)
    })
  })

  describe('the queue board', () => {
    const open = (sent: Record<string, string>) => fetch(`${door.url}/queues`, { headers: sent })
    const basic = (password: string) => ({ authorization: `Basic ${Buffer.from(`anybody:${password}`).toString('base64')}` })

    it('asks a browser for the operator key', async () => {
      for (const sent of [{}, { 'x-operator-key': 'wrong' }, basic('wrong'), { 'x-api-key': door.serverKey }] as Record<string, string>[]) {
        const response = await open(sent)
        expect(response.status).to.equal(401)
        expect(response.headers.get('www-authenticate')).to.match(/^Basic /)
      }
    })

    it('opens with it', async () => {
      for (const sent of [{ 'x-operator-key': operatorKey }, basic(operatorKey)] as Record<string, string>[]) {
        const response = await open(sent)
        expect(response.status).to.equal(200)
        expect(await response.text()).to.include('Tollgate queues')
      }
      const api = await fetch(`${door.url}/queues/api/queues`, { headers: basic(operatorKey) })
      const { queues } = (await api.json()) as { queues: { name: string }[] }
      expect(queues.map(({ name }) => name)).to.include.members([
        'usage-ingestion',
        'usage-ingestion-1',
        'usage-ingestion-2',
        'event-aggregation',
        'subscription-transitions',
        'cache-invalidation',
      ])
    })

    it('has what the operator changes in the log', async () => {
      const lines: object[] = []
      const { info } = door.life.log
      door.life.log.info = (fields: object) => void lines.push(fields)
      try {
        const change = (what: string, sent: Record<string, string>) =>
          fetch(`${door.url}/queues/api/queues/event-aggregation/${what}`, { method: 'PUT', headers: sent })
        expect((await change('pause', { 'x-operator-key': 'wrong' })).status).to.equal(401)
        for (const what of ['pause', 'resume']) expect((await change(what, { 'x-operator-key': operatorKey })).ok, what).to.equal(true)
        await open({ 'x-operator-key': operatorKey })
      } finally {
        door.life.log.info = info
      }
      expect(lines.map((line) => ('path' in line ? line.path : ''))).to.deep.equal([
        '/queues/api/queues/event-aggregation/pause',
        '/queues/api/queues/event-aggregation/resume',
      ])
    })

    it('shows the queue that an environment’s sidecars add to, once there is one', async () => {
      const names = async () => {
        const api = await fetch(`${door.url}/queues/api/queues`, { headers: basic(operatorKey) })
        return ((await api.json()) as { queues: { name: string }[] }).queues.map(({ name }) => name)
      }
      const direct = ingestDirectUsage(door.environmentId)
      expect(await names()).not.to.include(direct.queue)
      const queue = openQueue(door.life, { redisUrl: testRedisUrl(), prefix: door.queuePrefix }, direct)
      const batch = { kind: 'events' as const, calls: [] }
      await queue.add({ v: 1, environmentId: door.environmentId, door: 'nobody', batchId: newId(), isRepeat: false, batch })
      expect(await names()).to.include(direct.queue)
    })
  })

  it('answers health', async () => {
    expect(await (await fetch(`${door.url}/livez`)).json()).to.deep.equal({ status: 'UP' })
    expect(await (await fetch(`${door.url}/readyz`)).json()).to.include({ status: 'UP' })
  })

  it('says where metrics are instead of showing them to whoever reaches the API', async () => {
    const answer = await fetch(`${door.url}/metrics`)
    expect([answer.status, await answer.json()]).to.deep.equal([404, { error: 'Metrics have a port of their own: METRICS_PORT' }])
    const port = await door.life.serveHealth({ port: 0, host: '127.0.0.1' })
    expect(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).to.include('tollgate_graphql_operation_seconds')
  })

  it('refuses a request that names no path', async () => {
    for (const target of ['*', '*?a=b', 'x', '?']) {
      const asked = request(door.url, { path: target, method: 'OPTIONS', agent: false })
      asked.end()
      const [response] = (await once(asked, 'response')) as [IncomingMessage]
      response.resume()
      expect(response.statusCode, target).to.be.oneOf([400, 404])
    }
  })

  it('knows no other path', async () => {
    const response = await fetch(`${door.url}/nope`)
    await response.text()
    expect(response.status).to.equal(404)
  })
})
