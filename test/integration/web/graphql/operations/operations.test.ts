import { expect } from 'chai'
import { type FrontDoor, type GraphqlBody, openFrontDoor } from '../../front-door.js'

const entitlementFields = `isGranted accessDeniedReason customerId currentUsage usageLimit hasUnlimitedUsage requestedUsage resetPeriod
  resetPeriodConfiguration { __typename ... on MonthlyResetPeriodConfig { monthlyAccordingTo } }
  usagePeriodAnchor usagePeriodStart usagePeriodEnd nextResetDate entitlementUpdatedAt usageUpdatedAt validUntil
  feature { refId featureType meterType featureUnits featureUnitsPlural }`

describe('operations of the front door', () => {
  let door: FrontDoor
  let count = 0

  before(async function () {
    this.timeout(20_000)
    door = await openFrontDoor()
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  const codes = ({ errors }: Pick<GraphqlBody, 'errors'>) => errors?.map(({ extensions }) => extensions.code)
  const newCustomerId = () => `customer-${++count}`
  // biome-ignore lint/suspicious/noExplicitAny: answers are compared as JSON
  const data = async (query: string, variables?: object): Promise<any> => {
    const answer = await door.ask(query, variables)
    expect(answer.errors).to.equal(undefined)
    return answer.data
  }
  const provision = (input: object) =>
    data(
      `mutation($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) {
        customer { id refId customerId name email billingCurrency additionalMetaData hasPaymentMethod hasActiveSubscription totalActiveSubscription hasActiveResource deletedAt }
        subscriptionDecisionStrategy
        subscription { id refId subscriptionId status pricingType plan { refId product { refId } } customer { customerId } customerId }
        entitlements { feature { refId } isGranted }
      } }`,
      { input },
    )

  it('provisions a customer with the subscription that its product gives', async () => {
    const customerId = newCustomerId()
    const { provisionCustomer } = await provision({
      customerId,
      name: 'Zoë',
      email: 'zoe@example.com',
      additionalMetaData: { tier: 1 },
      billingInformation: { currency: 'EUR', timezone: 'Europe/Berlin', language: 'de', billingAddress: { country: 'DE', city: 'Berlin' } },
    })
    const { customer, subscription, subscriptionDecisionStrategy, entitlements } = provisionCustomer
    expect(customer).to.deep.include({
      refId: customerId,
      customerId,
      name: 'Zoë',
      email: 'zoe@example.com',
      billingCurrency: 'EUR',
      additionalMetaData: { tier: 1 },
      hasPaymentMethod: false,
      hasActiveSubscription: true,
      totalActiveSubscription: 1,
      hasActiveResource: false,
      deletedAt: null,
    })
    expect(subscriptionDecisionStrategy).to.equal('PREDEFINED_FREE_PLAN')
    expect(subscription).to.deep.include({ status: 'ACTIVE', pricingType: 'FREE', customerId, customer: { customerId } })
    expect(subscription.plan).to.deep.equal({ refId: 'free', product: { refId: 'acme-cloud' } })
    expect(entitlements).to.deep.include({ feature: { refId: 'api-calls' }, isGranted: true })
  })

  it('takes the older name of customerId, and refuses two that differ', async () => {
    const refId = newCustomerId()
    expect((await provision({ refId })).provisionCustomer.customer.customerId).to.equal(refId)
    const query = 'mutation($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }'
    expect(codes(await door.ask(query, { input: { refId, customerId: 'other' } }))).to.deep.equal(['BadUserInput'])
  })

  it('refuses input fields that it does not know, by name', async () => {
    const query = 'mutation($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }'
    const answer = await door.ask(query, { input: { customerId: newCustomerId(), colour: 'red' } })
    expect(codes(answer)).to.deep.equal(['BadUserInput'])
    expect(answer.errors?.[0]?.message).to.include('"colour"')
  })

  it('answers null for a customer that was never provisioned', async () => {
    expect(await data('{ getCustomerByRefId(input: {customerId: "nobody"}) { id } }')).to.deep.equal({ getCustomerByRefId: null })
  })

  describe('subscriptions', () => {
    const provisioned = `subscription { subscriptionId status startDate trialEndDate currentBillingPeriodStart currentBillingPeriodEnd billingPeriod paymentCollection
      trialConfiguration { trialEndBehavior }
      plan { refId displayName prices { price { amount currency } billingPeriod billingModel } defaultTrialConfig { duration units trialEndBehavior } }
      addons { quantity addon { refId } } resource { resourceId } additionalMetaData } status isScheduled entitlements { feature { refId } usageLimit }`
    const subscribe = (variables: object, argument = 'input') =>
      door.ask(`mutation($s: ProvisionSubscriptionInput) { provisionSubscriptionV2(${argument}: $s) { ${provisioned} } }`, { s: variables })

    it('are provisioned with either name of the argument, and canceled', async () => {
      const customerId = newCustomerId()
      await provision({ customerId })
      const request = {
        customerId,
        planId: 'team',
        billingPeriod: 'MONTHLY',
        skipTrial: true,
        addons: [{ addonId: 'extra-api-calls', quantity: 2 }],
      }
      // biome-ignore lint/suspicious/noExplicitAny: answers are compared as JSON
      const first = (await subscribe(request)) as { data: any }
      const { subscription, status, isScheduled } = first.data.provisionSubscriptionV2
      expect({ status, isScheduled }).to.deep.equal({ status: 'SUCCESS', isScheduled: false })
      expect(subscription).to.deep.include({
        status: 'ACTIVE',
        billingPeriod: 'MONTHLY',
        paymentCollection: 'NOT_REQUIRED',
        resource: null,
      })
      expect(subscription.addons).to.deep.equal([{ quantity: 2, addon: { refId: 'extra-api-calls' } }])
      expect(subscription.plan.prices).to.deep.include({
        price: { amount: 29, currency: 'USD' },
        billingPeriod: 'MONTHLY',
        billingModel: 'FLAT_FEE',
      })
      expect(subscription.startDate).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      expect(subscription.currentBillingPeriodStart).to.equal(subscription.startDate)
      expect(Date.parse(subscription.currentBillingPeriodEnd)).to.be.greaterThan(Date.parse(subscription.startDate))

      // biome-ignore lint/suspicious/noExplicitAny: answers are compared as JSON
      const again = (await subscribe(request, 'subscription')) as { data: any }
      expect(again.data.provisionSubscriptionV2.subscription.subscriptionId).to.equal(subscription.subscriptionId)

      const active = await data(
        `{ getActiveSubscriptions(input: {customerId: "${customerId}"}) { subscriptionId customer { customerId } } }`,
      )
      expect(active.getActiveSubscriptions).to.deep.equal([{ subscriptionId: subscription.subscriptionId, customer: { customerId } }])

      const { cancelSubscription } = await data(
        'mutation($input: SubscriptionCancellationInput!) { cancelSubscription(input: $input) { status cancelReason refId effectiveEndDate } }',
        { input: { subscriptionRefId: subscription.subscriptionId, subscriptionCancellationTime: 'IMMEDIATE' } },
      )
      expect(cancelSubscription).to.include({ status: 'CANCELED', cancelReason: 'Immediate', refId: subscription.subscriptionId })
    })

    it('start with the trial of the plan', async () => {
      const customerId = newCustomerId()
      await provision({ customerId })
      // biome-ignore lint/suspicious/noExplicitAny: answers are compared as JSON
      const { subscription } = ((await subscribe({ customerId, planId: 'team', billingPeriod: 'MONTHLY' })) as { data: any }).data
        .provisionSubscriptionV2
      expect(subscription).to.deep.include({ status: 'IN_TRIAL', trialConfiguration: { trialEndBehavior: 'CANCEL_SUBSCRIPTION' } })
      expect(subscription.plan.defaultTrialConfig).to.deep.equal({ duration: 14, units: 'DAY', trialEndBehavior: 'CANCEL_SUBSCRIPTION' })
      expect(Date.parse(subscription.trialEndDate) - Date.parse(subscription.startDate)).to.equal(14 * 86_400_000)
    })

    it('are refused for both arguments and for none', async () => {
      const both = 'mutation($s: ProvisionSubscriptionInput) { provisionSubscriptionV2(input: $s, subscription: $s) { id } }'
      const s = { customerId: 'x', planId: 'team' }
      expect(codes(await door.ask(both, { s }))).to.deep.equal(['BadUserInput'])
      expect(codes(await door.ask(both))).to.deep.equal(['BadUserInput'])
    })

    it('are refused for unknown customers, plans, add-ons and subscriptions, each with its code', async () => {
      const customerId = newCustomerId()
      await provision({ customerId })
      expect(codes(await subscribe({ customerId: 'nobody', planId: 'team' }))).to.deep.equal(['CustomerNotFound'])
      expect(codes(await subscribe({ customerId, planId: 'nope' }))).to.deep.equal(['PlanNotFound'])
      expect(codes(await subscribe({ customerId, planId: 'team', billingPeriod: 'MONTHLY', addons: [{ addonId: 'nope' }] }))).to.deep.equal(
        ['AddonNotFound'],
      )
      expect(codes(await door.ask('mutation { cancelSubscription(input: {subscriptionRefId: "nope"}) { id } }'))).to.deep.equal([
        'SubscriptionNotFound',
      ])
    })
  })

  describe('checks', () => {
    const check = (query: object) =>
      data(`query($query: FetchEntitlementQuery!) { entitlement(query: $query) { ${entitlementFields} } }`, { query })

    it('are granted at the limit and denied beyond it, exactly', async () => {
      const customerId = newCustomerId()
      await provision({ customerId })
      const { entitlement } = await check({ customerId, featureId: 'api-calls', options: { requestedUsage: 10 } })
      expect(entitlement).to.deep.include({
        isGranted: true,
        accessDeniedReason: null,
        customerId,
        currentUsage: 0,
        usageLimit: 10,
        requestedUsage: 10,
      })
      expect(entitlement).to.deep.include({ resetPeriod: 'MONTH', nextResetDate: entitlement.usagePeriodEnd })
      expect(entitlement.resetPeriodConfiguration).to.deep.equal({
        __typename: 'MonthlyResetPeriodConfig',
        monthlyAccordingTo: 'SubscriptionStart',
      })
      expect(entitlement.feature).to.deep.equal({
        refId: 'api-calls',
        featureType: 'NUMBER',
        meterType: 'Incremental',
        featureUnits: 'call',
        featureUnitsPlural: 'calls',
      })
      for (const field of ['entitlementUpdatedAt', 'usageUpdatedAt', 'usagePeriodAnchor', 'usagePeriodStart', 'usagePeriodEnd'])
        expect(entitlement[field], field).to.match(/Z$/)
      const beyond = await check({ customerId, featureId: 'api-calls', options: { requestedUsage: 10.000000001 } })
      expect(beyond.entitlement).to.include({ isGranted: false, accessDeniedReason: 'RequestedUsageExceedingLimit' })
    })

    it('of a list feature ask for values', async () => {
      const customerId = newCustomerId()
      await provision({ customerId })
      const ask = (values: string[]) => check({ customerId, featureId: 'support-channels', options: { requestedValues: values } })
      expect((await ask(['community'])).entitlement.isGranted).to.equal(true)
      expect((await ask(['community', 'phone'])).entitlement.accessDeniedReason).to.equal('RequestedValuesMismatch')
    })

    it('are answered for who and what is unknown', async () => {
      const customerId = newCustomerId()
      await provision({ customerId })
      const reason = async (query: object) => {
        const { entitlement } = await check(query)
        expect(entitlement).to.include({ isGranted: false, feature: null })
        return entitlement.accessDeniedReason
      }
      expect(await reason({ customerId: 'nobody', featureId: 'api-calls' })).to.equal('CustomerNotFound')
      expect(await reason({ customerId, featureId: 'api-calls', resourceId: 'nothing' })).to.equal('CustomerResourceNotFound')
      expect(await reason({ customerId, featureId: 'nope' })).to.equal('FeatureNotFound')
      expect(await reason({ customerId, featureId: 'sso' })).to.equal('NoFeatureEntitlementInSubscription')
    })

    it('of a negative or vanishing amount are refused', async () => {
      const query = 'query($query: FetchEntitlementQuery!) { entitlement(query: $query) { isGranted } }'
      for (const requestedUsage of [-1, 1e-10]) {
        const answer = await door.ask(query, { query: { customerId: 'x', featureId: 'f', options: { requestedUsage } } })
        expect(codes(answer), String(requestedUsage)).to.deep.equal(['BadUserInput'])
      }
    })

    it('of everything at once tell why there is nothing', async () => {
      const query = `query($query: FetchEntitlementsQuery!) { cachedEntitlements(query: $query) { ${entitlementFields} }
        entitlementsState(query: $query) { accessDeniedReason entitlements { feature { refId } } } }`
      const customerId = newCustomerId()
      await provision({ customerId })
      const known = await data(query, { query: { customerId } })
      const refIds = (list: { feature: { refId: string } }[]) => list.map(({ feature }) => feature.refId).sort()
      expect(refIds(known.cachedEntitlements)).to.deep.equal(['api-calls', 'seats', 'storage-gb', 'support-channels'])
      expect(known.entitlementsState.accessDeniedReason).to.equal(null)
      expect(refIds(known.entitlementsState.entitlements)).to.deep.equal(refIds(known.cachedEntitlements))
      const unknown = await data(query, { query: { customerId: 'nobody' } })
      expect(unknown).to.deep.equal({
        cachedEntitlements: [],
        entitlementsState: { accessDeniedReason: 'CustomerNotFound', entitlements: [] },
      })
    })
  })

  describe('client keys', () => {
    const query = '{ cachedEntitlements(query: {customerId: "browser"}) { isGranted } }'
    const withToken = (customerId: string) => ({ 'x-api-key': door.clientKey, 'x-customer-key': door.customerToken(customerId) })
    before(() => provision({ customerId: 'browser' }))

    it('read what belongs to the customer of their token', async () => {
      const { data: answer } = await door.ask<{ cachedEntitlements: unknown[] }>(query, {}, withToken('browser'))
      expect(answer?.cachedEntitlements).to.have.length(4)
    })

    it('read nothing of another customer, and nothing without a token', async () => {
      expect(codes(await door.ask(query, {}, withToken('other')))).to.deep.equal(['AuthCustomerMismatch'])
      expect(codes(await door.ask(query, {}, { 'x-api-key': door.clientKey }))).to.deep.equal(['IdentityForbidden'])
      const forged = `HMAC-SHA256 browser:${'0'.repeat(64)}`
      expect(codes(await door.ask(query, {}, { 'x-api-key': door.clientKey, 'x-customer-key': forged }))).to.deep.equal(['Unauthenticated'])
    })

    it('change nothing', async () => {
      const mutation = 'mutation { provisionCustomer(input: {customerId: "browser", name: "Mallory"}) { customer { id } } }'
      expect(codes(await door.ask(mutation, {}, withToken('browser')))).to.deep.equal(['IdentityForbidden'])
      expect(codes(await door.ask('{ catalog }', {}, withToken('browser')))).to.deep.equal(['IdentityForbidden'])
    })

    it('read the public configuration', async () => {
      const answer = await door.ask('{ sdkConfiguration { sentryDsn showWatermark } }', {}, { 'x-api-key': door.clientKey })
      expect(answer).to.deep.equal({ data: { sdkConfiguration: { sentryDsn: null, showWatermark: false } } })
    })
  })

  it('exports the catalog as what applying it again would not change', async () => {
    const { catalog } = await data('{ catalog }')
    const { applyCatalog } = await data(
      'mutation($input: JSON!) { applyCatalog(input: $input, dryRun: true, archiveMissing: true) { kind refId action } }',
      {
        input: catalog,
      },
    )
    expect(applyCatalog).to.deep.equal([])
  })

  it('applies a document only to the catalog that it was made from, when that is named', async () => {
    const { catalog } = await data('{ catalog }')
    const { version } = catalog as { version: string }
    const apply = `mutation($input: JSON!, $dryRun: Boolean, $expectedVersion: String) {
      applyCatalog(input: $input, dryRun: $dryRun, expectedVersion: $expectedVersion) { kind refId action }
    }`
    const input = { features: [{ refId: 'versioned', type: 'BOOLEAN' }] }
    for (const dryRun of [true, false]) {
      const { errors } = await door.ask(apply, { input, dryRun, expectedVersion: 'v0' })
      expect(errors?.[0]?.extensions).to.include({ code: 'CatalogVersionMismatch', expectedVersion: 'v0', version })
      expect(errors?.[0]?.extensions.changes).to.deep.equal([{ kind: 'feature', refId: 'versioned', action: 'create', fields: [] }])
    }
    const unread = await door.ask(apply, { input: { plans: [{ refId: 'p', product: 'nope' }] }, expectedVersion: '' })
    expect(unread.errors?.[0]?.extensions).to.include({ code: 'CatalogVersionMismatch', version })
    expect(unread.errors?.[0]?.extensions.problems).to.be.an('array').with.length(1)

    const created = [{ kind: 'feature', refId: 'versioned', action: 'create' }]
    for (const expectedVersion of [version, null])
      expect((await data(apply, { input, dryRun: true, expectedVersion })).applyCatalog).to.deep.equal(created)
    expect((await data(apply, { input, expectedVersion: version })).applyCatalog).to.deep.equal(created)
    expect((await door.ask(apply, { input, expectedVersion: version })).errors?.[0]?.extensions.code).to.equal('CatalogVersionMismatch')
    // A document says what it was made from; that alone is no condition.
    expect((await data(apply, { input: catalog })).applyCatalog).to.deep.equal([])
    expect((await door.ask(apply, { input: { version: 7 } })).errors?.[0]?.message).to.include('version must be text')
  })

  it('answers every problem of a catalog with its path', async () => {
    const input = {
      features: [{ refId: '', displayName: 'A', type: 'NUMBER' }],
      plans: [{ refId: 'p', product: 'nope', displayName: 'P' }],
    }
    const { errors } = await door.ask('mutation($input: JSON!) { applyCatalog(input: $input) { refId } }', { input })
    expect(errors?.[0]?.extensions.code).to.equal('BadUserInput')
    expect(errors?.[0]?.extensions.problems).to.be.an('array').with.length.greaterThan(1)
  })

  it('answers a report that nobody could count with a code that says to try again', async () => {
    const answer = await door.ask('mutation { reportUsage(input: {customerId: "a", featureId: "f", value: 1}) { id } }')
    expect(codes(answer)).to.deep.equal(['ServiceUnavailable'])
  })

  it('refuses usage values that cannot be kept, before they are sent anywhere', async () => {
    const mutation = 'mutation($input: ReportUsageInput!) { reportUsage(input: $input) { id } }'
    const refused = ['1e15', '-1e15', '1e400', '0.0000000001', '"5"', 'null', 'true']
    for (const value of refused) {
      const body = `{"query": ${JSON.stringify(mutation)}, "variables": {"input": {"customerId": "a", "featureId": "f", "value": ${value}}}}`
      const response = await fetch(`${door.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': door.serverKey },
        body,
      })
      expect(codes((await response.json()) as GraphqlBody), value).to.deep.equal(['BadUserInput'])
    }
  })
})
