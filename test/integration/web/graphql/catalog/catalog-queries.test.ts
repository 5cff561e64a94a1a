import { expect } from 'chai'
import { type GraphQLObjectType, type GraphQLOutputType, getNamedType, isLeafType, isObjectType, isUnionType } from 'graphql'
import { createSchema } from '../../../../../src/web/graphql/schema.js'
import { type FrontDoor, type GraphqlBody, openFrontDoor } from '../../front-door.js'

describe('paywall, coupons and whole answers', () => {
  let door: FrontDoor
  const customerId = 'shopper'

  before(async function () {
    this.timeout(20_000)
    door = await openFrontDoor()
    await door.app.customers.provision(door.environmentId, {
      refId: customerId,
      subscription: {
        planRefId: 'team',
        billingPeriod: 'MONTHLY',
        skipTrial: true,
        subscriptionRefId: 'sub-1',
        resourceRefId: null,
        addons: [{ addonRefId: 'extra-api-calls', quantity: 2 }],
      },
    })
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  const codes = ({ errors }: Pick<GraphqlBody, 'errors'>) => errors?.map(({ extensions }) => extensions.code)
  // biome-ignore lint/suspicious/noExplicitAny: answers are compared as JSON
  const data = async (query: string, variables?: object, headers?: Record<string, string>): Promise<any> => {
    const answer = await door.ask(query, variables, headers)
    expect(answer.errors, JSON.stringify(answer.errors)).to.equal(undefined)
    return answer.data
  }
  const paywall = async (input: object, headers?: Record<string, string>) =>
    (
      await data(
        `query($input: GetPaywallInput!) { paywall(input: $input) {
          currency { code symbol } configuration { customCss } customer { customerId } resource { resourceId }
          activeSubscriptions { subscriptionId totalPrice { total { amount } } prices { price { price { amount } } } }
          plans { refId pricingType prices { billingPeriod billingModel price { amount currency } }
            inheritedEntitlements { feature { refId } usageLimit } compatibleAddons { refId } }
          paywallCalculatedPricePoints { planId billingPeriod currency amount billingCountryCode additionalChargesMayApply feature { refId } }
        } }`,
        { input },
        headers,
      )
    ).paywall

  describe('a paywall', () => {
    it('shows the plans of the oldest product, the cheapest first, with prices of one currency', async () => {
      const { plans, currency, customer, activeSubscriptions, configuration } = await paywall({})
      expect(plans.map(({ refId }: { refId: string }) => refId)).to.deep.equal(['free', 'team', 'business'])
      expect(currency).to.deep.equal({ code: 'USD', symbol: '$' })
      expect({ customer, activeSubscriptions, configuration }).to.deep.equal({
        customer: null,
        activeSubscriptions: null,
        configuration: null,
      })
      expect(plans[1].prices).to.have.deep.members([
        { billingPeriod: 'MONTHLY', billingModel: 'FLAT_FEE', price: { amount: 29, currency: 'USD' } },
        { billingPeriod: 'ANNUALLY', billingModel: 'FLAT_FEE', price: { amount: 290, currency: 'USD' } },
      ])
      expect(plans[1].inheritedEntitlements).to.deep.include({ feature: { refId: 'api-calls' }, usageLimit: 10 })
      expect(plans[1].compatibleAddons).to.deep.equal([{ refId: 'extra-api-calls' }])
    })

    it('says what each plan costs at least per month', async () => {
      const { paywallCalculatedPricePoints: points } = await paywall({})
      const common = { currency: 'USD', billingCountryCode: null, feature: null }
      expect(points).to.deep.equal([
        { ...common, planId: 'team', billingPeriod: 'MONTHLY', amount: 29, additionalChargesMayApply: false },
        { ...common, planId: 'team', billingPeriod: 'ANNUALLY', amount: 24.17, additionalChargesMayApply: false },
        { ...common, planId: 'business', billingPeriod: 'MONTHLY', amount: 199, additionalChargesMayApply: true },
      ])
    })

    it('shows the prices of a country, and of all countries when asked', async () => {
      const german = await paywall({ billingCountryCode: 'DE' })
      expect(german.currency).to.deep.equal({ code: 'EUR', symbol: '€' })
      expect(german.plans[1].prices).to.deep.equal([
        { billingPeriod: 'MONTHLY', billingModel: 'FLAT_FEE', price: { amount: 27, currency: 'EUR' } },
      ])
      expect((await paywall({ fetchAllCountriesPrices: true })).plans[1].prices).to.have.length(3)
    })

    it('knows what the customer has', async () => {
      const { customer, activeSubscriptions } = await paywall({ customerId, productId: 'acme-cloud' })
      expect(customer).to.deep.equal({ customerId })
      expect(activeSubscriptions).to.deep.equal([
        {
          subscriptionId: 'sub-1',
          totalPrice: { total: { amount: 39 } },
          prices: [{ price: { price: { amount: 29 } } }, { price: { price: { amount: 5 } } }],
        },
      ])
    })

    it('knows the resource, when there is one', async () => {
      const sites = {
        products: [{ refId: 'sites', displayName: 'Sites', settings: { multipleSubscriptions: true } }],
        plans: [{ refId: 'site', product: 'sites', displayName: 'Site' }],
      }
      await door.app.catalog.apply(door.environmentId, sites, { dryRun: false, archiveMissing: false })
      await door.app.subscriptions.provision(door.environmentId, { customerRefId: customerId, planRefId: 'site', resourceRefId: 'site' })
      const own = await paywall({ customerId, resourceId: 'site', productId: 'sites' })
      expect(own.resource).to.deep.equal({ resourceId: 'site' })
      expect(own.activeSubscriptions).to.have.length(1)
      expect(await paywall({ customerId, resourceId: 'nowhere' })).to.deep.include({ resource: null, activeSubscriptions: [] })
    })

    it('is public, but not what a customer has', async () => {
      const clientKey = { 'x-api-key': door.clientKey }
      expect((await paywall({}, clientKey)).plans).to.have.length(3)
      const query = 'query($input: GetPaywallInput!) { paywall(input: $input) { customer { customerId } } }'
      expect(codes(await door.ask(query, { input: { customerId } }, clientKey))).to.deep.equal(['IdentityForbidden'])
      const signed = { ...clientKey, 'x-customer-key': door.customerToken('other') }
      expect(codes(await door.ask(query, { input: { customerId } }, signed))).to.deep.equal(['AuthCustomerMismatch'])
      const own = { ...clientKey, 'x-customer-key': door.customerToken(customerId) }
      expect((await paywall({ customerId }, own)).customer).to.deep.equal({ customerId })
    })

    it('refuses unknown products, customers and offers', async () => {
      const query = 'query($input: GetPaywallInput!) { paywall(input: $input) { plans { refId } } }'
      expect(codes(await door.ask(query, { input: { productId: 'nope' } }))).to.deep.equal(['ProductNotFoundError'])
      expect(codes(await door.ask(query, { input: { customerId: 'nobody' } }))).to.deep.equal(['CustomerNotFound'])
      expect(codes(await door.ask(query, { input: { offerId: 'x' } }))).to.deep.equal(['BadUserInput'])
    })
  })

  describe('a coupon', () => {
    const create = (input: object) =>
      door.ask<{ createOneCoupon: object }>(
        `mutation($input: CreateCouponInput!) { createOneCoupon(input: $input) {
          refId name type percentOff amountsOff { amount currency } discountValue durationInMonths status additionalMetaData customers { customerId } } }`,
        { input },
      )

    it('is added to the catalog, once', async () => {
      const input = {
        refId: 'spring',
        name: 'Spring',
        amountsOff: [{ amount: 12.5, currency: 'EUR' }],
        durationInMonths: 2,
        additionalMetaData: { a: 1 },
      }
      expect((await create(input)).data?.createOneCoupon).to.deep.equal({
        ...input,
        type: 'FIXED',
        percentOff: null,
        discountValue: 12.5,
        status: 'ACTIVE',
        customers: [],
      })
      expect(codes(await create(input))).to.deep.equal(['DuplicatedEntityNotAllowed'])
      expect(codes(await create({ ...input, name: 'Other' }))).to.deep.equal(['DuplicatedEntityNotAllowed'])
    })

    it('in several currencies is worth its first amount, as it was named, to clients that know of one', async () => {
      for (const [index, order] of [
        ['USD', 'EUR'],
        ['EUR', 'USD'],
        ['JPY', 'AUD', 'USD'],
      ].entries()) {
        const amountsOff = order.map((currency, position) => ({ amount: 10 - position, currency }))
        const refId = `several-${index}`
        const { data: created } = await create({ refId, name: refId, amountsOff })
        expect(created?.createOneCoupon).to.deep.include({ discountValue: 10, amountsOff })
        const { coupons } = await data(`{ coupons(filter: {refId: {eq: "${refId}"}}) { edges { node { discountValue } } } }`)
        expect(coupons.edges).to.deep.equal([{ node: { discountValue: 10 } }])
      }
    })

    it('takes the older form of a percentage, and refuses what makes no sense', async () => {
      const { data: created } = await create({ refId: 'older', name: 'Older', type: 'PERCENTAGE', discountValue: 15 })
      expect(created?.createOneCoupon).to.include({ percentOff: 15, discountValue: 15 })
      for (const wrong of [
        { percentOff: 0 },
        { percentOff: 101 },
        { percentOff: 10, amountsOff: [{ amount: 1, currency: 'USD' }] },
        { amountsOff: [{ amount: 1 }] },
        { amountsOff: [] },
        { type: 'FIXED', discountValue: 5 },
        {},
      ])
        expect(codes(await create({ refId: 'wrong', name: 'Wrong', ...wrong })), JSON.stringify(wrong)).to.deep.equal(['BadUserInput'])
    })

    it('tells who has it, but not to a client key', async () => {
      await data('mutation { createOneCustomer(input: {customerId: "saver", couponRefId: "launch-20"}) { customerId } }')
      const query = '{ coupons(filter: {refId: {eq: "launch-20"}}) { edges { node { customers { customerId } } } } }'
      expect((await data(query)).coupons.edges).to.deep.equal([{ node: { customers: [{ customerId: 'saver' }] } }])
      const found = await data(query, {}, { 'x-api-key': door.clientKey })
      expect(found.coupons.edges).to.deep.equal([{ node: { customers: null } }])
    })
  })

  it('entitlementV2 answers what entitlement does, in its newer form', async () => {
    const query = `query($query: GetEntitlementV2Input!) { entitlementV2(query: $query) { __typename
      ... on FeatureEntitlement { isGranted accessDeniedReason usageLimit validUntil enumValues feature { refId } } } }`
    const ask = (feature: object) => data(query, { query: { customerId, ...feature } })
    expect((await ask({ featureId: 'api-calls', options: { requestedUsage: 12_000 } })).entitlementV2).to.deep.equal({
      __typename: 'FeatureEntitlement',
      isGranted: true,
      accessDeniedReason: null,
      usageLimit: 12_000,
      validUntil: null,
      enumValues: null,
      feature: { refId: 'api-calls' },
    })
    const channels = { featureId: 'support-channels', options: { requestedValues: ['email', 'phone'], shouldTrack: true } }
    expect((await ask(channels)).entitlementV2).to.deep.include({ isGranted: false, accessDeniedReason: 'RequestedValuesMismatch' })
    expect((await ask({ featureId: 'nope' })).entitlementV2).to.deep.include({ accessDeniedReason: 'FeatureNotFound', feature: null })
    expect(codes(await door.ask(query, { query: { customerId } }))).to.deep.equal(['BadUserInput'])
    expect(codes(await door.ask(query, { query: { customerId, currencyId: 'credits' } }))).to.deep.equal(['BadUserInput'])
  })

  it('counts the checks that SDKs report', async () => {
    const report = (result: string) =>
      data(
        `mutation { reportEntitlementCheckRequested(entitlementCheckRequested: {customerId: "a", featureId: "f", entitlementCheckResult: {${result}}}) }`,
      )
    expect(await report('hasAccess: true')).to.deep.equal({ reportEntitlementCheckRequested: true })
    await report('hasAccess: false, accessDeniedReason: RequestedUsageExceedingLimit')
    // As it was pushed, and as it was answered.
    const byVariable =
      'mutation($checked: EntitlementCheckRequested!) { reportEntitlementCheckRequested(entitlementCheckRequested: $checked) }'
    for (const nextResetDate of [1_795_000_000_123, '2026-11-19T01:46:40.123Z'])
      expect(
        await data(byVariable, {
          checked: { customerId: 'a', featureId: 'f', entitlementCheckResult: { hasAccess: true, nextResetDate } },
        }),
      ).to.deep.equal({ reportEntitlementCheckRequested: true })
    await report('hasAccess: true, nextResetDate: 1795000000123')
    const metrics = await door.life.metrics.metrics()
    expect(metrics).to.match(/tollgate_reported_checks_total\{[^}]*result="granted"[^}]*\} 4/)
    expect(metrics).to.match(/tollgate_reported_checks_total\{[^}]*result="RequestedUsageExceedingLimit"[^}]*\} 1/)
    // The one of shouldTrack.
    expect(metrics).to.match(/tollgate_reported_checks_total\{[^}]*result="RequestedValuesMismatch"[^}]*\} 1/)
  })

  it('what one mutation has loaded is not what the next one of the document answers', async () => {
    const document = `mutation {
      first: createOneCustomer(input: {customerId: "renamed", name: "before"}) { name }
      second: provisionSubscriptionV2(input: {customerId: "renamed", planId: "free", subscriptionId: "sub-2"}) { subscription { customer { name } } }
      third: updateOneCustomer(input: {customerId: "renamed", name: "after"}) { name }
      fourth: cancelSubscription(input: {subscriptionRefId: "sub-2", subscriptionCancellationTime: IMMEDIATE}) { customer { name } }
    }`
    expect(await data(document)).to.deep.equal({
      first: { name: 'before' },
      second: { subscription: { customer: { name: 'before' } } },
      third: { name: 'after' },
      fourth: { customer: { name: 'after' } },
    })
  })

  /** Every field of every answer, as deep as documents may nest: a declared field that nobody fills in fails here. */
  describe('whole answers', () => {
    const schema = createSchema()
    const roots: [string, string][] = [
      ['getSubscription', '(input: {subscriptionId: "sub-1"})'],
      ['getActiveSubscriptions', `(input: {customerId: "${customerId}"})`],
      ['getCustomerByRefId', `(input: {customerId: "${customerId}"})`],
      ['paywall', `(input: {customerId: "${customerId}"})`],
      ['customers', ''],
      ['subscriptions', ''],
      ['products', ''],
      ['coupons', ''],
      ['entitlementsState', `(query: {customerId: "${customerId}"})`],
      ['entitlement', `(query: {customerId: "${customerId}", featureId: "api-calls"})`],
      ['entitlementV2', `(query: {customerId: "${customerId}", featureId: "api-calls"})`],
      ['cachedEntitlements', `(query: {customerId: "${customerId}"})`],
      ['sdkConfiguration', ''],
    ]
    for (const [field, args] of roots) {
      it(`of ${field}`, async () => {
        const selection = everyField(schema.getQueryType()!.getFields()[field]!.type, 4)
        await data(`{ ${field}${args} ${selection} }`)
      })
    }
  })
})

/** All fields of a type without arguments, `depth` levels deep. A field that two members of a union have is asked of the first. */
function everyField(type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type)
  if (!isUnionType(named)) return isObjectType(named) ? `{ __typename ${fieldsOf(named, depth, new Set())} }` : ''
  const asked = new Set<string>()
  return `{ __typename ${named.getTypes().map((member) => `... on ${member.name} { __typename ${fieldsOf(member, depth, asked)} }`)} }`
}

function fieldsOf(type: GraphQLObjectType, depth: number, asked: Set<string>): string {
  const fields = Object.values(type.getFields()).filter(({ name }) => !asked.has(name))
  for (const { name } of fields) asked.add(name)
  const texts = fields.flatMap(({ name, type: fieldType }) => {
    if (isLeafType(getNamedType(fieldType))) return [name]
    return depth > 1 ? [`${name} ${everyField(fieldType, depth - 1)}`] : []
  })
  return texts.join(' ')
}
