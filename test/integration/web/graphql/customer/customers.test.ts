import { expect } from 'chai'
import { silentLogger } from '../../../../../src/platform/logger.js'
import { openPostgres, type PrismaClient } from '../../../../../src/platform/postgres.js'
import { Life } from '../../../../../src/platform/process.js'
import { countStatements } from '../../../../support/statements.js'
import { type FrontDoor, openFrontDoor } from '../../front-door.js'

describe('customers over GraphQL', () => {
  let door: FrontDoor
  /** Looks at the records beside the door. */
  const life = new Life('test', silentLogger())
  let prisma: PrismaClient
  let count = 0
  let customerId = ''

  before(async () => {
    door = await openFrontDoor()
    prisma = openPostgres(life, door.databaseUrl, { poolSize: 2 }).prisma
    const coupons = 'coupons: [{ refId: half, name: Half price, percentOff: 50 }]'
    await door.app.catalog.apply(door.environmentId, coupons, { dryRun: false, archiveMissing: false })
  })
  after(async () => expect([...(await life.stop()), ...(await door.close())]).to.deep.equal([]))
  beforeEach(() => {
    customerId = `customer-${++count}`
  })

  type Answer = Record<string, unknown>
  const mutate = async (operation: string, type: string, input: object, selection = '') => {
    const body = await door.ask<Record<string, Answer>>(`mutation ($input: ${type}!) { ${operation}(input: $input) ${selection} }`, {
      input,
    })
    return {
      answer: body.data?.[operation] ?? null,
      code: body.errors?.[0]?.extensions.code ?? null,
      message: body.errors?.[0]?.message ?? '',
    }
  }
  const facts =
    '{ id refId customerId name email createdAt updatedAt deletedAt billingId billingCurrency crmId salesforceId awsMarketplaceCustomerId hasPaymentMethod additionalMetaData environmentId coupon { refId discountValue type } }'
  const provision = (input: object) =>
    mutate(
      'provisionCustomer',
      'ProvisionCustomerInput',
      { customerId, ...input },
      `{ subscriptionDecisionStrategy customer ${facts} subscription { refId status plan { refId } } }`,
    )
  const create = (input: object) => mutate('createOneCustomer', 'CustomerInput', { customerId, ...input }, facts)
  const update = (input: object) => mutate('updateOneCustomer', 'UpdateCustomerInput', { customerId, ...input }, facts)
  const read = async (selection: string) => {
    const { data, errors } = await door.ask<{ getCustomerByRefId: Answer | null }>(
      `query ($input: GetCustomerByRefIdInput!) { getCustomerByRefId(input: $input) { ${selection} } }`,
      { input: { customerId } },
    )
    expect(errors).to.equal(undefined)
    return data!.getCustomerByRefId
  }

  const billingInformation = {
    billingAddress: { addressLine1: 'Secret Street 1', city: 'Hiddenville', country: 'DE', postalCode: '12345' },
    shippingAddress: { addressLine1: 'Secret Street 2', country: 'DE' },
    currency: 'EUR',
    customerName: 'Secret Holding',
    integrationId: 'secret-integration',
    invoiceCustomFields: { note: 'secret-note' },
    language: 'de',
    metadata: { vat: 'secret-metadata' },
    paymentMethodId: 'pm_secret',
    taxIds: [{ type: 'eu_vat', value: 'DE-secret' }],
    timezone: 'Europe/Berlin',
  }

  it('provisions with everything that the contract takes, and answers it as it is stored', async () => {
    const sent = {
      name: 'Acme',
      email: 'billing@acme.test',
      billingId: 'b-1',
      crmId: 'crm-1',
      salesforceId: 'sf-1',
      awsMarketplaceCustomerId: 'aws-1',
      additionalMetaData: { region: 'eu' },
      createdAt: '2020-01-02T03:04:05.678Z',
    }
    const given = { ...sent, billingInformation, couponRefId: 'half', excludeFromExperiment: false, shouldSyncFree: false }
    const { answer } = await provision(given)
    const { customer, ...first } = answer as { customer: Answer }
    expect(first).to.deep.nested.include({ subscriptionDecisionStrategy: 'PREDEFINED_FREE_PLAN', 'subscription.status': 'ACTIVE' })
    const coupon = { refId: 'half', discountValue: 50, type: 'PERCENTAGE' }
    expect(customer).to.deep.include({
      ...sent,
      refId: customerId,
      customerId,
      billingCurrency: 'EUR',
      coupon,
      hasPaymentMethod: true,
      deletedAt: null,
    })
    expect(await read(facts.slice(1, -1))).to.deep.equal(customer)
  })
  it('passes the billing information on to the provider, and keeps nothing of it but currency and time zone', async () => {
    await provision({ billingInformation: { ...billingInformation, paymentMethodId: null } })
    expect(await read('hasPaymentMethod')).to.deep.equal({ hasPaymentMethod: false })
    await update({ billingInformation })
    expect(await read('hasPaymentMethod')).to.deep.equal({ hasPaymentMethod: true })
    const everything = JSON.stringify(
      await Promise.all([prisma.customer.findMany(), prisma.outboxMessage.findMany(), prisma.subscription.findMany()]),
      (_, value) => (typeof value === 'bigint' ? String(value) : value),
    )
    expect(everything).to.include('Europe/Berlin')
    expect(everything.toLowerCase()).to.not.include('secret')
  })
  it('repeated, updates what is sent and creates no second subscription', async () => {
    await provision({ name: 'Acme', email: 'a@acme.test', additionalMetaData: { a: 1 } })
    const { answer } = await provision({ email: null, additionalMetaData: { b: 2 } })
    expect(answer).to.deep.include({ subscriptionDecisionStrategy: 'SKIPPED_SUBSCRIPTION_CREATION', subscription: null })
    expect(answer!.customer).to.deep.include({ name: 'Acme', email: null, additionalMetaData: { a: 1, b: 2 } })
  })

  it('excludes nobody from experiments, of which there are none, and says so', async () => {
    expect((await provision({ excludeFromExperiment: true })).code).to.equal('BadUserInput')
    expect((await provision({ excludeFromExperiment: false })).code).to.equal(null)
  })

  it('creates, and refuses an identifier that is taken', async () => {
    expect((await create({ name: 'Acme' })).answer).to.deep.include({ customerId, name: 'Acme', additionalMetaData: null })
    expect((await create({ name: 'Acme' })).code).to.equal('DuplicatedEntityNotAllowed')
    expect(await read('hasActiveSubscription subscriptions { id }')).to.deep.equal({ hasActiveSubscription: false, subscriptions: [] })
  })
  it('updates what is sent, and clears what is null', async () => {
    await create({ name: 'Acme', email: 'a@acme.test', crmId: 'crm-1', billingInformation: { currency: 'EUR', timezone: 'Asia/Tokyo' } })
    const changed = await update({ email: null, billingInformation: { language: 'en' }, shouldWaitSync: true })
    expect(changed.answer).to.deep.include({ name: 'Acme', email: null, crmId: 'crm-1', billingCurrency: 'EUR' })
    expect((await update({ billingInformation: { currency: null } })).answer).to.deep.include({ billingCurrency: null })
    expect((await update({ couponRefId: 'half' })).answer).to.deep.nested.include({ 'coupon.refId': 'half' })
    expect((await update({ couponRefId: null })).answer).to.deep.include({ coupon: null })
  })
  it('takes the older name of the identifier, and refuses two different ones and none', async () => {
    await create({})
    expect((await update({ customerId: undefined, refId: customerId, name: 'X' })).answer).to.deep.include({ name: 'X' })
    expect((await update({ refId: 'other' })).code).to.equal('BadUserInput')
    expect((await update({ customerId: undefined })).message).to.include('customerId is required')
  })
  const refusals: [string, object, string][] = [
    ['an unknown coupon', { couponRefId: 'none' }, 'CouponNotFound'],
    ['an unknown time zone', { billingInformation: { timezone: 'Mars/Olympus' } }, 'BadUserInput'],
    ['metadata that is no object', { additionalMetaData: [1] }, 'BadUserInput'],
    ['an unknown field', { nmae: 'Acme' }, 'BadUserInput'],
    ['text that no database can hold', { name: 'a\0b' }, 'BadUserInput'],
    ['metadata that no database can hold', { additionalMetaData: { a: ['\ud800'] } }, 'BadUserInput'],
  ]
  for (const [title, input, code] of refusals)
    it(`refuses ${title} with ${code}`, async () => {
      expect((await provision(input)).code).to.equal(code)
      expect(await read('id')).to.equal(null)
    })
  it('answers CustomerNotFound for a change of a customer that is not there', async () => {
    expect((await update({ name: 'X' })).code).to.equal('CustomerNotFound')
    for (const [operation, type] of [
      ['archiveCustomer', 'ArchiveCustomerInput'],
      ['unarchiveCustomer', 'UnarchiveCustomerInput'],
    ] as const)
      expect((await mutate(operation, type, { customerId }, '{ id }')).code).to.equal('CustomerNotFound')
  })

  it('archives and brings back', async () => {
    await provision({ name: 'Acme' })
    const { answer } = await mutate('archiveCustomer', 'ArchiveCustomerInput', { customerId }, facts)
    expect(answer).to.deep.include({ customerId, name: null })
    expect(answer!.deletedAt).to.be.a('string')
    expect(await read('id')).to.equal(null)
    expect((await provision({})).code).to.equal('EntityIsArchivedError')
    expect((await update({ name: 'X' })).code).to.equal('EntityIsArchivedError')
    await mutate('unarchiveCustomer', 'UnarchiveCustomerInput', { customerId }, facts)
    expect(await read('name deletedAt subscriptions { status cancelReason }')).to.deep.equal({
      name: null,
      deletedAt: null,
      subscriptions: [{ status: 'CANCELED', cancelReason: 'CustomerArchived' }],
    })
  })

  it('answers what the customer holds and has held', async () => {
    await provision({})
    const trial = { customerId, planId: 'team', subscriptionId: `${customerId}-trial` }
    const { errors } = await door.ask('mutation ($input: ProvisionSubscriptionInput) { provisionSubscriptionV2(input: $input) { id } }', {
      input: trial,
    })
    expect(errors).to.equal(undefined)
    const customer = (await read(
      `hasActiveSubscription hasActiveResource totalActiveSubscription statistics { activeSubscriptionsByPricingType { pricingType totalCount } }
       subscriptions { status plan { refId } customer { refId } } trialedPlans { planRefId productRefId planId productId } eligibleForTrial { productRefId eligible }`,
    ))!
    expect(customer).to.deep.include({ hasActiveSubscription: true, hasActiveResource: false })
    const shown = (customer.subscriptions as { status: string; plan: { refId: string } }[]).map(({ status, plan }) => [plan.refId, status])
    const stored = await prisma.subscription.findMany({ where: { customer: { refId: customerId } } })
    expect(shown).to.have.length(stored.length)
    expect(shown[0]![0]).to.equal('team')
    const isTrial = stored.some(({ status }) => status === 'IN_TRIAL')
    expect((customer.trialedPlans as Answer[]).map(({ planRefId }) => planRefId)).to.deep.equal(isTrial ? ['team'] : [])
    const active = shown.filter(([, status]) => status === 'ACTIVE' || status === 'IN_TRIAL')
    expect(customer.totalActiveSubscription).to.equal(active.length)
    const counts = (customer.statistics as { activeSubscriptionsByPricingType: { totalCount: number }[] }).activeSubscriptionsByPricingType
    expect(counts.reduce((sum, { totalCount }) => sum + totalCount, 0)).to.equal(active.length)
    expect((customer.eligibleForTrial as Answer[]).every(({ eligible }) => eligible === false)).to.equal(true)
  })

  it('costs a number of statements that does not depend on how many customers a list has', async () => {
    for (let index = 0; index < 20; index += 1) {
      const { customer } = await door.app.customers.provision(door.environmentId, { refId: `many-${index}`, couponRefId: 'half' })
      await door.app.promotional.grant(door.environmentId, customer.refId, [{ featureRefId: 'sso', period: 'LIFETIME' }])
    }
    const query = (first: number) => `{ customers(filter: { name: { is: null } }, paging: { first: ${first} }) { edges { node {
      customerId hasActiveSubscription hasActiveResource totalActiveSubscription totalActivePromotionalEntitlements coupon { refId }
      promotionalEntitlements { status feature { refId } } statistics { activeSubscriptionsByPricingType { pricingType totalCount } }
      subscriptions { status plan { refId } customer { refId } } trialedPlans { planRefId } eligibleForTrial { eligible productRefId } } } } }`
    const cost = async (first: number) => {
      const counted = countStatements()
      try {
        const { data, errors } = await door.ask<{ customers: { edges: unknown[] } }>(query(first))
        expect(errors).to.equal(undefined)
        expect(data!.customers.edges).to.have.length(first)
      } finally {
        counted.stop()
      }
      return counted.texts.length
    }
    await cost(20)
    const [few, many] = [await cost(2), await cost(20)]
    expect(many).to.be.at.most(30)
    expect(many - few).to.be.at.most(2)
  })

  describe('imports', () => {
    it('one', async () => {
      const input = { customerId, name: 'Acme', paymentMethodId: 'pm_1', updatedAt: '2026-01-01T00:00:00Z' }
      expect((await mutate('importOneCustomer', 'ImportCustomerInput', input, facts)).answer).to.deep.include({ customerId, name: 'Acme' })
      const older = { customerId, name: 'Old', updatedAt: '2025-01-01T00:00:00Z' }
      expect((await mutate('importOneCustomer', 'ImportCustomerInput', older, facts)).answer).to.deep.include({ name: 'Acme' })
    })
    it('many, with the outcome of each', async () => {
      const customers = [{ customerId, name: 'Acme' }, { refId: ' ' }]
      const { answer: id } = await mutate('importCustomersBulk', 'ImportCustomerBulkInput', { customers, integrationId: 'i' })
      await door.app.imports.run(door.environmentId, String(id), new AbortController().signal)
      const { data } = await door.ask<{ importJob: Answer }>(
        `query ($input: ImportJobInput!) { importJob(input: $input) { total done failed finishedAt items { index status refId errorCode errorMessage } failed1: items(status: FAILED, first: 1) { index } } }`,
        { input: { id } },
      )
      expect(data!.importJob).to.deep.include({ total: 2, done: 1, failed: 1, failed1: [{ index: 1 }] })
      expect(data!.importJob.items).to.deep.equal([
        { index: 0, status: 'DONE', refId: customerId, errorCode: null, errorMessage: null },
        { index: 1, status: 'FAILED', refId: null, errorCode: 'BadUserInput', errorMessage: 'customerId must not be empty' },
      ])
      expect(
        (await door.ask('query ($input: ImportJobInput!) { importJob(input: $input) { id } }', { input: { id: 'none' } })).data,
      ).to.deep.equal({ importJob: null })
    })
    it('refuse what can be refused by reading it, and say which', async () => {
      const customers = [{ customerId }, { customerId: 'a', refId: 'b' }]
      const { code, message } = await mutate('importCustomersBulk', 'ImportCustomerBulkInput', { customers })
      expect([code, message.slice(0, 12)]).to.deep.equal(['BadUserInput', 'customers[1]'])
    })
  })

  describe('promotional entitlements', () => {
    const selection =
      '{ id status usageLimit featureId hasUnlimitedUsage unlimited hasSoftLimit resetPeriod startDate endDate isVisible period enumValues description environmentId createdAt feature { displayName description refId } }'
    const grant = (...promotionalEntitlements: object[]) =>
      mutate('grantPromotionalEntitlements', 'GrantPromotionalEntitlementsInput', { customerId, promotionalEntitlements }, selection)
    const revoke = (featureId: string) =>
      mutate('revokePromotionalEntitlement', 'RevokePromotionalEntitlementInput', { customerId, featureId }, selection)
    let featureId = ''
    before(async () => {
      featureId = (await prisma.feature.findFirstOrThrow({ where: { meterType: 'Incremental' } })).refId
    })
    beforeEach(() => provision({ billingInformation: { timezone: 'Europe/Berlin' } }))

    it('are granted, seen on the customer and in its entitlements, and taken back', async () => {
      const { answer, message } = await grant({
        featureId,
        period: 'ONE_MONTH',
        usageLimit: 123_456_789,
        resetPeriod: 'MONTH',
        monthlyResetPeriodConfiguration: { accordingTo: 'StartOfTheMonth' },
        isVisible: false,
      })
      expect(message).to.equal('')
      const [granted] = answer as unknown as Answer[]
      expect(granted).to.deep.include({
        status: 'Active',
        usageLimit: 123_456_789,
        hasUnlimitedUsage: false,
        resetPeriod: 'MONTH',
        isVisible: false,
        period: 'ONE_MONTH',
        enumValues: null,
      })
      expect(granted!.feature).to.deep.include({ refId: featureId })
      expect(await read(`totalActivePromotionalEntitlements promotionalEntitlements ${selection}`)).to.deep.equal({
        totalActivePromotionalEntitlements: 1,
        promotionalEntitlements: [granted],
      })
      const held = async () => {
        const { data } = await door.ask<{ cachedEntitlements: { usageLimit: number; feature: { refId: string } }[] }>(
          'query ($query: FetchEntitlementsQuery!) { cachedEntitlements(query: $query) { usageLimit feature { refId } } }',
          { query: { customerId } },
        )
        return data!.cachedEntitlements.find(({ feature }) => feature.refId === featureId)?.usageLimit
      }
      expect(await held()).to.equal(123_456_789)
      expect((await revoke(featureId)).answer).to.deep.include({ id: granted!.id, status: 'Expired' })
      expect(await held()).to.not.equal(123_456_789)
      expect(await read('totalActivePromotionalEntitlements promotionalEntitlements { id }')).to.deep.equal({
        totalActivePromotionalEntitlements: 0,
        promotionalEntitlements: [],
      })
    })
    it('are refused with the code that tells why', async () => {
      expect((await grant({ featureId: 'none', period: 'LIFETIME' })).code).to.equal('FeatureNotFound')
      expect((await grant({ featureId, period: 'CUSTOM', usageLimit: 1 })).code).to.equal('BadUserInput')
      expect((await grant({ featureId, period: 'LIFETIME' })).message).to.include('usageLimit or hasUnlimitedUsage')
      expect((await revoke(featureId)).message).to.include('has no promotional entitlement')
      customerId = 'nobody'
      expect((await grant({ featureId, period: 'LIFETIME', usageLimit: 1 })).code).to.equal('CustomerNotFound')
    })
  })
})
