import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { findUsagePeriods } from '../../../src/catalog/records/usage-periods.js'
import { inTransaction } from '../../../src/platform/transaction.js'
import { documentWith, planWith } from '../../unit/catalog/documents.js'
import { type CatalogBench, openCatalogBench, startedAt } from './support.js'

const exampleText = readFileSync('src/local/example-catalog.yaml', 'utf8')
const forReal = { dryRun: false, archiveMissing: false }

describe('reading the catalog', () => {
  let bench: CatalogBench
  let environmentId: string

  before(async () => {
    bench = await openCatalogBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await bench.createEnvironment()
  })

  const apply = (input: unknown) => bench.catalog.apply(environmentId, input, forReal)
  const latest = async (kind: 'PLAN' | 'ADDON', refId: string) =>
    (await bench.catalog.latestVersion(bench.prisma, environmentId, kind, refId))!

  it('answers a plan as it is sold: exact amounts, entitlements with their features, prices and trial', async () => {
    await apply(exampleText)
    const team = await latest('PLAN', 'team')
    expect(team).to.deep.include({
      refId: 'team',
      kind: 'PLAN',
      versionNumber: 1,
      productRefId: 'acme-cloud',
      displayName: 'Team',
      pricingType: 'PAID',
      trial: { duration: 14, units: 'DAY', endBehavior: 'CANCEL_SUBSCRIPTION' },
      maxQuantity: null,
      additionalMetaData: null,
      basePlanVersionId: (await latest('PLAN', 'free')).id,
      compatibleAddonIds: [(await latest('ADDON', 'extra-api-calls')).packageId],
    })
    const tokens = team.entitlements.find(({ feature }) => feature.refId === 'ai-tokens')
    expect(tokens).to.deep.include({
      usageLimit: '1000000',
      hasUnlimitedUsage: false,
      hasSoftLimit: true,
      enumValues: [],
      behavior: 'Override',
      resetPeriod: 'MONTH',
      resetRule: 'StartOfTheMonth',
      displayNameOverride: null,
      order: 4,
    })
    expect(tokens!.feature).to.deep.equal({
      id: tokens!.featureId,
      refId: 'ai-tokens',
      displayName: 'AI tokens',
      description: null,
      featureType: 'NUMBER',
      meterType: 'Incremental',
      units: 'token',
      unitsPlural: 'tokens',
      unitTransformation: null,
    })
    expect(
      team.prices.map(({ billingPeriod, currency, amount, billingCountryCode }) => [billingPeriod, currency, amount, billingCountryCode]),
    ).to.have.deep.members([
      ['MONTHLY', 'USD', '29', null],
      ['ANNUALLY', 'USD', '290', null],
      ['MONTHLY', 'EUR', '27', 'DE'],
    ])
    const [metered] = (await latest('PLAN', 'business')).prices.filter(({ billingModel }) => billingModel === 'USAGE_BASED')
    expect(metered).to.deep.include({ amount: null, featureId: tokens!.featureId, featureRefId: 'ai-tokens', tiersMode: 'GRADUATED' })
    expect(metered!.tiers).to.deep.equal([
      { upTo: '1000000', unitPrice: '0.00002', flatPrice: null },
      { upTo: null, unitPrice: '0.00001', flatPrice: null },
    ])
    expect(await latest('ADDON', 'extra-api-calls')).to.deep.include({
      kind: 'ADDON',
      maxQuantity: 50,
      basePlanVersionId: null,
      trial: null,
    })
  })

  it('answers what a price per unit implies, which no document says', async () => {
    const features = [{ refId: 'tokens', type: 'NUMBER', meter: 'Incremental', events: { aggregation: 'COUNT' } }]
    const sold = { prices: [{ billingModel: 'PER_UNIT', billingPeriod: 'MONTHLY', currency: 'USD', amount: 3, feature: 'tokens' }] }
    const yearly = { entitlements: [{ feature: 'tokens', limit: 7, resetPeriod: 'YEAR' }] }
    await apply(documentWith({ features, plans: [planWith({ ...yearly }), planWith({ refId: 'heir', basePlan: 'basic', ...sold })] }))
    const [implied] = (await latest('PLAN', 'heir')).entitlements
    expect(implied).to.deep.include({ usageLimit: null, behavior: 'Increment', resetPeriod: null, order: 0 })
    expect(implied!.feature.refId).to.equal('tokens')
    expect((await bench.catalog.export(environmentId)).plans.map(({ entitlements }) => entitlements.length)).to.deep.equal([1, 0])
    expect(await apply(await bench.catalog.export(environmentId))).to.deep.equal([])
    // It is reset as what it inherits is. Where there is nothing of the kind it is never reset, and its events are needed for ever.
    expect(await findUsagePeriods(bench.prisma)).not.to.include(null)
    await apply({ plans: [planWith({ refId: 'alone', ...sold })] })
    expect(await findUsagePeriods(bench.prisma)).to.include(null)
  })

  it('answers a version together with all that it inherits from', async () => {
    await apply(exampleText)
    const business = await latest('PLAN', 'business')
    for (const service of [bench.catalog, bench.anotherProcess()]) {
      const versions = await service.versions(bench.prisma, environmentId, [business.id])
      expect([...versions.values()].map(({ refId }) => refId)).to.have.members(['business', 'team', 'free'])
    }
    expect(await bench.catalog.versions(bench.prisma, environmentId, ['00000000-0000-7000-8000-000000000000'])).to.deep.equal(new Map())
    expect(await bench.catalog.versions(bench.prisma, environmentId, [])).to.deep.equal(new Map())
  })

  it('reads a version once and its features always: a new display name is seen at once in every process', async () => {
    await apply(documentWith({ plans: [planWith({ entitlements: [{ feature: 'sso' }] })] }))
    const other = bench.anotherProcess()
    const { id } = await latest('PLAN', 'basic')
    await other.versions(bench.prisma, environmentId, [id])
    await apply({ features: [{ refId: 'sso', type: 'BOOLEAN', displayName: 'Single sign-on' }] })
    const read = await other.versions(bench.prisma, environmentId, [id])
    expect(read.get(id)?.entitlements[0]?.feature.displayName).to.equal('Single sign-on')
  })

  it('sees what the transaction of its caller sees', async () => {
    await apply(documentWith())
    await inTransaction(bench.prisma, async (db) => {
      await db.feature.updateMany({ where: { environmentId, refId: 'sso' }, data: { displayName: 'Inside' } })
      expect((await bench.catalog.features(db, environmentId)).get('sso')?.displayName).to.equal('Inside')
      expect((await bench.catalog.features(bench.prisma, environmentId)).get('sso')?.displayName).to.equal('sso')
    })
  })

  it('tells plans and add-ons of one refId apart, and answers null for what there is not', async () => {
    await apply(
      documentWith({
        plans: [planWith({ displayName: 'The plan' })],
        addons: [{ refId: 'basic', product: 'cloud', displayName: 'The add-on' }],
      }),
    )
    expect((await latest('PLAN', 'basic')).displayName).to.equal('The plan')
    expect((await latest('ADDON', 'basic')).displayName).to.equal('The add-on')
    expect(await latest('PLAN', 'nothing')).to.equal(null)
  })

  it('answers the rules of a product with the latest version of its downgrade plan', async () => {
    await apply(exampleText)
    const free = await latest('PLAN', 'free')
    const rules = {
      id: free.productId,
      refId: 'acme-cloud',
      endSetting: 'DOWNGRADE_TO_FREE',
      downgradePlan: free,
      cancellationTiming: 'IMMEDIATE',
      downgradeTiming: 'IMMEDIATE',
      usageOnPlanChange: 'ALWAYS_RESET',
      allowsMultipleSubscriptions: false,
    }
    expect(await bench.catalog.productRules(bench.prisma, environmentId, free.productId)).to.deep.equal(rules)

    // Archived: the subscriptions that are left keep what they were promised.
    await bench.catalog.apply(environmentId, {}, { dryRun: false, archiveMissing: true })
    expect(await bench.catalog.productRules(bench.prisma, environmentId, free.productId)).to.deep.equal(rules)
  })

  it('starts new customers by the oldest product that is not archived', async () => {
    await apply({ products: [{ refId: 'z-first' }] })
    bench.clock.set(startedAt + 1_000)
    const plans = [planWith({ refId: 'free', product: 'a-second' })]
    await apply({ products: [{ refId: 'a-second', settings: { newCustomer: 'FREE_PLAN', newCustomerPlan: 'free' } }], plans })
    expect(await bench.catalog.defaultProduct(bench.prisma, environmentId)).to.include({
      refId: 'z-first',
      newCustomer: 'PLAN_SELECTION',
      plan: null,
    })

    const second = { products: [{ refId: 'a-second', settings: { newCustomer: 'FREE_PLAN', newCustomerPlan: 'free' } }], plans }
    await bench.catalog.apply(environmentId, second, { dryRun: false, archiveMissing: true })
    const product = await bench.catalog.defaultProduct(bench.prisma, environmentId)
    expect(product).to.include({ refId: 'a-second', newCustomer: 'FREE_PLAN' })
    expect(product!.plan).to.deep.equal(await latest('PLAN', 'free'))
    bench.clock.set(startedAt)
  })
})
