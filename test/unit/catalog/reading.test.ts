import { expect } from 'chai'
import { CatalogReading } from '../../../src/catalog/reading.js'

const options = { current: null, archiveMissing: false }
const features = Array.from({ length: 60 }, (_, n) => ({ refId: `feature-${n}`, type: 'NUMBER', meter: 'Incremental' }))
const entitlements = features.slice(0, 50).map(({ refId }) => ({ feature: refId, limit: 10, resetPeriod: 'MONTH' }))
const plans = Array.from({ length: 100 }, (_, n) => ({ refId: `plan-${n}`, product: 'cloud', entitlements }))
const large = { features, products: [{ refId: 'cloud' }], plans }

describe('the reading of catalogs', () => {
  const reading = new CatalogReading()

  it('has a catalog of a hundred plans with fifty entitlements read, from text too', async function () {
    this.timeout(20_000)
    const read = await reading.readText(JSON.stringify(large))
    expect(read).to.deep.equal({ input: large })
    const parsed = await reading.parse(large, options)
    if ('problems' in parsed) throw new Error(parsed.problems[0]!.message)
    expect(parsed.catalog.plans).to.have.length(100)
    expect(parsed.catalog.plans[99]!.entitlements).to.have.length(50)
  })

  it('lets others be served meanwhile', async function () {
    this.timeout(20_000)
    const before = process.cpuUsage()
    let turns = 0
    const turning = setInterval(() => turns++, 1)
    const read = await reading.readText(`[${'a,'.repeat(20_000)}]`)
    clearInterval(turning)
    const { user, system } = process.cpuUsage(before)
    expect(read).to.have.property('input').with.length(20_000)
    // It took as much of a processor as that, and there were turns all the while.
    expect(user + system).to.be.above(20_000)
    expect(turns).to.be.above(10)
  })

  it('says what is wrong, whether the document is short or long', async () => {
    const short = await reading.parse({ plans: [{ x: 1 }] }, options)
    const long = await reading.parse({ plans: [{ x: 'x'.repeat(10_000) }] }, options)
    expect(long).to.deep.equal(short)
    expect(await reading.readText(`a: [${' '.repeat(5_000)}`))
      .to.have.nested.property('problems[0].path')
      .that.matches(/^line 1/)
  })

  it('tells who has more problems than anybody reads how many there are', async function () {
    this.timeout(20_000)
    const parsed = await reading.parse({ plans: Array.from({ length: 2_000 }, () => ({ x: 1 })) }, options)
    if (!('problems' in parsed)) throw new Error('was read')
    expect(parsed.problems).to.have.length(1_001)
    expect(parsed.problems[1_000]).to.deep.equal({ path: '', message: 'there are 5000 problems more' })
  })

  it('goes on after a document that broke its thread', async function () {
    this.timeout(60_000)
    const [failed, read] = await Promise.allSettled([
      reading.parse({ a: () => undefined, long: 'x'.repeat(5_000) }, options),
      reading.parse({ plans: [], long: 'x'.repeat(5_000) }, options),
    ])
    expect([failed.status, read.status]).to.deep.equal(['rejected', 'fulfilled'])
  })
})
