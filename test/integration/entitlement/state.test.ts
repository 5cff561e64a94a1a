import { expect } from 'chai'
import * as decimal from '../../../src/kernel/decimal.js'
import { newId } from '../../../src/kernel/id.js'
import { usagePeriodAt } from '../../../src/metering/model/usage-period.js'
import { type Bench, day, openBench } from '../subscription/fixture.js'

describe('what a customer may use', () => {
  let bench: Bench
  let environmentId: string
  let customerId: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await bench.createEnvironment()
    customerId = (await bench.customers.provision(environmentId, { refId: 'acme' })).customer.id
  })

  const ask = (featureRefId: string, { customerRefId = 'acme', resourceRefId = null as string | null, requested = 0 } = {}) =>
    bench.entitlements.check(environmentId, {
      customerRefId,
      featureRefId,
      resourceRefId,
      requestedUsage: decimal.fromNumber(requested),
      requestedValues: null,
    })
  const featureId = async (refId: string) => (await bench.catalog.features(bench.prisma, environmentId)).get(refId)!.id

  /** Usage as ingestion records it: a counter of the series, in the period that contains now. */
  const use = async (
    refId: string,
    usage: number,
    { anchor, resetPeriod }: { anchor: number | null; resetPeriod: 'MONTH' | null },
    resourceId: string | null = null,
  ) => {
    const seriesId = newId()
    const ofSeries = { customerId, resourceId, featureId: await featureId(refId) }
    const reset = resetPeriod ? ({ resetPeriod, resetRule: 'SubscriptionStart', timezone: 'UTC' } as const) : {}
    await bench.prisma.usageSeries.create({
      data: { environmentId, id: seriesId, ...ofSeries, ...reset, anchor: anchor === null ? null : new Date(anchor) },
    })
    // Usage that is never reset has one period, as long as time.
    const { start, end } =
      anchor === null || resetPeriod === null
        ? { start: null, end: null }
        : usagePeriodAt({ period: resetPeriod, rule: 'SubscriptionStart', anchor, timeZone: 'UTC', at: Date.now() })
    const [from, to] = [start, end].map((at) => (at === null ? null : new Date(at)))
    await bench.prisma.$executeRaw`
      INSERT INTO usage_counter (environment_id, series_id, period_start, period_end, usage, version)
      VALUES (${environmentId}::uuid, ${seriesId}::uuid, coalesce(${from}::timestamptz, '-infinity'), coalesce(${to}::timestamptz, 'infinity'),
        ${usage}::numeric, ${BigInt(Date.now())})`
  }

  it('is granted up to the limit and not beyond, counting what was used', async () => {
    const [free] = await bench.subscriptionReads.active(environmentId, { customerRefId: 'acme' })
    await use('calls', 9.5, { anchor: free!.usageAnchor, resetPeriod: 'MONTH' })
    expect(await ask('calls', { requested: 0.5 })).to.include({ granted: true })
    const denied = await ask('calls', { requested: 0.51 })
    expect(denied).to.deep.include({ granted: false, reason: 'RequestedUsageExceedingLimit' })
    expect(denied.entitlement!.usage!.currentUsage).to.equal('9.5')
    expect(denied.accessVersion).to.be.greaterThan(0)
  })

  it('does not count what was used under another anchor', async () => {
    await use('calls', 10, { anchor: Date.now() - 90 * day, resetPeriod: 'MONTH' })
    expect((await ask('calls')).entitlement!.usage!.currentUsage).to.equal('0')
  })

  const denials: [string, Parameters<typeof ask>, string][] = [
    ['an unknown customer', ['calls', { customerRefId: 'nobody' }], 'CustomerNotFound'],
    ['an unknown resource', ['calls', { resourceRefId: 'r1' }], 'CustomerResourceNotFound'],
    ['a feature of no plan of it', ['sso'], 'NoFeatureEntitlementInSubscription'],
    ['an unknown feature', ['gold'], 'FeatureNotFound'],
  ]
  for (const [name, question, reason] of denials) {
    it(`is denied to ${name}: ${reason}`, async () =>
      expect(await ask(...question)).to.deep.include({ granted: false, reason, entitlement: null }))
  }

  it('is the customer’s total for a resource without a subscription of its own, and its own with one', async () => {
    await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'room', resourceRefId: 'r1' })
    await use('seats', 1, { anchor: null, resetPeriod: null })
    const { id } = await bench.prisma.customerResource.findFirstOrThrow({ where: { environmentId, refId: 'r1' } })
    await use('seats', 15, { anchor: null, resetPeriod: null }, id)
    const of = async (resourceRefId: string | null) => {
      const { entitlement } = await ask('seats', { resourceRefId })
      return [entitlement!.usageLimit, entitlement!.usage!.currentUsage]
    }
    expect(await of(null)).to.deep.equal(['1', '1'])
    expect(await of('r1')).to.deep.equal(['20', '15'])
    expect((await ask('calls', { resourceRefId: 'r1' })).entitlement!.usageLimit).to.equal('10')
  })

  it('is answered for the customer and all its resources in one reading, as one by one', async () => {
    for (const resourceRefId of ['r2', 'r1']) {
      await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'room', resourceRefId })
    }
    await use('seats', 1, { anchor: null, resetPeriod: null })
    const oneByOne = await Promise.all([null, 'r1', 'r2'].map((resource) => bench.entitlements.state(environmentId, 'acme', resource)))
    expect(await bench.entitlements.states(environmentId, ['acme'])).to.deep.equal(oneByOne)
    expect((await bench.entitlements.states(environmentId, ['nobody'])).map(({ deniedReason }) => deniedReason)).to.deep.equal([
      'CustomerNotFound',
    ])
  })

  it('includes promotions and what a subscription has of its own', async () => {
    const promoted = {
      environmentId,
      id: newId(),
      customerId,
      featureId: await featureId('sso'),
      period: 'LIFETIME',
      startDate: new Date(),
    } as const
    await bench.prisma.promotionalEntitlement.create({ data: promoted })
    expect(await ask('sso')).to.include({ granted: true })
    const { id: subscriptionId } = await bench.prisma.subscription.findFirstOrThrow({ where: { environmentId } })
    const own = { environmentId, id: newId(), subscriptionId, featureId: await featureId('calls'), hasUnlimitedUsage: true }
    await bench.prisma.subscriptionEntitlement.create({ data: own })
    expect((await ask('calls', { requested: 1e6 })).granted).to.equal(true)
    await bench.prisma.promotionalEntitlement.updateMany({ where: { environmentId }, data: { revokedAt: new Date() } })
    expect((await ask('sso')).granted).to.equal(false)
  })

  it('follows the status at now, though nothing was recorded', async () => {
    await bench.prisma.subscription.updateMany({
      where: { environmentId },
      data: { startDate: new Date(Date.now() - 2 * day), endDate: new Date(Date.now() - day) },
    })
    expect(await ask('calls')).to.deep.include({ granted: false, reason: 'NoActiveSubscription' })
  })
})
