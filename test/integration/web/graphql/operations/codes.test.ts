import { expect } from 'chai'
import { graphqlCodes } from '../../../../../src/web/graphql/operations/errors.js'
import { createSchema } from '../../../../../src/web/graphql/schema.js'
import { operationDocument } from '../../../../support/operation-document.js'
import { openWholePlatform, type TestEnvironment, type WholePlatform } from '../../whole-platform.js'

const schema = createSchema()
const roots = { query: schema.getQueryType()!, mutation: schema.getMutationType()! }
const flat = { billingModel: 'FLAT_FEE', billingPeriod: 'MONTHLY', currency: 'USD' }
const metered = { type: 'NUMBER', meter: 'Incremental', units: 'unit', unitsPlural: 'units' }
const catalog = {
  features: [
    { refId: 'sso', type: 'BOOLEAN' },
    { refId: 'calls', ...metered },
    {
      refId: 'tokens',
      ...metered,
      events: { aggregation: 'COUNT', filters: [[{ field: 'eventName', operation: 'EQUALS', value: 'token' }]] },
    },
  ],
  products: [{ refId: 'cloud' }],
  plans: [
    { refId: 'basic', product: 'cloud', prices: [{ ...flat, amount: 5 }] },
    {
      refId: 'tried',
      product: 'cloud',
      defaultTrial: { duration: 7, units: 'DAY', endBehavior: 'CONVERT_TO_PAID' },
      prices: [{ ...flat, amount: 9 }],
    },
  ],
  addons: [{ refId: 'more', product: 'cloud', prices: [{ ...flat, amount: 1 }] }],
  coupons: [{ refId: 'tenth', name: 'Tenth', percentOff: 10 }],
}
const acme = { customerId: 'acme' }
const usage = { ...acme, featureId: 'calls', value: 1 }
const past = new Date(Date.now() - 86_400_000).toISOString()

type Case = [code: string, field: `${keyof typeof roots}.${string}`, variables: object, headers?: Record<string, string>]
const cases: Case[] = [
  ['Unauthenticated', 'query.coupons', {}, { 'x-api-key': 'server-none' }],
  ['IdentityForbidden', 'mutation.markInvoicePaid', { input: { billingId: 'x' } }],
  ['BadUserInput', 'mutation.provisionSubscriptionV2', {}],
  ['CatalogVersionMismatch', 'mutation.applyCatalog', { input: { ...catalog, coupons: [] }, expectedVersion: 'of yesterday' }],
  ['CustomerNotFound', 'mutation.provisionSubscription', { input: { customerId: 'nobody', planId: 'basic' } }],
  ['CustomerNotFound', 'query.paywall', { input: { customerId: 'nobody' } }],
  ['CustomerNotFound', 'mutation.reportUsage', { input: { ...usage, customerId: 'nobody' } }],
  ['CustomerResourceNotFound', 'mutation.reportUsage', { input: { ...usage, resourceId: 'nowhere' } }],
  ['PlanNotFound', 'mutation.provisionSubscription', { input: { ...acme, planId: 'none' } }],
  ['PlanNotFound', 'mutation.estimateSubscription', { input: { ...acme, planId: 'none' } }],
  ['AddonNotFound', 'mutation.updateOneSubscription', { input: { subscriptionId: 'running', addons: [{ addonId: 'none' }] } }],
  ['SubscriptionNotFound', 'query.getSubscription', { input: { subscriptionId: 'none' } }],
  ['SubscriptionNotFound', 'mutation.cancelSchedule', { input: { subscriptionId: 'none' } }],
  ['FeatureNotFound', 'mutation.reportUsage', { input: { ...usage, featureId: 'none' } }],
  [
    'FeatureNotFound',
    'mutation.provisionSubscription',
    { input: { ...acme, planId: 'basic', billableFeatures: [{ featureId: 'none', quantity: 2 }] } },
  ],
  [
    'FeatureNotFound',
    'mutation.updateOneSubscription',
    { input: { subscriptionId: 'running', subscriptionEntitlements: [{ featureId: 'none', usageLimit: 2 }] } },
  ],
  [
    'FeatureNotFound',
    'mutation.grantPromotionalEntitlements',
    { input: { ...acme, promotionalEntitlements: [{ featureId: 'none', period: 'LIFETIME' }] } },
  ],
  ['CouponNotFound', 'mutation.updateOneCustomer', { input: { ...acme, couponRefId: 'none' } }],
  [
    'CouponNotFound',
    'mutation.estimateSubscription',
    { input: { customerId: 'other', planId: 'basic', appliedCoupon: { couponId: 'none' } } },
  ],
  ['ProductNotFoundError', 'query.paywall', { input: { productId: 'none' } }],
  ['ProductNotFoundError', 'query.getPaywall', { input: { productId: 'none' } }],
  ['PromotionalEntitlementNotFoundError', 'mutation.revokePromotionalEntitlement', { input: { ...acme, featureId: 'sso' } }],
  ['DuplicatedEntityNotAllowed', 'mutation.createOneCustomer', { input: acme }],
  ['DuplicatedEntityNotAllowed', 'mutation.createOneCoupon', { input: { refId: 'tenth', name: 'Again', percentOff: 5 } }],
  ['DuplicatedEntityNotAllowed', 'mutation.reportUsage', { input: { ...usage, value: 2, idempotencyKey: 'taken' } }],
  ['EntityIsArchivedError', 'mutation.provisionCustomer', { input: { customerId: 'gone' } }],
  ['EntityIsArchivedError', 'mutation.reportUsage', { input: { ...usage, customerId: 'gone' } }],
  [
    'IncompatibleSubscriptionAddon',
    'mutation.provisionSubscription',
    { input: { ...acme, planId: 'basic', addons: [{ addonId: 'more' }] } },
  ],
  [
    'InvalidSubscriptionStatus',
    'mutation.updateOneSubscription',
    { input: { subscriptionId: 'running', trialEndDate: '2090-01-01T00:00:00Z' } },
  ],
  ['SubscriptionAlreadyCanceledOrExpired', 'mutation.cancelSubscription', { input: { subscriptionRefId: 'ended' } }],
  ['SubscriptionAlreadyOnLatestPlanError', 'mutation.migrateSubscriptionToLatest', { input: { subscriptionId: 'running' } }],
  [
    'TrialMustBeCancelledImmediately',
    'mutation.cancelSubscription',
    { input: { subscriptionRefId: 'trial', subscriptionCancellationTime: 'END_OF_BILLING_PERIOD' } },
  ],
  [
    'InvalidCancellationDate',
    'mutation.cancelSubscription',
    { input: { subscriptionRefId: 'running', subscriptionCancellationTime: 'SPECIFIC_DATE', endDate: past } },
  ],
  ['CannotReportUsageForEntitlementWithMeterError', 'mutation.reportUsage', { input: { ...usage, featureId: 'tokens' } }],
  ['MeteringNotAvailableForFeatureType', 'mutation.reportUsage', { input: { ...usage, featureId: 'sso' } }],
  ['UsageMeasurementDiffOutOfRangeError', 'mutation.reportUsage', { input: { ...usage, value: -1 } }],
  ['EntitlementUsageOutOfRangeError', 'mutation.reportUsageBulk', { input: { usages: Array(11).fill({ ...usage, value: 9e14 }) } }],
]

