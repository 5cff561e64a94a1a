import { expect } from 'chai'
import { eventually } from '../../../../support/eventually.js'
import { openWholePlatform, type TestEnvironment, type WholePlatform } from '../../whole-platform.js'

/** Two environments with records of every kind, which are called alike but for the beginning of their names. */
export interface TwoEnvironments {
  platform: WholePlatform
  /** Whose records are looked for, and who looks. */
  theirs: TestEnvironment
  ours: TestEnvironment
  /** Our ids of their records. */
  ids: Readonly<Record<string, string>>
}

export async function openTwoEnvironments(): Promise<TwoEnvironments> {
  const platform = await openWholePlatform()
  const theirs = await platform.createEnvironment('theirs', catalogOf('their'))
  const ours = await platform.createEnvironment('ours', catalogOf('our'))
  await fill(platform, theirs, 'their')
  await fill(platform, ours, 'our')
  return { platform, theirs, ours, ids: await idsOf(platform, theirs) }
}

/** What must not be refused. */
export async function must(environment: TestEnvironment, query: string, variables: object) {
  const { data, errors } = await environment.ask(query, variables)
  expect(errors, query).to.equal(undefined)
  return data!
}

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

async function fill({ prisma }: WholePlatform, environment: TestEnvironment, name: string): Promise<void> {
  const customerId = `${name}-customer`
  const facts = {
    name: `${name} hidden name`,
    email: `${name}@hidden.test`,
    additionalMetaData: { note: `${name} hidden note` },
    couponRefId: `${name}-coupon`,
  }
  await must(environment, 'mutation ($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { secret } }', {
    input: { url: `https://${name}.example.com`, description: `${name} hidden hooks` },
  })
  await must(environment, 'mutation ($input: CreateAlertInput!) { createAlert(input: $input) { id } }', {
    input: { featureId: `${name}-calls`, description: `${name} hidden alert`, thresholds: [{ kind: 'AMOUNT', value: 1 }] },
  })
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
  await must(environment, 'mutation ($input: GrantPromotionalEntitlementsInput!) { grantPromotionalEntitlements(input: $input) { id } }', {
    input: { customerId, promotionalEntitlements: [{ featureId: `${name}-sso`, period: 'ONE_YEAR' }] },
  })
  await must(environment, 'mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { id } }', {
    input: { customerId, featureId: `${name}-calls`, value: 3, idempotencyKey: `${name}-key` },
  })
  await must(environment, 'mutation ($events: UsageEventsReportInput!) { reportEvent(events: $events) }', {
    events: { usageEvents: [{ customerId, eventName: `${name}-event`, idempotencyKey: `${name}-event-key` }] },
  })
  const bulk = { customers: [{ customerId: `${name}-imported`, name: `${name} hidden import` }] }
  await must(environment, 'mutation ($input: ImportCustomerBulkInput!) { importCustomersBulk(input: $input) }', { input: bulk })
  const isSettled = async () =>
    (await prisma.importJob.count({ where: { environmentId: environment.id, finishedAt: null } })) === 0 &&
    (await prisma.pendingBatch.count({ where: { environmentId: environment.id } })) === 0 &&
    (await prisma.outboxMessage.count({ where: { environmentId: environment.id } })) === 0
  await eventually('everything to be worked off', isSettled)
}

async function idsOf({ app, prisma }: WholePlatform, environment: TestEnvironment): Promise<Record<string, string>> {
  const where = { where: { environmentId: environment.id } }
  const recompute = 'mutation ($input: RecomputeUsageInput!) { recomputeUsage(input: $input) { id } }'
  const { recomputeUsage } = await must(environment, recompute, { input: { featureId: 'their-requests' } })
  await app.billing.deliverEverywhere()
  return {
    customer: (await prisma.customer.findFirstOrThrow(where)).id,
    subscription: (await prisma.subscription.findFirstOrThrow(where)).id,
    feature: (await prisma.feature.findFirstOrThrow(where)).id,
    alert: (await prisma.alert.findFirstOrThrow(where)).id,
    endpoint: (await prisma.webhookEndpoint.findFirstOrThrow(where)).id,
    key: (await prisma.apiKey.findFirstOrThrow(where)).id,
    import: (await prisma.importJob.findFirstOrThrow(where)).id,
    resource: (await prisma.customerResource.findFirstOrThrow(where)).id,
    measurement: (await prisma.usageMeasurement.findFirstOrThrow(where)).id,
    recomputation: (recomputeUsage as { id: string }).id,
    invoice: (await prisma.invoice.findFirstOrThrow(where)).billingId!,
    plan: (await prisma.package.findFirstOrThrow({ where: { environmentId: environment.id, kind: 'PLAN' } })).id,
  }
}
