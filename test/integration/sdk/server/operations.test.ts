import { expect } from 'chai'
import { Redis } from 'ioredis'
import type { TollgateClient, TollgateError } from '../../../../src/sdk/server/index.js'
import { testRedisPrefix, testRedisUrl } from '../../../support/redis.js'
import { openSdkPlatform, type SdkPlatform } from './platform.js'

const failureOf = (work: Promise<unknown>) => work.then(() => null).catch((error: TollgateError) => error)

describe('operations of the server SDK', () => {
  let sdk: SdkPlatform

  before(async function () {
    this.timeout(60_000)
    sdk = await openSdkPlatform()
  })
  after(async () => expect(await sdk.close()).to.deep.equal([]))
  afterEach(() => sdk.closeClients())

  it('take a customer from its beginning to its end', async () => {
    const client = await sdk.client({ wsEnabled: false })
    const customerId = 'whole-life'
    const made = await client.provisionCustomer({
      customerId,
      name: 'Acme',
      email: 'billing@example.com',
      additionalMetaData: { tier: 'gold' },
    })
    expect(made.customer).to.deep.include({ refId: customerId, name: 'Acme', additionalMetaData: { tier: 'gold' } })
    expect(await client.updateCustomer({ customerId, name: 'Acme Corp' })).to.include({ name: 'Acme Corp', email: 'billing@example.com' })
    const estimate = await client.estimateSubscription({ customerId, planId: 'team', billingPeriod: 'MONTHLY', skipTrial: true })
    expect(estimate.total.amount).to.be.above(0)
    const bought = await client.provisionSubscription({ customerId, planId: 'team', billingPeriod: 'MONTHLY', skipTrial: true })
    const subscriptionId = bought.subscription!.subscriptionId
    expect(bought.subscription).to.deep.include({ status: 'ACTIVE', pricingType: 'PAID' })
    expect(bought.subscription!.plan).to.include({ refId: 'team' })
    expect((await client.getActiveSubscriptions({ customerId }))!.map((one) => one.subscriptionId)).to.deep.equal([subscriptionId])
    expect(await client.getSubscription({ subscriptionId })).to.deep.include({ subscriptionId, status: 'ACTIVE' })
    const granted = await client.grantPromotionalEntitlements({
      customerId,
      promotionalEntitlements: [{ featureId: 'sso', period: 'LIFETIME', isVisible: true }],
    })
    expect(granted![0]!.feature).to.include({ refId: 'sso' })
    expect(await client.getBooleanEntitlement({ customerId, featureId: 'sso' })).to.include({ hasAccess: true })
    expect((await client.getCustomer({ customerId }))!.promotionalEntitlements).to.have.length(1)
    await client.revokePromotionalEntitlement({ customerId, featureId: 'sso' })
    expect(await client.getBooleanEntitlement({ customerId, featureId: 'sso' })).to.include({ hasAccess: false })
    expect(await client.cancelSubscription({ subscriptionRefId: subscriptionId, subscriptionCancellationTime: 'IMMEDIATE' })).to.include({
      status: 'CANCELED',
    })
    await client.archiveCustomer({ customerId })
    expect(await client.getBooleanEntitlement({ customerId, featureId: 'sso' })).to.include({ accessDeniedReason: 'CUSTOMER_IS_ARCHIVED' })
    await client.unarchiveCustomer({ customerId })
    expect((await client.getCoupons({ paging: { first: 5 } })).edges).to.be.an('array')
    expect((await client.getPaywall()).plans!.map(({ refId }) => refId)).to.include.members(['free', 'team'])
  }).timeout(40_000)

  it('say in which way they were refused', async () => {
    const client = await sdk.client({ wsEnabled: false })
    expect(await failureOf(client.provisionSubscription({ customerId: 'nobody', planId: 'team' }))).to.include({
      name: 'TollgateError',
      code: 'NOT_FOUND',
      reason: 'CUSTOMER_NOT_FOUND',
    })
    expect(await failureOf(client.provisionCustomer({ customerId: '' }))).to.include({ code: 'INVALID_ARGUMENT' })
    const offline = await sdk.client({ offline: true })
    expect(await failureOf(offline.getPaywall())).to.include({ code: 'UNAVAILABLE', reason: 'OFFLINE' })
  })

  describe('are seen at once by the checks of the same client', () => {
    const prefix = testRedisPrefix()
    const redis = () => {
      const { hostname, port, pathname } = new URL(testRedisUrl())
      return { environmentPrefix: prefix, host: hostname, port: Number(port), db: Number(pathname.slice(1) || '0') }
    }
    after(async () => {
      const cache = new Redis(testRedisUrl())
      const keys = await cache.keys(`${prefix}:*`)
      if (keys.length > 0) await cache.del(keys)
      cache.disconnect()
    })

    const story = async (client: TollgateClient, customerId: string) => {
      const limit = async () => (await client.getMeteredEntitlement({ customerId, featureId: 'api-calls' })).entitlement?.usageLimit ?? null
      // Remembered as unknown, and then as one on the free plan.
      expect(await limit()).to.equal(null)
      await client.provisionCustomer({ customerId })
      expect(await limit()).to.equal(10)
      await client.provisionSubscription({ customerId, planId: 'team', billingPeriod: 'MONTHLY' })
      expect(await limit()).to.equal(10_000)
      const { currentUsage } = await client.reportUsage({ customerId, featureId: 'api-calls', value: 3 })
      expect(currentUsage).to.equal(3)
      expect((await client.getMeteredEntitlement({ customerId, featureId: 'api-calls' })).entitlement?.currentUsage).to.equal(3)
      expect(
        (await client.getMeteredEntitlement({ customerId, featureId: 'api-calls', consistency: 'strong' })).entitlement?.currentUsage,
      ).to.equal(3)
    }

    it('with a cache in memory that is pushed to', async () => story(await sdk.client(), 'seen-pushed')).timeout(20_000)
    it('with one that is not', async () => story(await sdk.client({ wsEnabled: false }), 'seen-alone')).timeout(20_000)
    it('with an external one', async () => story(await sdk.client({ redis: redis() }), 'seen-external')).timeout(20_000)

    it('and reports by other clients of the same external cache', async () => {
      const [one, other] = [await sdk.client({ redis: redis() }), await sdk.client({ redis: redis() })]
      const used = async (client: TollgateClient) =>
        (await client.getMeteredEntitlement({ customerId: 'shared', featureId: 'api-calls' })).entitlement?.currentUsage
      await sdk.provision('shared', 'team')
      expect([await used(one), await used(other)]).to.deep.equal([0, 0])
      for (const total of [2, 4]) {
        await one.reportUsage({ customerId: 'shared', featureId: 'api-calls', value: 2 })
        expect([await used(one), await used(other)]).to.deep.equal([total, total])
      }
    }).timeout(20_000)
  })
})