/** Told by what is wrong with the platform or by a client key's customer: where each of them is tested. */
const elsewhere = {
  AuthCustomerMismatch: 'catalog-queries.test.ts',
  InternalServerError: 'errors.test.ts',
  RateLimitExceeded: 'limits.test.ts',
  ServiceUnavailable: 'http.test.ts',
  Timeout: 'limits.test.ts',
}

describe('codes of errors', () => {
  let platform: WholePlatform
  let environment: TestEnvironment

  before(async function () {
    this.timeout(20_000)
    platform = await openWholePlatform()
    environment = await platform.createEnvironment('codes', catalog)
    const must = async (field: string, input: object) => {
      const { errors } = await environment.ask(operationDocument(roots.mutation, field, 1), { input })
      expect(errors, field).to.equal(undefined)
    }
    for (const customerId of ['acme', 'gone', 'other']) await must('createOneCustomer', { customerId })
    await must('archiveCustomer', { customerId: 'gone' })
    await must('provisionSubscription', { ...acme, planId: 'basic', subscriptionId: 'ended' })
    await must('cancelSubscription', { subscriptionRefId: 'ended', subscriptionCancellationTime: 'IMMEDIATE' })
    await must('provisionSubscription', { ...acme, planId: 'basic', subscriptionId: 'running', skipTrial: true })
    await must('provisionSubscription', { customerId: 'other', planId: 'tried', subscriptionId: 'trial' })
    await must('reportUsage', { ...usage, idempotencyKey: 'taken' })
  })
  after(async () => expect(await platform.close()).to.deep.equal([]))

  it('are all caused here, or known to be elsewhere', () => {
    expect([...new Set(cases.map(([code]) => code)), ...Object.keys(elsewhere)].sort()).to.deep.equal([...graphqlCodes])
  })

  for (const [index, [code, place, variables, headers]] of cases.entries())
    it(`${code} is what ${place} answers (${index + 1})`, async () => {
      const [kind, field] = place.split('.') as [keyof typeof roots, string]
      const { errors } = await environment.ask(operationDocument(roots[kind], field, 1), variables, headers)
      expect(errors?.map(({ extensions, message }) => `${extensions.code} ${message}`)).to.have.length(1)
      expect(errors![0]!.extensions.code, errors![0]!.message).to.equal(code)
    })
})
