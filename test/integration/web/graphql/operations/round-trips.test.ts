import { expect } from 'chai'
import { countStatements } from '../../../../support/statements.js'
import { type FrontDoor, openFrontDoor } from '../../front-door.js'

const provision = `mutation($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) {
  customer { id } subscription { subscriptionId status } subscriptionDecisionStrategy entitlements { feature { refId } currentUsage usageLimit }
} }`
const held = `query($query: FetchEntitlementsQuery!) { cachedEntitlements(query: $query) { feature { refId } currentUsage usageLimit entitlementUpdatedAt } }`

describe('round trips to PostgreSQL', () => {
  let door: FrontDoor

  before(async function () {
    this.timeout(20_000)
    door = await openFrontDoor()
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  const statementsOf = async (work: () => Promise<unknown>) => {
    const counted = countStatements()
    try {
      await work()
    } finally {
      counted.stop()
    }
    // Whether a key is still valid is looked up every five seconds. What the audit log says is sent with the commit, in its message.
    return counted.texts.filter((text) => !/^\s*begin\b|\bcommit\s*$|\bapi_key\b/i.test(text))
  }
  // biome-ignore lint/suspicious/noExplicitAny: answers are compared as JSON
  const data = async (query: string, variables: object): Promise<any> => {
    const answer = await door.ask(query, variables)
    expect(answer.errors).to.equal(undefined)
    return answer.data
  }

  for (const [name, input] of [
    ['the plan that is asked for', { subscriptionParams: { planId: 'free' } }],
    ['the plan that the product gives', {}],
  ] as const) {
    it(`are three for a new customer with ${name}, besides begin and commit`, async () => {
      // What the catalog says is read once for each of its versions.
      await data(provision, { input: { customerId: `first ${name}`, ...input } })
      const statements = await statementsOf(() => data(provision, { input: { customerId: `second ${name}`, ...input } }))
      expect(statements).to.have.length(3)
    })
  }

  it('leave out nothing: the answer is what is read afterwards', async () => {
    const input = { customerId: 'whole', subscriptionParams: { planId: 'team', billingPeriod: 'MONTHLY' } }
    const { provisionCustomer } = await data(provision, { input })
    const { cachedEntitlements } = await data(held, { query: { customerId: 'whole' } })
    const shown = ({ feature, currentUsage, usageLimit }: Record<string, unknown>) => ({ feature, currentUsage, usageLimit })
    expect(provisionCustomer.entitlements.map(shown)).to.deep.equal(cachedEntitlements.map(shown))
    expect(provisionCustomer.entitlements).to.have.length.above(3)
  })

  it('see a catalog that was changed', async () => {
    await data(provision, { input: { customerId: 'before', subscriptionParams: { planId: 'free' } } })
    const catalog = await door.app.catalog.export(door.environmentId)
    const plans = catalog.plans.map((plan) =>
      plan.refId === 'free'
        ? { ...plan, entitlements: plan.entitlements.map((each) => (each.feature === 'seats' ? { ...each, limit: 3 } : each)) }
        : plan,
    )
    await door.app.catalog.apply(door.environmentId, { ...catalog, plans }, { dryRun: false, archiveMissing: false })
    const { provisionCustomer } = await data(provision, { input: { customerId: 'after', subscriptionParams: { planId: 'free' } } })
    const seats = provisionCustomer.entitlements.find(({ feature }: { feature: { refId: string } }) => feature.refId === 'seats')
    expect(seats.usageLimit).to.equal(3)
  })

  it('are none for a check that is warm', async () => {
    const check = 'query($query: FetchEntitlementQuery!) { entitlement(query: $query) { isGranted } }'
    const variables = { query: { customerId: 'whole', featureId: 'seats' } }
    await data(check, variables)
    // A check that is to be counted is executed each time.
    const counted = { query: { ...variables.query, options: { shouldTrack: true } } }
    expect(await statementsOf(() => data(check, variables))).to.deep.equal([])
    expect(await statementsOf(() => data(check, counted))).to.deep.equal([])
  })
})
