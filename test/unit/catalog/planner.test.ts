import { deserialize } from 'node:v8'
import { expect } from 'chai'
import type { CatalogDocument } from '../../../src/catalog/document/document.js'
import { exportCatalog } from '../../../src/catalog/document/export.js'
import { planCatalog } from '../../../src/catalog/document/plan.js'
import { maxCatalogInForce } from '../../../src/catalog/document/text-limits.js'
import { CatalogPlanner } from '../../../src/catalog/planner.js'
import { longestStepMs } from '../../support/steps.js'
import { emptyCatalog, parsed } from './documents.js'

const options = { archiveMissing: false, expectedVersion: null }
const features = Array.from({ length: 60 }, (_, n) => ({ refId: `feature-${n}`, type: 'NUMBER', meter: 'Incremental' }))
const entitlements = features.slice(0, 50).map(({ refId }) => ({ feature: refId, limit: 10, resetPeriod: 'MONTH' }))
const plans = Array.from({ length: 100 }, (_, n) => ({ refId: `plan-${n}`, product: 'cloud', entitlements }))
const large = { features, products: [{ refId: 'cloud' }], plans }

describe('the planner of catalogs', () => {
  const planner = new CatalogPlanner()

  const plan = async (
    input: unknown,
    current: CatalogDocument = emptyCatalog,
    asked: Partial<typeof options | { expectedVersion: string }> = {},
  ) => planner.plan(await planner.take(input), current, { ...options, ...asked })

  it('has a catalog of a hundred plans with fifty entitlements read, from text too', async function () {
    this.timeout(20_000)
    const planned = await plan(large)
    expect(planned).to.deep.equal(planCatalog({ input: large }, emptyCatalog, options))
    expect(planned.changes).to.have.length(161)
    expect(await plan(JSON.stringify(large))).to.deep.equal(planned)
  })

  it('compares with a long catalog, and writes it, as with a short one', async function () {
    this.timeout(20_000)
    const current = parsed(large)
    const edit = { features: [{ ...features[7]!, displayName: 'Seven' }] }
    for (const asked of [{}, { archiveMissing: true }, { expectedVersion: 'v0' }, { expectedVersion: exportCatalog(current).version }])
      expect(await plan(edit, current, asked)).to.deep.equal(planCatalog({ input: edit }, current, { ...options, ...asked }))
    expect(await planner.write(current)).to.deep.equal(exportCatalog(current))
    expect(Object.keys(await planner.write(current))).to.deep.equal(Object.keys(exportCatalog(current)))
    expect(await planner.write(emptyCatalog)).to.deep.equal(exportCatalog(emptyCatalog))
  })

  it('never takes long at a time for a long catalog', async function () {
    this.timeout(60_000)
    const many = Array.from({ length: 200 }, (_, n) => ({ refId: `feature-${n}`, type: 'NUMBER', meter: 'Fluctuating' }))
    const [before, after] = [10, 11].map((limit) => ({
      features: many,
      products: [{ refId: 'cloud' }],
      plans: plans.map(({ refId, product }) => ({ refId, product, entitlements: many.map((of) => ({ feature: of.refId, limit })) })),
    }))
    const current = parsed(before)
    const sent = await planner.take(after)
    const copied = await longestStepMs(async () => structuredClone(current))
    const planned = await longestStepMs(() => planner.plan(sent, current, options))
    const written = await longestStepMs(() => planner.write(current))
    expect(Math.max(planned, written), `copying all of it in one step took ${copied} ms`).to.be.below(copied / 2)
  })

  it('refuses what makes a catalog longer than it may be, and lets it become shorter', function () {
    this.timeout(20_000)
    const additionalMetaData = { text: 'x'.repeat(60_000) }
    const many = (count: number) =>
      parsed({ features: Array.from({ length: count }, (_, n) => ({ refId: `f${n}`, type: 'BOOLEAN', additionalMetaData })) })
    const fits = Math.floor(maxCatalogInForce / 60_100)
    const problemsOf = (input: CatalogDocument, current: CatalogDocument, archiveMissing = false) =>
      planCatalog({ input }, current, { archiveMissing, expectedVersion: null }).problems.map(({ message }) => message)
    expect(problemsOf(many(fits), emptyCatalog)).to.deep.equal([])
    const [message] = problemsOf(many(fits + 2), emptyCatalog)
    expect(message).to.include('would make the catalog about 4').and.include(String(maxCatalogInForce))
    expect(problemsOf(many(fits + 2), many(fits + 3), true)).to.deep.equal([])
    expect(problemsOf(many(fits + 3), many(fits + 2))).to.have.length(1)
  })

  it('hands on what a long document holds without reading it here', async function () {
    this.timeout(20_000)
    const names = { features: Object.fromEntries(Array.from({ length: 4_000 }, (_, n) => [`k${n}`, 'v'])) }
    const ofText = await planner.take(JSON.stringify(names))
    if (!('bytes' in ofText)) throw new Error('was read')
    expect(JSON.stringify(deserialize(ofText.bytes))).to.equal(JSON.stringify(names))
    const infinite = await planner.take(`limit: .inf\ntext: ${'x'.repeat(5_000)}`)
    if (!('bytes' in infinite)) throw new Error('was read')
    expect(deserialize(infinite.bytes)).to.have.property('limit', Number.POSITIVE_INFINITY)
    expect(await planner.take(large)).to.have.property('json', JSON.stringify(large))
  })

  it('says of a short document at once what it holds', async () => {
    const short = { features: [{ refId: 'seats', type: 'NUMBER' }] }
    expect(await planner.take(short)).to.deep.equal({ input: short })
    expect(await planner.take(JSON.stringify(short))).to.deep.equal({ input: short })
    expect(await planner.take(`features: [] # ${'x'.repeat(5_000)}`)).to.deep.equal({ input: { features: [] } })
  })

  it('lets others be served while it writes what a long document holds', async function () {
    this.timeout(20_000)
    let turns = 0
    let turn = setImmediate(function next() {
      turns += 1
      turn = setImmediate(next)
    })
    const objects = Array.from({ length: 14 }, () => Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`k${n}`, 1])))
    const sent = await planner.take({ features: objects })
    clearImmediate(turn)
    if (!('json' in sent)) throw new Error('was read')
    // A step has 128 KiB, and an item more.
    expect(turns).to.be.within(4, sent.json.length / (128 * 1024))
  })

  it('lets others be served while a text is read', async function () {
    this.timeout(20_000)
    const before = process.cpuUsage()
    let turns = 0
    const turning = setInterval(() => turns++, 1)
    const read = await planner.take(`[${'a,'.repeat(20_000)}]`)
    clearInterval(turning)
    const { user, system } = process.cpuUsage(before)
    expect(read).to.have.property('bytes')
    // It took as much of a processor as that, and there were turns all the while.
    expect(user + system).to.be.above(20_000)
    expect(turns).to.be.above(10)
  })

  it('says what is wrong, whether the document is short or long', async function () {
    this.timeout(20_000)
    const short = await plan({ plans: [{ x: 1 }] })
    const long = await plan({ plans: [{ x: 'x'.repeat(10_000) }] })
    expect(long).to.deep.equal(short)
    expect(await plan(`a: [${' '.repeat(5_000)}`))
      .to.have.nested.property('problems[0].path')
      .that.matches(/^line 1/)
  })

  it('tells who has more problems than anybody reads how many there are', async function () {
    this.timeout(20_000)
    const { problems } = await plan({ plans: Array.from({ length: 2_000 }, () => ({ x: 1 })) })
    expect(problems).to.have.length(1_001)
    expect(problems[1_000]).to.deep.equal({ path: '', message: 'there are 5000 problems more' })
  })

  it('goes on after a document that broke its thread', async function () {
    this.timeout(60_000)
    const [failed, read] = await Promise.allSettled([
      planner.plan({ bytes: new Uint8Array() }, parsed(large), options),
      plan({ plans: [], long: 'x'.repeat(5_000) }),
    ])
    expect([failed.status, read.status]).to.deep.equal(['rejected', 'fulfilled'])
  })
})
