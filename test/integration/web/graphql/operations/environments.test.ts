import { expect } from 'chai'
import type { GraphQLObjectType } from 'graphql'
import { type Client, createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { createSchema } from '../../../../../src/web/graphql/schema.js'
import { eventually } from '../../../../support/eventually.js'
import { operationDocument } from '../../../../support/operation-document.js'
import { operatorKey } from '../../front-door.js'
import { openWholePlatform, type TestEnvironment, type WholePlatform } from '../../whole-platform.js'

/**
 * refused  errors, and nothing is answered
 * nothing  null, an empty list, or a state that says that nobody is known
 * own      answered, from what the asking environment has itself
 */
type Outcome = 'refused' | 'nothing' | 'own'

/** Each has one customer with everything, called alike in both but for the beginning of the names. */
const catalogOf = (name: string) => ({
  features: [
    {
      refId: `${name}-calls`,
      displayName: `${name} hidden calls`,
      type: 'NUMBER',
      meter: 'Incremental',
      units: 'call',
      unitsPlural: 'calls',
    },
    {
      refId: `${name}-requests`,
      displayName: `${name} hidden requests`,
      type: 'NUMBER',
      meter: 'Incremental',
      units: 'request',
      unitsPlural: 'requests',
      events: { aggregation: 'COUNT', filters: [[{ field: 'eventName', operation: 'EQUALS', value: `${name}-event` }]] },
    },
    { refId: `${name}-sso`, displayName: `${name} hidden sso`, type: 'BOOLEAN' },
  ],
  products: [{ refId: `${name}-product`, displayName: `${name} hidden product`, settings: { multipleSubscriptions: true } }],
  plans: [
    {
      refId: `${name}-plan`,
      product: `${name}-product`,
      displayName: `${name} hidden plan`,
      compatibleAddons: [`${name}-addon`],
      entitlements: [{ feature: `${name}-calls`, limit: 100, resetPeriod: 'MONTH' }],
      prices: [{ billingModel: 'FLAT_FEE', billingPeriod: 'MONTHLY', currency: 'USD', amount: 7 }],
    },
  ],
  addons: [
    {
      refId: `${name}-addon`,
      product: `${name}-product`,
      displayName: `${name} hidden addon`,
      entitlements: [{ feature: `${name}-calls`, limit: 5, behavior: 'Increment', resetPeriod: 'MONTH' }],
      prices: [{ billingModel: 'FLAT_FEE', billingPeriod: 'MONTHLY', currency: 'USD', amount: 1 }],
    },
  ],
  coupons: ['coupon', 'second-coupon'].map((coupon) => ({ refId: `${name}-${coupon}`, name: `${name} hidden coupon`, percentOff: 20 })),
})

describe('an operation with the identifiers of another environment', function () {
  this.timeout(60_000)
  const schema = createSchema()
  let platform: WholePlatform
  /** Whose records are looked for, and who looks. */
  let theirs: TestEnvironment
  let ours: TestEnvironment
  /** Our ids of their records. */
  const ids: Record<string, string> = {}

  before(async () => {
    platform = await openWholePlatform()
    theirs = await platform.createEnvironment('theirs', catalogOf('their'))
    ours = await platform.createEnvironment('ours', catalogOf('our'))
    for (const [environment, name] of [
      [theirs, 'their'],
      [ours, 'our'],
    ] as const)
      await fill(environment, name)
    const where = { where: { environmentId: theirs.id } }
    ids.customer = (await platform.prisma.customer.findFirstOrThrow(where)).id
    ids.subscription = (await platform.prisma.subscription.findFirstOrThrow(where)).id
    ids.feature = (await platform.prisma.feature.findFirstOrThrow(where)).id
    ids.import = (await platform.prisma.importJob.findFirstOrThrow(where)).id
    ids.resource = (await platform.prisma.customerResource.findFirstOrThrow(where)).id
    ids.measurement = (await platform.prisma.usageMeasurement.findFirstOrThrow(where)).id
    const recompute = 'mutation ($input: RecomputeUsageInput!) { recomputeUsage(input: $input) { id } }'
    const { recomputeUsage } = await must(theirs, recompute, { input: { featureId: 'their-requests' } })
    ids.recomputation = (recomputeUsage as { id: string }).id
    while ((await platform.app.billing.deliver({})) > 0);
    ids.invoice = (await platform.prisma.invoice.findFirstOrThrow(where)).billingId!
    ids.plan = (await platform.prisma.package.findFirstOrThrow({ where: { environmentId: theirs.id, kind: 'PLAN' } })).id
  })
  after(async () => expect(await platform.close()).to.deep.equal([]))

  const must = async (environment: TestEnvironment, query: string, variables: object) => {
    const { data, errors } = await environment.ask(query, variables)
    expect(errors, query).to.equal(undefined)
    return data!
  }
  async function fill(environment: TestEnvironment, name: string): Promise<void> {
    const customerId = `${name}-customer`
    const facts = {
      name: `${name} hidden name`,
      email: `${name}@hidden.test`,
      additionalMetaData: { note: `${name} hidden note` },
      couponRefId: `${name}-coupon`,
    }
    await must(environment, 'mutation ($input: CustomerInput!) { createOneCustomer(input: $input) { id } }', {
      input: { customerId, ...facts },
    })
    const provision = 'mutation ($input: ProvisionSubscriptionInput) { provisionSubscriptionV2(input: $input) { id } }'
    const plan = { customerId, planId: `${name}-plan`, billingPeriod: 'MONTHLY' }
    await must(environment, provision, {
      input: { ...plan, subscriptionId: `${name}-subscription`, addons: [{ addonId: `${name}-addon`, quantity: 1 }] },
    })
    await must(environment, provision, {
      input: { ...plan, resourceId: `${name}-resource`, subscriptionId: `${name}-resource-subscription` },
    })
    await must(
      environment,
      'mutation ($input: GrantPromotionalEntitlementsInput!) { grantPromotionalEntitlements(input: $input) { id } }',
      {
        input: { customerId, promotionalEntitlements: [{ featureId: `${name}-sso`, period: 'ONE_YEAR' }] },
      },
    )
    await must(environment, 'mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { id } }', {
      input: { customerId, featureId: `${name}-calls`, value: 3, idempotencyKey: `${name}-key` },
    })
    await must(environment, 'mutation ($events: UsageEventsReportInput!) { reportEvent(events: $events) }', {
      events: { usageEvents: [{ customerId, eventName: `${name}-event`, idempotencyKey: `${name}-event-key` }] },
    })
    const bulk = { customers: [{ customerId: `${name}-imported`, name: `${name} hidden import` }] }
    await must(environment, 'mutation ($input: ImportCustomerBulkInput!) { importCustomersBulk(input: $input) }', { input: bulk })
    const isSettled = async () =>
      (await platform.prisma.importJob.count({ where: { environmentId: environment.id, finishedAt: null } })) === 0 &&
      (await platform.prisma.pendingBatch.count({ where: { environmentId: environment.id } })) === 0 &&
      (await platform.prisma.outboxMessage.count({ where: { environmentId: environment.id } })) === 0
    await eventually('everything to be worked off', isSettled)
  }

  /** Of everything that belongs to their environment, so that any change of it shows. */
  async function fingerprint(): Promise<string> {
    const tables = await platform.pool.query<{ name: string; column: string }>(
      `SELECT t.relname AS name, CASE t.relname WHEN 'environment' THEN 'id' ELSE 'environment_id' END AS column FROM pg_class t
       JOIN pg_attribute a ON a.attrelid = t.oid AND a.attname = CASE t.relname WHEN 'environment' THEN 'id' ELSE 'environment_id' END
       WHERE t.relkind IN ('r', 'p') AND NOT t.relispartition AND t.relnamespace = 'public'::regnamespace ORDER BY 1`,
    )
    expect(tables.rows.map(({ name }) => name)).to.include.members([
      'customer',
      'subscription',
      'environment',
      'raw_event',
      'usage_counter',
    ])
    const each = tables.rows.map(
      ({ name, column }) =>
        `SELECT '${name}' AS name, md5(string_agg(t::text, '|' ORDER BY t::text)) AS hash FROM "${name}" t WHERE "${column}" = $1::uuid`,
    )
    const { rows } = await platform.pool.query<{ name: string; hash: string }>(each.join(' UNION ALL '), [theirs.id])
    return rows.map(({ name, hash }) => `${name} ${hash}`).join('\n')
  }

  const their = { customerId: 'their-customer' }
  const our = { customerId: 'our-customer' }
  const startDate = new Date(Date.now() - 86_400_000).toISOString()
  const later = new Date(Date.now() + 86_400_000).toISOString()
  const checkResult = { hasAccess: true }
  const theirEvent = { customerId: 'their-customer', eventName: 'their-event', idempotencyKey: 'their-event-key' }
  const theirGrant = [{ featureId: 'their-sso', period: 'LIFETIME' }]

  /** Of every operation: variables that name what is theirs, and what comes of it. Ids of ours are known only when the test runs. */
  const attempts: Record<string, [Outcome, () => object][]> = {
    'Query.cachedEntitlements': [
      ['nothing', () => ({ query: their })],
      ['nothing', () => ({ query: { ...our, resourceId: 'their-resource' } })],
    ],
    'Query.billingCalls': [['nothing', () => ({})]],
    'Query.catalog': [['own', () => ({})]],
    'Query.coupons': [
      ['nothing', () => ({ filter: { refId: { eq: 'their-coupon' } } })],
      ['own', () => ({})],
    ],
    'Query.customers': [
      ['nothing', () => ({ filter: { customerId: { eq: 'their-customer' } } })],
      ['nothing', () => ({ filter: { or: [{ id: { eq: ids.customer } }, { environmentId: { eq: theirs.id } }] } })],
      ['own', () => ({ paging: { first: 50 } })],
    ],
    'Query.entitlement': [
      ['own', () => ({ query: { ...their, featureId: 'their-calls' } })],
      ['own', () => ({ query: { ...our, featureId: 'their-calls' } })],
    ],
    'Query.entitlementV2': [['own', () => ({ query: { ...their, featureId: 'their-calls' } })]],
    'Query.entitlementsState': [
      ['own', () => ({ query: their })],
      ['own', () => ({ query: { ...our, resourceId: 'their-resource' } })],
    ],
    'Query.getActiveSubscriptions': [
      ['refused', () => ({ input: their })],
      ['nothing', () => ({ input: { ...our, resourceIds: ['their-resource'] } })],
    ],
    'Query.getCustomerByRefId': [
      ['nothing', () => ({ input: their })],
      ['nothing', () => ({ input: { customerId: ids.customer } })],
    ],
    'Query.getSubscription': [
      ['refused', () => ({ input: { subscriptionId: 'their-subscription' } })],
      ['refused', () => ({ input: { subscriptionId: ids.subscription } })],
    ],
    'Query.importJob': [['nothing', () => ({ input: { id: ids.import } })]],
    'Query.packageMigrations': [['nothing', () => ({})]],
    'Query.paywall': [
      ['refused', () => ({ input: { productId: 'their-product' } })],
      ['refused', () => ({ input: { productId: 'our-product', ...their } })],
    ],
    'Query.products': [
      ['nothing', () => ({ filter: { refId: { eq: 'their-product' } } })],
      ['own', () => ({})],
    ],
    'Query.sdkConfiguration': [['own', () => ({})]],
    'Query.subscriptions': [
      ['nothing', () => ({ filter: { subscriptionId: { eq: 'their-subscription' } } })],
      ['nothing', () => ({ filter: { customer: { customerId: { eq: 'their-customer' } } } })],
      ['nothing', () => ({ filter: { environmentId: { eq: theirs.id } } })],
    ],
    'Query.taxRates': [['nothing', () => ({})]],
    'Query.testClock': [['nothing', () => ({})]],
    'Query.usageRecomputation': [['refused', () => ({ id: ids.recomputation })]],
    'Query.usageHistory': [
      ['refused', () => ({ usageHistoryInput: { customerRefId: 'their-customer', featureRefId: 'their-calls', startDate } })],
      ['refused', () => ({ usageHistoryInput: { customerRefId: 'our-customer', featureRefId: 'their-calls', startDate } })],
    ],
    'Query.usageHistoryV2': [
      ['refused', () => ({ input: { ...their, featureId: 'their-calls', startDate } })],
      ['refused', () => ({ input: { ...our, featureId: 'their-calls', startDate } })],
    ],
    'Mutation.advanceTestClock': [['refused', () => ({ input: { frozenTime: later } })]],
    'Mutation.applyCatalog': [
      ['refused', () => ({ input: { plans: [{ refId: 'our-new-plan', product: 'their-product', entitlements: [] }] }, dryRun: true })],
      ['own', () => ({ input: { features: [{ refId: 'their-calls', displayName: 'Ours now', type: 'BOOLEAN' }] }, dryRun: true })],
    ],
    'Mutation.applySubscription': [
      ['refused', () => ({ input: { ...their, planId: 'our-plan' } })],
      ['refused', () => ({ input: { ...our, planId: 'their-plan' } })],
    ],
    'Mutation.archiveCustomer': [
      ['refused', () => ({ input: their })],
      ['refused', () => ({ input: { customerId: ids.customer } })],
    ],
    'Mutation.cancelSchedule': [['refused', () => ({ input: { subscriptionId: 'their-subscription' } })]],
    'Mutation.cancelSubscription': [
      ['refused', () => ({ input: { subscriptionRefId: 'their-subscription' } })],
      ['refused', () => ({ input: { subscriptionRefId: ids.subscription } })],
    ],
    'Mutation.createOneCoupon': [['own', () => ({ input: { refId: 'their-second-coupon', name: 'Ours', percentOff: 1 } })]],
    'Mutation.createOneCustomer': [
      ['own', () => ({ input: { ...their, name: 'Ours' } })],
      ['refused', () => ({ input: { customerId: 'our-second', couponRefId: 'their-coupon' } })],
    ],
    'Mutation.createSubscription': [
      ['refused', () => ({ subscription: { customerId: 'their-imported', planId: 'our-plan' } })],
      ['refused', () => ({ subscription: { ...our, planId: 'their-plan' } })],
    ],
    'Mutation.createTestClock': [['refused', () => ({ input: { frozenTime: later, environmentId: theirs.id } })]],
    'Mutation.createUsageMeasurement': [
      ['refused', () => ({ usageMeasurement: { customerId: 'their-imported', featureId: 'our-calls', value: 1 } })],
      ['refused', () => ({ usageMeasurement: { ...our, featureId: 'their-calls', value: 1 } })],
      ['refused', () => ({ usageMeasurement: { ...our, resourceId: 'their-resource', featureId: 'our-calls', value: 1 } })],
    ],
    'Mutation.delegateSubscriptionToCustomer': [
      ['refused', () => ({ input: { subscriptionId: 'their-subscription', destinationCustomerId: 'our-customer' } })],
      ['refused', () => ({ input: { subscriptionId: 'our-subscription', destinationCustomerId: 'their-imported' } })],
    ],
    'Mutation.estimateSubscription': [['refused', () => ({ input: { ...our, planId: 'their-plan' } })]],
    'Mutation.estimateSubscriptionUpdate': [['refused', () => ({ input: { subscriptionId: 'their-subscription' } })]],
    'Mutation.grantPromotionalEntitlements': [
      [
        'refused',
        () => ({ input: { customerId: 'their-imported', promotionalEntitlements: [{ featureId: 'our-sso', period: 'LIFETIME' }] } }),
      ],
      ['refused', () => ({ input: { ...our, promotionalEntitlements: theirGrant } })],
    ],
    'Mutation.importCustomersBulk': [['own', () => ({ input: { customers: [{ ...their, name: 'Ours' }] } })]],
    'Mutation.importOneCustomer': [['own', () => ({ input: { ...their, name: 'Ours' } })]],
    'Mutation.importSubscriptionsBulk': [
      ['own', () => ({ input: { subscriptions: [{ customerId: 'their-imported', planId: 'their-plan' }] } })],
    ],
    'Mutation.markInvoiceFailed': [['refused', () => ({ input: { billingId: ids.invoice } })]],
    'Mutation.markInvoicePaid': [['refused', () => ({ input: { billingId: ids.invoice } })]],
    'Mutation.migrateSubscriptionToLatest': [['refused', () => ({ input: { subscriptionId: 'their-subscription' } })]],
    'Mutation.previewNextInvoice': [['refused', () => ({ input: { subscriptionId: 'their-subscription' } })]],
    'Mutation.previewSubscription': [['refused', () => ({ input: { ...our, planId: 'their-plan' } })]],
    'Mutation.provisionCustomer': [
      ['own', () => ({ input: { ...their, name: 'Ours' } })],
      ['refused', () => ({ input: { customerId: 'our-third', subscriptionParams: { planId: 'their-plan' } } })],
    ],
    'Mutation.provisionSubscription': [['refused', () => ({ input: { ...our, planId: 'their-plan' } })]],
    'Mutation.provisionSubscriptionV2': [
      ['refused', () => ({ input: { customerId: 'their-imported', planId: 'our-plan' } })],
      ['refused', () => ({ input: { ...our, planId: 'their-plan' } })],
      ['refused', () => ({ subscription: { ...our, planId: 'our-plan', resourceId: 'r', addons: [{ addonId: 'their-addon' }] } })],
    ],
    'Mutation.recomputeUsage': [
      ['refused', () => ({ input: { featureId: 'their-requests' } })],
      ['refused', () => ({ input: { featureId: 'our-requests', customerId: 'their-imported' } })],
    ],
    'Mutation.removeUsageEvent': [['refused', () => ({ input: theirEvent })]],
    'Mutation.removeUsageMeasurement': [
      ['refused', () => ({ input: { id: ids.measurement } })],
      ['refused', () => ({ input: { idempotencyKey: 'their-key' } })],
    ],
    'Mutation.replaceUsageEvent': [['refused', () => ({ input: { ...theirEvent, dimensions: { a: 1 } } })]],
    'Mutation.replaceUsageMeasurement': [
      ['refused', () => ({ input: { id: ids.measurement, value: 1 } })],
      ['refused', () => ({ input: { idempotencyKey: 'their-key', value: 1 } })],
    ],
    'Mutation.reportEntitlementCheckRequested': [
      ['own', () => ({ entitlementCheckRequested: { ...their, featureId: 'their-calls', entitlementCheckResult: checkResult } })],
    ],
    'Mutation.reportEvent': [
      ['refused', () => ({ events: { usageEvents: [{ customerId: 'their-imported', eventName: 'e', idempotencyKey: 'k' }] } })],
    ],
    'Mutation.reportUsage': [
      ['refused', () => ({ input: { customerId: 'their-imported', featureId: 'our-calls', value: 1 } })],
      // The key is taken in their environment only.
      ['own', () => ({ input: { ...our, featureId: 'our-calls', value: 99, idempotencyKey: 'their-key' } })],
    ],
    'Mutation.reportUsageBulk': [
      [
        'refused',
        () => ({
          input: {
            usages: [
              { ...our, featureId: 'our-calls', value: 1 },
              { ...our, featureId: 'their-calls', value: 1 },
            ],
          },
        }),
      ],
    ],
    'Mutation.requirePaymentAction': [['refused', () => ({ input: { billingId: ids.invoice } })]],
    'Mutation.retryBillingCalls': [['own', () => ({})]],
    'Mutation.revokePromotionalEntitlement': [
      ['refused', () => ({ input: { customerId: 'their-imported', featureId: 'their-sso' } })],
      ['refused', () => ({ input: { ...our, featureId: 'their-sso' } })],
    ],
    'Mutation.setPaymentMethod': [['refused', () => ({ input: { customerId: 'their-imported', reference: 'card' } })]],
    'Mutation.setTaxRate': [['own', () => ({ input: { id: 'their-rate', displayName: 'Ours', percentage: 1 } })]],
    'Mutation.transferSubscription': [
      ['refused', () => ({ input: { customerId: 'their-imported', sourceResourceId: 'their-resource', destinationResourceId: 'r' } })],
      ['refused', () => ({ input: { ...our, sourceResourceId: 'their-resource', destinationResourceId: 'r' } })],
    ],
    'Mutation.transferSubscriptionToResource': [
      ['refused', () => ({ input: { subscriptionId: 'their-resource-subscription', destinationResourceId: 'r' } })],
    ],
    'Mutation.unarchiveCustomer': [['refused', () => ({ input: { customerId: 'their-imported' } })]],
    'Mutation.updateOneCustomer': [
      ['refused', () => ({ input: { customerId: 'their-imported', name: 'Ours' } })],
      ['refused', () => ({ input: { ...our, couponRefId: 'their-coupon' } })],
    ],
    'Mutation.updateOneSubscription': [
      ['refused', () => ({ input: { subscriptionId: 'their-subscription', additionalMetaData: { a: 1 } } })],
      ['refused', () => ({ input: { refId: ids.subscription, additionalMetaData: { a: 1 } } })],
    ],
  }

  it('is tried for every query and mutation that there is', () => {
    const all = [schema.getQueryType()!, schema.getMutationType()!].flatMap((root) =>
      Object.keys(root.getFields()).map((field) => `${root.name}.${field}`),
    )
    expect(Object.keys(attempts).sort()).to.deep.equal(all.sort())
  })

  const outcomeOf = (value: unknown, hasErrors: boolean): Outcome => {
    if (hasErrors) return 'refused'
    const isEmptyList = (Array.isArray(value) && value.length === 0) || (value as { totalCount?: number } | null)?.totalCount === 0
    return value === null || isEmptyList ? 'nothing' : 'own'
  }
  for (const [name, tries] of Object.entries(attempts)) {
    it(`finds nothing and changes nothing: ${name}`, async () => {
      const [rootName, field] = name.split('.') as [string, string]
      const root = schema.getType(rootName) as GraphQLObjectType
      const before = await fingerprint()
      for (const [outcome, variables] of tries) {
        const sent = variables()
        const body = await ours.ask(operationDocument(root, field), sent, { 'x-operator-key': operatorKey })
        const shown = JSON.stringify(body)
        expect(outcomeOf(body.data?.[field] ?? null, body.errors !== undefined), `${JSON.stringify(sent)}: ${shown}`).to.equal(outcome)
        // What was sent may come back in a message; nothing else of theirs may.
        const secret = [theirs.id, ...Object.values(ids)].filter((id) => !JSON.stringify(sent).includes(id))
        for (const text of ['their hidden', 'their@hidden', ...secret]) expect(shown).to.not.include(text)
      }
      expect(await fingerprint()).to.equal(before)
    })
  }

  it('named outright is refused: an input’s environmentId must be that of the key', async () => {
    const query = 'query ($input: GetCustomerByRefIdInput!) { getCustomerByRefId(input: $input) { id } }'
    const { data, errors } = await ours.ask(query, { input: { ...their, environmentId: theirs.id } })
    expect(data?.getCustomerByRefId ?? null).to.equal(null)
    expect(errors![0]!.extensions.code).to.equal('IdentityForbidden')
  })

  describe('live', () => {
    let client: Client
    before(() => {
      client = createClient({
        url: `${platform.url.replace('http', 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        connectionParams: { headers: { 'X-API-KEY': ours.serverKey } },
        retryAttempts: 0,
      })
    })
    after(() => client.dispose())

    /** Something of every kind, in their environment, then in ours. */
    const change = async (environment: TestEnvironment, name: string, count: number) => {
      await must(environment, 'mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { id } }', {
        input: { customerId: `${name}-customer`, featureId: `${name}-calls`, value: 1 },
      })
      await must(
        environment,
        'mutation ($input: GrantPromotionalEntitlementsInput!) { grantPromotionalEntitlements(input: $input) { id } }',
        {
          input: { customerId: `${name}-customer`, promotionalEntitlements: [{ featureId: `${name}-sso`, period: 'LIFETIME' }] },
        },
      )
      const limit = 1_000 + count
      const plan = {
        refId: `${name}-plan`,
        product: `${name}-product`,
        entitlements: [{ feature: `${name}-calls`, limit, resetPeriod: 'MONTH' }],
      }
      await must(environment, 'mutation ($input: JSON!) { applyCatalog(input: $input) { action } }', { input: { plans: [plan] } })
    }
    let count = 0
    for (const field of Object.keys(schema.getSubscriptionType()!.getFields())) {
      it(`hears nothing of theirs: ${field}`, async () => {
        const received: string[] = []
        const query = operationDocument(schema.getSubscriptionType()!, field)
        const unsubscribe = client.subscribe(
          { query },
          {
            next: (message) => received.push(JSON.stringify(message)),
            error: (error) => received.push(String(error)),
            complete: () => undefined,
          },
        )
        count += 1
        await change(theirs, 'their', count)
        // Ours comes after theirs on the same way, so theirs would have come before it; repeated until the subscription has begun.
        await eventually(
          'a change of ours',
          async () => {
            if (received.length > 0) return true
            count += 1
            await change(ours, 'our', count)
            return received.length > 0
          },
          30_000,
        )
        unsubscribe()
        for (const message of received) for (const text of ['their', theirs.id]) expect(message).to.not.include(text)
      })
    }
  })
})
