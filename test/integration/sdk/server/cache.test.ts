import { expect } from 'chai'
import { until } from '../../../contract/grpc/harness.js'
import { openSdkPlatform, type SdkPlatform } from './platform.js'

describe('server SDK with a cache in memory', () => {
  let sdk: SdkPlatform

  before(async function () {
    this.timeout(60_000)
    sdk = await openSdkPlatform()
  })
  after(async () => expect(await sdk.close()).to.deep.equal([]))
  afterEach(() => sdk.closeClients())

  it('answers from memory what the platform decides, and sees a change without asking', async () => {
    const client = await sdk.client()
    await sdk.provision('pushed')
    const ask = () => client.getMeteredEntitlement({ customerId: 'pushed', featureId: 'api-calls', requestedUsage: 1 })
    const before = await ask()
    expect(before).to.deep.include({ hasAccess: true, isFallback: false, accessDeniedReason: null })
    const misses = client.figures().lookups.miss
    await sdk.mutate('provisionSubscriptionV2(input: { customerId: "pushed", planId: "team", billingPeriod: MONTHLY }) { id }')
    await until(async () => (await ask()).entitlement?.usageLimit !== before.entitlement?.usageLimit, 'the new limit is known', 5_000)
    expect(client.figures().lookups.miss).to.equal(misses)
    expect(await client.getBooleanEntitlement({ customerId: 'pushed', featureId: 'sso' })).to.deep.include({
      hasAccess: false,
      accessDeniedReason: 'NO_FEATURE_ENTITLEMENT_IN_SUBSCRIPTION',
    })
    expect(await client.getNumericEntitlement({ customerId: 'pushed', featureId: 'storage-gb' })).to.deep.include({ hasAccess: true })
  }).timeout(20_000)

  it('sees its own reports at once', async () => {
    const client = await sdk.client()
    await sdk.provision('reporter')
    const used = async () =>
      (await client.getMeteredEntitlement({ customerId: 'reporter', featureId: 'api-calls' })).entitlement?.currentUsage
    expect(await used()).to.equal(0)
    for (const total of [2, 4, 6]) {
      const reported = await client.reportUsage({ customerId: 'reporter', featureId: 'api-calls', value: 2 })
      expect(reported).to.deep.include({ customerId: 'reporter', currentUsage: total })
      expect(await used()).to.equal(total)
    }
    const again = { customerId: 'reporter', featureId: 'api-calls', value: 5, idempotencyKey: 'chosen' }
    const first = await client.reportUsage(again)
    expect(await client.reportUsage(again)).to.deep.include({ measurementId: first.measurementId, currentUsage: 11 })
    expect(client.figures().lookups.miss).to.equal(1)
  }).timeout(20_000)
})
