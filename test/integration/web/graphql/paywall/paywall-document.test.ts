import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { packageRoot } from '../../../../../src/web/pages/package-files.js'
import { type FrontDoor, openFrontDoor } from '../../front-door.js'

const everything = readFileSync(join(packageRoot, 'test/integration/web/graphql/paywall/paywall.graphql'), 'utf8')

describe('the paywall document of clients', () => {
  let door: FrontDoor

  before(async function () {
    this.timeout(20_000)
    door = await openFrontDoor()
    await door.app.customers.provision(door.environmentId, {
      refId: 'shopper',
      subscription: { planRefId: 'business', skipTrial: true, addons: [{ addonRefId: 'extra-api-calls', quantity: 3 }] },
    })
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  // biome-ignore lint/suspicious/noExplicitAny: answers are compared as JSON
  const ask = (query: string, input: object) => door.ask<any>(query, { input })

  it('is answered, with everything that can be selected three levels deep', async () => {
    for (const input of [{}, { customerId: 'shopper', fetchAllCountriesPrices: true }]) {
      const { data, errors } = await ask(everything, input)
      expect(errors).to.equal(undefined)
      expect(data.paywall.plans.map(({ refId }: { refId: string }) => refId)).to.deep.equal(['free', 'team', 'business'])
      const [addon] = data.paywall.plans[2].compatibleAddons
      expect(addon.prices[0].price).to.include({ amount: 5, currency: 'USD' })
      expect(data.paywall.plans[2].inheritedEntitlements).to.have.length(5)
    }
  })

  it('is answered for a catalog of eight plans, with eight add-ons and eight prices each', async () => {
    await door.app.environments.create({ refId: 'eights' })
    const { key } = await door.app.environments.createKey({ environment: 'eights', kind: 'SERVER', name: 'k', expiresAt: null })
    const eight = Array.from({ length: 8 }, (_, index) => index)
    const countries = [null, 'AT', 'FR', 'IT', 'ES', 'NL', 'BE', 'PL']
    const entitlements = eight.map((index) => ({ feature: `feature-${index}`, limit: 10 }))
    const prices = countries.map((country) => ({
      billingModel: 'FLAT_FEE',
      billingPeriod: 'MONTHLY',
      amount: 10,
      currency: 'EUR',
      country,
    }))
    const paid = { product: 'p', pricingType: 'PAID', entitlements, prices }
    const input = {
      features: eight.map((index) => ({ refId: `feature-${index}`, type: 'NUMBER' })),
      products: [{ refId: 'p' }],
      plans: eight.map((index) => ({ ...paid, refId: `plan-${index}`, compatibleAddons: eight.map((addon) => `addon-${addon}`) })),
      addons: eight.map((index) => ({ ...paid, refId: `addon-${index}` })),
    }
    const apply = 'mutation($input: JSON!) { applyCatalog(input: $input) { action } }'
    expect((await door.ask(apply, { input }, { 'x-api-key': key })).errors).to.equal(undefined)
    // biome-ignore lint/suspicious/noExplicitAny: answers are compared as JSON
    const { data, errors } = await door.ask<any>(everything, { input: { fetchAllCountriesPrices: true } }, { 'x-api-key': key })
    expect(errors).to.equal(undefined)
    expect(data.paywall.plans).to.have.length(8)
    for (const { compatibleAddons, prices: ofPlan } of data.paywall.plans) {
      expect(ofPlan).to.have.length(8)
      expect(compatibleAddons.map(({ prices: ofAddon }: { prices: object[] }) => ofAddon.length)).to.deep.equal(eight.map(() => 8))
    }
  })

  const tooMuch = /^The answer may have \d{6,} fields, at most 500000 are given/

  it('is refused where the catalog makes too much of it', async () => {
    const needed = (levels: number): string => (levels === 0 ? 'refId' : `refId dependencies { ${needed(levels - 1)} }`)
    const aliased = Array.from({ length: 20 }, (_, n) => `a${n}: dependencies { ${needed(3)} }`).join(' ')
    const document = `query($input: GetPaywallInput!) { paywall(input: $input) { plans { compatibleAddons { ${aliased} } } } }`
    expect((await ask(document, {})).errors).to.equal(undefined)
    // when: each plan takes many add-ons that need each other
    const { environment } = await door.app.environments.create({ refId: 'large' })
    const { key } = await door.app.environments.createKey({ environment: 'large', kind: 'SERVER', name: 'k', expiresAt: null })
    const names = Array.from({ length: 30 }, (_, n) => `addon-${n}`)
    await door.app.catalog.apply(
      environment.id,
      {
        products: [{ refId: 'p' }],
        plans: ['one', 'two', 'three'].map((refId) => ({ refId, product: 'p', compatibleAddons: names })),
        addons: names.map((refId, index) => ({ refId, product: 'p', dependencies: names.slice(0, index) })),
      },
      { dryRun: false, archiveMissing: false },
    )
    const refused = await door.ask(document, { input: {} }, { 'x-api-key': key })
    expect(refused.errors?.[0]?.extensions.code).to.equal('BadUserInput')
    expect(refused.errors?.[0]?.message).to.match(tooMuch)
  })

  it('is refused where its aliases make too much of any catalog', async () => {
    const levels = Array.from({ length: 8 }, (_, level) => level)
    const fragments = levels.map((level) => {
      const aliases = Array.from({ length: 12 }, (_, n) => `a${n}: downgradePlan { product { ...P${level + 1} } }`)
      return `fragment P${level} on Product { ${aliases.join(' ')} }`
    })
    const document = `query($input: GetPaywallInput!) { paywall(input: $input) { plans { product { ...P0 } } } }
      ${fragments.join(' ')} fragment P8 on Product { refId }`
    const { errors } = await ask(document, {})
    expect(errors?.[0]?.message).to.match(tooMuch)
  })

  it('has an amount for every price: of tiers, the first one’s', async () => {
    const prices = 'plans { refId prices { billingModel price { amount currency } tiers { unitPrice { amount } } } }'
    const { data } = await ask(`query($input: GetPaywallInput!) { paywall(input: $input) { ${prices} } }`, {})
    const all = data.paywall.plans.flatMap((plan: { prices: object[] }) => plan.prices)
    expect(all).to.deep.include({
      billingModel: 'USAGE_BASED',
      price: { amount: 0.00002, currency: 'USD' },
      tiers: [{ unitPrice: { amount: 0.00002 } }, { unitPrice: { amount: 0.00001 } }],
    })
    expect(all.filter(({ price }: { price: unknown }) => price === null)).to.deep.equal([])
  })

  it('had another name once: getPaywall answers the plans of it', async () => {
    const plans = '{ refId prices { price { amount currency } } inheritedEntitlements { feature { refId } } }'
    const asked = { customerId: 'shopper', productId: 'acme-cloud', billingCountryCode: 'de' }
    for (const input of [{}, asked]) {
      const { data } = await ask(
        `query($input: GetPaywallInput!) { paywall(input: $input) { plans ${plans} } getPaywall(input: $input) ${plans} }`,
        input,
      )
      expect(data.getPaywall).to.deep.equal(data.paywall.plans)
    }
    const { data } = await door.ask<{ getPaywall: object[] }>('{ getPaywall { refId } }', {}, { 'x-api-key': door.clientKey })
    expect(data!.getPaywall).to.deep.equal([{ refId: 'free' }, { refId: 'team' }, { refId: 'business' }])
    const other = { 'x-api-key': door.clientKey, 'x-customer-key': door.customerToken('other') }
    const { errors } = await door.ask('{ getPaywall(input: { customerId: "shopper" }) { refId } }', {}, other)
    expect(errors?.[0]?.extensions.code).to.equal('AuthCustomerMismatch')
  })

  it('takes a country in any case, and one that is none for any', async () => {
    const query = 'query($input: GetPaywallInput!) { paywall(input: $input) { currency { code } } }'
    for (const [billingCountryCode, code] of [
      ['DE', 'EUR'],
      ['de', 'EUR'],
      ['AT', 'USD'],
      ['XX', 'USD'],
      ['Germany', 'USD'],
      ['', 'USD'],
    ])
      expect((await ask(query, { billingCountryCode })).data.paywall.currency, billingCountryCode).to.deep.equal({ code })
  })
})
