import { deserialize } from 'node:v8'
import { expect } from 'chai'
import { CatalogReading } from '../../../src/catalog/reading.js'

const options = { current: null, archiveMissing: false }
const features = Array.from({ length: 60 }, (_, n) => ({ refId: `feature-${n}`, type: 'NUMBER', meter: 'Incremental' }))
const entitlements = features.slice(0, 50).map(({ refId }) => ({ feature: refId, limit: 10, resetPeriod: 'MONTH' }))
const plans = Array.from({ length: 100 }, (_, n) => ({ refId: `plan-${n}`, product: 'cloud', entitlements }))
const large = { features, products: [{ refId: 'cloud' }], plans }

describe('the reading of catalogs', () => {
  const reading = new CatalogReading()

  /** Parsed as it was sent. */
  const parse = async (input: unknown) => reading.parse(await reading.take(input), options)

  it('has a catalog of a hundred plans with fifty entitlements read, from text too', async function () {
    this.timeout(20_000)
    const parsed = await parse(large)
    if ('problems' in parsed) throw new Error(parsed.problems[0]!.message)
    expect(parsed.catalog.plans).to.have.length(100)
    expect(parsed.catalog.plans[99]!.entitlements).to.have.length(50)
    expect(JSON.stringify(await parse(JSON.stringify(large)))).to.equal(JSON.stringify(parsed))
  })

  it('hands on what a long document holds without reading it here', async function () {
    this.timeout(20_000)
    const names = { features: Object.fromEntries(Array.from({ length: 4_000 }, (_, n) => [`k${n}`, 'v'])) }
    const ofText = await reading.take(JSON.stringify(names))
    if (!('bytes' in ofText)) throw new Error('was read')
    expect(JSON.stringify(deserialize(ofText.bytes))).to.equal(JSON.stringify(names))
    const infinite = await reading.take(`limit: .inf\ntext: ${'x'.repeat(5_000)}`)
    if (!('bytes' in infinite)) throw new Error('was read')
    expect(deserialize(infinite.bytes)).to.have.property('limit', Number.POSITIVE_INFINITY)
    expect(await reading.take(large)).to.have.property('json', JSON.stringify(large))
  })

  it('says of a short document at once what it holds', async () => {
    const short = { features: [{ refId: 'seats', type: 'NUMBER' }] }
    expect(await reading.take(short)).to.deep.equal({ input: short })
    expect(await reading.take(JSON.stringify(short))).to.deep.equal({ input: short })
    expect(await reading.take(`features: [] # ${'x'.repeat(5_000)}`)).to.deep.equal({ input: { features: [] } })
  })

  it('lets others be served while it writes what a long document holds', async () => {
    let turns = 0
    let turn = setImmediate(function next() {
      turns += 1
      turn = setImmediate(next)
    })
    const objects = Array.from({ length: 14 }, () => Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`k${n}`, 1])))
    const sent = await reading.take({ features: objects })
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
    const read = await reading.take(`[${'a,'.repeat(20_000)}]`)
    clearInterval(turning)
    const { user, system } = process.cpuUsage(before)
    expect(read).to.have.property('bytes')
    // It took as much of a processor as that, and there were turns all the while.
    expect(user + system).to.be.above(20_000)
    expect(turns).to.be.above(10)
  })

  it('says what is wrong, whether the document is short or long', async function () {
    this.timeout(20_000)
    const short = await parse({ plans: [{ x: 1 }] })
    const long = await parse({ plans: [{ x: 'x'.repeat(10_000) }] })
    expect(long).to.deep.equal(short)
    expect(await parse(`a: [${' '.repeat(5_000)}`))
      .to.have.nested.property('problems[0].path')
      .that.matches(/^line 1/)
  })

  it('tells who has more problems than anybody reads how many there are', async function () {
    this.timeout(20_000)
    const parsed = await parse({ plans: Array.from({ length: 2_000 }, () => ({ x: 1 })) })
    if (!('problems' in parsed)) throw new Error('was read')
    expect(parsed.problems).to.have.length(1_001)
    expect(parsed.problems[1_000]).to.deep.equal({ path: '', message: 'there are 5000 problems more' })
  })

  it('goes on after a document that broke its thread', async function () {
    this.timeout(60_000)
    const [failed, read] = await Promise.allSettled([
      reading.parse({ bytes: new Uint8Array() }, options),
      parse({ plans: [], long: 'x'.repeat(5_000) }),
    ])
    expect([failed.status, read.status]).to.deep.equal(['rejected', 'fulfilled'])
  })
})
