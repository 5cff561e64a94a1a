import { request } from 'node:http'
import { expect } from 'chai'
import { RateLimits } from '../../../../src/web/access/rate-limits.js'
import { type FrontDoor, openFrontDoor } from '../front-door.js'

interface EdgeAnswer {
  status: number
  headers: Record<string, string | undefined>
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: answers are compared as JSON
  body: any
}

describe('the edge API', () => {
  let door: FrontDoor
  let count = 0

  before(async function () {
    this.timeout(20_000)
    door = await openFrontDoor({ limits: { perCustomer: 3 } })
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  /** The target goes over the wire as it is: no client library tidies it up. */
  const get = (path: string, headers: Record<string, string> = { 'x-api-key': door.serverKey }, method = 'GET') =>
    new Promise<EdgeAnswer>((resolve, reject) => {
      const { port } = new URL(door.url)
      const sent = request({ port, path, headers, method, host: '127.0.0.1', agent: false }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => {
          const answer = { status: response.statusCode!, headers: response.headers as EdgeAnswer['headers'], text }
          resolve({ ...answer, body: text === '' ? null : JSON.parse(text) })
        })
      })
      sent.on('error', reject)
      sent.end()
    })
  const provision = async (customerId = `customer-${++count}`, more: object = {}) => {
    const mutation = 'mutation($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { subscription { subscriptionId } } }'
    const { data, errors } = await door.ask<{ provisionCustomer: { subscription: { subscriptionId: string } } }>(mutation, {
      input: { customerId, ...more },
    })
    expect(errors).to.equal(undefined)
    return { customerId, subscriptionId: data!.provisionCustomer.subscription.subscriptionId }
  }
  const cancel = (subscriptionRefId: string) =>
    door.ask('mutation($input: SubscriptionCancellationInput!) { cancelSubscription(input: $input) { status } }', {
      input: { subscriptionRefId, subscriptionCancellationTime: 'IMMEDIATE' },
    })

  it('answers the entitlements that GraphQL answers', async () => {
    const { customerId } = await provision()
    const { status, body, headers } = await get(`/v1/c/${customerId}/entitlements.json`)
    expect(status).to.equal(200)
    const fields = 'isGranted currentUsage usageLimit usagePeriodEnd entitlementUpdatedAt usageUpdatedAt feature { refId featureType }'
    const query = `query($query: FetchEntitlementsQuery!) { cachedEntitlements(query: $query) { ${fields} } }`
    const { data } = await door.ask<{ cachedEntitlements: { feature: object }[] }>(query, { query: { customerId } })
    expect(data!.cachedEntitlements).to.have.length.above(3)
    for (const [index, { feature, ...entitlement }] of data!.cachedEntitlements.entries()) {
      expect(body.data.entitlements[index]).to.deep.include({ ...entitlement, __typename: 'Entitlement', customerId })
      expect(body.data.entitlements[index].feature).to.deep.include(feature)
    }
    expect(headers['content-type']).to.equal('application/json; charset=utf-8')
    expect(headers['cache-control']).to.equal('private, no-cache')
    expect(headers.vary).to.equal('X-API-KEY, X-CUSTOMER-KEY')
  })

  it('tells why there is nothing', async () => {
    const { body } = await get('/v1/c/nobody/entitlements-state.json')
    expect(body.data.entitlementsState).to.deep.include({ accessDeniedReason: 'CustomerNotFound', entitlements: [] })
    expect((await get('/v1/c/nobody/entitlements.json')).body).to.deep.equal({ data: { entitlements: [] } })
  })

  for (const customerId of ['a/b', '..', '100%', 'Zürich', 'entitlements.json']) {
    it(`takes ${customerId} as it is, and escaped`, async () => {
      await provision(customerId)
      const raw = Buffer.from(customerId, 'utf8').toString('latin1')
      for (const path of [...(customerId === 'Zürich' ? [] : [raw]), encodeURIComponent(customerId)]) {
        const { status, body } = await get(`/v1/c/${path}/entitlements.json`)
        expect(status, path).to.equal(200)
        expect(body.data.entitlements[0].customerId, path).to.equal(customerId)
      }
    })
  }

  it('answers 304 to who has the page, and another tag when it changed', async () => {
    const { customerId, subscriptionId } = await provision()
    const path = `/v1/c/${customerId}/entitlements-state.json`
    const key = { 'x-api-key': door.serverKey }
    const first = await get(path)
    const etag = first.headers.etag!
    expect(etag).to.match(/^"[\w-]{43}"$/)
    for (const sent of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get(path, { ...key, 'if-none-match': sent })
      expect(again.status, sent).to.equal(304)
      expect(again.text, sent).to.equal('')
      expect(again.headers.etag, sent).to.equal(etag)
    }
    expect((await get(path, { ...key, 'if-none-match': '"other"' })).status).to.equal(200)
    expect((await get(path, key, 'HEAD')).headers.etag).to.equal(etag)
    await cancel(subscriptionId)
    const changed = await get(path, { ...key, 'if-none-match': etag })
    expect(changed.status).to.equal(200)
    expect(changed.body.data.entitlementsState.accessDeniedReason).to.equal('NoActiveSubscription')
  })

  it('answers active subscriptions, of all resources or some', async () => {
    const { customerId } = await provision()
    const all = await get(`/v1/c/${customerId}/subscriptions.json`)
    expect(all.body.data.getActiveSubscriptions).to.have.length(1)
    expect(all.body.data.getActiveSubscriptions[0]).to.deep.include({ status: 'ACTIVE', __typename: 'CustomerSubscription' })
    expect(
      (await get(`/v1/c/${customerId}/subscriptions.json?resourceIds=r1&resourceIds=r2`)).body.data.getActiveSubscriptions,
    ).to.deep.equal([])
    const unknown = await get('/v1/c/nobody/subscriptions.json')
    expect(unknown.status).to.equal(404)
    expect(unknown.body).to.deep.include({ data: null })
    expect(unknown.body.errors[0].extensions.code).to.equal('CustomerNotFound')
  })

  it('answers the configuration of SDKs', async () => {
    for (const kind of ['server', 'client'])
      expect((await get(`/v1/config/${kind}-sdk-configuration.json`)).body.data.sdkConfiguration).to.deep.include({ sentryDsn: null })
  })

  it('answers the paywall of a product', async () => {
    const { body } = await get('/v1/p/acme-cloud/paywall.json')
    expect(body.errors).to.equal(undefined)
    expect(body.data.paywall.plans.map(({ refId }: { refId: string }) => refId)).to.include.members(['free', 'team'])
    expect((await get('/v1/paywall.json')).body.data.paywall.plans).to.not.have.length(0)
  })

  it('refuses a bad key with 401, in the shape of GraphQL', async () => {
    for (const headers of [{}, { 'x-api-key': 'server-00000000000000000000000000000000' }] as Record<string, string>[]) {
      const { status, body } = await get('/v1/c/a/entitlements.json', headers)
      expect(status).to.equal(401)
      expect(body.data).to.equal(null)
      expect(body.errors[0].extensions.code).to.equal('Unauthenticated')
    }
  })

  it('shows a client key its customer only', async () => {
    const { customerId } = await provision()
    const headers = { 'x-api-key': door.clientKey, 'x-customer-key': door.customerToken(customerId) }
    expect((await get(`/v1/c/${customerId}/entitlements.json`, headers)).status).to.equal(200)
    const other = await get('/v1/c/other/entitlements.json', headers)
    expect(other.status).to.equal(403)
    expect(other.body.errors[0].extensions.code).to.equal('AuthCustomerMismatch')
    expect((await get(`/v1/c/${customerId}/entitlements.json`, { 'x-api-key': door.clientKey })).status).to.equal(403)
  })

  it('says when it is too much', async () => {
    const { customerId } = await provision()
    const headers = { 'x-api-key': door.clientKey, 'x-customer-key': door.customerToken(customerId) }
    const answers = await Promise.all(Array.from({ length: 8 }, () => get(`/v1/c/${customerId}/entitlements.json`, headers)))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).to.have.length.within(2, 5)
    expect(refused[0]!.body).to.deep.equal({ error: 'rate_limit_exceeded', message: 'Too many requests' })
    expect(refused[0]!.headers['retry-after']).to.equal('1')
    expect((await get(`/v1/c/${customerId}/entitlements.json`)).status).to.equal(200)
  })

  it('has subscriptions paid by how many there are', async () => {
    const { customerId } = await provision()
    const { takeCost, giveBackCost } = RateLimits.prototype
    const costs: number[] = []
    RateLimits.prototype.takeCost = function (identity, address, cost) {
      costs.push(cost)
      takeCost.call(this, identity, address, cost)
    }
    RateLimits.prototype.giveBackCost = function (identity, address, cost) {
      costs.push(-cost)
      giveBackCost.call(this, identity, address, cost)
    }
    try {
      expect((await get(`/v1/c/${customerId}/subscriptions.json`)).status).to.equal(200)
      expect(costs).to.have.length(2)
      const [taken, givenBack] = costs as [number, number]
      // Five were taken for granted, and there is one.
      expect((taken - 1) / (taken + givenBack - 1)).to.be.closeTo(5, 0.1)
      for (const path of [`/v1/c/${customerId}/entitlements.json`, '/v1/config/server-sdk-configuration.json'])
        expect((await get(path)).status).to.equal(200)
      expect(costs).to.have.length(2)
    } finally {
      Object.assign(RateLimits.prototype, { takeCost, giveBackCost })
    }
  })

  it('is open to browsers', async () => {
    const asked = { origin: 'https://app.example', 'access-control-request-headers': 'x-api-key, x-customer-key' }
    const { status, headers } = await get('/v1/c/a/entitlements.json', asked, 'OPTIONS')
    expect(status).to.equal(204)
    expect(headers['access-control-allow-headers']).to.equal('x-api-key, x-customer-key')
    expect((await get('/v1/c/a/entitlements.json')).headers['access-control-allow-origin']).to.equal('*')
  })

  it('knows no other page, and no other method', async () => {
    expect((await get('/v1/nope.json')).status).to.equal(404)
    expect((await get('/v1/c/a/entitlements.json', { 'x-api-key': door.serverKey }, 'POST')).status).to.equal(405)
  })

  it('has one read under way for a state, however many ask', async () => {
    const { customerId } = await provision()
    const built = async () =>
      Number(/tollgate_state_reads_total\{source="PostgreSQL"\S* (\d+)/.exec(await door.life.metrics.metrics())?.[1] ?? 0)
    await get('/v1/c/somebody-else/entitlements.json')
    const before = await built()
    await Promise.all(Array.from({ length: 10 }, () => get(`/v1/c/${customerId}/entitlements.json`)))
    expect((await built()) - before).to.equal(1)
  })
})
