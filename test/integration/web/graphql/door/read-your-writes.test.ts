import { expect } from 'chai'
import { effort } from '../../../../support/effort.js'
import { type FrontDoor, openFrontDoor, openTwin } from '../../front-door.js'

const check = `query($query: FetchEntitlementQuery!) { entitlement(query: $query) { isGranted accessDeniedReason } }`
const provision = 'mutation($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { subscription { subscriptionId } } }'
const cancel = 'mutation($input: SubscriptionCancellationInput!) { cancelSubscription(input: $input) { status } }'

describe('reads through one web process after a mutation through another', () => {
  let first: FrontDoor
  let second: FrontDoor

  before(async function () {
    this.timeout(20_000)
    first = await openFrontDoor()
    second = await openTwin(first)
  })
  after(async () => {
    expect(await second.close()).to.deep.equal([])
    expect(await first.close()).to.deep.equal([])
  })

  const reasonOf = async (door: FrontDoor, customerId: string, featureId = 'seats') => {
    const { data, errors } = await door.ask<{ entitlement: { isGranted: boolean; accessDeniedReason: string | null } }>(check, {
      query: { customerId, featureId },
    })
    expect(errors).to.equal(undefined)
    return data!.entitlement.isGranted ? null : data!.entitlement.accessDeniedReason
  }
  const etagOf = async (door: FrontDoor, customerId: string) =>
    (await fetch(`${door.url}/v1/c/${customerId}/entitlements.json`, { headers: { 'x-api-key': door.serverKey } })).headers.get('etag')
  const metric = async (door: FrontDoor, pattern: RegExp) => Number(pattern.exec(await door.life.metrics.metrics())?.[1] ?? 0)

  it('are right each time', async function () {
    this.timeout(120_000)
    const [one] = await Promise.all([reasonOf(first, 'warm-up'), reasonOf(second, 'warm-up')])
    expect(one).to.equal('CustomerNotFound')
    let next = 0
    const wrong: string[] = []
    const work = async () => {
      while (next < 60 * effort) {
        const customerId = `customer-${next++}`
        // What is held is that there is no such customer.
        const before = await reasonOf(second, customerId)
        const { data } = await first.ask<{ provisionCustomer: { subscription: { subscriptionId: string } } }>(provision, {
          input: { customerId },
        })
        const after = await reasonOf(second, customerId)
        const etag = await etagOf(second, customerId)
        const { subscriptionId } = data!.provisionCustomer.subscription
        await first.ask(cancel, { input: { subscriptionRefId: subscriptionId, subscriptionCancellationTime: 'IMMEDIATE' } })
        const ended = await reasonOf(second, customerId)
        const isRight = before === 'CustomerNotFound' && after === null && ended === 'NoActiveSubscription'
        if (!isRight || (await etagOf(second, customerId)) === etag) wrong.push(`${customerId}: ${before}, ${after}, ${ended}`)
      }
    }
    await Promise.all(Array.from({ length: 8 }, work))
    expect(wrong).to.deep.equal([])
    expect(await metric(first, /tollgate_announcements_unheard_total\S* (\d+)/)).to.equal(0)
  })

  it('come from memory, unless something changed', async () => {
    const customerId = 'calm'
    await first.ask(provision, { input: { customerId } })
    await reasonOf(second, customerId)
    const built = () => metric(second, /tollgate_state_reads_total\{source="PostgreSQL"\S* (\d+)/)
    const before = await built()
    for (let i = 0; i < 20; i++) expect(await reasonOf(second, customerId)).to.equal(null)
    expect(await built()).to.equal(before)
  })

  it('see a catalog that was changed, whatever is held', async () => {
    const customerId = 'reader'
    await first.ask(provision, { input: { customerId } })
    const nameOf = async (door: FrontDoor) => {
      const query = 'query($query: FetchEntitlementsQuery!) { cachedEntitlements(query: $query) { feature { refId displayName } } }'
      const { data } = await door.ask<{ cachedEntitlements: { feature: { refId: string; displayName: string } }[] }>(query, {
        query: { customerId },
      })
      return data!.cachedEntitlements.find(({ feature }) => feature.refId === 'seats')?.feature.displayName
    }
    expect(await nameOf(second)).to.not.equal('Chairs')
    const catalog = await first.app.catalog.export(first.environmentId)
    const features = catalog.features.map((feature) => (feature.refId === 'seats' ? { ...feature, displayName: 'Chairs' } : feature))
    const apply = 'mutation($input: JSON!) { applyCatalog(input: $input) { __typename } }'
    const { errors } = await first.ask(apply, { input: { ...catalog, features } })
    expect(errors).to.equal(undefined)
    expect(await nameOf(second)).to.equal('Chairs')
  })
})
