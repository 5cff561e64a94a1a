import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import * as fc from 'fast-check'
import { compareCatalogs } from '../../../src/catalog/document/difference.js'
import { exportCatalog } from '../../../src/catalog/document/export.js'
import { lockCatalog } from '../../../src/catalog/records/catalog.js'
import { Problem } from '../../../src/kernel/problem.js'
import { inTransaction } from '../../../src/platform/transaction.js'
import { documents } from '../../unit/catalog/arbitrary.js'
import { documentWith, emptyCatalog, parsed, planWith } from '../../unit/catalog/documents.js'
import { type CatalogBench, openCatalogBench, startedAt } from './support.js'

const exampleText = readFileSync('src/local/example-catalog.yaml', 'utf8')
const forReal = { dryRun: false, archiveMissing: false }
const completely = { dryRun: false, archiveMissing: true }

describe('applying a catalog document', () => {
  let bench: CatalogBench
  let environmentId: string

  before(async () => {
    bench = await openCatalogBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await bench.createEnvironment()
    bench.nudged.length = 0
  })

  const apply = (input: unknown, options = forReal) => bench.catalog.apply(environmentId, input, options)
  const summary = async (input: unknown, options = forReal) =>
    (await apply(input, options)).map(({ action, kind, refId }) => `${action} ${kind} ${refId}`)
  const problemOf = (work: Promise<unknown>) => work.then(() => null, Problem.from)
  const outbox = () => bench.prisma.outboxMessage.findMany({ where: { environmentId } })
  const versionsOf = (refId: string) =>
    bench.prisma.packageVersion.findMany({ where: { environmentId, package: { refId } }, orderBy: { versionNumber: 'asc' } })

  it('makes the catalog of the example, and the same again changes nothing', async () => {
    expect(await summary(exampleText)).to.include.members([
      'create feature api-calls',
      'create meter ai-tokens',
      'create plan business',
      'create coupon launch-20',
    ])
    expect(await summary(exampleText)).to.deep.equal([])
    expect(await summary(exportCatalog(await bench.catalog.export(environmentId)), completely)).to.deep.equal([])
    expect(await outbox()).to.have.length(1)
  })

  it('makes, changes and archives a catalog of hundreds of plans within its transaction', async () => {
    const features = Array.from({ length: 600 }, (_, n) => ({ refId: `feature-${n}`, type: 'NUMBER', meter: 'Fluctuating' }))
    const plans = (limit: number) =>
      Array.from({ length: 120 }, (_, n) => ({
        refId: `plan-${n}`,
        product: 'cloud',
        entitlements: features.slice(0, 100).map(({ refId }) => ({ feature: refId, limit })),
      }))
    const large = (limit: number) => ({ features, products: [{ refId: 'cloud' }], plans: plans(limit) })
    expect(await apply(large(1))).to.have.length(721)
    expect(compareCatalogs(await bench.catalog.export(environmentId), parsed(large(1)), { archiveMissing: true })).to.deep.equal([])
    const changes = await apply(large(2))
    expect(changes).to.have.length(120)
    expect(changes.every(({ action, fields }) => action === 'publish' && fields.length === 100)).to.equal(true)
    expect(compareCatalogs(await bench.catalog.export(environmentId), parsed(large(2)), { archiveMissing: true })).to.deep.equal([])
    expect((await versionsOf('plan-7')).map(({ versionNumber, isLatest }) => [versionNumber, isLatest])).to.deep.equal([
      [1, false],
      [2, true],
    ])
    await apply({ plans: [{ refId: 'all', product: 'cloud', entitlements: features.map(({ refId }) => ({ feature: refId, limit: 1 })) }] })
    const all = await inTransaction(bench.prisma, (db) => bench.anotherProcess().latestVersion(db, environmentId, 'PLAN', 'all'))
    expect(all!.entitlements.map(({ feature }) => feature.refId)).to.deep.equal(features.map(({ refId }) => refId))
    expect(await apply({}, completely)).to.have.length(722)
    expect(await bench.prisma.auditEntry.count({ where: { environmentId, entityKind: { not: 'ENVIRONMENT' } } })).to.equal(
      721 + 120 + 1 + 722,
    )
  })

  it('takes names that mean something elsewhere', async () => {
    const features = ['__proto__', 'constructor', '"', 'é\u{1f600}'].map((refId) => ({ refId, type: 'BOOLEAN' }))
    const plans = [{ refId: '__proto__', product: '__proto__', entitlements: features.map(({ refId }) => ({ feature: refId })) }]
    const document = JSON.stringify({ features, products: [{ refId: '__proto__' }], plans })
    expect(await apply(document)).to.have.length(6)
    expect(await apply(document, completely)).to.deep.equal([])
  })

  it('applies documents of one environment one after the other, and refuses who comes when twenty wait', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 21 }, (_, n) => problemOf(apply({ features: [{ refId: `feature-${n}`, type: 'BOOLEAN' }] }))),
    )
    expect(outcomes.filter((problem) => problem === null)).to.have.length(20)
    expect(outcomes[20]).to.include({ code: 'RESOURCE_EXHAUSTED' })
    expect((await bench.catalog.export(environmentId)).features).to.have.length(20)
  })

  it('reads back any document as it was applied, whatever was there before', async function () {
    this.timeout(60_000)
    const property = fc.asyncProperty(documents, documents, async (first, second) => {
      environmentId = await bench.createEnvironment()
      await apply(first)
      expect(compareCatalogs(await bench.catalog.export(environmentId), parsed(first), { archiveMissing: true })).to.deep.equal([])
      const refusal = await problemOf(apply(second, completely))
      // What an identifier stands for never changes; everything else does.
      if (refusal) {
        expect(refusal.message).to.include('never changes')
        return
      }
      expect(compareCatalogs(await bench.catalog.export(environmentId), parsed(second), { archiveMissing: true })).to.deep.equal([])
      expect(await summary(second, completely)).to.deep.equal([])
    })
    await fc.assert(property, { numRuns: 20 })
  })

  it('records one change of the environment with what it changed, and nudges delivery after the commit', async () => {
    await apply(exampleText)
    expect((await outbox()).map(({ kind, customerId, version }) => ({ kind, customerId, version: Number(version) }))).to.deep.equal([
      { kind: 'package', customerId: null, version: startedAt },
    ])
    expect(bench.nudged).to.deep.equal([environmentId])
  })

  it('changes nothing and tells nobody in a dry run', async () => {
    expect(await summary(exampleText, { dryRun: true, archiveMissing: false })).to.have.length.above(10)
    expect(await bench.catalog.export(environmentId)).to.deep.equal(emptyCatalog)
    expect([await outbox(), bench.nudged]).to.deep.equal([[], []])
  })

  it('refuses a document with every problem and its place, and saves nothing of it', async () => {
    const plan = planWith({ entitlements: [{ feature: 'sso', limit: 5 }, { feature: 'nothing' }] })
    const problem = await problemOf(apply(documentWith({ plans: [plan], colour: [] } as never)))
    expect(problem).to.include({ code: 'INVALID_ARGUMENT', reason: 'BAD_USER_INPUT' })
    const paths = (problem!.details.problems as { path: string }[]).map(({ path }) => path)
    expect(paths).to.have.members(['colour', 'plans[0].entitlements[0].limit', 'plans[0].entitlements[1].feature'])
    expect(await problemOf(apply('features: ['))).to.include({ reason: 'BAD_USER_INPUT' })
    expect(await bench.catalog.export(environmentId)).to.deep.equal(emptyCatalog)
  })

  it('publishes a new version of a changed plan and keeps the old one as it was', async () => {
    const limited = (limit: number) => documentWith({ plans: [planWith({ entitlements: [{ feature: 'calls', limit }] })] })
    await apply(limited(10))
    bench.clock.set(startedAt + 60_000)
    expect(await summary(limited(20))).to.deep.equal(['publish plan basic'])
    const versions = await versionsOf('basic')
    expect(
      versions.map(({ versionNumber, status, isLatest, publishedAt }) => [versionNumber, status, isLatest, publishedAt?.getTime()]),
    ).to.deep.equal([
      [1, 'PUBLISHED', false, startedAt],
      [2, 'PUBLISHED', true, startedAt + 60_000],
    ])
    const [first, second] = versions.map(({ id }) => id)
    const loaded = await bench.catalog.versions(bench.prisma, environmentId, [first!, second!])
    expect([first, second].map((id) => loaded.get(id!)?.entitlements[0]?.usageLimit)).to.deep.equal(['10', '20'])
    bench.clock.set(startedAt)
  })

  it('publishes plans again that inherit from a changed one, each on the new version of its base', async () => {
    const chain = (limit: number) =>
      documentWith({
        plans: [
          planWith({ refId: 'c', basePlan: 'b' }),
          planWith({ refId: 'a', entitlements: [{ feature: 'calls', limit }] }),
          planWith({ refId: 'b', basePlan: 'a', entitlements: [{ feature: 'sso' }] }),
        ],
      })
    await apply(chain(10))
    const onlyTheBase = { plans: [planWith({ refId: 'a', entitlements: [{ feature: 'calls', limit: 20 }] })] }
    expect(await summary(onlyTheBase)).to.deep.equal(['publish plan a', 'publish plan b', 'publish plan c'])
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map(versionsOf))
    for (const [plan, base] of [
      [b!, a!],
      [c!, b!],
    ] as const) {
      expect(plan.map(({ basePlanVersionId }) => basePlanVersionId)).to.deep.equal(base.map(({ id }) => id))
    }
    expect(await summary(chain(20), completely)).to.deep.equal([])
  })

  it('archives what is missing only when asked to, and what comes back is the same thing again', async () => {
    await apply(documentWith({ plans: [planWith({ entitlements: [{ feature: 'sso' }] })], coupons: [{ refId: 'ten', percentOff: 10 }] }))
    const [version] = await versionsOf('basic')
    const feature = (await bench.catalog.features(bench.prisma, environmentId)).get('sso')
    expect(await summary({ products: [{ refId: 'cloud' }] })).to.deep.equal([])
    expect(await summary({ products: [{ refId: 'cloud' }] }, completely)).to.include.members([
      'archive plan basic',
      'archive feature sso',
      'archive coupon ten',
    ])

    expect(await bench.catalog.latestVersion(bench.prisma, environmentId, 'PLAN', 'basic')).to.equal(null)
    expect((await bench.catalog.features(bench.prisma, environmentId)).get('sso')).to.deep.equal({ ...feature, isArchived: true })
    const kept = await bench.anotherProcess().versions(bench.prisma, environmentId, [version!.id])
    expect(kept.get(version!.id)?.entitlements.map((entitlement) => entitlement.feature.refId)).to.deep.equal(['sso'])

    const back = documentWith({ plans: [planWith({})], coupons: [{ refId: 'ten', percentOff: 15 }] })
    expect(await summary(back)).to.include.members(['create plan basic', 'create feature sso', 'create coupon ten'])
    expect((await versionsOf('basic')).map(({ versionNumber, isLatest }) => [versionNumber, isLatest])).to.deep.equal([
      [1, false],
      [2, true],
    ])
    expect((await bench.catalog.features(bench.prisma, environmentId)).get('sso')).to.deep.equal(feature)
    expect(await summary(back, completely)).to.deep.equal([])
  })

  it('refuses another feature or plan under the identifier of an archived one', async () => {
    await apply(documentWith({ plans: [planWith({})] }))
    await apply({ products: [{ refId: 'other' }] }, completely)
    const problem = await problemOf(
      apply({ features: [{ refId: 'sso', type: 'NUMBER' }], plans: [planWith({ product: 'other' })], products: [{ refId: 'other' }] }),
    )
    expect((problem!.details.problems as { path: string }[]).map(({ path }) => path)).to.deep.equal([
      'features["sso"].type',
      'plans["basic"].product',
    ])
  })

  it('counts the versions of a meter, and keeps the meter of an archived feature', async () => {
    const measured = (value: string) => ({
      features: [
        {
          refId: 'tokens',
          type: 'NUMBER',
          meter: 'Incremental',
          events: { aggregation: 'SUM', field: 'n', filters: [[{ field: 'eventName', operation: 'EQUALS', value }]] },
        },
      ],
    })
    const meter = () => bench.prisma.meter.findFirst({ where: { environmentId } })
    await apply(measured('completion'))
    expect((await meter())?.version).to.equal(1)
    await apply(measured('answer'))
    expect((await meter())?.version).to.equal(2)
    await apply({}, completely)
    expect((await meter())?.version, 'those who hold the feature go on being measured').to.equal(2)
    await apply({ features: [{ refId: 'tokens', type: 'NUMBER', meter: 'Incremental' }] })
    expect(await meter(), 'it came back as a reported feature').to.equal(null)
    await apply(measured('answer'))
    expect(await summary({ features: [{ refId: 'tokens', type: 'NUMBER', meter: 'Incremental' }] })).to.deep.equal(['archive meter tokens'])
    expect(await meter()).to.equal(null)
  })

  it('waits while another document is applied to the same environment, and for no other environment', async () => {
    const waiting = `select count(*)::int as count from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`
    const other = await bench.createEnvironment()
    const order: string[] = []
    let applied = Promise.resolve(0)
    await inTransaction(bench.prisma, async (db) => {
      await lockCatalog(db, environmentId)
      applied = apply(documentWith()).then(() => order.push('applied'))
      for (let count = 0; count === 0; ) ({ count } = (await bench.pool.query(waiting)).rows[0])
      await bench.catalog.apply(other, documentWith(), forReal)
      order.push('released')
    })
    await applied
    expect(order).to.deep.equal(['released', 'applied'])
  })

  it('applies documents that arrive at the same time one after the other', async () => {
    const limited = (limit: number) => documentWith({ plans: [planWith({ entitlements: [{ feature: 'calls', limit }] })] })
    await Promise.all([1, 2, 3, 4, 5].map((limit) => apply(limited(limit))))
    const versions = await versionsOf('basic')
    expect(versions.map(({ versionNumber }) => versionNumber)).to.deep.equal([1, 2, 3, 4, 5])
    expect(versions.filter(({ isLatest }) => isLatest)).to.have.length(1)
    expect(await outbox()).to.have.length(5)
  })

  it('keeps environments apart', async () => {
    await apply(exampleText)
    const [version] = await versionsOf('free')
    const other = await bench.createEnvironment()
    expect(await bench.catalog.export(other)).to.deep.equal(emptyCatalog)
    expect(await bench.catalog.versions(bench.prisma, other, [version!.id])).to.deep.equal(new Map())
    expect(await bench.catalog.defaultProduct(bench.prisma, other)).to.equal(null)
  })
})
