import { expect } from 'chai'
import { type FrontDoor, openFrontDoor } from '../../front-door.js'

const start = '2044-03-05T08:00:00.000Z'
const renewal = '2044-04-05T08:00:00.000Z'

const catalog = (newest = '{ feature: seats, limit: 4 }', least = '', publish = 'NEW_CUSTOMERS') => `
features:
  - { refId: seats, type: NUMBER, meter: Fluctuating }
  - { refId: rooms, type: NUMBER }
products:
  - { refId: studio, settings: { downgradeTiming: END_OF_BILLING_PERIOD } }
plans:
  - refId: team
    product: studio
    publish: ${publish}
    compatibleAddons: [lounge]
    entitlements: [${newest}]
    prices: [{ billingModel: PER_UNIT, billingPeriod: MONTHLY, currency: USD, amount: 11, feature: seats ${least} }]
  - refId: bare
    product: studio
    defaultTrial: { duration: 10, units: DAY }
    prices:
      - { billingModel: PER_UNIT, billingPeriod: MONTHLY, currency: USD, amount: 40, feature: seats, blockSize: 5 }
      - { billingModel: PER_UNIT, billingPeriod: MONTHLY, currency: EUR, amount: 60, feature: seats, blockSize: 8 }
  - refId: open
    product: studio
    entitlements: [{ feature: seats, softLimit: true }]
    prices: [{ billingModel: PER_UNIT, billingPeriod: MONTHLY, currency: USD, amount: 9, feature: seats, minQuantity: 3 }]
addons:
  - refId: lounge
    product: studio
    prices: [{ billingModel: PER_UNIT, billingPeriod: MONTHLY, currency: USD, amount: 5, feature: rooms }]
`

