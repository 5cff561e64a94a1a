import { expect } from 'chai'
import { type FrontDoor, type GraphqlBody, openFrontDoor } from '../../front-door.js'

const catalog = {
  features: [
    { refId: 'desks', type: 'NUMBER', meter: 'Fluctuating', units: 'desk', unitsPlural: 'desks' },
    { refId: 'rooms', type: 'NUMBER', meter: 'Fluctuating', units: 'room', unitsPlural: 'rooms' },
  ],
  plans: [
    {
      refId: 'office',
      product: 'acme-cloud',
      entitlements: [{ feature: 'desks', limit: 100 }],
      prices: [
        { billingModel: 'PER_UNIT', billingPeriod: 'MONTHLY', currency: 'USD', feature: 'desks', amount: 15 },
        { billingModel: 'PER_UNIT', billingPeriod: 'MONTHLY', currency: 'EUR', country: 'AT', feature: 'desks', amount: 13 },
      ],
    },
    {
      refId: 'campus',
      product: 'acme-cloud',
      entitlements: [
        { feature: 'desks', limit: 100 },
        { feature: 'rooms', limit: 100 },
      ],
      prices: ['desks', 'rooms'].map((feature) => ({
        billingModel: 'PER_UNIT',
        billingPeriod: 'MONTHLY',
        currency: 'USD',
        feature,
        amount: 9,
      })),
    },
  ],
}

