import { expect } from 'chai'
import { openWholePlatform, type TestEnvironment, type WholePlatform } from '../../whole-platform.js'

const catalog = `
features:
  - { refId: calls, type: NUMBER, meter: Incremental }
  - { refId: seats, type: NUMBER, meter: Fluctuating }
products:
  - { refId: desk, settings: { endOfSubscription: DOWNGRADE_TO_FREE, downgradePlan: free } }
  - { refId: tools, settings: { multipleSubscriptions: true } }
plans:
  - { refId: free, product: desk, entitlements: [{ feature: calls, limit: 10, resetPeriod: MONTH }, { feature: seats, limit: 1 }] }
  - { refId: kit, product: tools, entitlements: [{ feature: calls, limit: 300, resetPeriod: MONTH }] }
  - { refId: room, product: tools, entitlements: [{ feature: seats, limit: 5 }] }
  - refId: pro
    product: desk
    entitlements: [{ feature: calls, limit: 1000, resetPeriod: MONTH }, { feature: seats, limit: 9 }]
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 50 }]
`
const held = 'accessDeniedReason entitlements { usageLimit currentUsage usageUpdatedAt feature { refId } }'
const query = `query ($query: FetchEntitlementsQuery!) { state: entitlementsState(query: $query) { validUntil ${held} next { validFrom validUntil unknownFeatureIds ${held} } } }`

interface Held {
  accessDeniedReason: string | null
  entitlements: { usageLimit: number; currentUsage: number; usageUpdatedAt: string; feature: { refId: string } }[]
}
type State = Held & {
  validUntil: number | null
  next: (Held & { validFrom: number; validUntil: number | null; unknownFeatureIds: string[] }) | null
}

describe('what a state says comes next', () => {
  let platform: WholePlatform
  let environment: TestEnvironment

  before(async function () {
    this.timeout(30_000)
    platform = await openWholePlatform()
    environment = await platform.createEnvironment('next', catalog)
  })
  after(async () => expect(await platform.close()).to.deep.equal([]))

  const ask = async <Data>(text: string, variables: object = {}) => {
    const { data, errors } = await environment.ask<Data>(text, variables)
    expect(errors).to.equal(undefined)
    return data!
  }
  const state = async (customerId: string, resourceId?: string) =>
    (await ask<{ state: State }>(query, { query: { customerId, resourceId } })).state
  const provision = (input: object) =>
    ask('mutation ($input: ProvisionSubscriptionInput!) { provisionSubscriptionV2(input: $input) { id } }', { input })
  const customer = (id: string) => ask(`mutation { provisionCustomer(input: { customerId: "${id}" }) { customer { id } } }`)
  const report = (customerId: string, featureId: string, value: number) =>
    ask('mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { id } }', { input: { customerId, featureId, value } })
  const summary = ({ accessDeniedReason, entitlements }: Held) => [
    accessDeniedReason,
    ...entitlements.map(({ feature, currentUsage, usageLimit }) => `${feature.refId} ${currentUsage} of ${usageLimit}`),
  ]
  const at = Date.now() + 86_400_000
  const date = new Date(at).toISOString()
  const trial = { trialOverrideConfiguration: { isTrial: true, trialEndDate: date, trialEndBehavior: 'CANCEL_SUBSCRIPTION' } }

  it('is the free plan after a trial, with the usage that goes on and none of what begins anew; the edge says the same', async () => {
    await customer('trial')
    await provision({ customerId: 'trial', planId: 'pro', ...trial })
    await report('trial', 'calls', 7)
    await report('trial', 'seats', 1)
    const { validUntil, next, ...now } = await state('trial')
    expect(validUntil).to.equal(at)
    expect(summary(now)).to.deep.equal([null, 'calls 7 of 1000', 'seats 1 of 9'])
    expect(next).to.include({ validFrom: at, validUntil: null })
    expect(summary(next!)).to.deep.equal([null, 'calls 0 of 10', 'seats 1 of 1'])
    // Usage that begins then is dated by then; the other goes on.
    const dated = next!.entitlements.map(({ usageUpdatedAt }) => Date.parse(usageUpdatedAt) === at)
    expect(dated).to.deep.equal([true, false])
    const edge = await fetch(`${platform.url}/v1/c/trial/entitlements-state.json`, { headers: { 'x-api-key': environment.serverKey } })
    const body = (await edge.json()) as { data: { entitlementsState: State } }
    expect(summary(body.data.entitlementsState.next!)).to.deep.equal(summary(next!))
  })

  it('is a denial where everything ends, and a plan where nothing is held yet', async () => {
    await customer('upcoming')
    await provision({ customerId: 'upcoming', planId: 'kit', startDate: date })
    const upcoming = await state('upcoming')
    expect(summary(upcoming)).to.deep.equal(['NoActiveSubscription'])
    expect(summary(upcoming.next!)).to.deep.equal([null, 'calls 0 of 300'])
    await customer('ending')
    await provision({ customerId: 'ending', planId: 'kit', cancellationDate: date })
    expect(summary((await state('ending')).next!)).to.deep.equal(['NoActiveSubscription'])
  })

  it('is nothing where time changes nothing, and says what goes on then with a usage that the state does not carry', async () => {
    await customer('steady')
    await provision({ customerId: 'steady', planId: 'free' })
    expect((await state('steady')).next).to.equal(null)
    // A resource whose own seats end has the customer's from then on, which are counted elsewhere.
    await provision({ customerId: 'steady', planId: 'room', resourceId: 'r1', cancellationDate: date })
    const { validUntil, next } = await state('steady', 'r1')
    expect(validUntil).to.equal(at)
    expect(next!.unknownFeatureIds).to.deep.equal(['seats'])
    expect(summary(next!)).to.deep.equal([null, 'calls 0 of 10'])
    // Likewise seats that nothing is held for until then.
    await customer('seatless')
    await provision({ customerId: 'seatless', planId: 'free', startDate: date })
    const seatless = (await state('seatless')).next!
    expect([seatless.unknownFeatureIds, summary(seatless)]).to.deep.equal([['seats'], [null, 'calls 0 of 10']])
  })
})