describe('units that are bought over GraphQL', () => {
  let door: FrontDoor
  let environmentId = ''
  let key = ''

  before(async () => {
    door = await openFrontDoor()
    const { environment } = await door.app.environments.create({ refId: 'units', isTest: true })
    environmentId = environment.id
    await door.app.catalog.apply(environmentId, catalog(), { dryRun: false, archiveMissing: false })
    key = (await door.app.environments.createKey({ environment: 'units', kind: 'SERVER', name: 'test', expiresAt: null })).key
    await ask('mutation ($input: TestClockInput!) { createTestClock(input: $input) { frozenTime } }', { input: { frozenTime: start } })
    for (const customerId of ['acme', 'beta', 'gamma', 'delta', 'euro'])
      await ask('mutation ($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { refId } } }', {
        input: { customerId, ...(customerId === 'euro' && { billingInformation: { currency: 'EUR' } }) },
      })
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  const send = (query: string, variables: object = {}) => door.ask<Record<string, unknown>>(query, variables, { 'x-api-key': key })
  async function ask<T>(query: string, variables: object = {}): Promise<T> {
    const { data, errors } = await send(query, variables)
    expect(errors).to.equal(undefined)
    return Object.values(data!)[0] as T
  }
  const refused = async (query: string, variables: object) => {
    const [error] = (await send(query, variables)).errors!
    return [error!.extensions.code, error!.message]
  }
  const facts = 'subscriptionId status totalPrice { subTotal { amount } } prices { usageLimit price { feature { refId } } }'
  interface Facts {
    status: string
    totalPrice: { subTotal: { amount: number } } | null
    prices: { usageLimit: number; price: { feature: { refId: string } } }[]
  }
  const updating = `mutation ($input: UpdateSubscriptionInput!) { updateOneSubscription(input: $input) { ${facts} } }`
  const provisioning = `mutation ($input: ProvisionSubscriptionInput) { provisionSubscriptionV2(input: $input) { subscription { ${facts} } } }`
  const seats = (quantity: number) => ({ billableFeatures: [{ featureId: 'seats', quantity }] })
  const update = (input: object) => ask<Facts>(updating, { input })
  const provision = (customerId: string, input: object) =>
    ask<{ subscription: Facts }>(provisioning, { input: { customerId, subscriptionId: customerId, ...input } })
  const charged = ({ totalPrice, prices }: Facts) => [totalPrice?.subTotal.amount, ...prices.map(({ usageLimit }) => usageLimit)]
  const advance = (frozenTime: string) =>
    ask('mutation ($input: TestClockInput!) { advanceTestClock(input: $input) { frozenTime } }', { input: { frozenTime } })

  /** The answer to a check, by every query that has one. */
  async function check(customerId: string, requestedUsage = 0, featureId = 'seats') {
    const query = { customerId, featureId, options: { requestedUsage } }
    const one = await ask<{ isGranted: boolean; usageLimit: number | null }>(
      'query ($query: FetchEntitlementQuery!) { entitlement(query: $query) { isGranted usageLimit } }',
      { query },
    )
    const all = await ask<{ entitlements: { usageLimit: number; feature: { refId: string } }[] }>(
      'query ($query: FetchEntitlementsQuery!) { entitlementsState(query: $query) { entitlements { usageLimit feature { refId } } } }',
      { query: { customerId } },
    )
    expect(all.entitlements.find(({ feature }) => feature.refId === featureId)?.usageLimit ?? null).to.equal(one.usageLimit)
    const response = await fetch(`${door.url}/v1/c/${customerId}/entitlements.json`, { headers: { 'x-api-key': key } })
    const { data } = (await response.json()) as { data: typeof all }
    expect(data.entitlements.find(({ feature }) => feature.refId === featureId)?.usageLimit ?? null).to.equal(one.usageLimit)
    return [one.isGranted, one.usageLimit]
  }

  it('are given, whatever less the entitlement says, and taken when the product says', async () => {
    expect(charged((await provision('acme', { planId: 'team', ...seats(2) })).subscription)).to.deep.equal([22, 2])
    expect(await check('acme', 4)).to.deep.equal([true, 4])
    expect(charged(await update({ subscriptionId: 'acme', ...seats(13) }))).to.deep.equal([143, 13])
    expect(await check('acme', 13)).to.deep.equal([true, 13])
    expect(await check('acme', 14)).to.deep.equal([false, 13])
    expect(charged(await update({ subscriptionId: 'acme', ...seats(7) }))).to.deep.equal([143, 13])
    expect(await check('acme', 13)).to.deep.equal([true, 13])
    const { validUntil, next } = await ask<{ validUntil: number; next: { validFrom: number; entitlements: { usageLimit: number }[] } }>(
      'query ($query: FetchEntitlementsQuery!) { entitlementsState(query: $query) { validUntil next { validFrom entitlements { usageLimit } } } }',
      { query: { customerId: 'acme' } },
    )
    const at = Date.parse(renewal)
    expect([validUntil, next]).to.deep.equal([at, { validFrom: at, entitlements: [{ usageLimit: 7 }] }])
  })

  it('are given in a trial and after it, in whole blocks, of the price that is charged', async () => {
    expect((await provision('beta', { planId: 'bare', ...seats(6) })).subscription.status).to.equal('IN_TRIAL')
    expect(await check('beta', 10)).to.deep.equal([true, 10])
    expect(await check('beta', 11)).to.deep.equal([false, 10])
    const inEuro = (await provision('euro', { planId: 'bare', skipTrial: true, ...seats(6) })).subscription
    expect(charged(inEuro)).to.deep.equal([60, 8])
    expect(await check('euro')).to.deep.equal([true, 8])
  })

  it('are the least that can be bought where nobody says how many, and a soft limit stays soft', async () => {
    expect(charged((await provision('gamma', { planId: 'open' })).subscription)).to.deep.equal([27, 3])
    expect(await check('gamma', 100)).to.deep.equal([true, 3])
  })

  it('of an add-on are given for each that is held', async () => {
    const added = await provision('delta', {
      planId: 'team',
      addons: [{ addonId: 'lounge', quantity: 3 }],
      billableFeatures: [
        { featureId: 'seats', quantity: 1 },
        { featureId: 'rooms', quantity: 2 },
      ],
    })
    expect(charged(added.subscription)).to.deep.equal([41, 1, 6])
    expect(await check('delta', 0, 'rooms')).to.deep.equal([true, 6])
    await update({ subscriptionId: 'delta', addons: [] })
    expect(await check('delta', 0, 'rooms')).to.deep.equal([true, 6])
  })

  it('are in the answer that makes the customer', async () => {
    const agreed = { baseCharge: false, featureId: 'seats', price: { amount: 2, currency: 'USD' }, blockSize: 10 }
    const input = {
      customerId: 'omega',
      subscriptionParams: { planId: 'bare', ...seats(11), priceOverrides: [agreed] },
    }
    const { entitlements } = await ask<{ entitlements: { usageLimit: number }[] }>(
      'mutation ($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { entitlements { usageLimit } } }',
      { input },
    )
    expect(entitlements.map(({ usageLimit }) => usageLimit)).to.deep.equal([20])
    expect(await check('omega', 20)).to.deep.equal([true, 20])
  })

  it('change and go when the billing period ends', async () => {
    await advance(renewal)
    expect(await check('acme', 8)).to.deep.equal([false, 7])
    expect(await check('delta', 0, 'rooms')).to.deep.equal([false, null])
    expect(await check('delta')).to.deep.equal([true, 4])
    expect(await check('beta')).to.deep.equal([true, 10])
  })

  it('stay with a migration, within what may be bought of the newer version', async () => {
    await door.app.catalog.apply(environmentId, catalog('{ feature: seats, limit: 2 }', ', minQuantity: 9, maxQuantity: 20'), {
      dryRun: false,
      archiveMissing: false,
    })
    expect(await check('acme')).to.deep.equal([true, 7])
    const migrated = await ask<Facts>(
      `mutation ($input: SubscriptionMigrationInput!) { migrateSubscriptionToLatest(input: $input) { ${facts} } }`,
      { input: { subscriptionId: 'acme', subscriptionMigrationTime: 'IMMEDIATE' } },
    )
    expect(charged(migrated)).to.deep.equal([99, 9])
    expect(await check('acme', 9)).to.deep.equal([true, 9])
    const soldByFee = catalog('{ feature: seats, limit: 5 }', '', 'ALL_CUSTOMERS').replace(
      'PER_UNIT, billingPeriod: MONTHLY, currency: USD, amount: 11, feature: seats',
      'FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 11',
    )
    await door.app.catalog.apply(environmentId, soldByFee, { dryRun: false, archiveMissing: false })
    await door.app.packageMigrations.run(new AbortController().signal, ({ error }) => {
      throw error
    })
    expect(await check('acme')).to.deep.equal([true, 5])
    expect(charged(await update({ subscriptionId: 'acme', additionalMetaData: { sold: 'by fee' } }))).to.deep.equal([11, null])
  })

  it('are offered with the least that can be bought', async () => {
    const { plans } = await ask<{ plans: { refId: string; entitlements: { usageLimit: number | null }[] }[] }>(
      '{ paywall(input: {}) { plans { refId entitlements { usageLimit } } } }',
    )
    const limits = new Map(plans.map(({ refId, entitlements }) => [refId, entitlements.map(({ usageLimit }) => usageLimit)]))
    expect([limits.get('bare'), limits.get('open')]).to.deep.equal([[5], [3]])
  })

  it('of a name that is none are refused with the nearest one', async () => {
    const asked = { customerId: 'acme', planId: 'taem' }
    expect(await refused(provisioning, { input: asked })).to.deep.equal([
      'PlanNotFound',
      'Plan "taem" was not found or is not published: did you mean "team"?',
    ])
    expect(await refused(updating, { input: { subscriptionId: 'beta', addons: [{ addonId: 'longe' }] } })).to.deep.equal([
      'AddonNotFound',
      'Add-on "longe" was not found or is not published: did you mean "lounge"?',
    ])
    expect(
      await refused(updating, { input: { subscriptionId: 'beta', billableFeatures: [{ featureId: 'saets', quantity: 1 }] } }),
    ).to.deep.equal(['FeatureNotFound', 'Feature "saets" was not found in this environment: did you mean "seats"?'])
    const promotional = `mutation ($input: GrantPromotionalEntitlementsInput!) { grantPromotionalEntitlements(input: $input) { id } }`
    const grant = { featureId: 'seatss', usageLimit: 5, period: 'LIFETIME' }
    expect(await refused(promotional, { input: { customerId: 'beta', promotionalEntitlements: [grant] } })).to.deep.equal([
      'FeatureNotFound',
      'Feature "seatss" was not found in this environment: did you mean "seats"?',
    ])
    expect(await refused(provisioning, { input: { ...asked, planId: 'something else' } })).to.deep.equal([
      'PlanNotFound',
      'Plan "something else" was not found or is not published: check the catalog.',
    ])
  })
})