describe('inputs of older clients', () => {
  let door: FrontDoor
  let serial = 0

  before(async function () {
    this.timeout(20_000)
    door = await openFrontDoor()
    await door.app.catalog.apply(door.environmentId, catalog, { dryRun: false, archiveMissing: false })
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  const ask = (field: string, type: string, fields: string, input: object, argument = 'input') =>
    // biome-ignore lint/suspicious/noExplicitAny: answers are compared as JSON
    door.ask<any>(`mutation($input: ${type}!) { ${field}(${argument}: $input) ${fields} }`, { input })
  // biome-ignore lint/suspicious/noExplicitAny: answers are compared as JSON
  const answer = async (...asked: Parameters<typeof ask>): Promise<any> => {
    const { data, errors } = await ask(...asked)
    expect(errors).to.equal(undefined)
    return Object.values(data)[0]
  }
  const refusal = ({ errors }: Pick<GraphqlBody, 'errors'>) => `${errors?.[0]?.extensions.code}: ${errors?.[0]?.message}`
  const newCustomer = async () => {
    const customerId = `customer-${++serial}`
    await door.app.customers.create(door.environmentId, { refId: customerId })
    return customerId
  }
  const subscribed = '{ latestInvoice { total currency } isCustomPriceSubscription prices { usageLimit price { price { amount } } } }'
  const provision = (input: object) => ask('provisionSubscription', 'ProvisionSubscription', `{ subscription ${subscribed} }`, input)

  describe('priceUnitAmount', () => {
    const bought = (units: number) => ({
      latestInvoice: { total: 15 * units, currency: 'USD' },
      isCustomPriceSubscription: false,
      prices: [{ usageLimit: units, price: { price: { amount: 15 } } }],
    })

    it('is how many units are bought, wherever it is taken', async () => {
      const office = { planId: 'office', priceUnitAmount: 4 }
      const { data } = await provision({ ...office, customerId: await newCustomer() })
      expect(data.provisionSubscription.subscription).to.deep.equal(bought(4))
      const v2 = { ...office, priceUnitAmount: 7, customerId: await newCustomer() }
      const { subscription } = await answer('provisionSubscriptionV2', 'ProvisionSubscriptionInput', `{ subscription ${subscribed} }`, v2)
      expect(subscription).to.deep.equal(bought(7))
      const created = { ...office, priceUnitAmount: 2, customerId: await newCustomer() }
      expect(await answer('createSubscription', 'SubscriptionInput', subscribed, created, 'subscription')).to.deep.equal(bought(2))
      const signUp = { customerId: 'sign-up', subscriptionParams: { ...office, priceUnitAmount: 3 } }
      expect(
        (await answer('provisionCustomer', 'ProvisionCustomerInput', `{ subscription ${subscribed} }`, signUp)).subscription,
      ).to.deep.equal(bought(3))
      const estimated = { ...office, priceUnitAmount: 5, customerId: await newCustomer() }
      expect(await answer('estimateSubscription', 'EstimateSubscriptionInput', '{ total { amount currency } }', estimated)).to.deep.equal({
        total: { amount: 75, currency: 'USD' },
      })
    })

    it('means the same as unitQuantity, and may not say something else', async () => {
      const both = { planId: 'office', customerId: await newCustomer(), unitQuantity: 6, priceUnitAmount: 6 }
      expect((await provision(both)).data.provisionSubscription.subscription).to.deep.equal(bought(6))
      expect(refusal(await provision({ ...both, customerId: await newCustomer(), priceUnitAmount: 5 }))).to.match(
        /^BadUserInput: unitQuantity and priceUnitAmount mean the same/,
      )
      expect(refusal(await provision({ planId: 'campus', customerId: await newCustomer(), priceUnitAmount: 5 }))).to.match(
        /^BadUserInput: .*has 2 prices per unit: name the feature in billableFeatures/,
      )
    })
  })

  describe('subscriptionParams', () => {
    const signUp = (input: object) =>
      answer('provisionCustomer', 'ProvisionCustomerInput', '{ subscription { plan { refId } } subscriptionDecisionStrategy }', {
        customerId: `new-${++serial}`,
        ...input,
      })

    it('null is no subscription; left out, it is what the product gives', async () => {
      const none = { subscription: null, subscriptionDecisionStrategy: 'SKIPPED_SUBSCRIPTION_CREATION' }
      expect(await signUp({ subscriptionParams: null })).to.deep.equal(none)
      const free = { subscription: { plan: { refId: 'free' } }, subscriptionDecisionStrategy: 'PREDEFINED_FREE_PLAN' }
      expect(await signUp({})).to.deep.equal(free)
      const query = `mutation($id: String!, $params: ProvisionCustomerSubscriptionInput) {
        provisionCustomer(input: { customerId: $id, subscriptionParams: $params }) { subscription { plan { refId } } subscriptionDecisionStrategy } }`
      expect((await door.ask(query, { id: 'by-variable', params: null })).data).to.deep.equal({ provisionCustomer: none })
      expect((await door.ask(query, { id: 'without-variable' })).data).to.deep.equal({ provisionCustomer: free })
    })
  })

  describe('a country', () => {
    const invoiced = async (billingCountryCode: string) => {
      const { data, errors } = await provision({ planId: 'office', customerId: await newCustomer(), unitQuantity: 2, billingCountryCode })
      return errors ? refusal({ errors }) : data.provisionSubscription.subscription.latestInvoice
    }

    it('is a code in any case, and charged by', async () => {
      expect(await invoiced('AT')).to.deep.equal({ total: 26, currency: 'EUR' })
      expect(await invoiced('at')).to.deep.equal({ total: 26, currency: 'EUR' })
      expect(await invoiced('FR')).to.deep.equal({ total: 30, currency: 'USD' })
    })

    it('that is none is refused by everything that writes, with the one that was meant', async () => {
      expect(await invoiced('Austria')).to.match(/^BadUserInput: "Austria" is not a country: .*Did you mean AT\?$/)
      for (const code of ['XX', 'AUT', '', 'A', '🇦🇹']) expect(await invoiced(code), code).to.match(/^BadUserInput: ".*" is not a country/)
      const planId = 'office'
      const billingCountryCode = 'Geramny'
      const customerId = await newCustomer()
      const writes: [string, string, object, string?][] = [
        ['provisionSubscriptionV2', 'ProvisionSubscriptionInput', { planId, customerId, billingCountryCode }],
        ['applySubscription', 'ApplySubscriptionInput', { planId, customerId, billingCountryCode }],
        ['createSubscription', 'SubscriptionInput', { planId, customerId, billingCountryCode }, 'subscription'],
        ['provisionCustomer', 'ProvisionCustomerInput', { subscriptionParams: { planId, billingCountryCode } }],
        ['provisionCustomer', 'ProvisionCustomerInput', { billingInformation: { billingAddress: { country: billingCountryCode } } }],
        ['createOneCustomer', 'CustomerInput', { billingInformation: { shippingAddress: { country: billingCountryCode } } }],
        [
          'updateOneCustomer',
          'UpdateCustomerInput',
          { customerId, billingInformation: { billingAddress: { country: billingCountryCode } } },
        ],
        [
          'provisionSubscription',
          'ProvisionSubscription',
          { planId, customerId, billingInformation: { billingAddress: { country: billingCountryCode } } },
        ],
      ]
      for (const [field, type, input, argument] of writes)
        expect(refusal(await ask(field, type, '{ __typename }', input, argument)), field).to.match(
          /^BadUserInput: "Geramny" is not a country.*DE\?$/,
        )
    })

    it('that is none is nobody’s where only a price is asked for', async () => {
      const input = { planId: 'office', customerId: await newCustomer(), unitQuantity: 2 }
      for (const [billingCountryCode, total] of [
        ['at', { amount: 26, currency: 'EUR' }],
        ['XX', { amount: 30, currency: 'USD' }],
        ['Austria', { amount: 30, currency: 'USD' }],
      ] as const) {
        const asked = { ...input, billingCountryCode }
        expect(await answer('estimateSubscription', 'EstimateSubscriptionInput', '{ total { amount currency } }', asked)).to.deep.equal({
          total,
        })
        const { immediateInvoice } = await answer(
          'previewSubscription',
          'PreviewSubscriptionInput',
          '{ immediateInvoice { total { amount currency } } }',
          asked,
        )
        expect(immediateInvoice).to.deep.equal({ total })
      }
    })
  })

  it('other codes and addresses are checked where they come in', async () => {
    const customer = (input: object) =>
      ask('createOneCustomer', 'CustomerInput', '{ email }', { customerId: `checked-${++serial}`, ...input })
    for (const billingInformation of [{ timezone: 'europe/berlin' }, { language: 'pt-br' }, { currency: 'EUR', timezone: 'Asia/Kolkata' }])
      expect((await customer({ billingInformation })).errors).to.equal(undefined)
    for (const billingInformation of [
      { timezone: 'Berlin' },
      { timezone: '+02:00' },
      { language: 'de_DE' },
      { currency: 'eur' },
      { currency: 'Euro' },
    ])
      expect(refusal(await customer({ billingInformation })), JSON.stringify(billingInformation)).to.match(/^BadUserInput/)
    expect((await customer({ email: 'zoë+bills@büro.example' })).data).to.deep.equal({
      createOneCustomer: { email: 'zoë+bills@büro.example' },
    })
    for (const email of ['zoe', 'zoe@', '@example.org', 'a b@example.org', 'zoe@a@b c'])
      expect(refusal(await customer({ email })), email).to.match(/e-mail/)
  })
})
