import { expect } from 'chai'
import { eventually } from '../../../../support/eventually.js'
import { type FrontDoor, openFrontDoor } from '../../front-door.js'

const strong = { 'x-consistency': 'strong' }

/** Commits of another process that nobody is told of: no worker runs here. */
describe('how fresh checks are over GraphQL', () => {
  let door: FrontDoor
  let customers = 0

  before(async function () {
    this.timeout(60_000)
    door = await openFrontDoor({ limits: { perCustomer: 100_000 } })
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  const check = 'query($query: FetchEntitlementQuery!) { entitlement(query: $query) { isGranted accessDeniedReason } }'
  const asServer = (headers: object) => ({ 'x-api-key': door.serverKey, ...headers })
  const ask = async (customerId: string, headers: object = {}, featureId = 'sso') => {
    const { data, errors } = await door.ask<{ entitlement: { isGranted: boolean } }>(
      check,
      { query: { customerId, featureId } },
      asServer(headers),
    )
    return errors?.[0]?.extensions.code ?? data!.entitlement.isGranted
  }
  /** Of a customer whose state is held here. */
  async function heldCustomer(): Promise<string> {
    customers += 1
    const customerId = `customer-${customers}`
    const { errors } = await door.ask(`mutation { provisionCustomer(input: { customerId: "${customerId}" }) { customer { id } } }`)
    expect(errors).to.equal(undefined)
    await eventually('its state is held', async () => {
      const before = await reads('memory')
      expect(await ask(customerId, {}, 'no-such-feature')).to.equal(false)
      return (await reads('memory')) > before
    })
    expect(await ask(customerId)).to.equal(false)
    return customerId
  }
  /** Of one who was granted sso elsewhere. A process that was kept from its work for a second trusts nothing that it holds: then it is another one. */
  async function outdatedCustomer(): Promise<string> {
    for (;;) {
      const customerId = await heldCustomer()
      await grantElsewhere(customerId)
      if ((await ask(customerId)) === false) return customerId
    }
  }
  const grantElsewhere = (customerId: string) =>
    door.app.promotional.grant(door.environmentId, customerId, [{ featureRefId: 'sso', period: 'LIFETIME' }])
  const reads = async (source: string) =>
    Number(new RegExp(`tollgate_state_reads_total\\{source="${source}"\\S* (\\d+)`).exec(await door.life.metrics.metrics())?.[1] ?? 0)

  it('is what is held, when nothing is said or that is', async () => {
    const customerId = await outdatedCustomer()
    const before = await reads('PostgreSQL')
    for (const headers of [{}, { 'x-consistency': 'cached' }, { 'x-max-staleness-ms': '60000' }])
      expect(await ask(customerId, headers), JSON.stringify(headers)).to.equal(false)
    expect(await reads('PostgreSQL')).to.equal(before)
  })

  it('is what PostgreSQL has for strong ones, past what is held and kept, and nothing older is answered afterwards', async () => {
    const customerId = await outdatedCustomer()
    expect(await ask(customerId, strong)).to.equal(true)
    expect(await ask(customerId)).to.equal(true)
  })

  it('is what PostgreSQL has for all that is asked of one state, and one read for one document', async () => {
    const customerId = await heldCustomer()
    const query = `query($one: FetchEntitlementQuery!, $two: GetEntitlementV2Input!, $all: FetchEntitlementsQuery!) {
      entitlement(query: $one) { isGranted }
      entitlementV2(query: $two) { ... on FeatureEntitlement { isGranted } }
      cachedEntitlements(query: $all) { feature { refId } }
      entitlementsState(query: $all) { entitlements { feature { refId } } }
    }`
    const question = { customerId, featureId: 'sso' }
    await grantElsewhere(customerId)
    const before = await reads('PostgreSQL')
    const { data, errors } = await door.ask<Record<string, { isGranted: boolean; entitlements: object[] } & object[]>>(
      query,
      { one: question, two: question, all: { customerId } },
      asServer(strong),
    )
    expect(errors).to.equal(undefined)
    expect([data!.entitlement?.isGranted, data!.entitlementV2?.isGranted]).to.deep.equal([true, true])
    const sso = { feature: { refId: 'sso' } }
    expect(data!.cachedEntitlements).to.deep.include(sso)
    expect(data!.entitlementsState?.entitlements).to.deep.include(sso)
    expect((await reads('PostgreSQL')) - before).to.equal(1)
  })

  it('is what PostgreSQL has when what is held was proved right longer ago than the caller takes', async () => {
    const customerId = await outdatedCustomer()
    // A proof is some hundred microseconds old when it arrives, and is renewed five times a second.
    expect(await ask(customerId, { 'x-max-staleness-ms': '0' })).to.equal(true)
  })

  it('holds at the edge, too', async () => {
    const customerId = await outdatedCustomer()
    const page = async (headers: object) => {
      const response = await fetch(`${door.url}/v1/c/${customerId}/entitlements.json`, { headers: asServer(headers) })
      return { status: response.status, text: await response.text() }
    }
    expect((await page({})).text).to.not.include('"sso"')
    expect((await page(strong)).text).to.include('"sso"')
    expect((await page({})).text).to.include('"sso"')
    expect((await page({ 'x-consistency': 'eventual' })).status).to.equal(400)
    expect((await page({ 'x-max-staleness-ms': 'soon' })).status).to.equal(400)
  })

  it('is refused when it is none, before anything is done', async () => {
    const customerId = await heldCustomer()
    for (const headers of [{ 'x-consistency': 'eventual' }, { 'x-max-staleness-ms': '-1' }, { 'x-max-staleness-ms': '0.5' }])
      expect(await ask(customerId, headers), JSON.stringify(headers)).to.equal('BadUserInput')
    const mutation = 'mutation { provisionCustomer(input: { customerId: "never" }) { customer { id } } }'
    const { errors } = await door.ask(mutation, {}, asServer({ 'x-consistency': 'eventual' }))
    expect(errors?.[0]?.extensions.code).to.equal('BadUserInput')
    expect(await ask('never', strong)).to.equal(false)
  })

  it('may be strong so many times a second for a customer with a client key, and cached ones are answered meanwhile', async () => {
    const customerId = await heldCustomer()
    const asCustomer = { 'x-api-key': door.clientKey, 'x-customer-key': door.customerToken(customerId) }
    const askAs = (questions: readonly string[], headers: object) =>
      door.ask(
        `{ ${questions.map((of, n) => `q${n}: entitlementV2(query: {${of}, featureId: "sso"}) { __typename }`).join(' ')} }`,
        {},
        {
          ...asCustomer,
          ...headers,
        },
      )
    const ofResource = (n: number) => `customerId: "${customerId}", resourceId: "r${n}"`
    const documents = Array.from({ length: 4 }, (_, at) => Array.from({ length: 50 }, (_, n) => ofResource(50 * at + n)))
    const answers = await Promise.all(documents.map((questions) => askAs(questions, strong)))
    const refused = answers.flatMap(({ errors = [] }) => errors.map(({ extensions }) => extensions))
    for (const refusal of refused) {
      expect(refusal).to.include({ code: 'RateLimitExceeded' })
      expect(refusal.retryAfterMs).to.be.above(0)
    }
    // Three seconds' worth is answered, and what came back while these were asked.
    expect(200 - refused.length).to.be.within(50, 150)
    expect((await askAs([ofResource(1)], {})).errors).to.equal(undefined)
    expect(await ask(customerId, strong), 'of who has a key of its own').to.equal(false)
  }).timeout(30_000)
})
